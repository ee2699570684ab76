package document

import (
	"slices"
	"strings"
)

// Path selects values of a document. One that starts with $ is a JSONPath and
// selects any number of them. Any other is a legacy path, which means one value:
// ".", ".a.b", "a[0]".
type Path struct {
	Text   string // as the user wrote it
	Legacy bool
	steps  []step
}

// step goes from each value that has been reached to some of those below it:
// to its own elements or, when deep, also to those of everything inside it.
type step struct {
	deep bool
	pick []selector // in turn
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
	filter condition
}

// slice is start:end:step; a nil part was left out.
type slice struct {
	start, end *int
	step       int
}

// JSONPath is the path in the syntax of a JSONPath, as replies show it.
func (p *Path) JSONPath() string { return jsonPath(p.Text) }

func jsonPath(text string) string {
	switch {
	case strings.HasPrefix(text, "$"):
		return text
	case text == "" || text == ".":
		return "$"
	case text[0] == '.' || text[0] == '[':
		return "$" + text
	}
	return "$." + text
}

// IsRoot tells whether the path is the document itself.
func (p *Path) IsRoot() bool { return len(p.steps) == 0 }

// Select lists the values that the path leads to, those inside of another one
// before it where the path descends.
func (p *Path) Select(root *Value) []*Value { return p.selectFrom(root, root) }

// selectFrom starts at from; root is what $ in a filter means.
func (p *Path) selectFrom(root, from *Value) []*Value {
	reached := []*Value{from}
	for _, s := range p.steps {
		var next []*Value
		for _, v := range reached {
			next = s.apply(next, root, v)
		}
		if len(reached) > 1 && (s.deep || len(s.pick) > 1) {
			next = once(next) // or each step would multiply the ways to a value
		}
		reached = next
	}
	return reached
}

// SelectOnce is Select without the repetitions of a union, for a change.
func (p *Path) SelectOnce(root *Value) []*Value { return once(p.Select(root)) }

// once drops every value that the list has already had.
func once(values []*Value) []*Value {
	seen := make(map[*Value]bool, len(values))
	return slices.DeleteFunc(values, func(v *Value) bool {
		again := seen[v]
		seen[v] = true
		return again
	})
}

// Child is the path without its last step, and the key that the last step names.
// named is false when it is an index. ok is false for a path that does not lead
// to one place whatever the document holds.
func (p *Path) Child() (parent *Path, key string, named, ok bool) {
	for _, s := range p.steps {
		if s.deep || len(s.pick) != 1 || s.pick[0].kind > byIndex {
			return nil, "", false, false
		}
	}
	if p.IsRoot() {
		return nil, "", false, false
	}
	n := len(p.steps) - 1
	last := p.steps[n].pick[0]
	return &Path{Text: p.Text, Legacy: p.Legacy, steps: p.steps[:n]}, last.name, last.kind == byName, true
}

func (s step) apply(out []*Value, root, v *Value) []*Value {
	for _, sel := range s.pick {
		out = sel.apply(out, root, v)
	}
	if s.deep {
		for _, e := range v.Elems {
			out = s.apply(out, root, e)
		}
	}
	return out
}

func (s *selector) apply(out []*Value, root, v *Value) []*Value {
	switch s.kind {
	case byName:
		if e := v.Get(s.name); e != nil {
			out = append(out, e)
		}
	case byIndex:
		if e := v.At(s.index); e != nil {
			out = append(out, e)
		}
	case bySlice:
		if v.Kind == Array {
			out = s.slice.apply(out, v.Elems)
		}
	case byWildcard:
		out = append(out, v.Elems...)
	case byFilter:
		for _, e := range v.Elems {
			if s.filter.holds(root, e) {
				out = append(out, e)
			}
		}
	}
	return out
}

func (s slice) apply(out, elems []*Value) []*Value {
	bound := func(at *int, missing int) int {
		if at == nil {
			return missing
		}
		if *at < 0 {
			return max(0, *at+len(elems))
		}
		return min(*at, len(elems))
	}
	end := bound(s.end, len(elems))
	for i := bound(s.start, 0); i < end; {
		out = append(out, elems[i])
		if s.step >= end-i { // also keeps a giant step from overflowing
			break
		}
		i += s.step
	}
	return out
}
