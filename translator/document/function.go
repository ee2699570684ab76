package document

import (
	"math"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"
)

// call is a function with its arguments.
type call struct {
	function
	args []expression
}

// function takes at least min arguments, and at most max unless max is 0. Any other number of arguments gives Nothing.
type function struct {
	min, max int
	apply    func(args []result) result
	size     func(args []result) int // bytes that apply allocates; nil for few
}

func (c call) eval(at scope) result {
	if len(c.args) < c.min || c.max > 0 && len(c.args) > c.max {
		return nothing
	}
	args := make([]result, len(c.args))
	for i, arg := range c.args {
		args[i] = arg.eval(at)
		at.countSteps(args[i].breadth())
	}
	if c.size != nil {
		at.grow(c.size(args))
	}
	return c.apply(args)
}

// appendBytes returns the bytes of the lists of append.
func appendBytes(args []result) (n int) {
	for _, arg := range args {
		elems, _ := arg.elements()
		n += max(len(elems), len(arg.values)) * 2 * pointerBytes
	}
	return n
}

// concatBytes returns the bytes of the text of concat.
func concatBytes(args []result) (n int) {
	for _, arg := range args {
		if v := arg.single(); v != nil {
			n += len(v.Str)
		}
	}
	return 2 * n
}

// keysBytes returns the bytes of the strings of keys.
func keysBytes(args []result) (n int) {
	for _, v := range args[0].values {
		n += len(v.Keys)
	}
	return n * int(valueBytes)
}

// functions lists all functions except match and search, which are matchers.
var functions = sync.OnceValue(func() map[string]function {
	return map[string]function{
		"abs":     {1, 1, rounded(math.Abs), nil},
		"append":  {2, 0, appendElements, appendBytes},
		"avg":     {1, 1, aggregate(mean), nil},
		"ceiling": {1, 1, rounded(math.Ceil), nil},
		"concat":  {1, 0, concatStrings, concatBytes},
		"count":   {1, 1, func(args []result) result { return integer(len(args[0].values)) }, nil},
		"first":   {1, 1, func(args []result) result { return args[0].index(0) }, nil},
		"floor":   {1, 1, rounded(math.Floor), nil},
		"index":   {2, 2, at, nil},
		"keys":    {1, 1, func(args []result) result { return args[0].keys() }, keysBytes},
		"last":    {1, 1, func(args []result) result { return args[0].index(-1) }, nil},
		"length":  {1, 1, lengthOf, nil},
		"max":     {1, 1, aggregate(slices.Max[[]float64]), nil},
		"min":     {1, 1, aggregate(slices.Min[[]float64]), nil},
		"stddev":  {1, 1, aggregate(deviation), nil},
		"sum":     {1, 1, aggregate(sum), nil},
		"value":   {1, 1, func(args []result) result { return args[0].sole() }, nil},
	}
})

func integer(n int) result { return computedValue(&Value{Kind: Int, Int: int64(n)}) }

// length returns the number of characters, elements or keys.
func (r result) length() (int, bool) {
	switch v := r.single(); {
	case r.kind == list:
		return len(r.values), true
	case v == nil:
		return 0, false
	case v.Kind == String:
		return utf8.RuneCountInString(v.Str), true
	default:
		return len(v.Elems), v.Kind == Array || v.Kind == Object
	}
}

func lengthOf(args []result) result {
	if n, ok := args[0].length(); ok {
		return integer(n)
	}
	return nothing
}

// sole returns r if it is exactly one place, otherwise Nothing.
func (r result) sole() result {
	if r.kind == nodes && len(r.values) == 1 {
		return r
	}
	return nothing
}

// keys returns the keys of all objects.
func (r result) keys() result {
	names := result{kind: list}
	for _, v := range r.values {
		if v.Kind == Object {
			for _, key := range v.Keys {
				names.values = append(names.values, &Value{Kind: String, Str: key})
			}
		}
	}
	return names
}

// index returns one element of an array. A negative i counts from the end.
func (r result) index(i float64) result {
	elems, _ := r.elements()
	if i = math.Trunc(i); i < 0 {
		i += float64(len(elems))
	}
	if i < 0 || i >= float64(len(elems)) {
		return nothing
	}
	return result{values: elems[int(i) : int(i)+1]}
}

