package lua

// SetStringMeta sets the metatable of all strings.
func (s *State) SetStringMeta(t *Table) { s.strings = t }

// StringMeta returns the metatable of all strings.
func (s *State) StringMeta() *Table { return s.strings }

func (s *State) metatable(v Value) *Table {
	switch r := v.ref.(type) {
	case *Table:
		return r.meta
	case *text:
		return s.strings
	}
	return nil
}

func (s *State) metamethod(v Value, event string) Value {
	if m := s.metatable(v); m != nil {
		return m.Field(event)
	}
	return Nil
}

const maxChain = 100

var (
	textIndex    = &text{s: "__index"}
	textNewIndex = &text{s: "__newindex"}
)

// Field returns v[key] with metamethods, for a table. An error in a metamethod propagates to the script.
func (s *State) Field(t *Table, key string) Value {
	for range maxChain {
		v := t.Field(key)
		if t.meta == nil || !v.IsNil() {
			return v
		}
		handler := t.meta.getText(textIndex)
		if handler.AsFunction() != nil {
			return first(s.Invoke(handler, Of(t), String(key)))
		}
		if t = handler.AsTable(); t == nil {
			return Nil
		}
	}
	return Nil
}

// index evaluates object[key]. of is the expression of the object.
func (f *frame) index(object, key Value, line int, of any) Value {
	for range maxChain {
		var handler Value
		if t, ok := object.ref.(*Table); ok {
			v := t.Get(key)
			if t.meta == nil || !v.IsNil() {
				return v
			}
			if handler = t.meta.getText(textIndex); handler.IsNil() {
				return Nil
			}
		} else {
			m := f.s.metatable(object)
			if m != nil {
				handler = m.getText(textIndex)
			}
			if handler.IsNil() {
				f.typeError(line, "index", of, object)
			}
		}
		if handler.AsFunction() != nil {
			f.line = line
			return first(f.s.Invoke(handler, object, key))
		}
		object, of = handler, nil
	}
	f.at(line, "loop in gettable")
	return Nil
}

// setIndex executes object[key] = value.
func (f *frame) setIndex(object, key, value Value, line int, of any) {
	for range maxChain {
		var handler Value
		if t, ok := object.ref.(*Table); ok {
			if t.meta == nil || !t.Get(key).IsNil() {
				f.rawSet(t, key, value, line)
				return
			}
			if handler = t.meta.getText(textNewIndex); handler.IsNil() {
				f.rawSet(t, key, value, line)
				return
			}
			f.checkKey(key, line)
		} else if handler = f.s.metamethod(object, "__newindex"); handler.IsNil() {
			f.typeError(line, "index", of, object)
		}
		if handler.AsFunction() != nil {
			f.line = line
			f.s.Invoke(handler, object, key, value)
			return
		}
		object, of = handler, nil
	}
	f.at(line, "loop in settable")
}

// checkKey raises an error for a key that no table can have, which Lua does before it looks for __newindex.
func (f *frame) checkKey(key Value, line int) {
	switch key.ref.(type) {
	case nil:
		f.at(line, "table index is nil")
	case isNumber:
		if key.num != key.num {
			f.at(line, "table index is NaN")
		}
	}
}

func (f *frame) rawSet(t *Table, key, value Value, line int) {
	if t.ReadOnly {
		f.at(line, "Attempt to modify a readonly table")
	}
	f.checkKey(key, line)
	if _, ok := key.ref.(isNumber); ok {
		if i := arrayIndex(key.num); i > 0 && i <= len(t.array) {
			t.array[i-1] = value
			return
		}
	}
	f.s.Set(t, key, value)
}

// Set sets a table element as a script does, but ignores its metatable and its read-only flag, and counts the
// memory.
func (s *State) Set(t *Table, key, value Value) {
	t.set(key, value, s)
}

// arith evaluates an operation on operands that are not both numbers.
func (f *frame) arith(op int, a, b Value, left, right any, line int) Value {
	x, xok := a.ToNumber()
	y, yok := b.ToNumber()
	if xok && yok {
		return Number(arithmetic[op](x, y))
	}
	event := events[op]
	h := f.s.metamethod(a, event)
	if h.IsNil() {
		h = f.s.metamethod(b, event)
	}
	if h.IsNil() {
		if !xok {
			f.typeError(line, "perform arithmetic on", left, a)
		}
		f.typeError(line, "perform arithmetic on", right, b)
	}
	f.line = line
	return first(f.s.Invoke(h, a, b))
}

var events = map[int]string{'+': "__add", '-': "__sub", '*': "__mul", '/': "__div", '%': "__mod", '^': "__pow"}

