package inverted

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
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
		l.Begin(hidden)
		for part := range slices.Chunk(docs, 1+draw.IntN(20)) {
			slices.Sort(part)
			var c chunk
			for _, doc := range part {
				c.posting(int64(doc+1), uint32(doc+1), Mask{1, uint64(draw.IntN(9) / 8)}, appendPositions(nil, []int{doc, 3 * doc}))
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
			if ok != (i < len(want)) || ok && (doc != want[i] || c.at.Freq != uint32(doc) || !slices.Equal(c.positions(), []int{int(doc - 1), int(3 * (doc - 1))})) {
				t.Fatalf("seed %d: seek %d finds %d, %t in %v", seed, at, doc, ok, want)
			}
			if !ok {
				break
			}
			at = max(at, doc)
		}
	}
}

// TestFrequencies compares leaves without positions with leaves that have them, for queries of two terms. A few documents are
// unusual, hidden, or have the term in another field.
func TestFrequencies(t *testing.T) {
	for seed := range uint64(2000) {
		draw := rand.New(rand.NewPCG(seed, 3))
		last := int64(1 + draw.IntN(300))
		hidden, hides := map[int64]bool{}, draw.IntN(3) == 0
		every := [2]int{1 + draw.IntN(60), 1 + draw.IntN(60)} // both lists and bytes
		var terms [2][]byte
		for i := range terms {
			for doc := int64(1); doc <= last; {
				var c chunk
				for until := doc + 1 + int64(draw.IntN(90)); doc <= min(last, until); doc++ {
					if draw.IntN(every[i]) > 0 {
						continue
					}
					freq, mask := uint32(draw.IntN(4)), Mask{uint64(draw.IntN(4)), 0}
					if draw.IntN(9) == 0 {
						freq, mask[1] = []uint32{62, 63, 64, 253, 254, 255, 256, 1 << 20}[draw.IntN(8)], uint64(draw.IntN(2))
					}
					c.posting(doc, freq, mask, make([]byte, draw.IntN(5)))
					if hides && draw.IntN(5) == 0 {
						hidden[doc] = true
					}
				}
				if len(c.data) > 0 {
					terms[i] = append(c.sealed(), terms[i]...) // the last chunk first
				}
			}
		}
		masked, kind := draw.IntN(2) == 0, []clauseKind{intersection, union}[draw.IntN(2)]
		run := func(omit bool) (all []string) {
			p := &Program{root: &clause{kind: kind, slop: -1}}
			for i := range terms {
				l := &Leaf{Term: WordTerm(strconv.Itoa(i))}
				p.Leaves = append(p.Leaves, l)
				p.root.children = append(p.root.children, &clause{kind: leaf, leaf: l, slop: -1, scores: true, masked: masked, mask: Mask{2, 0}})
			}
			if omit {
				p.OmitPositions(last)
			}
			for i, l := range p.Leaves {
				for range 2 {
					l.Begin(hidden)
					l.Take(terms[i])
				}
			}
			p.Run(RunOptions{Work: &store.Work{}}, func(f Found, freqs []uint32) { all = append(all, fmt.Sprint(f.Doc, freqs)) })
			for _, l := range p.Leaves {
				all = append(all, fmt.Sprint(l.count))
			}
			p.Release()
			return all
		}
		if want, got := run(false), run(true); !slices.Equal(want, got) {
			t.Fatalf("seed %d: %v, with positions %v", seed, got, want)
		}
	}
}

// TestDocInfosOf finds some documents among many, of which few are unusual.
func TestDocInfosOf(t *testing.T) {
	for seed := range uint64(300) {
		draw := rand.New(rand.NewPCG(seed, 2))
		var data []byte
		var all []DocInfo
		rare := 1 + draw.IntN(100)
		for d := (DocInfo{Doc: 1}); len(all) < 200; {
			var c chunk
			for range 1 + draw.IntN(100) {
				d.Length, d.MaxFreq, d.Score = uint32(draw.IntN(128)), uint32(draw.IntN(64)), 1
				if draw.IntN(rare) == 0 {
					d = DocInfo{Doc: d.Doc + int64(draw.IntN(200)), Length: uint32(draw.IntN(300)), MaxFreq: uint32(draw.IntN(100)), Score: float64(draw.IntN(3))}
				}
				c.docInfo(d)
				all = append(all, d)
				d.Doc++
			}
			data = append(data, c.sealed()...)
		}
		var docs []int64
		var want, got []DocInfo
		for _, d := range all {
			switch draw.IntN(rare) {
			case 0:
				docs, want = append(docs, d.Doc), append(want, d)
			case 1:
				if next := d.Doc + 1; !slices.ContainsFunc(all, func(d DocInfo) bool { return d.Doc == next }) {
					docs = append(docs, next) // which is missing
				}
			}
		}
		last := all[len(all)-1].Doc
		rest := DocInfosOf(data, append(docs, last+1000), func(d DocInfo) { got = append(got, d) })
		if !slices.Equal(got, want) || len(rest) == 0 || rest[0] <= last {
			t.Fatalf("seed %d: %v finds %v, want %v; %v is left", seed, docs, got, want, rest)
		}
	}
}
