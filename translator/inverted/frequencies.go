package inverted

import (
	"encoding/binary"
	"math/bits"
	"slices"
	"sync"

	"github.com/meowdis/meowdis/redis/search/score"
)

// frequencies holds the postings of a leaf without their positions: as a list, or if there are many of them as a byte for
// each document. Their chunks are decoded once, in any order.
type frequencies struct {
	list  []int64          // documents and frequencies, sorted once finish was called
	dense []byte           // the frequency of a document plus 1, 0 for a document without the term; nil if list has all
	large map[int64]uint32 // the frequencies from largeFreq on, which list and dense have as largeFreq

	wanted bool  // the clauses need no positions
	last   int64 // document
	fields *Mask // of the clauses
}

const (
	freqBits  = 8 // of an element of list, below the document
	largeFreq = 1<<freqBits - 2

	// sparsest limits the bytes of dense for a document.
	sparsest = 64

	// mostDecoded limits the leaves that are decoded.
	mostDecoded = 16

	// usualBytes estimates the bytes of a posting.
	usualBytes = 6
)

// densePool and listPool hold the slices of earlier queries, to be used again.
var (
	densePool = sync.Pool{New: func() any { return new([]byte) }}
	listPool  = sync.Pool{New: func() any { return new([]int64) }}
)

// OmitPositions lets the leaves load no positions, unless a clause needs them. Documents have numbers up to last. Many
// leaves keep their chunks encoded, which take less memory.
func (p *Program) OmitPositions(last int64) {
	if len(p.Leaves) > mostDecoded {
		return
	}
	p.root.omitPositions(true)
	for _, l := range p.Leaves {
		l.freqs.last = last
	}
}

func (c *clause) omitPositions(may bool) {
	if c.leaf != nil {
		f, fields := &c.leaf.freqs, AllFields
		if c.masked {
			fields = c.mask
		}
		first := f.fields == nil
		f.wanted = (first || f.wanted && *f.fields == fields) && may && c.field == nil && c.leaf.HasPostings()
		f.fields = &fields
	}
	for _, child := range c.children {
		child.omitPositions(may && (c.kind != intersection || c.slop < 0 && !c.inOrder))
	}
}

// Release ends the use of the rows, for the slices to be used again.
func (p *Program) Release() {
	for _, l := range p.Leaves {
		l.freqs.release()
	}
}

func (f *frequencies) release() {
	if f.list != nil {
		listPool.Put(new(f.list[:0]))
	}
	if f.dense != nil {
		densePool.Put(new(f.dense))
	}
	f.list, f.dense, f.large = nil, nil, nil
}

// take adds chunks. It returns the number of documents with the term that are not hidden, whether in the fields or not,
// and the bytes that it allocated. hide must still be called.
func (f *frequencies) take(chunks []byte, hidden map[int64]bool) (count int, allocated int64) {
	if f.list == nil {
		f.list = *listPool.Get().(*[]int64)
	}
	all := *f.fields == AllFields
	if f.isDense(len(chunks) / usualBytes) {
		allocated = f.begin()
	}
	r := reader{rest: chunks}
	for p := (Posting{}); r.posting(&p); {
		if p.Doc > 0 && p.Doc <= f.last && !(len(hidden) > 0 && hidden[p.Doc]) {
			count++
			if all || !p.Mask.And(*f.fields).Empty() {
				f.add(p.Doc, p.Freq)
				allocated += 8
			}
		}
		if f.dense != nil && (all || len(hidden) == 0) {
			count += f.takeUsual(&r, all)
		}
		if f.isDense(0) {
			allocated += f.begin()
		}
	}
	return count, allocated
}

// isDense reports whether the list is too long with n more documents.
func (f *frequencies) isDense(n int) bool {
	return f.dense == nil && sparsest*int64(len(f.list)+n) > f.last
}

// begin makes dense, of the postings in list. It returns the bytes that it takes.
func (f *frequencies) begin() int64 {
	n := int(f.last + 8) // so that eight can be read at the last one
	if f.dense = *densePool.Get().(*[]byte); cap(f.dense) >= n {
		f.dense = f.dense[:n]
		clear(f.dense)
	} else {
		f.dense = make([]byte, n)
	}
	for _, of := range f.list {
		f.dense[of>>freqBits] = byte(of) + 1
	}
	f.list = f.list[:0]
	return int64(n)
}

