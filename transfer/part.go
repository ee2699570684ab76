package transfer

import (
	"fmt"
	"strconv"

	"github.com/meowdis/meowdis/redis/rdb"
	"github.com/meowdis/meowdis/store/keytype"
)

// Type is the type of a key, as TYPE answers it.
type Type string

// The types that keys have.
const (
	StringType Type = keytype.String
	ListType   Type = keytype.List
	SetType    Type = keytype.Set
	ZSetType   Type = keytype.ZSet
	HashType   Type = keytype.Hash
	StreamType Type = keytype.Stream
	JSONType   Type = keytype.JSON
	ArrayType  Type = keytype.Array

	VectorSetType Type = keytype.VectorSet
)

// Key is what is known of a key before its value.
type Key struct {
	DB        int
	Name      []byte
	Type      Type
	ExpiresAt int64 // Unix ms, 0 for never

	// Count is the number of elements that all parts hold together: of bytes of a
	// string, of entries of a stream, 1 of a document. It was counted when the key
	// was begun; see Part.Changed. It is 0 of a key of several parts where the
	// source cannot know it before.
	Count int64
}

// String names the key in a message.
func (k *Key) String() string {
	name := strconv.Quote(string(k.Name))
	if k.DB != 0 {
		return fmt.Sprintf("%s in database %d", name, k.DB)
	}
	return name
}

// Value is what a part holds: rdb.String, rdb.List, rdb.Set, rdb.ZSet, rdb.Hash,
// *rdb.Stream, Document, *Array, *VectorSet or *Elements, whichever the key's type calls for.
type Value interface {
	// Len is the number of elements, as Key.Count counts them.
	Len() int
}

// Document is a JSON document, as text.
type Document []byte

// Len is 1: a document is never cut.
func (Document) Len() int { return 1 }

// weight is about how many bytes the elements of v have.
func weight(v Value) (n int) {
	switch v := v.(type) {
	case rdb.String:
		return len(v)
	case Document:
		return len(v)
	case rdb.List:
		return size(v)
	case rdb.Set:
		return size(v)
	case rdb.ZSet:
		for i := range v {
			n += len(v[i].Name) + perElement
		}
	case rdb.Hash:
		for i := range v {
			n += len(v[i].Name) + len(v[i].Value) + perElement
		}
	case *rdb.Stream:
		for _, e := range v.Entries {
			n += size(e.Fields) + perElement
		}
	case *Array:
		for _, s := range v.Slots {
			n += len(s.Value) + perElement
		}
	case *Elements:
		return v.weight()
	case *VectorSet:
		for _, e := range v.Elements {
			n += len(e.Name) + len(e.Record) + len(e.Attributes) + perElement
		}
	}
	return n
}

// Array is an array, most of whose slots may be empty.
type Array struct {
	Slots []Slot // in the order of their indexes, the empty ones left out
	Next  uint64 // where ARINSERT goes on; in the last part
}

// Slot is a slot of an array that holds something.
type Slot struct {
	Index uint64
	Value []byte
}

// Len is the number of slots that hold something.
func (a *Array) Len() int { return len(a.Slots) }

// Part is a piece of a key's value. A small key is one part, First and Last at
// once. The parts of a key follow each other without another key between them,
// the same *Key in each, and their order is the order of the value: of a list's
// elements, a string's bytes, a stream's entries. Sets and hashes have none, and
// sorted sets come in any.
//
// A stream's ids, counters and groups are in its last part, those of the parts
// before are zero. A stream without entries is one part.
type Part struct {
	Key         *Key
	Value       Value
	First, Last bool

	// Changed, in a last part, says that the key was changed while it was read.
	// Its parts then are a mixture of what it was and what it became: they may
	// hold another number of elements than Count, and an element twice. Otherwise
	// they hold exactly Count, none twice.
	Changed bool

	// Err, in a last part without a value, says that the key could not be read, or not to
	// its end: what came of it is void.
	Err error
}

// Whole is the only part of a key.
func Whole(k *Key, v Value) Part {
	k.Count = int64(v.Len())
	return Part{Key: k, Value: v, First: true, Last: true}
}

// typeOf is the type of keys that hold v.
func typeOf(v Value) Type {
	switch v := v.(type) {
	case rdb.String:
		return StringType
	case rdb.List:
		return ListType
	case rdb.Set:
		return SetType
	case rdb.ZSet:
		return ZSetType
	case rdb.Hash:
		return HashType
	case *rdb.Stream:
		return StreamType
	case Document:
		return JSONType
	case *Array:
		return ArrayType
	case *VectorSet:
		return VectorSetType
	case *Elements:
		return Type(v.Of.Name)
	}
	return ""
}
