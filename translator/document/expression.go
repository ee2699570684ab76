package document

import (
	"math"
	"slices"
)

// expression evaluates the condition of a filter, a projection, or a part of either.
type expression interface {
	eval(at scope) result
}

// Work bounds a call: Step charges steps, and Grow charges bytes before they are allocated. Both panic at a limit.
type Work interface {
	Step(n int)
	Grow(n int64)
}

// scope holds the context of an evaluation: the values of $ and @, and the limits of the call.
type scope struct {
	root, current *Value
	work          Work
}

// countSteps charges n examined values.
func (s scope) countSteps(n int) {
	if s.work != nil {
		s.work.Step(n)
	}
}

// A place in a list of values takes pointer bytes.
const pointerBytes = 8

// grow charges n bytes.
func (s scope) grow(n int) {
	if s.work != nil {
		s.work.Grow(int64(n))
	}
}

// result holds the outcome of an expression. Without values it is Nothing: a path without matches, or an impossible
// computation.
type result struct {
	values []*Value
	kind   resultKind
}

type resultKind byte

const (
	nodes    resultKind = iota // separate places in the document
	computed                   // one computed value
	list                       // one computed array, of all the values
)

var (
	nothing = result{}
	yes     = computedValue(&Value{Kind: Bool, Bool: true})
	no      = computedValue(&Value{Kind: Bool})
)

func computedValue(v *Value) result { return result{values: []*Value{v}, kind: computed} }

func truth(b bool) result {
	if b {
		return yes
	}
	return no
}

// holds reports whether a condition is true. A place in the document counts as true, whatever its value.
func (r result) holds() bool {
	if r.kind == computed && r.values[0].Kind == Bool {
		return r.values[0].Bool
	}
	return len(r.values) > 0
}

// single returns the value of a result with exactly one, nil for any other.
func (r result) single() *Value {
	if r.kind == list || len(r.values) != 1 {
		return nil
	}
	return r.values[0]
}

// number returns the value of a result that is a single number, nil for any other.
func (r result) number() *Value {
	if v := r.single(); v != nil && v.IsNumber() {
		return v
	}
	return nil
}

// elements returns the result as an array: the elements of a single array, or several places.
func (r result) elements() ([]*Value, bool) {
	switch v := r.single(); {
	case v == nil:
		return r.values, r.kind == list || len(r.values) > 0
	case v.Kind == Array:
		return v.Elems, true
	}
	return nil, false
}

// breadth returns the number of values that a comparison with the result may examine.
func (r result) breadth() int {
	elems, _ := r.elements()
	if v := r.single(); v != nil {
		return 1 + len(elems) + len(v.Str)/64
	}
	return max(len(elems), len(r.values))
}

// each splits a result of several places into one result per place. A computed result stays whole.
func (r result) each() []result {
	if r.kind != nodes || len(r.values) < 2 {
		return []result{r}
	}
	all := make([]result, len(r.values))
	for i := range r.values {
		all[i] = result{values: r.values[i : i+1]}
	}
	return all
}

// literal is a constant.
type literal struct{ value result }

func (l literal) eval(scope) result { return l.value }

// selection evaluates a path from the current element or, if fromTop, from the root.
type selection struct {
	steps   []step
	fromTop bool
}

func (s selection) eval(at scope) result {
	if s.fromTop {
		at.current = at.root
	}
	return result{values: walk(s.steps, at)}
}

// connective is || if any is set, otherwise &&.
type connective struct {
	any   bool
	parts []expression
}

func (c connective) eval(at scope) result {
	for _, part := range c.parts {
		if part.eval(at).holds() == c.any {
			return truth(c.any)
		}
	}
	return truth(!c.any)
}

type negation struct{ of expression }

func (n negation) eval(at scope) result { return truth(!n.of.eval(at).holds()) }

// comparison applies one of the operators in relations.
type comparison struct {
	relation    func(a, b result) bool
	left, right expression
}

func (c comparison) eval(at scope) result {
	left, right := c.left.eval(at), c.right.eval(at)
	at.countSteps(left.breadth() * right.breadth())
	return truth(c.relation(left, right))
}

