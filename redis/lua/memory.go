package lua

import "errors"

// memory limits the memory of a state. The sizes of new strings and tables are only added up. When the sum
// reaches a threshold, the reachable values are counted, and the threshold becomes twice their size.
type memory struct {
	limit     int
	allocated int // last count plus the sizes since
	nextCount int
	marks     uint32
	building  int // bytes of the open Buffers, and of a chunk that is being compiled

	reserve  func(bytes int) // see SetReserve
	reserved int
}

// ErrMemory reports a script above its memory limit.
var ErrMemory = errors.New("not enough memory")

const firstCount = 1 << 20

// An allocation of longString bytes or more checks the limit of time first.
const longString = 1 << 16

// SetMemoryLimit sets the approximate limit of the state's memory, in bytes. A script above it fails with "not
// enough memory".
func (s *State) SetMemoryLimit(n int) {
	s.limit, s.nextCount, s.allocated, s.building = n, min(n, firstCount), 0, 0
}

// SetReserve sets a function that is called before the state's memory exceeds its previous maximum, with the
// number of additional bytes. The first MB is free. A panic of reserve ends the run.
func (s *State) SetReserve(reserve func(bytes int)) {
	s.reserve, s.reserved = reserve, max(s.nextCount, firstCount)
}

// Allocated returns the approximate memory of the state, in bytes.
func (s *State) Allocated() int { return s.allocated }

// Grow counts n bytes before they are allocated.
func (s *State) Grow(n int) {
	if n >= longString {
		s.Check()
	}
	if s.allocated += n; s.allocated <= s.nextCount {
		return
	}
	if n < s.limit {
		s.allocated = n + s.count()
	}
	if s.allocated > s.limit {
		s.allocated = 0
		s.nextCount = 0 // force a count at the next allocation
		s.ThrowValue(String(ErrMemory.Error()))
	}
	s.nextCount = min(s.limit, max(2*s.allocated, firstCount))
	if more := s.nextCount - s.reserved; more > 0 && s.reserve != nil {
		s.reserved = s.nextCount
		s.reserve(more)
	}
}

// Fits raises an error if n bytes of a value under construction exceed the limit.
func (s *State) Fits(n int) {
	if n > s.limit {
		s.ThrowValue(String(ErrMemory.Error()))
	}
}

// count returns the size of all reachable values.
func (s *State) count() int {
	s.marks++
	w := walk{mark: s.marks}
	w.value(Of(s.Globals))
	w.values(s.Roots)
	if s.strings != nil {
		w.value(Of(s.strings))
	}
	w.values(s.stack[:s.top])
	for c, at := s.current, s; at != nil; {
		for _, f := range at.frames[:at.depth] {
			w.values(f.slots)
			w.values(f.varargs)
			w.values(f.args)
			w.values(f.tailing)
			w.value(Value{ref: f.fn})
		}
		if c == nil {
			break
		}
		at, c = c.parent, c.parent.current
	}
	w.drain()
	return w.size + s.building
}

// walk follows references with an explicit stack, because they may be nested deeply.
type walk struct {
	mark   uint32
	size   int
	tables []*Table
	fns    []*Function
	loaded map[*loaded]bool
}

func (w *walk) values(vs []Value) {
	for i := range vs {
		w.value(vs[i])
	}
}

func (w *walk) value(v Value) {
	switch r := v.ref.(type) {
	case *text:
		w.size += 32 + len(r.s) // counted per reference: rather too much than too little
	case *cell:
		w.value(r.v)
	case *Table:
		if r != nil && r.mark != w.mark {
			r.mark = w.mark
			w.size += r.size()
			w.tables = append(w.tables, r)
		}
	case *Function:
		if r != nil && r.goFn == nil && r.mark != w.mark { // states may share a Go function
			r.mark = w.mark
			w.size += 64 + 8*len(r.up)
			w.code(r.code.fn.loaded)
			w.fns = append(w.fns, r)
		}
	case *Coroutine:
		if r.mark != w.mark && r.state != nil {
			r.mark = w.mark
			w.size += 1 << 12
			for _, f := range r.state.frames[:r.state.depth] {
				w.values(f.slots)
				w.values(f.varargs)
			}
		}
	}
}

// code adds the compiled chunk of a function, once.
func (w *walk) code(in *loaded) {
	if in.bytes == 0 || w.loaded[in] {
		return
	}
	if w.loaded == nil {
		w.loaded = map[*loaded]bool{}
	}
	w.loaded[in] = true
	w.size += in.bytes
}

func (w *walk) drain() {
	for len(w.tables)+len(w.fns) > 0 {
		if n := len(w.fns); n > 0 {
			fn := w.fns[n-1]
			w.fns = w.fns[:n-1]
			for _, c := range fn.up {
				w.value(c.v)
			}
			continue
		}
		n := len(w.tables)
		t := w.tables[n-1]
		w.tables = w.tables[:n-1]
		w.values(t.array)
		for i := range t.nodes {
			w.value(t.nodes[i].key)
			w.value(t.nodes[i].value)
		}
		if t.meta != nil {
			w.value(Of(t.meta))
		}
	}
}
