package document

import (
	"slices"
	"strconv"
)

// Kind selects the type of a Value.
type Kind byte

const (
	Null Kind = iota
	Bool
	Int  // in Int
	Uint // in Uint: an integer beyond the range of Int
	Float
	String
	Array
	Object
)

// Type returns the name of the kind in replies.
func (k Kind) Type() string {
	return [...]string{"null", "boolean", "integer", "integer", "number", "string", "array", "object"}[k]
}

// Value is one JSON value. The zero Value is null.
type Value struct {
	Kind  Kind
	Bool  bool
	Int   int64
	Uint  uint64
	Float float64
	Str   string
	Elems []*Value // of an array; of an object the values, one for each of Keys

	// Keys holds the names of an object's values. Only Put and Prune change it, so that index stays valid.
	Keys  []string
	index map[string]int // position by name, nil for a small object
}

// An object with indexed keys or more has an index.
const indexed = 16

// IsNumber reports whether v is a number of any kind.
func (v *Value) IsNumber() bool { return v.Kind == Int || v.Kind == Uint || v.Kind == Float }

// Double returns the number v as a double.
func (v *Value) Double() float64 {
	switch v.Kind {
	case Int:
		return float64(v.Int)
	case Uint:
		return float64(v.Uint)
	}
	return v.Float
}

// find returns the position of a key of an object, -1 if it is missing.
func (v *Value) find(name string) int {
	if len(v.Keys) >= indexed {
		if v.index == nil {
			v.index = make(map[string]int, len(v.Keys))
			for i, key := range v.Keys {
				v.index[key] = i
			}
		}
		if i, ok := v.index[name]; ok {
			return i
		}
		return -1
	}
	for i, key := range v.Keys {
		if key == name {
			return i
		}
	}
	return -1
}

// Get returns the value of a key of an object, nil for a missing key or another kind.
func (v *Value) Get(name string) *Value {
	if v.Kind == Object {
		if i := v.find(name); i >= 0 {
			return v.Elems[i]
		}
	}
	return nil
}

// Put sets a key of an object. A new key comes last.
func (v *Value) Put(name string, value *Value) {
	if i := v.find(name); i >= 0 {
		v.Elems[i] = value
		return
	}
	if v.index != nil {
		v.index[name] = len(v.Keys)
	}
	v.Keys, v.Elems = append(v.Keys, name), append(v.Elems, value)
}

// Prune removes the doomed values below v and returns their number. Values inside a removed value are not counted.
func (v *Value) Prune(doomed map[*Value]bool) int {
	removed := 0
	for _, e := range v.Elems {
		if !doomed[e] {
			removed += e.Prune(doomed)
		}
	}
	return removed + v.cut(doomed)
}

// Nullify removes the doomed values from the objects below v, and sets doomed values elsewhere to null.
func (v *Value) Nullify(doomed map[*Value]bool) {
	if doomed[v] {
		*v = Value{}
	}
	if v.Kind == Object {
		v.cut(doomed)
	}
	for _, e := range v.Elems {
		e.Nullify(doomed)
	}
}

// cut is Prune for the direct elements of v.
func (v *Value) cut(doomed map[*Value]bool) int {
	kept := 0
	for i, e := range v.Elems {
		if doomed[e] {
			continue
		}
		v.Elems[kept] = e
		if v.Kind == Object {
			v.Keys[kept] = v.Keys[i]
		}
		kept++
	}
	removed := len(v.Elems) - kept
	if removed > 0 {
		v.Elems = v.Elems[:kept]
		if v.Kind == Object {
			v.Keys, v.index = v.Keys[:kept], nil
		}
	}
	return removed
}

// Clone returns a deep copy.
func (v *Value) Clone() *Value {
	c := *v
	c.index = nil
	c.Keys = append([]string(nil), v.Keys...)
	c.Elems = make([]*Value, len(v.Elems))
	for i, e := range v.Elems {
		c.Elems[i] = e.Clone()
	}
	return &c
}

// Weight estimates the bytes that Clone allocates, and returns the number of values that it copies.
func (v *Value) Weight() (bytes int64, values int) {
	bytes, values = valueBytes+16*int64(len(v.Keys)), 1
	for _, e := range v.Elems {
		b, n := e.Weight()
		bytes, values = bytes+b, values+n
	}
	return bytes, values
}

