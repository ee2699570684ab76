package sketch

import "github.com/meowdis/meowdis/redis/rdb"

// The names of the types, as TYPE returns them and dump files contain them.
const (
	BloomName    = "MBbloom--"
	CuckooName   = "MBbloomCF"
	CountMinName = "CMSk-TYPE"
	TopKName     = "TopK-TYPE"
	TDigestName  = "TDIS-TYPE"
)

// Names lists the types.
var Names = []string{BloomName, CuckooName, CountMinName, TopKName, TDigestName}

// Sketch holds a probabilistic data structure.
type Sketch interface {
	// Head returns the part that is not in the body.
	Head() []byte
	// Len returns the length of the body.
	Len() int64
	// Memory returns the bytes that Redis's structure takes.
	Memory() int64
	// Dump returns the value of a dump file. The whole body must be loaded.
	Dump() *rdb.Module
	// Stored returns the body.
	Stored() *Body
}

// Stored returns the body.
func (b *Bloom) Stored() *Body { return b.Body }

// Parse parses a head that Sketch.Head has returned. name is a type.
func Parse(name string, head []byte, body *Body) (Sketch, bool) {
	switch name {
	case BloomName:
		return ParseBloom(head, body)
	case CuckooName:
		c, ok := ParseCuckoo(head, body)
		return c, ok && c.Valid()
	case CountMinName:
		return parseCountMin(head, body)
	case TopKName:
		return parseTopK(head, body)
	case TDigestName:
		return parseTDigest(head, body)
	}
	return nil, false
}

// Restore converts a value of a dump file.
func Restore(m *rdb.Module) (Sketch, bool) {
	switch {
	case m.Name == BloomName && m.Version <= bloomVersion:
		return bloomOf(m)
	case m.Name == CuckooName && m.Version <= cuckooVersion:
		return cuckooOf(m)
	case m.Version > 0:
		return nil, false
	case m.Name == CountMinName:
		return countMinOf(m)
	case m.Name == TopKName:
		return topKOf(m)
	case m.Name == TDigestName:
		return tdigestOf(m)
	}
	return nil, false
}