func at(args []result) result {
	if i := args[1].number(); i != nil {
		return args[0].index(i.Double())
	}
	return nothing
}

// appendElements returns the array, or all places, followed by more elements. An argument of several values becomes one
// element.
func appendElements(args []result) result {
	whole := args[0]
	elems, ok := whole.elements()
	if !ok {
		elems = whole.values
	}
	all := result{values: slices.Clone(elems), kind: list}
	for _, arg := range args[1:] {
		switch v := arg.single(); {
		case v != nil:
			all.values = append(all.values, v)
		case len(arg.values) == 0 && arg.kind != list:
			return nothing
		default:
			all.values = append(all.values, &Value{Kind: Array, Elems: arg.values})
		}
	}
	return all
}

func concatStrings(args []result) result {
	var text strings.Builder
	for _, arg := range args {
		v := arg.single()
		if v == nil || v.Kind != String {
			return nothing
		}
		text.WriteString(v.Str)
	}
	return computedValue(&Value{Kind: String, Str: text.String()})
}

// rounded applies a function to one number and keeps its kind.
func rounded(of func(float64) float64) func(args []result) result {
	return func(args []result) result {
		v := args[0].number()
		switch {
		case v == nil:
			return nothing
		case v.Kind == Int && of(-1) == 1 && v.Int < 0: // abs, exact to the last digit
			if v.Int == math.MinInt64 {
				return nothing
			}
			return computedValue(&Value{Kind: Int, Int: -v.Int})
		case v.Kind != Float:
			return computedValue(v)
		}
		return finite(of(v.Float))
	}
}

// aggregate applies a function to the numbers of an array. An array that is empty or holds other values gives Nothing.
func aggregate(of func([]float64) float64) func(args []result) result {
	return func(args []result) result {
		elems, _ := args[0].elements()
		numbers := make([]float64, len(elems))
		for i, v := range elems {
			if !v.IsNumber() {
				return nothing
			}
			numbers[i] = v.Double()
		}
		if len(numbers) == 0 {
			return nothing
		}
		return finite(of(numbers))
	}
}

func sum(numbers []float64) float64 {
	total := 0.0
	for _, f := range numbers {
		total += f
	}
	return total
}

func mean(numbers []float64) float64 { return sum(numbers) / float64(len(numbers)) }

// deviation returns the population standard deviation.
func deviation(numbers []float64) float64 {
	middle := mean(numbers)
	squares := make([]float64, len(numbers))
	for i, f := range numbers {
		squares[i] = (f - middle) * (f - middle)
	}
	return math.Sqrt(mean(squares))
}

// matcher searches a string for a pattern, or matches the whole string. An invalid pattern matches nothing.
type matcher struct {
	text, pattern expression
	whole         bool
	compiled      *regexp.Regexp // set if the pattern is a constant
}

func newMatcher(text, pattern expression, whole bool) expression {
	m := matcher{text: text, pattern: pattern, whole: whole}
	if l, ok := pattern.(literal); ok {
		if m.compiled = m.compile(l.value.single()); m.compiled == nil {
			return literal{no}
		}
	}
	return m
}

// compile returns nil for an invalid pattern.
func (m matcher) compile(pattern *Value) *regexp.Regexp {
	if pattern == nil || pattern.Kind != String {
		return nil
	}
	text := pattern.Str
	if m.whole {
		text = `\A(?:` + text + `)\z`
	}
	compiled, _ := regexp.Compile(text) // nil with an error
	return compiled
}

func (m matcher) eval(at scope) result {
	return truth(anyPair(m.text.eval(at), m.pattern.eval(at), func(text, pattern *Value) bool {
		at.countSteps(32 * (len(text.Str) + len(pattern.Str))) // a regular expression takes long per byte
		compiled := m.compiled
		if compiled == nil {
			compiled = m.compile(pattern)
		}
		return compiled != nil && text.Kind == String && compiled.MatchString(text.Str)
	}))
}
