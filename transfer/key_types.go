package transfer

import (
	"cmp"
	"math"
	"strconv"
	"strings"

	"github.com/meowdis/meowdis/redis/rdb"
	"github.com/meowdis/meowdis/redis/resp"
	"github.com/meowdis/meowdis/store/keytype"
)

// values decode the reply to readAll, and return nil for a missing key. keytype declares
// everything else about a type. Types that are missing here use Elements.
var values = map[Type]func(resp.Value) (Value, error){
	StringType: stringValue, ListType: listValue, SetType: setValue, ZSetType: zsetValue, HashType: hashValue,
	StreamType: streamValue, JSONType: documentValue, ArrayType: arrayValue,
	VectorSetType: nil, // see vectorSet
}

// readAll returns the call that reads all of a key.
func (k *Key) readAll() [][]byte {
	if dumped(k.Type) {
		return call("DUMP", k.Name)
	}
	return keytype.Of(string(k.Type)).ReadAll(k.Name)
}

// dumped reports whether keys of a type move as their DUMP.
func dumped(t Type) bool { return keytype.Of(string(t)).Dumped }

// length returns the command that counts the elements of a key, or "" for a type that counts as
// one element.
func (k *Key) length() string { return keytype.Of(string(k.Type)).Count }

// decode decodes a reply. It returns nil if the key is missing or has another type.
func (k *Key) decode(v resp.Value) (Value, error) {
	switch {
	case wrongType(v) || v.IsNull():
		return nil, nil
	case v.IsError():
		return nil, refused(v)
	}
	if dumped(k.Type) {
		return moduleOf(k.Type, text(v))
	}
	if value, own := values[k.Type]; own {
		return value(v)
	}
	return plainElements(k.Type, v)
}

// wrongType reports whether v is a WRONGTYPE error.
func wrongType(v resp.Value) bool {
	return v.IsError() && (strings.HasPrefix(string(v.Str), "WRONGTYPE") ||
		strings.Contains(string(v.Str), "wrong Redis type"))
}

// moduleOf parses a payload of DUMP.
func moduleOf(t Type, payload []byte) (Value, error) {
	v, err := rdb.Restore(payload, nil)
	if m, ok := v.(*rdb.Module); ok && m.Name == string(t) {
		return m, nil
	}
	return nil, cmp.Or(err, errReply)
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

// streamValue decodes entries. An empty stream and a missing key look the same until the
// stream's metadata is read.
func streamValue(v resp.Value) (Value, error) {
	entries, err := entriesOf(v.Elems)
	if err != nil {
		return nil, err
	}
	return &rdb.Stream{Entries: entries}, nil
}

// flat flattens pairs, which some protocols return for a flat list.
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

// lastSlot bounds the index of an array.
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

// parseID parses the id of an entry.
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
