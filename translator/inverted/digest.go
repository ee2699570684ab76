package inverted

import (
	"encoding/binary"
	"math"

	"github.com/meowdis/meowdis/redis/xxh3"
)

// Digest adds up hashes of the entries of a block, so that the order of entries and their blocks do not matter. It leaves
// out the documents that skip selects.
func Digest(term, data []byte, skip func(doc int64) bool) (sum uint64) {
	entry := append([]byte(nil), term...)
	use := func(doc int64, encode func(c *chunk)) {
		if skip != nil && skip(doc) {
			return
		}
		c := chunk{data: entry[:len(term)]}
		encode(&c)
		entry = c.data
		sum += xxh3.Hash(entry)
	}
	switch term[0] {
	case kindAll, kindLength:
		DocInfos(data, func(d DocInfo) { use(d.Doc, func(c *chunk) { c.docInfo(d) }) })
	case kindVector, kindShape:
		Blobs(data, func(doc int64, blob []byte) { use(doc, func(c *chunk) { c.blob(doc, blob) }) })
	default:
		Postings(data, func(p Posting) { use(p.Doc, func(c *chunk) { c.posting(p.Doc, p.Freq, p.Mask, p.positions) }) })
	}
	return sum
}

// Digest returns the hash of a row of search_numbers.
func (n Number) Digest() uint64 {
	b := binary.LittleEndian.AppendUint64([]byte{'n'}, uint64(n.Field))
	b = binary.LittleEndian.AppendUint64(b, math.Float64bits(n.Value))
	return xxh3.Hash(binary.LittleEndian.AppendUint64(b, uint64(n.Doc)))
}
