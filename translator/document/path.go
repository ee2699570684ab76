package document

import "slices"

// Path selects values of a document. A JSONPath starts with $ and selects any number of them. A projection, such as $.a
// + 1, computes values. Any other text is a legacy path, which selects one value: ".", ".a.b", "a[0]".
type Path struct {
	Text    string // as the user wrote it
	Legacy  bool
	steps   []step
	compute expression // of a projection
}

// step leads from each reached value to elements of it. A deep step also leads to the elements of everything inside it.
type step struct {
	deep, inner bool       // inner: a deep step lists inner elements first
	pick        []selector // applied in order
}

type selectorKind byte

const (
	byName selectorKind = iota
	byIndex
	bySlice
	byWildcard
	byFilter
)

// selector picks elements of one value.
type selector struct {
	kind   selectorKind
	name   string
	index  int
	slice  slice
	filter expression
}

// slice is start:end:step; an omitted start or end is nil.
type slice struct {
	start, end *int
	step       int
}

// IsRoot reports whether the path selects the document itself.
func (p *Path) IsRoot() bool { return len(p.steps) == 0 && p.compute == nil }

// NestedFirst makes deep steps list inner values before outer ones.
func (p *Path) NestedFirst() {
	for i := range p.steps {
		p.steps[i].inner = p.steps[i].deep
	}
}

// Computes reports whether the path is a projection. Its values have no place in the document.
func (p *Path) Computes() bool { return p.compute != nil }

// Select returns the values that the path selects. A deep path lists inner values after outer ones, unless NestedFirst was called, and lists a value
// once for each way to it. A nil work has no limits.
func (p *Path) Select(root *Value, work Work) []*Value {
	at := scope{root, root, work}
	if p.compute != nil {
		return p.compute.eval(at).values
	}
	return walk(p.steps, at)
}

// repeatLimit limits the values that a step keeps before it drops repeated ones: each step may multiply the ways to a
// value.
const repeatLimit = 1 << 14

// walk follows the steps from the current value.
func walk(steps []step, at scope) []*Value {
	reached := []*Value{at.current}
	for _, s := range steps {
		var next []*Value
		limit := repeatLimit
		repeats := len(reached) > 1 && (s.deep || len(s.pick) > 1)
		for _, v := range reached {
			if next = s.apply(next, at, v); repeats && len(next) > limit {
				at.countSteps(4 * len(next))
				next = unique(next)
				limit = max(repeatLimit, 2*len(next))
			}
		}
		reached = next
	}
	return reached
}

// SelectUnique is Select without repeated values, for callers that change them.
func (p *Path) SelectUnique(root *Value, work Work) []*Value { return unique(p.Select(root, work)) }

// unique drops repeated values.
func unique(values []*Value) []*Value {
	seen := make(map[*Value]bool, len(values))
	return slices.DeleteFunc(values, func(v *Value) bool {
		again := seen[v]
		seen[v] = true
		return again
	})
}

// Child returns the path without its last step, and the key of the last step. named is false if the last step is an
// index. ok is false if the path may select more than one place.
func (p *Path) Child() (parent *Path, key string, named, ok bool) {
	for _, s := range p.steps {
		if s.deep || len(s.pick) != 1 || s.pick[0].kind > byIndex {
			return nil, "", false, false
		}
	}
	if len(p.steps) == 0 {
		return nil, "", false, false
	}
	n := len(p.steps) - 1
	last := p.steps[n].pick[0]
	return &Path{Text: p.Text, Legacy: p.Legacy, steps: p.steps[:n]}, last.name, last.kind == byName, true
}

func (s step) apply(out []*Value, at scope, v *Value) []*Value {
	if s.inner {
		out = s.applyInside(out, at, v)
	}
	for _, sel := range s.pick {
		had := len(out)
		out = sel.apply(out, at, v)
		at.countSteps(2 + len(out) - had)
		if len(s.pick) > 1 { // one selector reaches at most the values of the document
			at.grow(2 * pointerBytes * (len(out) - had))
		}
	}
	if s.deep && !s.inner {
		out = s.applyInside(out, at, v)
	}
	return out
}

// applyInside applies the step to each element of v.
func (s step) applyInside(out []*Value, at scope, v *Value) []*Value {
	for _, e := range v.Elems {
		out = s.apply(out, at, e)
	}
	return out
}

func (s *selector) apply(out []*Value, at scope, v *Value) []*Value {
	switch s.kind {
	case byName:
		if e := v.Get(s.name); e != nil {
			out = append(out, e)
		}
	case byIndex:
		if i := position(s.index, len(v.Elems)); v.Kind == Array && i < len(v.Elems) {
			out = append(out, v.Elems[i])
		}
	case bySlice:
		if v.Kind == Array {
			out = s.slice.apply(out, v.Elems)
		}
	case byWildcard:
		out = append(out, v.Elems...)
	case byFilter:
		for _, e := range v.Elems {
			at.countSteps(4)
			if at.current = e; s.filter.eval(at).holds() {
				out = append(out, e)
			}
		}
	}
	return out
}

// position resolves the index i of n elements. A negative i counts from the end; the result is limited to 0 to n.
func position(i, n int) int {
	if i < 0 {
		return max(0, i+n)
	}
	return min(i, n)
}

func (s slice) apply(out, elems []*Value) []*Value {
	i, end := 0, len(elems)
	if s.start != nil {
		i = position(*s.start, len(elems))
	}
	if s.end != nil {
		end = position(*s.end, len(elems))
	}
	for i < end {
		out = append(out, elems[i])
		if s.step >= end-i { // also prevents overflow with a huge step
			break
		}
		i += s.step
	}
	return out
}
