package lua

import (
	"math"
	"strconv"
	"strings"
)

// Library returns a table of Go functions.
func Library(fns map[string]GoFunction) *Table {
	t := NewTable(0, len(fns))
	AddFunctions(t, fns)
	return t
}

// AddFunctions adds Go functions to a table.
func AddFunctions(t *Table, fns map[string]GoFunction) {
	for _, name := range sorted(fns) {
		t.SetField(name, Of(GoFunc(name, fns[name])))
	}
}

// OpenLibraries sets Lua's standard globals, except for io, os, debug, package and functions that read files.
func (s *State) OpenLibraries() {
	g := s.Globals
	AddFunctions(g, baseFunctions)
	g.SetField("_G", Of(g))
	g.SetField("_VERSION", String("Lua 5.1"))
	g.SetField("coroutine", Of(Library(coroutineFunctions)))
	g.SetField("table", Of(Library(tableFunctions)))
	strs := Library(stringFunctions)
	g.SetField("string", Of(strs))
	s.strings = NewTable(0, 1)
	s.strings.SetField("__index", Of(strs))
	m := Library(mathFunctions)
	m.SetField("pi", Number(math.Pi))
	m.SetField("huge", Number(math.Inf(1)))
	g.SetField("math", Of(m))
}

var baseFunctions map[string]GoFunction

func init() {
	baseFunctions = map[string]GoFunction{
		"assert": baseAssert, "collectgarbage": baseCollect, "error": baseError, "gcinfo": baseGcinfo,
		"getmetatable": baseGetMeta, "ipairs": baseIpairs, "load": baseLoad, "loadstring": baseLoadString,
		"next": baseNext, "pairs": basePairs, "pcall": basePcall, "rawequal": baseRawEqual, "rawget": baseRawGet,
		"rawset": baseRawSet, "select": baseSelect, "setmetatable": baseSetMeta, "tonumber": baseToNumber,
		"tostring": baseToString, "type": baseType, "unpack": baseUnpack, "xpcall": baseXpcall,
	}
}

func baseAssert(s *State, args []Value) []Value {
	if !s.CheckAny(args, 1).Truth() {
		msg := "assertion failed!"
		if !Arg(args, 2).IsNil() {
			msg = cut(s.CheckString(args, 2))
		}
		s.Throw(msg)
	}
	return args
}

func baseCollect(s *State, args []Value) []Value {
	option := "collect"
	if !Arg(args, 1).IsNil() {
		option = cut(s.CheckString(args, 1))
	}
	switch option {
	case "count":
		return s.One(Number(float64(s.allocated) / 1024))
	case "step":
		return s.One(True)
	case "collect", "stop", "restart":
		return s.One(Number(0))
	case "setpause", "setstepmul":
		return s.One(Number(200))
	}
	s.BadArgument(1, "invalid option '"+option+"'")
	return nil
}

func baseGcinfo(s *State, _ []Value) []Value { return s.One(Number(float64(s.allocated / 1024))) }

func baseError(s *State, args []Value) []Value {
	v := Arg(args, 1)
	level := s.OptInt(args, 2, 1)
	if text, ok := v.Text(); ok && level > 0 {
		s.Grow(len(text))
		v = String(s.where(level) + text)
	}
	s.ThrowValue(v)
	return nil
}

func baseGetMeta(s *State, args []Value) []Value {
	m := s.metatable(s.CheckAny(args, 1))
	if m == nil {
		return s.One(Nil)
	}
	if v := m.Field("__metatable"); !v.IsNil() {
		return s.One(v)
	}
	return s.One(Of(m))
}

func baseSetMeta(s *State, args []Value) []Value {
	t, v := s.CheckTable(args, 1), Arg(args, 2)
	m := v.AsTable()
	if m == nil && (!v.IsNil() || len(args) < 2) {
		s.BadArgument(2, "nil or table expected")
	}
	if t.meta != nil && !t.meta.Field("__metatable").IsNil() {
		s.Throw("cannot change a protected metatable")
	}
	if t.ReadOnly {
		s.Raise("Attempt to modify a readonly table")
	}
	t.meta = m
	return s.One(args[0])
}

