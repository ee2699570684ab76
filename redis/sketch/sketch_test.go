package sketch

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/meowdis/meowdis/redis/rdb"
)

// TestMurmur checks the published values of the hash functions.
func TestMurmur(t *testing.T) {
	if h := murmur32([]byte("foo"), 0); h != 0x8fea6375 {
		t.Errorf("murmur32: %#x", h)
	}
	if h := murmur64([]byte("foo"), 0); h != 0xcdde38358fd25b01 {
		t.Errorf("murmur64: %#x", h)
	}
}

// stored keeps a sketch as a store does: its head, and blocks that are not all zeros.
type stored struct {
	t      *testing.T
	name   string
	head   []byte
	blocks map[int64][]byte
}

// do opens the sketch, and calls fn until it is done, loading the blocks that it wants in between.
func (s *stored) do(fn func(Sketch) bool) {
	s.t.Helper()
	sketch, ok := Parse(s.name, s.head, NewBody())
	if !ok {
		s.t.Fatal("the head is invalid")
	}
	for tries := 0; !fn(sketch); tries++ {
		wanted := sketch.Stored().Wanted()
		if len(wanted) == 0 || tries > 1000 {
			s.t.Fatalf("not done, and wants %d blocks", len(wanted))
		}
		for _, i := range wanted {
			if data, ok := s.blocks[i]; ok {
				sketch.Stored().Load(i, data)
			}
		}
		sketch.Stored().Loaded(wanted)
	}
	s.keep(sketch)
}

func (s *stored) keep(sketch Sketch) {
	s.head = sketch.Head()
	for i, b := range sketch.Stored().Changed() {
		if _, ok := s.blocks[i]; ok != b.Stored {
			s.t.Fatalf("block %d is stored: %v", i, ok)
		}
		if s.blocks[i] = bytes.Clone(b.Data); len(b.Data) == 0 {
			delete(s.blocks, i)
		}
	}
}

// whole returns the sketch with all blocks.
func (s *stored) whole() Sketch {
	sketch, _ := Parse(s.name, s.head, NewBody())
	for i, data := range s.blocks {
		sketch.Stored().Load(i, data)
	}
	sketch.Stored().LoadedAll()
	return sketch
}

func store(t *testing.T, name string, sketch Sketch) *stored {
	s := &stored{t: t, name: name, blocks: map[int64][]byte{}}
	s.keep(sketch)
	return s
}

// checkDump restores the dump of a sketch, and compares the result.
func (s *stored) checkDump() {
	s.t.Helper()
	whole := s.whole()
	v, err := rdb.Restore(rdb.Dump(whole.Dump(), nil), nil)
	if err != nil {
		s.t.Fatal(err)
	}
	back, ok := Restore(v.(*rdb.Module))
	if !ok {
		s.t.Fatal("the dump is refused")
	}
	if !bytes.Equal(back.Head(), whole.Head()) || !bytes.Equal(back.Stored().Bytes(0, back.Len()), whole.Stored().Bytes(0, whole.Len())) {
		s.t.Error("the dump differs")
	}
}

