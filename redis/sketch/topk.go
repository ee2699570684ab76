package sketch

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"maps"
	"math"
	"slices"

	"github.com/meowdis/meowdis/internal/smallsort"
	"github.com/meowdis/meowdis/redis/rdb"
)

// TopK holds a list of the most frequent items, by HeavyKeeper: counters that decay when another item meets them, and a
// heap of the items with the largest counts.
type TopK struct {
	K, Width, Depth uint32
	Decay           float64
	Body            *Body // the rows of counters: a fingerprint and a count, 4 bytes each

	heap    map[int]heapItem // by place; a place without an item has the count 0
	changed map[int]bool     // rows of the heap
	decays  []float64        // powers of Decay
}

type heapItem struct {
	fingerprint, count uint32
	item               []byte
}

const (
	heapRow      = 64 // places of the heap that are stored together
	heapBlock    = -2 // block of the first row; the next ones are below
	decayPowers  = 256
	topKHead     = 20
	dumpedItem   = 24
	itemSeed     = 1919
	topKOverhead = 2088
)

// HeapEnd numbers the block after the blocks of the heap. Their numbers fall with the place.
const HeapEnd = heapBlock + 1

// NewTopK returns an empty list. It fails if it would exceed MaxBytes.
func NewTopK(k, width, depth uint32, decay float64) (*TopK, error) {
	t := &TopK{K: k, Width: width, Depth: depth, Decay: decay, Body: EmptyBody()}
	if !t.valid() {
		return nil, ErrTooLarge
	}
	return t, nil
}

func (t *TopK) valid() bool {
	t.heap, t.changed = map[int]heapItem{}, map[int]bool{}
	return t.K > 0 && t.Width > 0 && t.Depth > 0 && t.Decay > 0 && t.Decay <= 1 &&
		uint64(t.Width)*uint64(t.Depth) <= MaxBytes/8 && uint64(t.K) <= MaxBytes/dumpedItem
}

// Ready reports whether the item's counters are loaded.
func (t *TopK) Ready(item []byte) bool {
	ok := true
	for row := range t.Depth {
		ok = t.Body.ready(t.cell(item, row), 8) && ok
	}
	return ok
}

// cell returns the place of an item's counter in a row.
func (t *TopK) cell(item []byte, row uint32) int64 {
	t.Body.step(len(item) / 4)
	return 8 * (int64(row)*int64(t.Width) + int64(murmur32(item, row)%t.Width))
}

// power returns Decay to the power of count, as Redis computes it.
func (t *TopK) power(count uint32) float64 {
	if t.decays == nil {
		t.decays = make([]float64, decayPowers)
		for i := range t.decays {
			t.decays[i] = math.Pow(t.Decay, float64(i))
		}
	}
	if count < decayPowers {
		return t.decays[count]
	}
	const last = decayPowers - 1
	return math.Pow(t.decays[last], float64(count/last)) * t.decays[count%last]
}

// Add adds n to the item's count, which must be ready. random returns numbers in [0, 1). It returns the item that left
// the heap for it, nil for none.
func (t *TopK) Add(item []byte, n uint32, random func() float64) []byte {
	fingerprint := murmur32(item, itemSeed)
	least, most := t.heap[0].count, uint32(0)
	for row := range t.Depth {
		at := t.cell(item, row)
		count := t.Body.uint32At(at + 4)
		switch {
		case count == 0:
			t.Body.setUint32(at, fingerprint)
			count = n
		case t.Body.uint32At(at) == fingerprint:
			count += n
		default:
			var taken bool
			if count, taken = t.decayed(count, n, random); !taken {
				t.Body.setUint32(at+4, count)
				continue
			}
			t.Body.setUint32(at, fingerprint)
		}
		t.Body.setUint32(at+4, count)
		most = max(most, count)
	}
	if most < least {
		return nil
	}
	at, in := t.find(item, fingerprint)
	var gone []byte
	if !in {
		at, gone = 0, t.heap[0].item
	}
	t.place(at, heapItem{fingerprint, most, bytes.Clone(item)})
	t.sink(at)
	return gone
}

