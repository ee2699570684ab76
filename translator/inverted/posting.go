package inverted

import (
	"encoding/binary"
	"math"
)

// A term of the table search_postings begins with its kind. All kinds except words have a field.
const (
	kindAll     = 'a' // every document, with its length and score
	kindMissing = 'm' // the documents without the field
	kindShape   = 's' // the shapes of the field
	kindTag     = 'g' // a tag
	kindVector  = 'v' // the vectors of the field
	kindWord    = 't' // a word

	// Of indexes of SEARCH.CREATE.
	kindFieldWord = 'w' // a word of the field
	kindLength    = 'l' // the number of words of the field
)

// AllTerm is the term of all documents.
var AllTerm = []byte{kindAll}

// WordTerm returns the term of a word.
func WordTerm(word string) []byte { return append([]byte{kindWord}, word...) }

// Word returns the word of a term that WordTerm has made.
func Word(term []byte) string { return string(term[1:]) }

// TagTerm returns the term of a tag.
func TagTerm(f *Field, tag string) []byte { return append(fieldTerm(kindTag, f), tag...) }

// FieldWordTerm returns the term of a word of the field.
func FieldWordTerm(f *Field, word string) []byte { return append(fieldTerm(kindFieldWord, f), word...) }

// LengthTerm is the term of the documents with words of the field, and their number.
func LengthTerm(f *Field) []byte { return fieldTerm(kindLength, f) }

// TagOf returns the tag or word of a term that TagTerm or FieldWordTerm has made.
func TagOf(term []byte) string { return string(term[3:]) }

// MissingTerm is the term of the documents without the field.
func MissingTerm(f *Field) []byte { return fieldTerm(kindMissing, f) }

// VectorTerm is the term of the vectors of the field.
func VectorTerm(f *Field) []byte { return fieldTerm(kindVector, f) }

// IsVectorTerm reports whether the term has vectors.
func IsVectorTerm(term []byte) bool { return term[0] == kindVector }

// ShapeTerm is the term of the shapes of the field.
func ShapeTerm(f *Field) []byte { return fieldTerm(kindShape, f) }

func fieldTerm(kind byte, f *Field) []byte { return []byte{kind, byte(f.ID >> 8), byte(f.ID)} }

// After returns the smallest term greater than all terms with the prefix.
func After(prefix []byte) []byte {
	end := append([]byte(nil), prefix...)
	for i := len(end) - 1; i >= 0; i-- {
		if end[i]++; end[i] != 0 {
			return end[:i+1]
		}
	}
	return nil
}

// Posting is a document that has a term.
type Posting struct {
	Doc       int64
	Freq      uint32
	Mask      Mask
	positions []byte
}

// decodePositions returns the positions of a term in a document, in order.
func decodePositions(b []byte) []int {
	at, all := 0, make([]int, 0, len(b))
	for len(b) > 0 {
		d, n := binary.Uvarint(b)
		if n <= 0 {
			break
		}
		at += int(d)
		all = append(all, at)
		b = b[n:]
	}
	return all
}

// appendPositions encodes positions in order.
func appendPositions(out []byte, positions []int) []byte {
	last := 0
	for _, at := range positions {
		out = binary.AppendUvarint(out, uint64(at-last))
		last = at
	}
	return out
}

// The data of a block is a list of chunks, each with its length. The first document of a chunk is absolute, so that a
// chunk can be appended without reading the block.

// chunk builds a chunk.
type chunk struct {
	last int64
	data []byte
}

func (c *chunk) doc(doc int64) {
	c.data = binary.AppendUvarint(c.data, uint64(doc-c.last))
	c.last = doc
}

// sealed returns the chunk with its length.
func (c *chunk) sealed() []byte {
	out := binary.AppendUvarint(make([]byte, 0, len(c.data)+4), uint64(len(c.data)))
	return append(out, c.data...)
}

func (c *chunk) posting(doc int64, freq uint32, mask Mask, positions []byte) {
	c.doc(doc)
	head := uint64(freq) << 1
	if mask[1] != 0 {
		head |= 1
	}
	c.data = binary.AppendUvarint(c.data, head)
	c.data = binary.AppendUvarint(c.data, mask[0])
	if mask[1] != 0 {
		c.data = binary.AppendUvarint(c.data, mask[1])
	}
	c.data = binary.AppendUvarint(c.data, uint64(len(positions)))
	c.data = append(c.data, positions...)
}

// reader decodes a block. It stops at the first damage.
type reader struct {
	rest, chunk []byte
	at          int // of the next byte of the chunk
	from        int // of the positions that seek found
	last        int64
}