// TestBloomModel adds items to a stored filter and to plain bits.
func TestBloomModel(t *testing.T) {
	type filter struct {
		bits    []bool
		items   int
		entries int
		rate    float64
	}
	for _, c := range []struct {
		rate     float64
		capacity int
		growth   int
	}{{0.01, 100, 2}, {0.2, 7, 1}, {0.001, 1000, 3}} {
		b, err := NewBloom(c.rate, uint32(c.capacity), uint32(c.growth), true)
		if err != nil {
			t.Fatal(err)
		}
		s := store(t, BloomName, b)
		var model []*filter
		grow := func(entries int, rate float64) {
			bits := int(float64(entries) * math.Abs(math.Log(rate)) / 0.480453013918201)
			model = append(model, &filter{bits: make([]bool, (bits+63)/64*64), entries: entries, rate: rate})
		}
		grow(c.capacity, c.rate/2)
		places := func(f *filter, item []byte) (at []uint64) {
			a := murmur64(item, 0xc6a4a7935bd1e995)
			step := murmur64(item, a)
			for i := range uint64(math.Ceil(0.693147180559945 * math.Abs(math.Log(f.rate)) / 0.480453013918201)) {
				at = append(at, (a+i*step)%uint64(len(f.bits)))
			}
			return at
		}
		has := func(item []byte) bool {
			return slices.ContainsFunc(model, func(f *filter) bool {
				return !slices.ContainsFunc(places(f, item), func(at uint64) bool { return !f.bits[at] })
			})
		}
		for i := range 1000 {
			item := fmt.Appendf(nil, "item %d", i%800)
			want := !has(item)
			if last := model[len(model)-1]; want && last.items >= last.entries {
				grow(last.entries*c.growth, last.rate/2)
			}
			if want {
				last := model[len(model)-1]
				last.items++
				for _, at := range places(last, item) {
					last.bits[at] = true
				}
			}
			s.do(func(sketch Sketch) bool {
				added, done, err := sketch.(*Bloom).Add(sketch.(*Bloom).Hash(item))
				if done && (added != want || err != nil) {
					t.Fatalf("item %d: added %v, %v", i, added, err)
				}
				return done
			})
		}
		whole := s.whole().(*Bloom)
		start := int64(0)
		for i, f := range model {
			for bit, set := range f.bits {
				if got := whole.Body.byteAt(start+int64(bit/8))>>(bit%8)&1 == 1; got != set {
					t.Fatalf("filter %d bit %d: %v", i, bit, got)
				}
			}
			start += int64(len(f.bits) / 8)
		}
		if len(whole.Filters) != len(model) || whole.Len() != start {
			t.Errorf("%d filters of %d bytes, want %d of %d", len(whole.Filters), whole.Len(), len(model), start)
		}
		s.checkDump()
	}
}

// TestBloomLimits refuses a filter that is too large, and another item in a full filter that does not scale.
func TestBloomLimits(t *testing.T) {
	if _, err := NewBloom(1e-9, 1<<30, 2, true); err != ErrTooLarge {
		t.Error(err)
	}
	b, err := NewBloom(0.01, 1, 2, false)
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []error{nil, nil, ErrFull} {
		if _, _, err := b.Add(b.Hash([]byte{byte(i / 2)})); err != want {
			t.Errorf("item %d: %v", i, err)
		}
	}
}

// TestCuckooModel adds and deletes items in a stored filter, and compares it with one that is all in memory, and with
// the counts that items must have at least.
func TestCuckooModel(t *testing.T) {
	for _, c := range []struct{ capacity, bucketSize, iterations, expansion int }{{1024, 2, 20, 1}, {4, 1, 3, 2}, {64, 3, 20, 2}, {16, 2, 500, 1}} {
		memory, err := NewCuckoo(uint64(c.capacity), uint16(c.bucketSize), uint16(c.iterations), uint16(c.expansion))
		if err != nil {
			t.Fatal(err)
		}
		s := store(t, CuckooName, memory)
		memory.Body.LoadedAll()
		random := rand.New(rand.NewPCG(1, uint64(c.capacity)))
		counts := map[int]int64{}
		for range 1500 {
			n := random.IntN(300)
			item := fmt.Appendf(nil, "item %d", n)
			if random.IntN(3) > 0 {
				if done, err := memory.Add(memory.Hash(item)); !done || err != nil {
					t.Fatal(done, err)
				}
				s.do(func(sketch Sketch) bool {
					done, _ := sketch.(*Cuckoo).Add(sketch.(*Cuckoo).Hash(item))
					return done
				})
				counts[n]++
			} else if counts[n] > 0 {
				s.do(func(sketch Sketch) bool {
					found, done := sketch.(*Cuckoo).Delete(sketch.(*Cuckoo).Hash(item), ignore)
					if done && !found {
						t.Fatalf("%s is missing", item)
					}
					return done
				})
				memory.Delete(memory.Hash(item), ignore)
				counts[n]--
			}
		}
		items := int64(0)
		for n, count := range counts {
			if got := memory.Get(memory.Hash(fmt.Appendf(nil, "item %d", n))); got < count {
				t.Errorf("item %d counts %d, was added %d times", n, got, count)
			}
			items += count
		}
		whole := s.whole().(*Cuckoo)
		if !bytes.Equal(whole.Head(), memory.Head()) || !bytes.Equal(whole.Body.Bytes(0, whole.Len()), memory.Body.Bytes(0, memory.Len())) {
			t.Error("the stored filter differs from the one in memory")
		}
		if memory.Items != uint64(items) {
			t.Errorf("%d items, want %d", memory.Items, items)
		}
		s.checkDump()
	}
}

