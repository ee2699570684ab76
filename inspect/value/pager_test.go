package value

import (
	"strconv"
	"testing"
)

// tape is a value for a pager, with chunks of the given lengths.
type tape struct {
	pager
	lengths []int
	chain   bool
	fetched int
}

func newTape(height int, chain bool, lengths ...int) *tape {
	count := len(lengths)
	if chain {
		count = -1
	}
	t := &tape{pager: newPager(count, true), lengths: lengths, chain: chain}
	t.height = height
	t.fill()
	return t
}

// fill loads missing chunks as the browser does.
func (t *tape) fill() {
	for i, ok := t.missing(); ok; i, ok = t.missing() {
		c := &chunk{rows: make([]record, t.lengths[i])}
		if t.chain && i+1 < len(t.lengths) {
			c.next = strconv.Itoa(i + 1)
		}
		t.add(i, c)
		t.fetched++
	}
}

func (t *tape) scrolls(n int) {
	t.move(n)
	t.fill()
}

func (t *tape) follows(c destination) {
	t.destination = c
	t.seekDestination()
	t.fill()
}

func (t *tape) at(tt *testing.T, top, cursor position) {
	tt.Helper()
	if t.top != top || t.cursor != cursor {
		tt.Errorf("top %v, cursor %v; want %v, %v", t.top, t.cursor, top, cursor)
	}
}

func TestPagerMoves(t *testing.T) {
	p := newTape(5, false, 10, 10, 10)
	p.at(t, position{0, 0}, position{0, 0})
	p.scrolls(4)
	p.at(t, position{0, 0}, position{0, 4})
	p.scrolls(1)
	p.at(t, position{0, 1}, position{0, 5})
	p.scrolls(7)
	p.at(t, position{0, 8}, position{1, 2})
	p.scrolls(-3)
	p.at(t, position{0, 8}, position{0, 9})
	p.scrolls(1000)
	p.scrolls(1000)
	p.at(t, position{2, 5}, position{2, 9})
	p.home()
	p.at(t, position{0, 0}, position{0, 0})
	p.scrolls(-1)
	p.at(t, position{0, 0}, position{0, 0})
}

func TestPagerEndsWithoutTheMiddle(t *testing.T) {
	lengths := make([]int, 10_000)
	for i := range lengths {
		lengths[i] = 100
	}
	lengths[len(lengths)-1] = 3
	p := newTape(10, false, lengths...)
	p.follows(lastLine)
	p.at(t, position{9998, 93}, position{9999, 2})
	if p.destination != noDestination {
		t.Error("the end is still chased")
	}
	if p.fetched > 10 {
		t.Errorf("fetched %d chunks to see the first and the last", p.fetched)
	}
	if len(p.chunks) > 2*chunkMargin+2 {
		t.Errorf("%d chunks in memory", len(p.chunks))
	}
}

func TestPagerFollowsAChain(t *testing.T) {
	p := newTape(10, true, 100, 0, 0, 120, 80, 100, 100, 100, 100, 100)
	if p.fetched == len(p.lengths) {
		t.Fatal("all was loaded for the first screen")
	}
	p.follows(lastLine)
	p.at(t, position{9, 90}, position{9, 99})
	if n, ok := p.lineNumber(p.cursor); !ok || n != 800 {
		t.Errorf("the last line is line %d, %v", n, ok)
	}
	if len(p.chunks) > 2*chunkMargin+2 {
		t.Errorf("%d chunks in memory", len(p.chunks))
	}
}

func TestPagerOverEmptyChunks(t *testing.T) {
	p := newTape(5, true, 3, 0, 0, 4)
	p.scrolls(3)
	p.at(t, position{0, 0}, position{3, 0})
	p.scrolls(-1)
	p.at(t, position{0, 0}, position{0, 2})
	p.follows(lastLine)
	p.at(t, position{0, 2}, position{3, 3})
}
