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

// Ours is a cell of the file as one of our tables has it.
func (f Form) Ours(v store.Value) (store.Value, error) {
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

// whole is a cell as an integer, also one that was stored as a number with a point.
func whole(v store.Value) int64 {
	if n, err := strconv.ParseFloat(string(v.Bytes()), 64); err == nil && v.Int() == 0 {
		return int64(n)
	}
	return v.Int()
}

// bytesOf is a cell as Redis would have it.
func bytesOf(v store.Value) []byte {
	switch v.Kind() {
	case store.Integer:
		return strconv.AppendInt(nil, v.Int(), 10)
	case store.Real:
		return realText(v.Float())
	}
	return v.Bytes()
}

// realText is a number as INCRBYFLOAT would have left it: in full, with no more
// digits than it takes to distinguish it from others.
func realText(f float64) []byte {
	if math.IsInf(f, 0) {
		return []byte(resp.FormatDouble(f))
	}
	return strconv.AppendFloat(nil, f, 'f', -1, 64)
}

// Theirs is a value that a column of the form is compared with, as the values that
// a Plan's SQL wants for it.
func (f Form) Theirs(v store.Value) []store.Value {
	switch f {
	case Bytes:
		return theirBytes(v)
	case EntryID:
		id := make([]byte, 16)
		copy(id, v.Bytes())
		return []store.Value{half(id), half(id[8:])}
	case Ignored:
		return nil
	}
	return []store.Value{v}
}

// theirBytes are the blob, the text, and the number that print so.
func theirBytes(v store.Value) []store.Value {
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

// half is one of the numbers of an entry's id; those beyond SQLite's integers are
// beyond every entry's.
func half(b []byte) store.Value {
	return store.Int(int64(min(binary.BigEndian.Uint64(b), math.MaxInt64)))
}
