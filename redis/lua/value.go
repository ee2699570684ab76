package lua

import "strings"

// Value is a Lua value; the zero Value is nil.
type Value struct {
	ref any     // nil, isBool, isNumber, *text, *Table, *Function, *Coroutine or *Userdata
	num float64 // of a number; 1 is true
}

type (
	isBool   struct{}
	isNumber struct{}
)

// text is a string with its hash, which is computed when a table first asks for it.
type text struct {
	s      string
	hash   uint32
	hashed bool
}

// Userdata is an opaque value, equal only to itself.
type Userdata struct{ Name string }

// Nil, True and False are the values of those names.
var (
	Nil   = Value{}
	True  = Value{ref: isBool{}, num: 1}
	False = Value{ref: isBool{}}
)

// Number is the value of a number.
func Number(n float64) Value { return Value{ref: isNumber{}, num: n} }

// String is the value of a string.
func String(s string) Value { return Value{ref: &text{s: s}} }

// Bool is the value of a boolean.
func Bool(b bool) Value {
	if b {
		return True
	}
	return False
}

// Of is the value of a table, a function, a coroutine or userdata.
func Of[T *Table | *Function | *Coroutine | *Userdata](v T) Value { return Value{ref: v} }

// IsNil reports whether v is nil.
func (v Value) IsNil() bool { return v.ref == nil }

// Truth reports whether v counts as true: it is neither nil nor false.
func (v Value) Truth() bool {
	switch v.ref.(type) {
	case nil:
		return false
	case isBool:
		return v.num != 0
	}
	return true
}

// AsBool is a boolean, if that is what v is.
func (v Value) AsBool() (b, ok bool) {
	_, ok = v.ref.(isBool)
	return v.num != 0, ok
}

// AsNumber is a number, if that is what v is; strings are not converted.
func (v Value) AsNumber() (float64, bool) {
	_, ok := v.ref.(isNumber)
	return v.num, ok
}

// AsString is a string, if that is what v is; numbers are not converted.
func (v Value) AsString() (string, bool) {
	if t, ok := v.ref.(*text); ok {
		return t.s, true
	}
	return "", false
}

// AsTable is a table, if that is what v is, and nil otherwise.
func (v Value) AsTable() *Table {
	t, _ := v.ref.(*Table)
	return t
}

// AsFunction is a function, if that is what v is, and nil otherwise.
func (v Value) AsFunction() *Function {
	f, _ := v.ref.(*Function)
	return f
}

// AsUserdata is userdata, if that is what v is, and nil otherwise.
func (v Value) AsUserdata() *Userdata {
	u, _ := v.ref.(*Userdata)
	return u
}

// Type is the name of v's type, as type() says it.
func (v Value) Type() string {
	switch v.ref.(type) {
	case nil:
		return "nil"
	case isBool:
		return "boolean"
	case isNumber:
		return "number"
	case *text:
		return "string"
	case *Table:
		return "table"
	case *Function:
		return "function"
	case *Coroutine:
		return "thread"
	}
	return "userdata"
}

// Text is a string, or a number as Lua prints it; ok is false for anything else.
func (v Value) Text() (s string, ok bool) {
	switch r := v.ref.(type) {
	case *text:
		return r.s, true
	case isNumber:
		return FormatNumber(v.num), true
	}
	return "", false
}

// ToNumber is a number, or a string that is one; ok is false for anything else.
func (v Value) ToNumber() (n float64, ok bool) {
	switch r := v.ref.(type) {
	case isNumber:
		return v.num, true
	case *text:
		return ParseNumber(r.s)
	}
	return 0, false
}

// rawEqual is equality without metamethods.
func rawEqual(a, b Value) bool {
	switch x := a.ref.(type) {
	case nil:
		return b.ref == nil
	case isBool:
		_, ok := b.ref.(isBool)
		return ok && a.num == b.num
	case isNumber:
		_, ok := b.ref.(isNumber)
		return ok && a.num == b.num
	case *text:
		y, ok := b.ref.(*text)
		return ok && (x == y || x.s == y.s)
	}
	return a.ref == b.ref
}

// sum is the hash by which tables order their strings. It takes all of a long one, as
// Redis's Lua does, where Lua itself takes every so many bytes.
func (t *text) sum() uint32 {
	if !t.hashed {
		h := uint32(len(t.s))
		for i := len(t.s) - 1; i >= 0; i-- {
			h ^= h<<5 + h>>2 + uint32(t.s[i])
		}
		t.hash, t.hashed = h, true
	}
	return t.hash
}

// String is v as tostring shows it, without metamethods and addresses.
func (v Value) String() string {
	if s, ok := v.Text(); ok {
		return s
	}
	switch v.ref.(type) {
	case nil:
		return "nil"
	case isBool:
		if v.num != 0 {
			return "true"
		}
		return "false"
	}
	return v.Type()
}

// cut is s up to its first zero byte, as a function of C's sees it.
func cut(s string) string {
	if i := strings.IndexByte(s, 0); i >= 0 {
		return s[:i]
	}
	return s
}