var ipairsNext = GoFunc("ipairs", func(s *State, args []Value) []Value {
	i := s.CheckInt(args, 2) + 1 // first, as in the reference implementation
	t := s.CheckTable(args, 1)
	if v := t.Index(i); !v.IsNil() {
		args[0], args[1] = Number(float64(i)), v
		return args[:2]
	}
	return args[:0]
})

func baseIpairs(s *State, args []Value) []Value {
	t := s.CheckTable(args, 1)
	return []Value{Of(ipairsNext), Of(t), Number(0)}
}

func baseNext(s *State, args []Value) []Value {
	k, v, ok := s.CheckTable(args, 1).Next(Arg(args, 2))
	switch {
	case !ok:
		s.Raise("invalid key to 'next'")
	case k.IsNil():
		return s.One(Nil)
	case len(args) < 2:
		return []Value{k, v}
	}
	args[0], args[1] = k, v
	return args[:2]
}

var pairsNext = GoFunc("next", baseNext)

func basePairs(s *State, args []Value) []Value {
	t := s.CheckTable(args, 1)
	return []Value{Of(pairsNext), Of(t), Nil}
}

func basePcall(s *State, args []Value) []Value {
	fn := s.CheckAny(args, 1)
	results, failed := s.Protected(fn, args[1:])
	if failed != nil {
		return []Value{False, failed.Value}
	}
	return append([]Value{True}, results...)
}

// Protected calls fn from a Go function and catches its error.
func (s *State) Protected(fn Value, args []Value) (results []Value, failed *Error) {
	top, depth, nested := s.top, s.depth, s.nested
	if results, failed = s.invokeCaught(fn, args); failed != nil {
		s.unwind(top, depth, nested)
	}
	return results, failed
}

// invokeCaught calls fn and catches its error. After an error the calls that failed stay on the stack.
func (s *State) invokeCaught(fn Value, args []Value) (results []Value, failed *Error) {
	defer func() {
		if r := recover(); r != nil {
			e, ok := r.(*Error)
			if !ok {
				panic(r)
			}
			failed = e
		}
	}()
	return s.Invoke(fn, args...), nil
}

func baseXpcall(s *State, args []Value) []Value {
	handler := s.CheckAny(args, 2)
	top, depth, nested := s.top, s.depth, s.nested
	results, failed := s.invokeCaught(args[0], nil)
	if failed == nil {
		return append([]Value{True}, results...)
	}
	v := failed.Value
	// The handler runs above the calls that failed, so that the levels of error count them. It also gets its own
	// errors, until the calls are nested too deep.
	const deepest = maxNested + maxNested/8
	for n := nested; n < deepest && handler.AsFunction() != nil; n++ {
		if s.depth > maxDepth/2 {
			s.unwind(top, depth, nested)
		}
		s.nested = nested
		results, failed := s.invokeCaught(handler, []Value{v})
		if failed == nil {
			v := first(results)
			s.unwind(top, depth, nested)
			return []Value{False, v}
		}
		v = failed.Value
	}
	s.unwind(top, depth, nested)
	return []Value{False, String("error in error handling")}
}

func baseRawEqual(s *State, args []Value) []Value {
	return s.One(Bool(rawEqual(s.CheckAny(args, 1), s.CheckAny(args, 2))))
}

func baseRawGet(s *State, args []Value) []Value {
	return s.One(s.CheckTable(args, 1).Get(s.CheckAny(args, 2)))
}

func baseRawSet(s *State, args []Value) []Value {
	t, k, v := s.CheckTable(args, 1), s.CheckAny(args, 2), s.CheckAny(args, 3)
	switch {
	case t.ReadOnly:
		s.Raise("Attempt to modify a readonly table")
	case k.IsNil():
		s.Raise("table index is nil")
	case isNum(k) && k.num != k.num:
		s.Raise("table index is NaN")
	}
	s.Set(t, k, v)
	return s.One(args[0])
}

func baseSelect(s *State, args []Value) []Value {
	if t, ok := Arg(args, 1).AsString(); ok && strings.HasPrefix(t, "#") {
		return s.One(Number(float64(len(args) - 1)))
	}
	i := s.CheckInt(args, 1)
	if i < 0 {
		i += len(args)
	} else if i > len(args) {
		i = len(args)
	}
	if i < 1 {
		s.BadArgument(1, "index out of range")
	}
	return args[i:]
}

