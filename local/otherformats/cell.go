package otherformats

import (
	"bytes"
	"encoding/binary"
	"math"
	"strconv"

	"github.com/meowdis/meowdis/redis/resp"
	"github.com/meowdis/meowdis/store"
	"github.com/meowdis/meowdis/translator"
)

// FromFile converts a cell of the file to the value in our table.
func (f Form) FromFile(v store.Value) (store.Value, error) {
	if v.IsNull() {
		return v, nil
	}
	switch f {
	case Integer:
		return store.Int(whole(v)), nil
	case Real:
		if n, err := strconv.ParseFloat(string(v.Bytes()), 64); err == nil {
			return store.Float(n), nil
		}
		return store.Float(v.Float()), nil
	case Bytes:
		return store.Bytes(bytesOf(v)), nil
	case Hashed:
		return store.Int(translator.HashOf(bytesOf(v))), nil
	case Entry:
		fields, err := EntryFields(bytesOf(v))
		return store.Bytes(translator.PackFields(fields)), err
	}
	return v, nil
}

// whole returns a cell as an integer, even if it is stored as a real number.
func whole(v store.Value) int64 {
	if n, err := strconv.ParseFloat(string(v.Bytes()), 64); err == nil && v.Int() == 0 {
		return int64(n)
	}
	return v.Int()
}

// bytesOf returns a cell as the bytes that Redis would return.
func bytesOf(v store.Value) []byte {
	switch v.Kind() {
	case store.Integer:
		return strconv.AppendInt(nil, v.Int(), 10)
	case store.Real:
		return realText(v.Float())
	}
	return v.Bytes()
}

// realText formats a number as INCRBYFLOAT does: without an exponent, with the fewest digits that identify it.
func realText(f float64) []byte {
	if math.IsInf(f, 0) {
		return []byte(resp.FormatDouble(f))
	}
	return strconv.AppendFloat(nil, f, 'f', -1, 64)
}

// ToFile converts a value that a column is compared with to the arguments of a Plan's SQL.
func (f Form) ToFile(v store.Value) []store.Value {
	switch f {
	case Bytes:
		return fileBytes(v)
	case EntryID:
		id := make([]byte, 16)
		copy(id, v.Bytes())
		return []store.Value{half(id), half(id[8:])}
	case Ignored:
		return nil
	}
	return []store.Value{v}
}

// fileBytes returns the blob, the text and the number that print as v.
func fileBytes(v store.Value) []store.Value {
	b := v.Bytes()
	if b == nil {
		return []store.Value{v, {}, {}}
	}
	all := []store.Value{store.Bytes(b), store.TextBytes(b), {}}
	if n, err := strconv.ParseInt(string(b), 10, 64); err == nil && bytes.Equal(b, strconv.AppendInt(nil, n, 10)) {
		all[2] = store.Int(n)
	} else if n, err := strconv.ParseFloat(string(b), 64); err == nil && bytes.Equal(realText(n), b) {
		all[2] = store.Float(n)
	}
	return all
}

// half returns one of the two numbers of an entry ID. A number beyond SQLite's integers is clamped, since it is
// beyond every entry's.
func half(b []byte) store.Value {
	return store.Int(int64(min(binary.BigEndian.Uint64(b), math.MaxInt64)))
}