// decayed returns the count of another item's counter after n additions: taken reports that it is now the count of the
// new item.
func (t *TopK) decayed(count, n uint32, random func() float64) (_ uint32, taken bool) {
	for ; n > 0; n-- {
		if random() < t.power(count) {
			if count--; count == 0 {
				return n, true
			}
		}
	}
	return count, false
}

// find returns the item's place in the heap.
func (t *TopK) find(item []byte, fingerprint uint32) (at int, ok bool) {
	t.Body.step(len(t.heap) + len(item)/4)
	at = -1
	for i, h := range t.heap {
		if h.fingerprint == fingerprint && bytes.Equal(h.item, item) && (at < 0 || i < at) {
			at = i
		}
	}
	return at, at >= 0
}

func (t *TopK) place(i int, h heapItem) {
	t.heap[i] = h
	t.changed[i/heapRow] = true
}

// sink moves the item at a place down to its place in the heap. An equal count below moves up, but only to the first
// place.
func (t *TopK) sink(i int) {
	k := int(t.K)
	lower := func(i int) (child int) {
		if child = 2*i + 1; child+1 < k && t.heap[child].count > t.heap[child+1].count {
			child++
		}
		return child
	}
	child := lower(i)
	if child >= k || t.heap[child].count > t.heap[i].count {
		return
	}
	top := t.heap[i]
	for {
		t.move(child, i)
		i = child
		if child = lower(i); child >= k || t.heap[child].count >= top.count {
			break
		}
	}
	t.place(i, top)
}

func (t *TopK) move(from, to int) {
	h, ok := t.heap[from]
	if !ok {
		delete(t.heap, to)
		t.changed[to/heapRow] = true
		return
	}
	t.place(to, h)
}

// Has reports whether the item is in the heap.
func (t *TopK) Has(item []byte) bool {
	_, ok := t.find(item, murmur32(item, itemSeed))
	return ok
}

// Get returns the item's count, which must be ready.
func (t *TopK) Get(item []byte) (count uint32) {
	fingerprint, least := murmur32(item, itemSeed), t.heap[0].count
	_, in := t.find(item, fingerprint)
	for row := range t.Depth {
		at := t.cell(item, row)
		if n := t.Body.uint32At(at + 4); t.Body.uint32At(at) == fingerprint && (!in || n >= least) {
			count = max(count, n)
		}
	}
	return count
}

// Item holds an item of TopK.List.
type Item struct {
	Name  []byte
	Count uint32
}

// List returns the items of the heap, the largest count first.
func (t *TopK) List() (items []Item) {
	for _, i := range slices.Sorted(maps.Keys(t.heap)) {
		if h := t.heap[i]; h.count > 0 {
			items = append(items, Item{h.item, h.count})
		}
	}
	smallsort.Sort(items, func(a, b Item) int { return cmp.Compare(b.Count, a.Count) })
	return items
}

// Head encodes the parameters.
func (t *TopK) Head() []byte {
	var out []byte
	for _, n := range []uint32{t.K, t.Width, t.Depth} {
		out = binary.LittleEndian.AppendUint32(out, n)
	}
	return binary.LittleEndian.AppendUint64(out, math.Float64bits(t.Decay))
}

func parseTopK(head []byte, body *Body) (*TopK, bool) {
	if len(head) != topKHead {
		return nil, false
	}
	number := func(i int) uint32 { return binary.LittleEndian.Uint32(head[4*i:]) }
	t := &TopK{K: number(0), Width: number(1), Depth: number(2), Decay: math.Float64frombits(binary.LittleEndian.Uint64(head[12:])), Body: body}
	return t, t.valid()
}