func baseToNumber(s *State, args []Value) []Value {
	base := s.OptInt(args, 2, 10)
	if base == 10 {
		if n, ok := s.CheckAny(args, 1).ToNumber(); ok {
			return s.One(Number(n))
		}
		return s.One(Nil)
	}
	text := s.CheckString(args, 1)
	if base < 2 || base > 36 {
		s.BadArgument(2, "base out of range")
	}
	text = strings.Trim(cut(text), spaces)
	digits, negative := strings.CutPrefix(text, "-")
	if !negative {
		digits = strings.TrimPrefix(digits, "+")
	}
	if base == 16 && len(digits) > 2 && digits[0] == '0' && digits[1]|0x20 == 'x' {
		digits = digits[2:]
	}
	if digits == "" {
		return s.One(Nil)
	}
	for i := range len(digits) { // ParseUint stops reading at a number that is too large
		if _, err := strconv.ParseUint(digits[i:i+1], base, 64); err != nil {
			return s.One(Nil)
		}
	}
	n, err := strconv.ParseUint(digits, base, 64)
	if negative && err == nil {
		n = -n
	}
	return s.One(Number(float64(n)))
}

func baseToString(s *State, args []Value) []Value {
	v := s.CheckAny(args, 1)
	if _, ok := v.ref.(*text); ok {
		return s.One(v)
	}
	if h := s.metamethod(v, "__tostring"); !h.IsNil() {
		return s.One(first(s.Invoke(h, v))) // of any type
	}
	return s.One(String(s.ToString(v)))
}

func baseType(s *State, args []Value) []Value { return s.One(String(s.CheckAny(args, 1).Type())) }

// maxResults limits the arguments and results of a Go function, as the stack of the reference implementation
// does.
const maxResults = 8000

func baseUnpack(s *State, args []Value) []Value {
	t := s.CheckTable(args, 1)
	from := s.OptInt(args, 2, 1)
	to := 0
	if Arg(args, 3).IsNil() {
		to = t.Len()
	} else {
		to = s.CheckInt(args, 3)
	}
	if from > to {
		return nil
	}
	n := to - from + 1
	if n <= 0 || n > maxResults-len(args) {
		s.Throw("too many results to unpack")
	}
	vs := make([]Value, n)
	for i := range vs {
		vs[i] = t.Index(from + i)
	}
	return vs
}

func baseLoadString(s *State, args []Value) []Value {
	source := s.CheckString(args, 1)
	name := source
	if !Arg(args, 2).IsNil() {
		name = s.CheckString(args, 2)
	}
	return s.loaded(source, name)
}

func baseLoad(s *State, args []Value) []Value {
	reader := s.CheckFunction(args, 1)
	name := "=(load)"
	if !Arg(args, 2).IsNil() {
		name = s.CheckString(args, 2)
	}
	b := s.Buffer()
	defer b.Close()
	for {
		vs, failed := s.Protected(reader, nil)
		if failed != nil {
			return []Value{Nil, failed.Value}
		}
		v := first(vs)
		if v.IsNil() {
			break
		}
		part, ok := v.Text()
		if !ok {
			return []Value{Nil, String("reader function must return a string")}
		}
		if part == "" {
			break
		}
		b.String(part)
	}
	source, _ := b.Value().AsString()
	return s.loaded(source, name)
}

func (s *State) loaded(source, name string) []Value {
	size := 0
	defer func() { s.building -= size }()
	p, err := Compile(source, name, func(n int) {
		s.Grow(n)
		size += n
		s.building += n
	})
	if err != nil {
		return []Value{Nil, err.(*Error).Value}
	}
	p.code.fn.loaded.bytes = size
	return s.One(Of(s.Bind(p, s.running().env)))
}

// running returns the innermost function of a script, whose globals a new chunk gets.
func (s *State) running() *Function {
	for i := s.depth - 1; i >= 0; i-- {
		if fn := s.frames[i].fn; fn.code != nil {
			return fn
		}
	}
	return &Function{env: s.Globals}
}
