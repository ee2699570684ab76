package sketch

import (
	"encoding/binary"
	"math"
	"math/bits"

	"github.com/meowdis/meowdis/redis/rdb"
)

// CountMin holds a count-min sketch: rows of counters, one counter of each row for an item.
type CountMin struct {
	Width, Depth uint64
	Count        int64 // of all increments
	Body         *Body // the rows, 4 bytes a counter
}

// MaxCount marks a counter that has overflowed.
const MaxCount = math.MaxUint32

// NewCountMin returns a sketch without counts. It fails if it would exceed MaxBytes.
func NewCountMin(width, depth uint64) (*CountMin, error) {
	s := &CountMin{Width: width, Depth: depth, Body: EmptyBody()}
	if !s.valid() {
		return nil, ErrTooLarge
	}
	return s, nil
}

// CountMinSize returns the width and the depth of a sketch that counts at most rate of all increments too much, except
// with a probability. Both are between 0 and 1.
func CountMinSize(rate, probability float64) (width, depth float64) {
	half, p := float32(math.Log10(0.5)), float32(math.Log10(float64(float32(probability))))
	return math.Ceil(2 / rate), math.Ceil(float64(p / half))
}

func (s *CountMin) valid() bool {
	over, cells := bits.Mul64(s.Width, s.Depth)
	return s.Width > 0 && s.Depth > 0 && over == 0 && cells <= MaxBytes/4
}

// cell returns the place of an item's counter in a row.
func (s *CountMin) cell(item []byte, row uint64) int64 {
	s.Body.step(len(item) / 4)
	return 4 * int64(row*s.Width+uint64(murmur32(item, uint32(row)))%s.Width)
}

// Ready reports whether the item's counters are loaded.
func (s *CountMin) Ready(item []byte) bool {
	ok := true
	for row := range s.Depth {
		ok = s.Body.ready(s.cell(item, row), 4) && ok
	}
	return ok
}

// Add adds n to the item's counters, which must be ready, and returns the least of them.
func (s *CountMin) Add(item []byte, n int64) uint32 {
	least := uint32(MaxCount)
	for row := range s.Depth {
		at := s.cell(item, row)
		count := s.Body.uint32At(at) + uint32(n)
		if int64(count) < n {
			count = MaxCount
		}
		s.Body.setUint32(at, count)
		least = min(least, count)
	}
	s.Count += n
	return least
}

// Get returns the item's count.
func (s *CountMin) Get(item []byte) uint32 {
	least := uint32(MaxCount)
	for row := range s.Depth {
		least = min(least, s.Body.uint32At(s.cell(item, row)))
	}
	return least
}

// Merge sets each counter to the weighted sum of the sources' counters. The sources have the same size and are loaded. It
// reports whether all sums are counters; otherwise it changes nothing. step is called with the steps of the work.
func (s *CountMin) Merge(sources []*CountMin, weights []int64, step func(int)) bool {
	total := int64(0)
	for i, o := range sources {
		if !addProduct(&total, o.Count, weights[i]) {
			return false
		}
	}
	if total < 0 {
		return false
	}
	cells := s.Len() / 4
	sums := make([]uint32, cells)
	for at := range cells {
		step(len(sources))
		sum := int64(0)
		for i, o := range sources {
			if !addProduct(&sum, int64(o.Body.uint32At(4*at)), weights[i]) {
				return false
			}
		}
		if sum < 0 || sum > MaxCount {
			return false
		}
		sums[at] = uint32(sum)
	}
	for at, sum := range sums {
		s.Body.setUint32(4*int64(at), sum)
	}
	s.Count = total
	return true
}

// addProduct adds a*b to sum, and reports whether neither overflows.
func addProduct(sum *int64, a, b int64) bool {
	if a != 0 && b != 0 {
		product := a * b
		if product/b != a || a == -1 && b == math.MinInt64 || b == -1 && a == math.MinInt64 {
			return false
		}
		total := *sum + product
		if (total > *sum) != (product > 0) {
			return false
		}
		*sum = total
	}
	return true
}

const countMinHead = 24

// Head encodes the size and the count.
func (s *CountMin) Head() []byte {
	var out []byte
	for _, n := range []uint64{s.Width, s.Depth, uint64(s.Count)} {
		out = binary.LittleEndian.AppendUint64(out, n)
	}
	return out
}

func parseCountMin(head []byte, body *Body) (*CountMin, bool) {
	if len(head) != countMinHead {
		return nil, false
	}
	number := func(i int) uint64 { return binary.LittleEndian.Uint64(head[8*i:]) }
	s := &CountMin{Width: number(0), Depth: number(1), Count: int64(number(2)), Body: body}
	return s, s.valid()
}

// Len returns the bytes of the counters.
func (s *CountMin) Len() int64 { return 4 * int64(s.Width*s.Depth) }

// Memory returns the bytes that Redis's sketch takes.
func (s *CountMin) Memory() int64 { return 32 + s.Len() }

// Stored returns the body.
func (s *CountMin) Stored() *Body { return s.Body }

// Dump returns the value of a dump file. The whole body must be loaded.
func (s *CountMin) Dump() *rdb.Module {
	m := &rdb.Module{Name: CountMinName}
	m.Numbers(s.Width, s.Depth, uint64(s.Count))
	m.String(s.Body.Bytes(0, s.Len()))
	return m
}

func countMinOf(m *rdb.Module) (*CountMin, bool) {
	r := m.Reader()
	s := &CountMin{Width: r.Number(), Depth: r.Number(), Count: int64(r.Number())}
	counters := r.String()
	s.Body = BodyOf(counters)
	return s, r.Done() && s.valid() && s.Len() == int64(len(counters))
}
