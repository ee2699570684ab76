package inverted

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/meowdis/meowdis/store"
)

// TestSpans compares the cursor of a leaf with a sorted list, for blocks in any order, which may overlap.
func TestSpans(t *testing.T) {
	for seed := range uint64(300) {
		draw := rand.New(rand.NewPCG(seed, 1))
		docs := draw.Perm(60)[:1+draw.IntN(59)]
		if seed%2 == 0 {
			slices.Sort(docs)
		}
		hidden := map[int64]bool{}
		for range draw.IntN(10) {
			hidden[int64(1+draw.IntN(60))] = true
		}
		var want []int64
		l := &Leaf{}
		for part := range slices.Chunk(docs, 1+draw.IntN(20)) {
			slices.Sort(part)
			var c chunk
			for _, doc := range part {
				c.posting(int64(doc+1), uint32(doc+1), Mask{1, uint64(doc % 2)}, nil)
				if !hidden[int64(doc+1)] {
					want = append(want, int64(doc+1))
				}
			}
			l.LoadBlock(c.sealed(), hidden, &store.Work{})
		}
		slices.Sort(want)
		if l.finish(); l.count != len(want) {
			t.Fatalf("seed %d: %d documents, want %d", seed, l.count, len(want))
		}
		c := &postingCursor{clause: &clause{leaf: l}, spans: l.spans, last: -1}
		for at := int64(0); ; at += 1 + int64(draw.IntN(5)) {
			i, _ := slices.BinarySearch(want, at)
			doc, ok := c.seek(at)
			if ok != (i < len(want)) || ok && (doc != want[i] || c.at.Freq != uint32(doc)) {
				t.Fatalf("seed %d: seek %d finds %d, %t in %v", seed, at, doc, ok, want)
			}
			if !ok {
				break
			}
			at = max(at, doc)
		}
	}
}
