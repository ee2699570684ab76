package inverted

import (
	"bytes"
	"slices"

	"github.com/meowdis/meowdis/store"
)

// Leaf is a list of documents to read.
type Leaf struct {
	Term    []byte               // of search_postings, or nil
	Field   *Field               // of a range of numbers, vectors or shapes
	Ranges  []NumberRange        // of search_numbers
	Accepts func(f float64) bool // of the numbers in Ranges
	Radius  float64              // of vectors
	To      *Distance            // of vectors, nil for other leaves
	shape   func(wkt string) bool
	matches func(word string) bool // of a Scan

	spans     []span      // of postings with positions, in order once finish was called
	freqs     frequencies // of postings without positions
	count     int         // of the documents of postings that are not hidden
	hidden    map[int64]bool
	postings  []Posting // of a Scan, until they are spans
	docs      []int64
	distances map[int64]float64
}

// NumberRange holds the numbers from Min to Max, both included.
type NumberRange struct{ Min, Max float64 }

// LoadBlock adds a block of search_postings, without the hidden documents, which Begin hides in postings.
func (l *Leaf) LoadBlock(data []byte, hidden map[int64]bool, w *store.Work) {
	w.Step(len(data))
	switch {
	case l.To != nil:
		l.loadVectors(data, hidden)
	case l.shape != nil:
		Blobs(data, func(doc int64, wkt []byte) {
			if !hidden[doc] && (len(l.docs) == 0 || l.docs[len(l.docs)-1] != doc) {
				w.Step(16 * len(wkt))
				if l.shape(string(wkt)) {
					w.Grow(8)
					l.docs = append(l.docs, doc)
				}
			}
		})
	default:
		w.Grow(l.Take(data))
	}
}

// HasPostings reports whether the rows of the leaf are postings, which Begin and Take load.
func (l *Leaf) HasPostings() bool { return l.Term != nil && l.To == nil && l.shape == nil }

// Begin forgets the postings of an earlier run, and hides documents.
func (l *Leaf) Begin(hidden map[int64]bool) {
	l.hidden, l.spans, l.count = hidden, nil, 0
	l.freqs.release()
}

// Take adds chunks of postings, whose bytes it does not keep. It returns the bytes that it allocated.
func (l *Leaf) Take(chunks []byte) (allocated int64) {
	if !l.freqs.wanted {
		l.spans = appendSpans(l.spans, bytes.Clone(chunks))
		return int64(len(chunks))
	}
	count, allocated := l.freqs.take(chunks, l.hidden)
	l.count += count
	return allocated
}

func (l *Leaf) loadVectors(data []byte, hidden map[int64]bool) {
	if l.distances == nil {
		l.distances = map[int64]float64{}
	}
	Blobs(data, func(doc int64, v []byte) {
		if hidden[doc] {
			return
		}
		if d := l.To.To(v); d <= l.Radius {
			if old, ok := l.distances[doc]; !ok {
				l.docs = append(l.docs, doc)
				l.distances[doc] = d
			} else {
				l.distances[doc] = min(old, d)
			}
		}
	})
}

// LoadDocs adds documents of rows of search_numbers that the leaf accepts.
func (l *Leaf) LoadDocs(docs []int64) { l.docs = append(l.docs, docs...) }

// loadBatch adds the rows of a batch, whose documents have greater numbers than the table's.
func (l *Leaf) loadBatch(b *Batch, w *store.Work) {
	if l.Ranges != nil {
		for _, n := range b.Numbers {
			if n.Field != l.Field.ID {
				continue
			}
			for _, r := range l.Ranges {
				if r.Min <= n.Value && n.Value <= r.Max && l.Accepts(n.Value) {
					l.docs = append(l.docs, n.Doc)
				}
			}
		}
	} else if c := b.terms[string(l.Term)]; c != nil {
		l.LoadBlock(c.sealed(), l.hidden, w)
	}
}

// finish sorts the loaded documents.
func (l *Leaf) finish() {
	if l.freqs.wanted {
		l.count -= l.freqs.finish(l.hidden)
		return
	}
	l.order()
	slices.Sort(l.docs)
	l.docs = slices.Compact(l.docs)
}
