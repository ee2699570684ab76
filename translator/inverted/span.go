package inverted

import (
	"cmp"
	"slices"

	"github.com/meowdis/meowdis/internal/smallsort"
)

// span holds a chunk of postings, still encoded: a query decodes the postings that it looks at, and skips chunks.
type span struct {
	first, last int64 // documents
	data        []byte
}

// appendSpans appends the chunks of a block.
func appendSpans(all []span, data []byte) []span {
	n := 0
	for r := (reader{rest: data}); r.enter(); n++ {
	}
	all = slices.Grow(all, n)
	for r := (reader{rest: data}); r.enter(); {
		all = append(all, span{data: r.chunk})
	}
	return all
}

// postings decodes a span.
func (s *span) postings(use func(Posting)) {
	r := reader{chunk: s.data}
	for p := (Posting{}); r.posting(&p); {
		use(p)
	}
}

// measure sets first and last. It returns the number of documents that are not hidden, and whether they are in order.
func (s *span) measure(hidden map[int64]bool) (count int, ordered bool) {
	ordered = true
	r := reader{chunk: s.data}
	for p, n := (Posting{}), 0; ; n++ {
		if n > 0 && len(hidden) == 0 {
			count += r.skip()
			s.last = r.last
		}
		if !r.posting(&p) {
			break
		}
		if n == 0 {
			s.first = p.Doc
		} else if p.Doc < s.last {
			ordered = false
		}
		s.last = p.Doc
		if len(hidden) == 0 || !hidden[p.Doc] {
			count++
		}
	}
	return count, ordered
}

// order counts the documents of the spans, and sorts the spans, which are read from segments in any order.
func (l *Leaf) order() {
	ordered := true
	l.count = 0
	for i := range l.spans {
		count, in := l.spans[i].measure(l.hidden)
		l.count += count
		ordered = ordered && in
	}
	smallsort.Sort(l.spans, func(a, b span) int { return cmp.Compare(a.first, b.first) })
	for i := 1; i < len(l.spans); i++ {
		ordered = ordered && l.spans[i-1].last <= l.spans[i].first
	}
	if ordered {
		return
	}
	var all []Posting
	for i := range l.spans {
		l.spans[i].postings(func(p Posting) { all = append(all, p) })
	}
	slices.SortFunc(all, func(a, b Posting) int { return cmp.Compare(a.Doc, b.Doc) })
	l.encode(all)
}

// encode makes a span of postings in order.
func (l *Leaf) encode(postings []Posting) {
	var c chunk
	for _, p := range postings {
		c.posting(p.Doc, p.Freq, p.Mask, p.positions)
	}
	if l.spans = nil; len(postings) > 0 {
		l.spans = []span{{first: postings[0].Doc, last: postings[len(postings)-1].Doc, data: c.data}}
	}
}

// postingCursor goes through the postings of the clause's fields.
type postingCursor struct {
	clause *clause
	spans  []span // after the one that is read
	last   int64  // document of the one that is read
	rest   reader
	at     Posting
	state  byte // 0 before the first seek, 1 at a posting, 2 after the last one
	places bool

	lengths *FieldLengths // of words of SEARCH.CREATE
	average float64
}

func (c *postingCursor) seek(doc int64) (int64, bool) {
	if c.state == 1 && c.at.Doc >= doc {
		return c.at.Doc, true
	}
	for c.state != 2 {
		if (c.last < doc || c.rest.at >= len(c.rest.chunk)) && !c.enter(doc) {
			break
		}
		if c.rest.seek(doc, &c.at) && c.at.Doc >= doc && c.selects() {
			c.state = 1
			return c.at.Doc, true
		}
	}
	c.state = 2
	return 0, false
}

// enter moves to the next span that may have the document, or one after it.
func (c *postingCursor) enter(doc int64) bool {
	for len(c.spans) > 0 && c.spans[0].last < doc {
		c.spans = c.spans[1:]
	}
	if len(c.spans) == 0 {
		return false
	}
	c.rest, c.last = reader{chunk: c.spans[0].data}, c.spans[0].last
	c.spans = c.spans[1:]
	return true
}

// selects reports whether the current posting counts.
func (c *postingCursor) selects() bool {
	if hidden := c.clause.leaf.hidden; len(hidden) > 0 && hidden[c.at.Doc] {
		return false
	}
	return !c.clause.masked || !c.at.Mask.And(c.clause.mask).Empty()
}

func (c *postingCursor) positions() []int {
	return decodePositions(c.rest.chunk[c.rest.from:c.rest.at])
}
