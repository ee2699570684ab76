package lua

import (
	"math"
	"math/bits"
)

// Table is a Lua table. Its two parts, an array and a hash with chains inside one slice, grow exactly as in the
// reference implementation, because the layout determines the order of pairs and the border that # finds.
type Table struct {
	array []Value
	nodes []node // length is a power of two; nil means one empty node
	free  int    // all nodes from here on are in use
	meta  *Table
	id    uint32

	// ReadOnly makes a script's writes to the table errors. SetRaw ignores it.
	ReadOnly bool

	mark uint32 // last memory count that reached it
}

type node struct {
	key, value Value
	next       int // distance to the next node of the chain; 0 ends it
}

// maxBits limits the size of each part of a table to 2^maxBits.
const maxBits = 26

// NewTable returns a table with space for elements in its array and its hash.
func NewTable(array, hash int) *Table {
	t := &Table{}
	if array > 0 {
		t.array = make([]Value, array)
	}
	t.setNodes(hash)
	return t
}

// Meta returns the table's metatable, or nil.
func (t *Table) Meta() *Table { return t.meta }

// SetMeta sets the table's metatable; nil removes it.
func (t *Table) SetMeta(m *Table) { t.meta = m }

func (t *Table) setNodes(size int) {
	if size == 0 {
		t.nodes, t.free = nil, 0
		return
	}
	n := nodesFor(size)
	if n > 1<<maxBits {
		panic(&Error{Value: String("table overflow")})
	}
	t.nodes, t.free = make([]node, n), n
}

// place returns the node where a key's chain begins.
func (t *Table) place(key Value) int {
	size := uint32(len(t.nodes))
	switch r := key.ref.(type) {
	case isNumber:
		if key.num == 0 {
			return 0
		}
		b := math.Float64bits(key.num)
		return int((uint32(b) + uint32(b>>32)) % ((size - 1) | 1))
	case *text:
		return int(r.sum() & (size - 1))
	case isBool:
		return int(uint32(key.num) & (size - 1))
	case *Table:
		return int(r.number() % ((size - 1) | 1))
	case *Function:
		return int(r.number() % ((size - 1) | 1))
	}
	return 0
}

// arrayIndex returns the position of a key in an array, from 1, or 0.
func arrayIndex(n float64) int {
	if i := int(n); float64(i) == n && i > 0 && i <= 1<<maxBits {
		return i
	}
	return 0
}

// Get returns the value at a key, or Nil. It ignores the metatable.
func (t *Table) Get(key Value) Value {
	switch r := key.ref.(type) {
	case *text:
		return t.getText(r)
	case isNumber:
		if i := arrayIndex(key.num); i > 0 && i <= len(t.array) {
			return t.array[i-1]
		}
	case nil:
		return Nil
	}
	if n := t.find(key); n != nil {
		return n.value
	}
	return Nil
}

func (t *Table) getText(k *text) Value {
	if len(t.nodes) == 0 {
		return Nil
	}
	for i := int(k.sum()) & (len(t.nodes) - 1); ; {
		n := &t.nodes[i]
		if have, ok := n.key.ref.(*text); ok && (have == k || have.s == k.s) {
			return n.value
		}
		if n.next == 0 {
			return Nil
		}
		i += n.next
	}
}

func (t *Table) find(key Value) *node {
	if len(t.nodes) == 0 {
		return nil
	}
	for i := t.place(key); ; {
		n := &t.nodes[i]
		if rawEqual(n.key, key) {
			return n
		}
		if n.next == 0 {
			return nil
		}
		i += n.next
	}
}

// Index returns the value at an integer.
func (t *Table) Index(i int) Value {
	if i > 0 && i <= len(t.array) {
		return t.array[i-1]
	}
	return t.Get(Number(float64(i)))
}

// Field returns the value at a string.
func (t *Table) Field(name string) Value { return t.getText(&text{s: name}) }

// SetRaw sets the value at a key, which is neither Nil nor NaN. It ignores the metatable.
func (t *Table) SetRaw(key, value Value) { t.set(key, value, nil) }

// set is SetRaw that charges the table's growth to s, unless s is nil.
func (t *Table) set(key, value Value, s *State) {
	if _, ok := key.ref.(isNumber); ok {
		if i := arrayIndex(key.num); i > 0 && i <= len(t.array) {
			t.array[i-1] = value
			return
		}
	}
	if n := t.find(key); n != nil {
		n.value = value
		return
	}
	t.insert(key, value, s)
}

// SetIndex does the same as SetRaw at an integer.
func (t *Table) SetIndex(i int, value Value) { t.SetRaw(Number(float64(i)), value) }

// SetField does the same as SetRaw at a string.
func (t *Table) SetField(name string, value Value) { t.SetRaw(String(name), value) }

// insert adds a missing key, even with the value Nil. If another chain's key occupies its node, that key moves
// to a free node.
func (t *Table) insert(key, value Value, s *State) {
	if len(t.nodes) == 0 {
		t.rehash(key, s)
		t.set(key, value, s)
		return
	}
	at := t.place(key)
	if !t.nodes[at].value.IsNil() {
		free := t.freeNode()
		if free < 0 {
			t.rehash(key, s)
			t.set(key, value, s)
			return
		}
		taken := &t.nodes[at]
		if home := t.place(taken.key); home != at {
			for home+t.nodes[home].next != at {
				home += t.nodes[home].next
			}
			t.nodes[home].next = free - home
			t.nodes[free] = *taken
			if taken.next != 0 {
				t.nodes[free].next += at - free
			}
			*taken = node{}
		} else {
			if taken.next != 0 {
				t.nodes[free].next = at + taken.next - free
			} else {
				t.nodes[free].next = 0
			}
			taken.next = free - at
			at = free
		}
	}
	t.nodes[at].key, t.nodes[at].value = key, value
}

