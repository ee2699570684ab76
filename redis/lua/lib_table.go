package lua

import (
	"maps"
	"slices"
	"strings"
)

func sorted[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

var tableFunctions = map[string]GoFunction{
	"concat": tableConcat, "foreach": tableForeach, "foreachi": tableForeachi, "getn": tableGetn, "insert": tableInsert,
	"maxn": tableMaxn, "remove": tableRemove, "setn": tableSetn, "sort": tableSort,
}

func tableConcat(s *State, args []Value) []Value {
	sep := ""
	if !Arg(args, 2).IsNil() {
		sep = s.CheckString(args, 2)
	}
	t := s.CheckTable(args, 1)
	from, to := s.OptInt(args, 3, 1), 0
	if Arg(args, 4).IsNil() {
		to = t.Len()
	} else {
		to = s.CheckInt(args, 4)
	}
	size := 0
	for i := from; i <= to; i++ {
		v := t.Index(i)
		part, ok := v.Text()
		if !ok {
			s.Throwf("invalid value (%s) at index %d in table for 'concat'", v.Type(), i)
		}
		s.step()
		size += len(part)
		s.Fits(size)
		if i < to {
			size += len(sep)
		}
	}
	s.Grow(size)
	var b strings.Builder
	b.Grow(size)
	for i := from; i <= to; i++ {
		part, _ := t.Index(i).Text()
		b.WriteString(part)
		if i < to {
			b.WriteString(sep)
		}
	}
	return s.One(String(b.String()))
}

func tableForeach(s *State, args []Value) []Value {
	t, fn := s.CheckTable(args, 1), s.CheckFunction(args, 2)
	for k, v, ok := t.Next(Nil); !k.IsNil(); k, v, ok = t.Next(k) {
		if !ok {
			s.Raise("invalid key to 'next'")
		}
		if r := first(s.Invoke(fn, k, v)); !r.IsNil() {
			return s.One(r)
		}
	}
	return nil
}

func tableForeachi(s *State, args []Value) []Value {
	t, fn := s.CheckTable(args, 1), s.CheckFunction(args, 2)
	for i, n := 1, t.Len(); i <= n; i++ {
		if r := first(s.Invoke(fn, Number(float64(i)), t.Index(i))); !r.IsNil() {
			return s.One(r)
		}
	}
	return nil
}

func tableGetn(s *State, args []Value) []Value {
	return s.One(Number(float64(s.CheckTable(args, 1).Len())))
}

func tableSetn(s *State, args []Value) []Value {
	s.CheckTable(args, 1)
	s.Throw("'setn' is obsolete")
	return nil
}

func tableMaxn(s *State, args []Value) []Value {
	t, most := s.CheckTable(args, 1), 0.0
	for k, _, _ := t.Next(Nil); !k.IsNil(); k, _, _ = t.Next(k) {
		if n, ok := k.AsNumber(); ok && n > most {
			most = n
		}
	}
	return s.One(Number(most))
}

func (s *State) writable(t *Table) {
	if t.ReadOnly {
		s.Raise("Attempt to modify a readonly table")
	}
}

func tableInsert(s *State, args []Value) []Value {
	t := s.CheckTable(args, 1)
	end := t.Len() + 1
	s.writable(t)
	switch len(args) {
	case 2:
		s.Set(t, Number(float64(end)), args[1])
		return nil
	case 3:
	default:
		s.Throw("wrong number of arguments to 'insert'")
	}
	at := s.CheckInt(args, 2)
	if at > end {
		end = at
	}
	for i := end; i > at; i-- {
		s.step()
		s.Set(t, Number(float64(i)), t.Index(i-1))
	}
	s.Set(t, Number(float64(at)), args[2])
	return nil
}

func tableRemove(s *State, args []Value) []Value {
	t := s.CheckTable(args, 1)
	end := t.Len()
	at := s.OptInt(args, 2, end)
	if at < 1 || at > end {
		return nil
	}
	s.writable(t)
	v := t.Index(at)
	for ; at < end; at++ {
		t.SetIndex(at, t.Index(at+1))
	}
	t.SetIndex(end, Nil)
	return s.One(v)
}

func tableSort(s *State, args []Value) []Value {
	t := s.CheckTable(args, 1)
	n := t.Len()
	so := &sorter{s: s, t: t}
	if !Arg(args, 2).IsNil() {
		so.less = s.CheckFunction(args, 2)
	}
	s.writable(t)
	so.sort(1, n)
	return nil
}

// sorter sorts as the reference implementation does: scripts can observe the order of equal elements, and the
// result of an inconsistent comparison.
type sorter struct {
	s    *State
	t    *Table
	less Value
}

func (o *sorter) before(a, b Value) bool {
	o.s.step()
	if !o.less.IsNil() {
		return first(o.s.Invoke(o.less, a, b)).Truth()
	}
	if isNum(a) && isNum(b) {
		return a.num < b.num
	}
	return o.s.frames[o.s.depth-1].less(a, b, 0)
}

func (o *sorter) get(i int) Value           { return o.t.Index(i) }
func (o *sorter) swap(i, j int, a, b Value) { o.t.SetIndex(i, b); o.t.SetIndex(j, a) }

func (o *sorter) sort(low, high int) {
	for low < high {
		if a, b := o.get(low), o.get(high); o.before(b, a) {
			o.swap(low, high, a, b)
		}
		if high-low == 1 {
			return
		}
		mid := (low + high) / 2
		if m, a := o.get(mid), o.get(low); o.before(m, a) {
			o.swap(mid, low, m, a)
		} else if b := o.get(high); o.before(b, m) {
			o.swap(mid, high, m, b)
		}
		if high-low == 2 {
			return
		}
		pivot := o.get(mid)
		o.swap(mid, high-1, pivot, o.get(high-1))
		i := o.partition(low, high, pivot)
		if i-low < high-i {
			o.sort(low, i-1)
			low = i + 1
		} else {
			o.sort(i+1, high)
			high = i - 1
		}
	}
}

// partition moves the elements below the pivot, which is the second to last element, to the front, and returns
// the pivot's new position.
func (o *sorter) partition(low, high int, pivot Value) int {
	i, j := low, high-1
	for {
		for i++; o.before(o.get(i), pivot); i++ {
			if i > high {
				o.s.Throw("invalid order function for sorting")
			}
		}
		for j--; o.before(pivot, o.get(j)); j-- {
			if j < low {
				o.s.Throw("invalid order function for sorting")
			}
		}
		if j < i {
			break
		}
		o.swap(i, j, o.get(i), o.get(j))
	}
	o.swap(high-1, i, o.get(high-1), o.get(i))
	return i
}