func (f *frequencies) add(doc int64, freq uint32) {
	if freq >= largeFreq {
		if f.large == nil {
			f.large = map[int64]uint32{}
		}
		f.large[doc], freq = freq, largeFreq
	}
	if f.dense == nil {
		f.list = append(f.list, doc<<freqBits|int64(freq))
	} else {
		f.dense[doc] = byte(freq + 1)
	}
}

// takeUsual decodes the usual postings up to the next unusual one, as reader.skip.
func (f *frequencies) takeUsual(r *reader, all bool) (count int) {
	always, fields := uint32(1), uint32(0)
	if !all {
		always, fields = 0, uint32(f.fields[0]&0x7f)<<16 // where a posting has its mask
	}
	b, at, last, dense := r.chunk, r.at, r.last, f.dense[:f.last+1]
	for ; at+4 <= len(b); count++ {
		head := binary.LittleEndian.Uint32(b[at:])
		end, doc := at+4+int(head>>24), last+int64(head&0x7f)
		if head&unusual != 0 || end > len(b) || uint64(doc) >= uint64(len(dense)) {
			break
		}
		if head&fields|always != 0 {
			dense[doc] = byte(head>>9&0x3f) + 1
		}
		at, last = end, doc
	}
	r.at, r.last = at, last
	return count
}

// finish sorts the list, and removes hidden documents. It returns their number.
func (f *frequencies) finish(hidden map[int64]bool) (count int) {
	slices.Sort(f.list)
	if f.dense == nil {
		return 0
	}
	for doc := range hidden {
		if doc > 0 && doc <= f.last && f.dense[doc] > 0 {
			f.dense[doc] = 0
			count++
		}
	}
	return count
}

// of returns the frequency of a document, which list or dense has as n.
func (f *frequencies) of(doc int64, n byte) uint32 {
	if n < largeFreq {
		return uint32(n)
	}
	return f.large[doc]
}

// present sets the upper bit of each of the eight documents from doc on that dense has.
func (f *frequencies) present(doc int64) uint64 {
	const low = 0x7f7f_7f7f_7f7f_7f7f
	x := binary.LittleEndian.Uint64(f.dense[doc:])
	return (x&low + low | x) &^ low
}

// nextWithAll returns the first document from doc on that has all of the terms.
func nextWithAll(all []*denseCursor, doc int64) (at int64, ok bool) {
	first, rest := all[0].freqs, all[1:]
	for ; doc <= first.last; doc += 8 {
		found := first.present(doc)
		for _, c := range rest {
			found &= c.freqs.present(doc)
		}
		if found != 0 {
			return doc + int64(bits.TrailingZeros64(found))/8, true
		}
	}
	return 0, false
}

// denseCursor goes through the documents of dense.
type denseCursor struct {
	clause *clause
	freqs  *frequencies
	at     int64
}

func (c *denseCursor) seek(doc int64) (int64, bool) {
	if c.at = doc; doc <= c.freqs.last && c.freqs.dense[doc] > 0 {
		return doc, true
	}
	at, ok := nextWithAll([]*denseCursor{c}, doc)
	c.at = at
	return at, ok
}

func (c *denseCursor) match() *score.Match {
	return c.clause.termMatch(c.freqs.of(c.at, c.freqs.dense[c.at]-1))
}

func (c *denseCursor) note(_ *Found, freqs []uint32) {
	if place := c.clause.place; place > 0 {
		freqs[place-1] = c.freqs.of(c.at, c.freqs.dense[c.at]-1)
	}
}

func (c *denseCursor) positions() []int { return nil }

// listCursor goes through the documents of a list.
type listCursor struct {
	clause *clause
	freqs  *frequencies
	list   []int64 // from the current document on
}

func (c *listCursor) seek(doc int64) (int64, bool) {
	for step := 1; len(c.list) > 0 && c.list[0]>>freqBits < doc; step *= 2 {
		if step = min(step, len(c.list)); step > 1 && c.list[step-1]>>freqBits >= doc {
			step, _ = slices.BinarySearch(c.list[:step], doc<<freqBits)
		}
		c.list = c.list[step:]
	}
	if len(c.list) == 0 {
		return 0, false
	}
	return c.list[0] >> freqBits, true
}

func (c *listCursor) freq() uint32 { return c.freqs.of(c.list[0]>>freqBits, byte(c.list[0])) }

func (c *listCursor) match() *score.Match { return c.clause.termMatch(c.freq()) }

func (c *listCursor) note(_ *Found, freqs []uint32) {
	if place := c.clause.place; place > 0 {
		freqs[place-1] = c.freq()
	}
}

func (c *listCursor) positions() []int { return nil }
