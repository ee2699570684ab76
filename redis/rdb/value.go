package rdb

// Value is a value of one of Redis's types: String, List, Set, Hash, ZSet, *Stream or
// *VectorSet.
type Value interface {
	// append appends the type and the encoded value.
	append(out []byte) []byte
	// Len is the number of elements; of bytes of a string, of entries of a stream.
	Len() int
}

type (
	String []byte
	List   [][]byte // in order
	Set    [][]byte // no member twice
	Hash   []Field  // no field twice
	ZSet   []Member // no member twice, written in the order of score and member
)

func (s String) Len() int  { return len(s) }
func (l List) Len() int    { return len(l) }
func (s Set) Len() int     { return len(s) }
func (h Hash) Len() int    { return len(h) }
func (z ZSet) Len() int    { return len(z) }
func (s *Stream) Len() int { return len(s.Entries) }

// Field is a field of a hash.
type Field struct {
	Name, Value []byte
	ExpiresAt   int64 // Unix ms, 0 for never
}

// Member is a member of a sorted set. A score is never NaN.
type Member struct {
	Name  []byte
	Score float64
}

// ID names an entry of a stream.
type ID struct{ Ms, Seq uint64 }

// Less reports whether id is before o.
func (id ID) Less(o ID) bool { return id.Ms < o.Ms || id.Ms == o.Ms && id.Seq < o.Seq }

// Stream is a stream with its consumer groups. It may be without entries.
type Stream struct {
	Entries []Entry // in the order of their ids
	Last    ID      // the last id ever added
	Deleted ID      // the greatest id that was deleted
	Added   int64   // entries ever added
	Groups  []Group
}

// Entry is an entry of a stream: field, value, field, value …
type Entry struct {
	ID     ID
	Fields [][]byte
}

// Unknown is Group.Read when it is not known.
const Unknown = -1

// Group is a consumer group.
type Group struct {
	Name      []byte
	Last      ID    // the last id that was delivered
	Read      int64 // entries ever read, or Unknown; less is a count past the largest
	Consumers []Consumer
}

// Consumer is a consumer of a group. Its times are Unix ms.
type Consumer struct {
	Name     []byte
	SeenAt   int64
	ActiveAt int64     // -1 for never
	Pending  []Pending // in the order of their ids; each is pending with one consumer
}

// Pending is an entry that was delivered and not acknowledged.
type Pending struct {
	ID          ID
	DeliveredAt int64 // Unix ms
	Deliveries  int64
}

// The types of values as they are written. Those that were not the first for
// their kind say in which form the value comes.
const (
	typeString          = 0
	typeList            = 1
	typeSet             = 2
	typeZSet            = 3 // scores as text
	typeHash            = 4
	typeZSet2           = 5 // scores as doubles
	typeModule          = 7 // of a module, in parts
	typeHashZipmap      = 9
	typeListZiplist     = 10
	typeSetIntset       = 11
	typeZSetZiplist     = 12
	typeHashZiplist     = 13
	typeQuicklist       = 14 // of ziplists
	typeStream          = 15
	typeHashListpack    = 16
	typeZSetListpack    = 17
	typeQuicklist2      = 18 // of listpacks
	typeStream2         = 19 // with what was deleted and read
	typeSetListpack     = 20
	typeStream3         = 21 // with the times at which consumers were active
	typeHashExpiryEarly = 22
	typeHashPackEarly   = 23
	typeHashExpiry      = 24 // each field with its expiry
	typeHashPackExpiry  = 25
)
