package inverted

import (
	"cmp"
	"container/heap"
	"slices"
)

// Nearest keeps the documents with the nearest vectors.
type Nearest struct {
	k      int
	to     *Distance
	wanted func(doc int64) bool
	heap   nearHeap
	best   map[int64]*Neighbour
}

// Neighbour is a document and its distance.
type Neighbour struct {
	Doc      int64
	Distance float64
	at       int
}

// NewNearest returns an empty list for k documents that are wanted.
func NewNearest(k int, to *Distance, wanted func(doc int64) bool) *Nearest {
	return &Nearest{k: k, to: to, wanted: wanted, best: map[int64]*Neighbour{}}
}

// Block adds a block of vectors.
func (n *Nearest) Block(data []byte) {
	Blobs(data, func(doc int64, v []byte) {
		if n.wanted(doc) {
			n.add(doc, n.to.To(v))
		}
	})
}

// Batch adds the vectors of a batch.
func (n *Nearest) Batch(b *Batch, f *Field) {
	if c := b.terms[string(VectorTerm(f))]; c != nil {
		n.Block(c.sealed())
	}
}

func (n *Nearest) add(doc int64, d float64) {
	full := len(n.heap) == n.k
	if worst := n.heap; full && (d > worst[0].Distance || d == worst[0].Distance && doc >= worst[0].Doc) {
		return // as almost always, and a map would be slow
	}
	if old := n.best[doc]; old != nil {
		if d < old.Distance {
			old.Distance = d
			heap.Fix(&n.heap, old.at)
		}
		return
	}
	if full {
		worst := n.heap[0]
		delete(n.best, worst.Doc)
		heap.Pop(&n.heap)
	}
	v := &Neighbour{Doc: doc, Distance: d}
	n.best[doc] = v
	heap.Push(&n.heap, v)
}

// Sorted returns the documents, the nearest first.
func (n *Nearest) Sorted() []*Neighbour {
	all := slices.Clone([]*Neighbour(n.heap))
	slices.SortFunc(all, func(a, b *Neighbour) int {
		return cmp.Or(cmp.Compare(a.Distance, b.Distance), cmp.Compare(a.Doc, b.Doc))
	})
	return all
}

// nearHeap has the farthest neighbour first.
type nearHeap []*Neighbour

func (h nearHeap) Len() int { return len(h) }
func (h nearHeap) Less(i, j int) bool {
	return h[i].Distance > h[j].Distance || h[i].Distance == h[j].Distance && h[i].Doc > h[j].Doc
}
func (h nearHeap) Swap(i, j int) {
	h[i], h[j] = h[j], h[i]
	h[i].at, h[j].at = i, j
}
func (h *nearHeap) Push(v any) {
	n := v.(*Neighbour)
	n.at = len(*h)
	*h = append(*h, n)
}
func (h *nearHeap) Pop() any {
	old := *h
	n := old[len(old)-1]
	*h = old[:len(old)-1]
	return n
}