// TestCuckooFull fills a filter that does not grow. The failed addition changes nothing.
func TestCuckooFull(t *testing.T) {
	c, err := NewCuckoo(8, 2, 20, 0)
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; ; i++ {
		before := append(c.Head(), c.Body.Bytes(0, c.Len())...)
		if _, err := c.Add(c.Hash([]byte{byte(i)})); err == ErrFull {
			if after := append(c.Head(), c.Body.Bytes(0, c.Len())...); !bytes.Equal(after, before) {
				t.Error("a failed addition changes the filter")
			}
			break
		}
		if i > 8 {
			t.Fatal("nine items are in eight slots")
		}
	}
}

// TestCountMinModel adds to a stored sketch and to plain counters.
func TestCountMinModel(t *testing.T) {
	m, err := NewCountMin(500, 5)
	if err != nil {
		t.Fatal(err)
	}
	s := store(t, CountMinName, m)
	model, random := map[int]uint32{}, rand.New(rand.NewPCG(1, 3))
	for i := range 500 {
		item, n := fmt.Appendf(nil, "item %d", i%200), int64(random.IntN(100))
		least := uint32(math.MaxUint32)
		for row := range uint32(5) {
			at := int(row*500 + murmur32(item, row)%500)
			model[at] += uint32(n)
			least = min(least, model[at])
		}
		s.do(func(sketch Sketch) bool {
			m := sketch.(*CountMin)
			if !m.Ready(item) {
				return false
			}
			if got := m.Add(item, n); got != least || m.Get(item) != least {
				t.Fatalf("%s counts %d, want %d", item, got, least)
			}
			return true
		})
	}
	whole := s.whole().(*CountMin)
	double, _ := NewCountMin(500, 5)
	if !double.Merge([]*CountMin{whole, whole}, []int64{3, -1}, ignore) || double.Count != 2*whole.Count {
		t.Errorf("the sum counts %d", double.Count)
	}
	for at, n := range model {
		if got := double.Body.uint32At(4 * int64(at)); got != 2*n {
			t.Errorf("counter %d is %d, want %d", at, got, 2*n)
		}
	}
	if double.Merge([]*CountMin{whole}, []int64{-1}, ignore) || double.Merge([]*CountMin{whole}, []int64{1 << 60}, ignore) {
		t.Error("a sum that is not a counter is accepted")
	}
	if got := double.Add([]byte("x"), math.MaxInt64); got != MaxCount {
		t.Errorf("%d after an overflow", got)
	}
	s.checkDump()
}