var arithmetic = map[int]func(a, b float64) float64{
	'+': func(a, b float64) float64 { return checked(a+b, a, b) },
	'-': func(a, b float64) float64 { return checked(a-b, a, b) },
	'*': func(a, b float64) float64 { return checked(a*b, a, b) },
	'/': func(a, b float64) float64 { return checked(a/b, a, b) },
	'%': modulo,
	'^': power,
}

func (f *frame) negate(v Value, of any, line int) Value {
	if n, ok := v.ToNumber(); ok {
		return Number(-n)
	}
	h := f.s.metamethod(v, "__unm")
	if h.IsNil() {
		f.typeError(line, "perform arithmetic on", of, v)
	}
	f.line = line
	return first(f.s.Invoke(h, v, v))
}

func (f *frame) length(v Value, of any, line int) Value {
	switch r := v.ref.(type) {
	case *Table:
		return Number(float64(r.Len()))
	case *text:
		return Number(float64(len(r.s)))
	}
	f.typeError(line, "get length of", of, v)
	return Nil
}

// equal evaluates a == b.
func (s *State) equal(a, b Value) bool {
	if rawEqual(a, b) {
		return true
	}
	x, y := a.AsTable(), b.AsTable()
	if x == nil || y == nil || x.meta == nil || y.meta == nil {
		return false
	}
	h := x.meta.Field("__eq")
	if h.IsNil() || x.meta != y.meta && !rawEqual(h, y.meta.Field("__eq")) {
		return false
	}
	return first(s.Invoke(h, a, b)).Truth()
}

// less evaluates a < b.
func (f *frame) less(a, b Value, line int) bool {
	switch x := a.ref.(type) {
	case isNumber:
		if _, ok := b.ref.(isNumber); ok {
			return a.num < b.num
		}
	case *text:
		if y, ok := b.ref.(*text); ok {
			return x.s < y.s
		}
	}
	if r, ok := f.order("__lt", a, b, line); ok {
		return r
	}
	f.unordered(a, b, line)
	return false
}

func (f *frame) lessEqual(a, b Value, line int) bool {
	switch x := a.ref.(type) {
	case isNumber:
		if _, ok := b.ref.(isNumber); ok {
			return a.num <= b.num
		}
	case *text:
		if y, ok := b.ref.(*text); ok {
			return x.s <= y.s
		}
	}
	if r, ok := f.order("__le", a, b, line); ok {
		return r
	}
	if r, ok := f.order("__lt", b, a, line); ok {
		return !r
	}
	f.unordered(a, b, line)
	return false
}

func (f *frame) order(event string, a, b Value, line int) (result, ok bool) {
	h := f.s.metamethod(a, event)
	if h.IsNil() || a.Type() != b.Type() || !rawEqual(h, f.s.metamethod(b, event)) {
		return false, false
	}
	f.line = line
	return first(f.s.Invoke(h, a, b)).Truth(), true
}

func (f *frame) unordered(a, b Value, line int) {
	if a.Type()[2] == b.Type()[2] { // as the reference implementation compares them: "thread" is like "string"
		f.at(line, "attempt to compare two "+a.Type()+" values")
	}
	f.at(line, "attempt to compare "+a.Type()+" with "+b.Type())
}

// concat evaluates a .. b.
func (f *frame) concat(a, b Value, left, right any, line int) Value {
	x, xok := a.Text()
	y, yok := b.Text()
	if xok && yok {
		f.s.Grow(len(x) + len(y))
		return String(x + y)
	}
	h := f.s.metamethod(a, "__concat")
	if h.IsNil() {
		h = f.s.metamethod(b, "__concat")
	}
	if h.IsNil() {
		if !xok {
			f.typeError(line, "concatenate", left, a)
		}
		f.typeError(line, "concatenate", right, b)
	}
	f.line = line
	return first(f.s.Invoke(h, a, b))
}

// ToString returns the result of tostring.
func (s *State) ToString(v Value) string {
	if h := s.metamethod(v, "__tostring"); !h.IsNil() {
		r, ok := first(s.Invoke(h, v)).AsString()
		if !ok {
			s.Throw("'tostring' must return a string to 'print'")
		}
		return r
	}
	switch r := v.ref.(type) {
	case *Table:
		if r.id == 0 {
			r.id = ids.Add(1)
		}
		return "table: " + address(r.id)
	case *Function:
		return "function: " + address(r.id)
	case *Coroutine:
		return "thread: " + address(r.id)
	case *Userdata:
		return "userdata: (nil)"
	}
	return v.String()
}

func address(id uint32) string {
	const digits = "0123456789abcdef"
	b := []byte("0x55d000000000")
	for i, n := len(b)-1, uint64(id)*16; n > 0; i, n = i-1, n/16 {
		b[i] = digits[n%16]
	}
	return string(b)
}
