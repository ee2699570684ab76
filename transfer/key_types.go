package transfer

import (
	"math"
	"strconv"
	"strings"

	"github.com/meowdis/meowdis/redis/rdb"
	"github.com/meowdis/meowdis/redis/resp"
	"github.com/meowdis/meowdis/store/keytype"
)

// values make the replies to the calls that read all of a key its value; nil when there
// is no key. What else is known of a type is declared in keytype, and keys of types that are
// not here have Elements.
var values = map[Type]func(resp.Value) (Value, error){
	StringType: stringValue, ListType: listValue, SetType: setValue, ZSetType: zsetValue, HashType: hashValue,
	StreamType: streamValue, JSONType: documentValue, ArrayType: arrayValue,
	VectorSetType: nil, // see vectorSet
}

// readAll is the call that reads all of a key.
func (k *Key) readAll() [][]byte { return keytype.Of(string(k.Type)).ReadAll(k.Name) }

// length is the command that counts the elements of a key, "" where it counts as one.
func (k *Key) length() string { return keytype.Of(string(k.Type)).Count }

// decode is the value that a reply is, nil when the key is gone or has another
// type.
func (k *Key) decode(v resp.Value) (Value, error) {
	switch {
	case wrongType(v) || v.IsNull():
		return nil, nil
	case v.IsError():
		return nil, refused(v)
	}
	if value, own := values[k.Type]; own {
		return value(v)
	}
	return plainElements(k.Type, v)
}

// wrongType reports whether the reply is the error about a key of another type.
func wrongType(v resp.Value) bool {
	return v.IsError() && (strings.HasPrefix(string(v.Str), "WRONGTYPE") ||
		strings.Contains(string(v.Str), "wrong Redis type"))
}

func stringValue(v resp.Value) (Value, error) { return rdb.String(text(v)), nil }

func documentValue(v resp.Value) (Value, error) { return Document(text(v)), nil }

func listValue(v resp.Value) (Value, error) {
	if len(v.Elems) == 0 {
		return nil, nil
	}
	return rdb.List(texts(v.Elems)), nil
}

func setValue(v resp.Value) (Value, error) {
	if len(v.Elems) == 0 {
		return nil, nil
	}
	return rdb.Set(texts(v.Elems)), nil
}

func zsetValue(v resp.Value) (Value, error) {
	elems := flat(v.Elems)
	if len(elems) == 0 {
		return nil, nil
	}
	return members(elems)
}

func hashValue(v resp.Value) (Value, error) {
	elems := flat(v.Elems)
	if len(elems) == 0 {
		return nil, nil
	}
	return fields(elems)
}

// streamValue may be without entries: whether there is a key at all is seen when
// the stream is completed.
func streamValue(v resp.Value) (Value, error) {
	entries, err := entriesOf(v.Elems)
	if err != nil {
		return nil, err
	}
	return &rdb.Stream{Entries: entries}, nil
}

// flat takes pairs apart, which some protocols answer for a flat list.
func flat(elems []resp.Value) []resp.Value {
	if len(elems) == 0 || elems[0].Kind != resp.Array {
		return elems
	}
	var out []resp.Value
	for _, pair := range elems {
		out = append(out, pair.Elems...)
	}
	return out
}

// lastSlot is the greatest index of an array.
const lastSlot = "18446744073709551614"

func arrayValue(v resp.Value) (Value, error) {
	elems := flat(v.Elems)
	if len(elems) == 0 {
		return nil, nil
	}
	return slots(elems)
}

func slots(elems []resp.Value) (*Array, error) {
	a := &Array{Slots: make([]Slot, len(elems)/2)}
	for i := range a.Slots {
		at, err := strconv.ParseUint(string(text(elems[2*i])), 10, 64)
		if err != nil {
			return nil, errReply
		}
		a.Slots[i] = Slot{Index: at, Value: text(elems[2*i+1])}
	}
	return a, nil
}

func members(elems []resp.Value) (rdb.ZSet, error) {
	if len(elems)%2 != 0 {
		return nil, errReply
	}
	out := make(rdb.ZSet, len(elems)/2)
	for i := range out {
		score, ok := scoreOf(elems[2*i+1])
		if !ok {
			return nil, errReply
		}
		out[i] = rdb.Member{Name: text(elems[2*i]), Score: score}
	}
	return out, nil
}

func scoreOf(v resp.Value) (float64, bool) {
	if v.Kind == resp.Double {
		return v.Float, true
	}
	f, err := strconv.ParseFloat(string(text(v)), 64)
	return f, err == nil && !math.IsNaN(f)
}

func fields(elems []resp.Value) (rdb.Hash, error) {
	if len(elems)%2 != 0 {
		return nil, errReply
	}
	out := make(rdb.Hash, len(elems)/2)
	for i := range out {
		out[i] = rdb.Field{Name: text(elems[2*i]), Value: text(elems[2*i+1])}
	}
	return out, nil
}

func entriesOf(elems []resp.Value) ([]rdb.Entry, error) {
	out := make([]rdb.Entry, len(elems))
	for i, e := range elems {
		if len(e.Elems) != 2 {
			return nil, errReply
		}
		id, ok := parseID(text(e.Elems[0]))
		if !ok {
			return nil, errReply
		}
		out[i] = rdb.Entry{ID: id, Fields: texts(e.Elems[1].Elems)}
	}
	return out, nil
}

// parseID reads the id of an entry.
func parseID(b []byte) (rdb.ID, bool) {
	ms, seq, _ := strings.Cut(string(b), "-")
	m, err1 := strconv.ParseUint(ms, 10, 64)
	s, err2 := strconv.ParseUint(seq, 10, 64)
	return rdb.ID{Ms: m, Seq: s}, err1 == nil && err2 == nil
}

func formatID(id rdb.ID) []byte {
	out := strconv.AppendUint(nil, id.Ms, 10)
	return strconv.AppendUint(append(out, '-'), id.Seq, 10)
}