// relations lists the comparison operators except =~. A comparison of several places holds if it holds for one of them.
var relations = []struct {
	op    string
	holds func(a, b result) bool
}{
	{"==", same},
	{"!=", not(same)},
	{"<=", ordered(func(n int) bool { return n <= 0 })},
	{">=", ordered(func(n int) bool { return n >= 0 })},
	{"<", ordered(func(n int) bool { return n < 0 })},
	{">", ordered(func(n int) bool { return n > 0 })},
	{"in", member},
	{"nin", not(member)},
	{"subsetof", related(true)},
	{"anyof", related(false)},
	{"noneof", not(related(false))},
	{"sizeof", hasSize},
	{"size", hasSize},
	{"empty", isEmpty},
}

func not(of func(a, b result) bool) func(a, b result) bool {
	return func(a, b result) bool { return !of(a, b) }
}

func anyPair(a, b result, holds func(v, w *Value) bool) bool {
	if a.kind == list || b.kind == list {
		return false
	}
	return slices.ContainsFunc(a.values, func(v *Value) bool {
		return slices.ContainsFunc(b.values, func(w *Value) bool { return holds(v, w) })
	})
}

func same(a, b result) bool { return anyPair(a, b, (*Value).Equal) }

func ordered(holds func(n int) bool) func(a, b result) bool {
	return func(a, b result) bool {
		return anyPair(a, b, func(v, w *Value) bool {
			n, ok := v.compare(w)
			return ok && holds(n)
		})
	}
}

// compare orders numbers, strings, booleans and nulls among themselves; ok is false for any other pair.
func (v *Value) compare(w *Value) (int, bool) {
	switch {
	case v.IsNumber() && w.IsNumber():
		return v.compareNumber(w), true
	case v.Kind != w.Kind:
		return 0, false
	case v.Kind == String:
		return order(v.Str, w.Str), true
	case v.Kind == Bool && v.Bool != w.Bool:
		if w.Bool {
			return -1, true
		}
		return 1, true
	}
	return 0, v.Kind == Bool || v.Kind == Null
}

func member(a, b result) bool {
	set, _ := b.elements()
	return slices.ContainsFunc(a.values, func(v *Value) bool { return slices.ContainsFunc(set, v.Equal) })
}

// related reports whether all, or any, elements of an array are in another array.
func related(all bool) func(a, b result) bool {
	return func(a, b result) bool {
		set, _ := b.elements()
		return slices.ContainsFunc(a.each(), func(one result) bool {
			elems, ok := one.elements()
			decides := func(v *Value) bool { return slices.ContainsFunc(set, v.Equal) != all }
			return ok && slices.ContainsFunc(elems, decides) != all
		})
	}
}

func hasSize(a, b result) bool {
	return slices.ContainsFunc(a.each(), func(one result) bool {
		n, ok := one.length()
		return ok && slices.ContainsFunc(b.values, func(w *Value) bool { return w.IsNumber() && math.Trunc(w.Double()) == float64(n) })
	})
}

func isEmpty(a, b result) bool {
	return slices.ContainsFunc(a.each(), func(one result) bool {
		n, ok := one.length()
		return ok && slices.ContainsFunc(b.values, func(w *Value) bool { return w.Kind == Bool && w.Bool == (n == 0) })
	})
}

// arithmetic computes with two numbers.
type arithmetic struct {
	op          byte
	left, right expression
}

func (c arithmetic) eval(at scope) result {
	a, b := c.left.eval(at).number(), c.right.eval(at).number()
	if a == nil || b == nil {
		return nothing
	}
	if a.isInteger() && b.isInteger() && c.op != '/' {
		if n, ok := integers(c.op, a, b); ok {
			return computedValue(n)
		}
		if c.op == '%' {
			return nothing
		}
	}
	return finite(doubles(c.op, a.Double(), b.Double()))
}

func doubles(op byte, a, b float64) float64 {
	switch op {
	case '+':
		return a + b
	case '-':
		return a - b
	case '*':
		return a * b
	case '/':
		return a / b
	}
	return math.Mod(a, b)
}

// finite returns the double f, or Nothing if it is infinite or NaN.
func finite(f float64) result {
	if v, ok := double(f); ok {
		return computedValue(v)
	}
	return nothing
}