// Depth returns the number of arrays and objects around the innermost value, v included.
func (v *Value) Depth() int {
	if v.Kind != Array && v.Kind != Object {
		return 0
	}
	deepest := 0
	for _, e := range v.Elems {
		deepest = max(deepest, e.Depth())
	}
	return deepest + 1
}

// Depths returns the number of arrays and objects around each value in v, v included.
func (v *Value) Depths() map[*Value]int {
	depths := map[*Value]int{}
	var descend func(v *Value, depth int)
	descend = func(v *Value, depth int) {
		depths[v] = depth
		for _, e := range v.Elems {
			descend(e, depth+1)
		}
	}
	descend(v, 0)
	return depths
}

// LeavesFirst lists v and all values in it in RedisJSON's order for changes by a legacy path: inner
// values first, keys by name with numeric ones last, and indexes from the end.
func (v *Value) LeavesFirst() []*Value {
	var all []*Value
	elems := slices.Clone(v.Elems)
	if v.Kind == Object {
		slices.SortStableFunc(elems, v.byName())
	} else {
		slices.Reverse(elems)
	}
	for _, e := range elems {
		all = append(all, e.LeavesFirst()...)
	}
	return append(all, v)
}

// byName orders the values of an object by their keys.
func (v *Value) byName() func(a, b *Value) int {
	names := make(map[*Value]string, len(v.Keys))
	for i, e := range v.Elems {
		names[e] = v.Keys[i]
	}
	return func(a, b *Value) int {
		m, bad := strconv.ParseUint(names[a], 10, 64)
		n, bad2 := strconv.ParseUint(names[b], 10, 64)
		switch {
		case bad != nil && bad2 != nil:
			return order(names[a], names[b])
		case bad != nil:
			return -1
		case bad2 != nil:
			return 1
		}
		return order(n, m)
	}
}

// Each calls f with every value inside v.
func (v *Value) Each(f func(*Value)) {
	for _, e := range v.Elems {
		f(e)
		e.Each(f)
	}
}

// Equal reports whether two values are equal. Numbers compare by value; the order of keys is ignored.
func (v *Value) Equal(w *Value) bool {
	return v.same(w, func(a, b *Value) bool { return a.compareNumber(b) == 0 })
}

// Identical is Equal, except that an integer never equals a double.
func (v *Value) Identical(w *Value) bool {
	return v.same(w, func(a, b *Value) bool { return a.Kind == b.Kind && a.compareNumber(b) == 0 })
}

func (v *Value) same(w *Value, numbers func(a, b *Value) bool) bool {
	if v.IsNumber() && w.IsNumber() {
		return numbers(v, w)
	}
	if v.Kind != w.Kind || len(v.Elems) != len(w.Elems) {
		return false
	}
	switch v.Kind {
	case Bool:
		return v.Bool == w.Bool
	case String:
		return v.Str == w.Str
	}
	for i, e := range v.Elems {
		other := w.Elems[i]
		if v.Kind == Object {
			other = w.Get(v.Keys[i])
		}
		if other == nil || !e.same(other, numbers) {
			return false
		}
	}
	return true
}

// compareNumber returns -1, 0 or 1 if v is less than, equal to or greater than w. Integers compare exactly.
func (v *Value) compareNumber(w *Value) int {
	switch {
	case v.Kind == Int && w.Kind == Int:
		return order(v.Int, w.Int)
	case v.Kind == Uint && w.Kind == Uint:
		return order(v.Uint, w.Uint)
	case v.Kind == Uint && w.Kind == Int:
		return 1
	case v.Kind == Int && w.Kind == Uint:
		return -1
	}
	return order(v.Double(), w.Double())
}

func order[T int64 | uint64 | float64 | string](a, b T) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

// Merge applies the merge patch of RFC 7396: an object patches v key by key, and null deletes a key; any other patch
// replaces v. Remaining values change in place, and v shares nothing with the patch.
func (v *Value) Merge(patch *Value) {
	if patch.Kind != Object {
		*v = *patch.Clone()
		return
	}
	if v.Kind != Object {
		*v = Value{Kind: Object}
	}
	doomed := map[*Value]bool{}
	for i, name := range patch.Keys {
		old := v.Get(name)
		switch {
		case patch.Elems[i].Kind == Null:
			if old != nil {
				doomed[old] = true
			}
			continue
		case old == nil:
			old = &Value{}
			v.Put(name, old)
		}
		old.Merge(patch.Elems[i])
	}
	if len(doomed) > 0 {
		v.cut(doomed)
	}
}
