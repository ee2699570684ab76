package transfer

import (
	"fmt"
	"strconv"

	"github.com/meowdis/meowdis/redis/rdb"
	"github.com/meowdis/meowdis/store/keytype"
)

// Type is the type of a key, as returned by TYPE.
type Type string

// Key types.
const (
	StringType Type = keytype.String
	ListType   Type = keytype.List
	SetType    Type = keytype.Set
	ZSetType   Type = keytype.ZSet
	HashType   Type = keytype.Hash
	StreamType Type = keytype.Stream
	JSONType   Type = keytype.JSON
	ArrayType  Type = keytype.Array
	SeriesType Type = keytype.Series

	VectorSetType Type = keytype.VectorSet
)

// Key holds the metadata of a key.
type Key struct {
	DB        int
	Name      []byte
	Type      Type
	ExpiresAt int64 // Unix ms, 0 for never

	// Count is the number of elements in all parts: bytes of a string, entries of a stream, 1
	// for a document. It is counted before the key is read; see Part.Changed. It is 0 for a key
	// in several parts if the source cannot know the count in advance.
	Count int64
}

// String formats the key for a message.
func (k *Key) String() string {
	name := strconv.Quote(string(k.Name))
	if k.DB != 0 {
		return fmt.Sprintf("%s in database %d", name, k.DB)
	}
	return name
}

// Value holds the elements of a part: rdb.String, rdb.List, rdb.Set, rdb.ZSet, rdb.Hash,
// *rdb.Stream, *rdb.Module, Document, *Array, *VectorSet or *Elements, depending on the key's type.
type Value interface {
	// Len returns the number of elements, counted as in Key.Count.
	Len() int
}

// Document holds the text of a JSON document.
type Document []byte

// Len returns 1: a document is never split.
func (Document) Len() int { return 1 }

// weight estimates the size of v in bytes.
func weight(v Value) (n int) {
	switch v := v.(type) {
	case rdb.String:
		return len(v)
	case Document:
		return len(v)
	case *rdb.Module:
		return v.Weight()
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

// Array is a sparse array.
type Array struct {
	Slots []Slot // nonempty slots in index order
	Next  uint64 // next index of ARINSERT; set in the last part
}

// Slot is a nonempty slot of an array.
type Slot struct {
	Index uint64
	Value []byte
}

// Len returns the number of nonempty slots.
func (a *Array) Len() int { return len(a.Slots) }

// Part is a part of a key. A small key is one part, both First and Last. The parts of a key are
// consecutive, share the same *Key, and follow the order of the value: of a list's elements, a
// string's bytes or a stream's entries. Sets, hashes and sorted sets come in any order.
//
// The last part of a stream holds its ids, counters and groups, which are zero in earlier
// parts. An empty stream is one part.
type Part struct {
	Key         *Key
	Value       Value
	First, Last bool

	// Changed, in a last part, reports that the key changed during reading. The parts may then
	// mix old and new values, contain an element twice, and differ from Count. Otherwise they
	// hold exactly Count elements without duplicates.
	Changed bool

	// Err, in a last part without a value, is the reason why the key could not be read
	// completely. Earlier parts of the key are void.
	Err error
}

// Whole returns v as the only part of k.
func Whole(k *Key, v Value) Part {
	k.Count = int64(v.Len())
	return Part{Key: k, Value: v, First: true, Last: true}
}

// typeOf returns the key type of v.
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
	case *rdb.Module:
		return Type(v.Name)
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