// next moves to the next entry, and returns its document.
func (r *reader) next() (doc int64, ok bool) {
	for r.at >= len(r.chunk) {
		if !r.enter() {
			return 0, false
		}
	}
	r.last += int64(r.uvarint())
	return r.last, true
}

// enter moves to the next chunk.
func (r *reader) enter() bool {
	v, n := binary.Uvarint(r.rest)
	if n <= 0 || v == 0 || v > uint64(len(r.rest)-n) {
		return false
	}
	end := n + int(v)
	r.chunk, r.rest, r.at, r.last = r.rest[n:end], r.rest[end:], 0, 0
	return true
}

func (r *reader) uvarint() uint64 {
	if r.at < len(r.chunk) && r.chunk[r.at] < 0x80 { // most are short
		r.at++
		return uint64(r.chunk[r.at-1])
	}
	return r.long()
}

func (r *reader) long() uint64 {
	v, n := binary.Uvarint(r.chunk[r.at:])
	if n <= 0 {
		r.stop()
		return 0
	}
	r.at += n
	return v
}

func (r *reader) stop() { r.rest, r.chunk, r.at = nil, nil, 0 }

func (r *reader) bytes(n uint64) []byte {
	if n > uint64(len(r.chunk)-r.at) {
		r.stop()
		return nil
	}
	b := r.chunk[r.at : r.at+int(n) : r.at+int(n)]
	r.at += int(n)
	return b
}

// Postings decodes a block of a word, a tag or missing fields, and calls use for each posting.
func Postings(data []byte, use func(Posting)) {
	r := reader{rest: data}
	for p := (Posting{}); r.posting(&p); {
		use(p)
	}
}

// posting decodes the next posting. It returns false at the end.
func (r *reader) posting(p *Posting) bool {
	if b := r.chunk[r.at:]; len(b) > 3 && b[0]|b[1]|b[2]|b[3] < 0x80 && b[1]&1 == 0 && int(b[3]) <= len(b)-4 { // as most
		end := 4 + int(b[3])
		r.last += int64(b[0])
		r.at += end
		p.Doc, p.Freq, p.Mask, p.positions = r.last, uint32(b[1]>>1), Mask{uint64(b[2]), 0}, b[4:end:end]
		return true
	}
	doc, ok := r.next()
	if !ok {
		return false
	}
	head := r.uvarint()
	p.Doc, p.Freq, p.Mask = doc, uint32(head>>1), Mask{r.uvarint(), 0}
	if head&1 != 0 {
		p.Mask[1] = r.uvarint()
	}
	p.positions = r.bytes(r.uvarint())
	return true
}

// unusual has the bits of the first four bytes of a posting that are 0 in most postings: then the document, the frequency,
// the mask and the length of the positions have one byte each.
const unusual = 0x8080_8180

// skip moves to the next posting that is not usual, and returns the number of postings before it.
func (r *reader) skip() (n int) {
	b, at, last := r.chunk, r.at, r.last
	for ; at+4 <= len(b); n++ {
		head := binary.LittleEndian.Uint32(b[at:])
		end := at + 4 + int(head>>24)
		if head&unusual != 0 || end > len(b) {
			break
		}
		at, last = end, last+int64(head&0x7f)
	}
	r.at, r.last = at, last
	return n
}

// seek decodes the next posting, or a later one: it skips usual postings before the document. It leaves the positions in
// the chunk, from r.from to r.at. It returns false at the end.
func (r *reader) seek(doc int64, p *Posting) bool {
	b, at, last := r.chunk, r.at, r.last
	for at+4 <= len(b) {
		head := binary.LittleEndian.Uint32(b[at:])
		end := at + 4 + int(head>>24)
		if head&unusual != 0 || end > len(b) {
			break
		}
		if last += int64(head & 0x7f); last >= doc {
			r.from, r.at, r.last = at+4, end, last
			p.Doc, p.Freq, p.Mask = last, head>>9&0x3f, Mask{uint64(head >> 16 & 0x7f), 0}
			return true
		}
		at = end
	}
	r.at, r.last = at, last
	if !r.posting(p) {
		return false
	}
	r.from = r.at - len(p.positions)
	return true
}

// DocInfo describes a document for scorers.
type DocInfo struct {
	Doc             int64
	Length, MaxFreq uint32
	Score           float64
}

func (c *chunk) docInfo(d DocInfo) {
	c.doc(d.Doc)
	c.data = binary.AppendUvarint(c.data, uint64(d.Length))
	head := uint64(d.MaxFreq) << 1
	if d.Score != 1 {
		head |= 1
	}
	c.data = binary.AppendUvarint(c.data, head)
	if d.Score != 1 {
		c.data = binary.LittleEndian.AppendUint64(c.data, math.Float64bits(d.Score))
	}
}

