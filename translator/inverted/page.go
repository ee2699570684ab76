package inverted

import (
	"bytes"
	"encoding/binary"
	"slices"
)

// A page is a row of search_pages: some terms in order, each with its chunks. Page i of a segment has the terms after the
// key of page i-1, up to its own key.
type Page struct{ Key, Data []byte }

const (
	// pageBytes limits the size of a page, so that its row usually fits into a page of SQLite, which reads each overflow page
	// with a system call.
	pageBytes = 3980
	// ownBytes limits a term and its chunks in a page. More have rows of their own in search_postings.
	ownBytes = 2000
)

// HasOwnRow reports whether a block belongs into search_postings, and not into a page: it is large, or its term is one
// that every slice adds to.
func (b Block) HasOwnRow() bool {
	return !MayBeInPage(b.Term) || len(b.Term)+len(b.Data) > ownBytes
}

// MayBeInPage reports whether a page may have the term.
func MayBeInPage(term []byte) bool {
	switch term[0] {
	case kindAll, kindLength, kindVector, kindShape:
		return false
	}
	return true
}

// Paged returns the pages of blocks, which are in order of their terms and have no rows of their own.
func Paged(blocks []Block) (pages []Page) {
	var data []byte
	for i, b := range blocks {
		data = appendEntry(data, b.Term, b.Data)
		if i+1 == len(blocks) || len(data)+len(blocks[i+1].Term)+len(blocks[i+1].Data)+8 > pageBytes {
			pages = append(pages, Page{Key: b.Term, Data: slices.Clip(data)})
			data = nil
		}
	}
	return pages
}

func appendEntry(page, term, data []byte) []byte {
	page = append(binary.AppendUvarint(page, uint64(len(term))), term...)
	return append(binary.AppendUvarint(page, uint64(len(data))), data...)
}

// entries reads a page. It stops at the first damage.
type entries struct{ rest []byte }

func (e *entries) next() (term, data []byte, ok bool) {
	if term, ok = e.part(); !ok {
		return nil, nil, false
	}
	data, ok = e.part()
	return term, data, ok
}

func (e *entries) part() (part []byte, ok bool) {
	if b := e.rest; len(b) > 0 && b[0] < 0x80 && int(b[0]) < len(b) { // as most
		end := 1 + int(b[0])
		part, e.rest = b[1:end:end], b[end:]
		return part, true
	}
	size, n := binary.Uvarint(e.rest)
	if n <= 0 || size > uint64(len(e.rest)-n) {
		e.rest = nil
		return nil, false
	}
	part, e.rest = e.rest[n:n+int(size):n+int(size)], e.rest[n+int(size):]
	return part, true
}

// EachTerm calls use for each term of a page, in order, with its chunks.
func EachTerm(page []byte, use func(term, data []byte)) {
	e := entries{page}
	for {
		term, data, ok := e.next()
		if !ok {
			return
		}
		use(term, data)
	}
}

// InPage returns the chunks of a term, nil if the page lacks it.
func InPage(page, term []byte) []byte {
	e := entries{page}
	for {
		t, data, ok := e.next()
		if !ok {
			return nil
		}
		switch bytes.Compare(t, term) {
		case 0:
			return data
		case 1:
			return nil
		}
	}
}

// InOrder reports whether a page can be read whole, and has terms in order, each after the key of the page before.
func InOrder(page Page, after []byte) bool {
	e := entries{page.Data}
	for len(e.rest) > 0 {
		term, _, ok := e.next()
		if !ok || len(term) == 0 || bytes.Compare(term, after) <= 0 {
			return false
		}
		after = term
	}
	return bytes.Compare(after, page.Key) <= 0
}

// WithoutDocs returns the page without the entries of deleted documents. dropped is false if it has none, and data is
// empty if nothing is left.
func WithoutDocs(page []byte, gone func(doc int64) bool) (data []byte, dropped bool) {
	EachTerm(page, func(term, chunks []byte) {
		left, some := Without(term, chunks, gone)
		if !some {
			left = chunks
		}
		dropped = dropped || some
		if len(left) > 0 {
			data = appendEntry(data, term, left)
		}
	})
	return data, dropped
}

// Rest is what Merge leaves of a segment. The pages up to the key Done have moved as a whole, also a page whose key is
// greater than its last term. Page has moved in part; it is nil unless one has.
type Rest struct {
	Done []byte
	Page *Page
}

// Merge joins the terms of several segments up to a term, or all if upTo is nil. pages has the next pages of each
// segment, which must have every term up to it. rests has the remains of each segment.
func Merge(pages [][]Page, upTo []byte) (blocks []Block, rests []Rest) {
	all := make([]*segmentReader, len(pages))
	for i := range pages {
		all[i] = &segmentReader{pages: pages[i]}
		all[i].advance()
	}
	for {
		term := leastTerm(all)
		if term == nil || upTo != nil && bytes.Compare(term, upTo) > 0 {
			break
		}
		blocks = append(blocks, takeTerm(all, term))
	}
	rests = make([]Rest, len(all))
	for i, s := range all {
		rests[i].Done = s.done
		if !s.ok {
			continue
		}
		if data := append(appendEntry(nil, s.term, s.data), s.rest.rest...); len(data) < len(s.pages[0].Data) {
			rests[i].Page = &Page{Key: s.pages[0].Key, Data: data}
		}
	}
	return blocks, rests
}

// leastTerm returns the least of the next terms, nil after the last one.
func leastTerm(all []*segmentReader) (term []byte) {
	for _, s := range all {
		if s.ok && (term == nil || bytes.Compare(s.term, term) < 0) {
			term = s.term
		}
	}
	return term
}

// takeTerm joins the entries of the term, which is the next one of at least one segment, and advances their readers.
func takeTerm(all []*segmentReader, term []byte) Block {
	b := Block{Term: term}
	var parts [][]byte
	for _, s := range all {
		if s.ok && bytes.Equal(s.term, term) {
			parts = append(parts, s.data)
			s.advance()
		}
	}
	slices.SortStableFunc(parts, func(x, y []byte) int { return int(max(-1, min(1, firstDoc(x)-firstDoc(y)))) })
	if b.Data = parts[0]; len(parts) > 1 {
		b.Data = slices.Concat(parts...)
	}
	b.First = firstDoc(b.Data)
	return b
}

func firstDoc(data []byte) int64 {
	r := reader{rest: data}
	doc, _ := r.next()
	return doc
}

// segmentReader goes through the terms of pages. ok is false after the last one.
type segmentReader struct {
	pages      []Page // the first one is being read
	done       []byte // the key of the last page that was read
	rest       entries
	begun, ok  bool
	term, data []byte
}

func (s *segmentReader) advance() {
	for {
		if s.begun {
			if s.term, s.data, s.ok = s.rest.next(); s.ok {
				return
			}
			s.done, s.pages = s.pages[0].Key, s.pages[1:]
		}
		if len(s.pages) == 0 {
			s.ok = false
			return
		}
		s.rest, s.begun = entries{s.pages[0].Data}, true
	}
}
