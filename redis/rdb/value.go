package rdb

// Value is a value of one of Redis's types: String, List, Set, Hash, ZSet, *Stream,
// *VectorSet or *Module.
type Value interface {
	// append appends the type and the encoded value.
	append(out []byte) []byte
	// Len returns the number of elements: bytes of a string, entries of a stream.
	Len() int
}

type (
	String []byte
	List   [][]byte // in order
	Set    [][]byte // no member twice
	Hash   []Field  // no field twice
	ZSet   []Member // no member twice; written in the order of score and member
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

// Stream is a stream with its consumer groups. It may have no entries.
type Stream struct {
	Entries []Entry // sorted by ID
	Last    ID      // the last id ever added
	Deleted ID      // greatest deleted ID
	Added   int64   // entries ever added
	Groups  []Group
}

// Entry is an entry of a stream: field, value, field, value …
type Entry struct {
	ID     ID
	Fields [][]byte
}

// Unknown is the value of Group.Read if the count is unknown.
const Unknown = -1

// Group is a consumer group.
type Group struct {
	Name      []byte
	Last      ID    // last delivered ID
	Read      int64 // entries ever read, or Unknown; a smaller value is a count beyond the largest
	Consumers []Consumer
}

// Consumer is a consumer of a group. Its times are Unix ms.
type Consumer struct {
	Name     []byte
	SeenAt   int64
	ActiveAt int64     // -1 for never
	Pending  []Pending // sorted by ID; an entry is pending with one consumer only
}

// Pending is a delivered entry that is not acknowledged.
type Pending struct {
	ID          ID
	DeliveredAt int64 // Unix ms
	Deliveries  int64
}

// The type bytes of values. Some kinds of values have several formats, each with its own type.
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
	typeStream2         = 19 // with deleted and read counts
	typeSetListpack     = 20
	typeStream3         = 21 // with the last active times of consumers
	typeHashExpiryEarly = 22
	typeHashPackEarly   = 23
	typeHashExpiry      = 24 // each field with its expiry
	typeHashPackExpiry  = 25
)