// DocInfos decodes a block of AllTerm.
func DocInfos(data []byte, use func(DocInfo)) {
	r := reader{rest: data}
	for d, ok := r.docInfo(); ok; d, ok = r.docInfo() {
		use(d)
	}
}

// areUsual reports whether eight documents follow each other, with one byte for each of their numbers.
func areUsual(b []byte) bool {
	x, y, z := binary.LittleEndian.Uint64(b), binary.LittleEndian.Uint64(b[8:]), binary.LittleEndian.Uint64(b[16:24])
	// A document has three bytes: the difference 1, a length below 0x80, and an even number below 0x80.
	return x&0x80ff_8180_ff81_80ff == 0x0001_0000_0100_0001 && y&0xff81_80ff_8180_ff81 == 0x0100_0001_0000_0100 && z&0x8180_ff81_80ff_8180 == 0x0000_0100_0001_0000
}

// DocInfosOf decodes a block of AllTerm for some documents, which are in order. It returns the documents after the block.
func DocInfosOf(data []byte, docs []int64, use func(DocInfo)) (rest []int64) {
	r := reader{rest: data}
	for len(docs) > 0 {
		for r.at+24 <= len(r.chunk) && areUsual(r.chunk[r.at:]) {
			if docs = r.usualInfos(docs, use); len(docs) == 0 {
				return docs
			}
		}
		d, ok := r.docInfo()
		if !ok {
			break
		}
		for len(docs) > 0 && docs[0] < d.Doc {
			docs = docs[1:]
		}
		if len(docs) > 0 && docs[0] == d.Doc {
			use(d)
			docs = docs[1:]
		}
	}
	return docs
}

// usualInfos decodes the eight documents that areUsual has found. It returns the documents after them.
func (r *reader) usualInfos(docs []int64, use func(DocInfo)) (rest []int64) {
	for ; len(docs) > 0 && docs[0] <= r.last+8; docs = docs[1:] {
		if n := docs[0] - r.last - 1; n >= 0 {
			b := r.chunk[r.at+3*int(n):]
			use(DocInfo{Doc: docs[0], Length: uint32(b[1]), MaxFreq: uint32(b[2] >> 1), Score: 1})
		}
	}
	r.at, r.last = r.at+24, r.last+8
	return docs
}

// docInfo decodes the next document. It returns false at the end.
func (r *reader) docInfo() (d DocInfo, ok bool) {
	if b := r.chunk[r.at:]; len(b) > 2 && b[0]|b[1]|b[2] < 0x80 && b[2]&1 == 0 { // as most
		r.last += int64(b[0])
		r.at += 3
		return DocInfo{Doc: r.last, Length: uint32(b[1]), MaxFreq: uint32(b[2] >> 1), Score: 1}, true
	}
	doc, ok := r.next()
	if !ok {
		return d, false
	}
	d = DocInfo{Doc: doc, Length: uint32(r.uvarint()), Score: 1}
	head := r.uvarint()
	d.MaxFreq = uint32(head >> 1)
	if head&1 != 0 {
		if b := r.bytes(8); b != nil {
			d.Score = math.Float64frombits(binary.LittleEndian.Uint64(b))
		}
	}
	return d, true
}

func (c *chunk) blob(doc int64, data []byte) {
	c.doc(doc)
	c.data = binary.AppendUvarint(c.data, uint64(len(data)))
	c.data = append(c.data, data...)
}

// Blobs decodes a block of vectors or shapes. A document may have several.
func Blobs(data []byte, use func(doc int64, blob []byte)) {
	r := reader{rest: data}
	for {
		doc, ok := r.next()
		if !ok {
			return
		}
		use(doc, r.bytes(r.uvarint()))
	}
}

// Without returns the block without the entries of deleted documents, empty if none is left. dropped reports whether it
// had some.
func Without(term, data []byte, gone func(doc int64) bool) (out []byte, dropped bool) {
	var c chunk
	keep := func(doc int64) bool {
		dropped = dropped || gone(doc)
		return !gone(doc)
	}
	switch term[0] {
	case kindAll, kindLength:
		DocInfos(data, func(d DocInfo) {
			if keep(d.Doc) {
				c.docInfo(d)
			}
		})
	case kindVector, kindShape:
		Blobs(data, func(doc int64, blob []byte) {
			if keep(doc) {
				c.blob(doc, blob)
			}
		})
	default:
		Postings(data, func(p Posting) {
			if keep(p.Doc) {
				c.posting(p.Doc, p.Freq, p.Mask, p.positions)
			}
		})
	}
	if len(c.data) == 0 {
		return nil, dropped
	}
	return c.sealed(), dropped
}