// TestTopKModel counts items so rarely that no counters meet, and finds the largest counts.
func TestTopKModel(t *testing.T) {
	k, err := NewTopK(10, 5000, 7, 0.9)
	if err != nil {
		t.Fatal(err)
	}
	s := store(t, TopKName, k)
	random, counts := rand.New(rand.NewPCG(1, 4)), map[string]uint32{}
	for range 1000 {
		item := fmt.Sprintf("item %d", random.IntN(1+random.IntN(60)))
		counts[item]++
		s.do(func(sketch Sketch) bool {
			k := sketch.(*TopK)
			for i, data := range s.blocks {
				if i < HeapEnd && k.Body.blocks[i] == nil {
					k.Body.Load(i, data)
				}
			}
			k.LoadHeap()
			if !k.Ready([]byte(item)) {
				return false
			}
			k.Add([]byte(item), 1, func() float64 { return 1 })
			return true
		})
	}
	whole := s.whole().(*TopK)
	if !whole.LoadHeap() {
		t.Fatal("the heap is damaged")
	}
	list := whole.List()
	var want []uint32
	for _, n := range counts {
		want = append(want, n)
	}
	slices.Sort(want)
	slices.Reverse(want)
	for i, item := range list {
		if item.Count != want[i] || counts[string(item.Name)] != item.Count || !whole.Has(item.Name) || whole.Get(item.Name) != item.Count {
			t.Errorf("place %d: %s with %d, want %d", i, item.Name, item.Count, want[i])
		}
	}
	if len(list) != 10 {
		t.Errorf("%d items", len(list))
	}
	v, err := rdb.Restore(rdb.Dump(whole.Dump(), nil), nil)
	if err != nil {
		t.Fatal(err)
	}
	back, ok := Restore(v.(*rdb.Module))
	if !ok || !slices.EqualFunc(back.(*TopK).List(), list, func(a, b Item) bool { return bytes.Equal(a.Name, b.Name) && a.Count == b.Count }) {
		t.Error("the dump differs")
	}
}

// TestTDigestModel adds numbers to a stored digest. Estimates are close to the sorted numbers.
func TestTDigestModel(t *testing.T) {
	d, err := NewTDigest(100)
	if err != nil {
		t.Fatal(err)
	}
	s := store(t, TDigestName, d)
	random := rand.New(rand.NewPCG(1, 5))
	var all []float64
	for range 2000 {
		v := random.NormFloat64()
		all = append(all, v)
		s.do(func(sketch Sketch) bool {
			ok, done := sketch.(*TDigest).Add(v, 1, ignore)
			return ok && done
		})
	}
	slices.Sort(all)
	whole := s.whole().(*TDigest)
	if whole.Compressions == 0 || whole.Size() != 2000 || whole.Min != all[0] || whole.Max != all[1999] {
		t.Errorf("%d compressions, %d observations from %v to %v", whole.Compressions, whole.Size(), whole.Min, whole.Max)
	}
	whole.Compress(ignore)
	for _, q := range []float64{0.001, 0.1, 0.5, 0.9, 0.999} {
		v := whole.Quantiles([]float64{q}, ignore)[0]
		rank, _ := slices.BinarySearch(all, v)
		if math.Abs(float64(rank)/2000-q) > 0.01 {
			t.Errorf("quantile %v is %v, of rank %d", q, v, rank)
		}
		if got := whole.CDF(v); math.Abs(got-q) > 0.01 {
			t.Errorf("CDF(%v) is %v, want %v", v, got, q)
		}
		if got := whole.Rank(v); math.Abs(float64(got-int64(rank))) > 20 {
			t.Errorf("rank of %v is %d, want %d", v, got, rank)
		}
	}
	s.checkDump()
}

// TestSortNodes sorts many equal means in a bounded stack, and keeps all nodes.
func TestSortNodes(t *testing.T) {
	all := make([]node, 3000)
	for i := range all {
		all[i] = node{float64(i % 7), int64(i)}
	}
	sortNodes(all, ignore)
	if !slices.IsSortedFunc(all, func(a, b node) int { return int(a.mean - b.mean) }) {
		t.Error("not sorted")
	}
}

// TestBody writes and reads bytes at random places.
func TestBody(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	b, model := EmptyBody(), make([]byte, 5000)
	for range 1000 {
		data := make([]byte, random.IntN(2000))
		if random.IntN(2) == 0 {
			for i := range data {
				data[i] = byte(random.Uint32())
			}
		}
		at := random.IntN(len(model) - len(data))
		copy(model[at:], data)
		b.Write(int64(at), data)
	}
	if !bytes.Equal(b.Bytes(0, 5000), model) {
		t.Error("the bytes differ")
	}
}