// LoadHeap decodes the loaded blocks of the heap. It reports whether they are valid.
func (t *TopK) LoadHeap() bool {
	for block, at := range t.Body.blocks {
		if block > heapBlock {
			continue
		}
		for data := at.data; len(data) > 0; {
			const fixed, heapMemory = 13, 96
			if len(data) < fixed {
				return false
			}
			number := func(i int) uint32 { return binary.LittleEndian.Uint32(data[i:]) }
			place, length := (heapBlock-int(block))*heapRow+int(data[0]), number(9)
			if uint64(length) > uint64(len(data)-fixed) || data[0] >= heapRow || place >= int(t.K) {
				return false
			}
			t.Body.grow(heapMemory)
			t.Body.step(1)
			t.heap[place] = heapItem{number(1), number(5), data[fixed:][:length]}
			data = data[fixed+length:]
		}
	}
	return true
}

// Stored returns the body, with the changes of the heap.
func (t *TopK) Stored() *Body {
	for row := range t.changed {
		t.Body.step(heapRow)
		var data []byte
		for i := row * heapRow; i < (row+1)*heapRow; i++ {
			if h, ok := t.heap[i]; ok {
				data = append(data, byte(i%heapRow))
				for _, n := range []uint32{h.fingerprint, h.count, uint32(len(h.item))} {
					data = binary.LittleEndian.AppendUint32(data, n)
				}
				data = append(data, h.item...)
			}
		}
		t.Body.replace(heapBlock-int64(row), data)
	}
	clear(t.changed)
	return t.Body
}

// Len returns the bytes of the counters.
func (t *TopK) Len() int64 { return 8 * int64(t.Width) * int64(t.Depth) }

// Memory returns the bytes that Redis's structure takes.
func (t *TopK) Memory() int64 { return topKOverhead + t.Len() + dumpedItem*int64(t.K) }

// Dump returns the value of a dump file. The whole body must be loaded.
func (t *TopK) Dump() *rdb.Module {
	m := &rdb.Module{Name: TopKName}
	m.Numbers(uint64(t.K), uint64(t.Width), uint64(t.Depth))
	m.Double(t.Decay)
	m.String(t.Body.Bytes(0, t.Len()))
	heap := make([]byte, 0, dumpedItem*int(t.K))
	for i := range int(t.K) {
		h := t.heap[i]
		heap = binary.LittleEndian.AppendUint32(heap, h.fingerprint)
		heap = binary.LittleEndian.AppendUint32(heap, uint32(len(h.item)))
		heap = append(heap, 0, 0, 0, 0, 0, 0, 0, 0)
		heap = append(binary.LittleEndian.AppendUint32(heap, h.count), 0, 0, 0, 0)
	}
	m.String(heap)
	for i := range int(t.K) {
		t.Body.step(1)
		t.Body.grow(3 * int64(len(t.heap[i].item))) // the value, its payload, and the reply
		m.String(append(bytes.Clone(t.heap[i].item), 0))
	}
	return m
}

func topKOf(m *rdb.Module) (*TopK, bool) {
	r := m.Reader()
	k, width, depth := r.Number(), r.Number(), r.Number()
	if max(k, width, depth) > math.MaxUint32 {
		return nil, false
	}
	t := &TopK{K: uint32(k), Width: uint32(width), Depth: uint32(depth), Decay: r.Double()}
	counters, heap := r.String(), r.String()
	t.Body = BodyOf(counters)
	if !t.valid() || int64(len(counters)) != t.Len() || uint64(len(heap)) != dumpedItem*k {
		return nil, false
	}
	for i := 0; len(heap) > 0; i, heap = i+1, heap[dumpedItem:] {
		item := r.String()
		h := heapItem{binary.LittleEndian.Uint32(heap), binary.LittleEndian.Uint32(heap[16:]), bytes.TrimSuffix(item, []byte{0})}
		if length := binary.LittleEndian.Uint32(heap[4:]); len(item) == 0 || uint64(length) != uint64(len(h.item)) {
			return nil, false
		}
		if h.count > 0 || h.fingerprint > 0 || len(h.item) > 0 {
			t.place(i, h)
		}
	}
	return t, r.Done()
}