// freeNode returns a node unused since the last rehash, or -1.
func (t *Table) freeNode() int {
	for t.free > 0 {
		t.free--
		if t.nodes[t.free].key.IsNil() {
			return t.free
		}
	}
	return -1
}

// rehash makes space for one more key. The array becomes the largest one that is more than half full.
func (t *Table) rehash(extra Value, s *State) {
	var counts [maxBits + 1]int // of the keys in (2^(i-1), 2^i]
	count := func(key Value) int {
		if _, ok := key.ref.(isNumber); ok {
			if i := arrayIndex(key.num); i > 0 {
				counts[bits.Len(uint(i-1))]++
				return 1
			}
		}
		return 0
	}
	total, inArray := 1, count(extra)
	for i := range t.array {
		if !t.array[i].IsNil() {
			counts[bits.Len(uint(i))]++
			total++
			inArray++
		}
	}
	for i := range t.nodes {
		if !t.nodes[i].value.IsNil() {
			total++
			inArray += count(t.nodes[i].key)
		}
	}
	size, used, sum := 0, 0, 0
	for i, power := 0, 1; power/2 < inArray && i <= maxBits; i, power = i+1, power*2 {
		sum += counts[i]
		if sum > power/2 {
			size, used = power, sum
		}
		if sum == inArray {
			break
		}
	}
	if grown := max(size-len(t.array), 0) + nodesFor(total-used) - len(t.nodes); s != nil && grown > 0 {
		s.Grow(56 * grown)
	}
	t.resize(size, total-used)
}

// nodesFor returns the number of nodes of a table for n keys: a power of 2.
func nodesFor(n int) int {
	if n == 0 {
		return 0
	}
	return 1 << bits.Len(uint(n-1))
}

func (t *Table) resize(array, hash int) {
	oldNodes, oldArray := t.nodes, t.array
	if array > len(t.array) {
		grown := make([]Value, array)
		copy(grown, t.array)
		t.array = grown
	}
	t.setNodes(hash)
	if array < len(oldArray) {
		t.array = oldArray[:array:array]
		for i := array; i < len(oldArray); i++ {
			if !oldArray[i].IsNil() {
				t.SetIndex(i+1, oldArray[i])
			}
		}
	}
	for i := len(oldNodes) - 1; i >= 0; i-- {
		if !oldNodes[i].value.IsNil() {
			t.SetRaw(oldNodes[i].key, oldNodes[i].value)
		}
	}
}

// Len returns a border: an n with a non-nil element n and a nil element n+1.
func (t *Table) Len() int {
	j := len(t.array)
	if j > 0 && t.array[j-1].IsNil() {
		i := 0
		for j-i > 1 {
			if m := (i + j) / 2; t.array[m-1].IsNil() {
				j = m
			} else {
				i = m
			}
		}
		return i
	}
	if len(t.nodes) == 0 {
		return j
	}
	i := j
	for j++; !t.Index(j).IsNil(); {
		i = j
		if j *= 2; j > math.MaxInt32-2 {
			for i = 1; !t.Index(i).IsNil(); i++ {
			}
			return i - 1
		}
	}
	for j-i > 1 {
		if m := (i + j) / 2; t.Index(m).IsNil() {
			j = m
		} else {
			i = m
		}
	}
	return i
}

// Next returns the key after a key, and its value: the first key after Nil, and Nil after the last. ok is false
// for an unknown key.
func (t *Table) Next(key Value) (next, value Value, ok bool) {
	at := 0
	if !key.IsNil() {
		if at = t.position(key); at == 0 {
			return Nil, Nil, false
		}
	}
	for ; at < len(t.array); at++ {
		if !t.array[at].IsNil() {
			return Number(float64(at + 1)), t.array[at], true
		}
	}
	for at -= len(t.array); at < len(t.nodes); at++ {
		if n := &t.nodes[at]; !n.value.IsNil() {
			return n.key, n.value, true
		}
	}
	return Nil, Nil, true
}

// position returns the position of a key in the order of Next, from 1, or 0.
func (t *Table) position(key Value) int {
	if _, ok := key.ref.(isNumber); ok {
		if i := arrayIndex(key.num); i > 0 && i <= len(t.array) {
			return i
		}
	}
	if len(t.nodes) > 0 {
		for i := t.place(key); ; i += t.nodes[i].next {
			if rawEqual(t.nodes[i].key, key) {
				return len(t.array) + i + 1
			}
			if t.nodes[i].next == 0 {
				break
			}
		}
	}
	return 0
}

func (t *Table) number() uint32    { return t.id }
func (f *Function) number() uint32 { return f.id }

// size returns the approximate bytes of the table, without its contents.
func (t *Table) size() int { return 80 + elementBytes*len(t.array) + nodeBytes*len(t.nodes) }

const (
	elementBytes = 24
	nodeBytes    = 56
)
