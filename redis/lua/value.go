package lua

import "strings"

// Value is a Lua value; the zero Value is nil.
type Value struct {
	ref any     // nil, isBool, isNumber, *text, *Table, *Function, *Coroutine or *Userdata
	num float64 // value of a number; 1 for true
}

type (
	isBool   struct{}
	isNumber struct{}
)

// text is a string with its hash, which is computed on first use.
type text struct {
	s      string
	hash   uint32
	hashed bool
}

// Userdata is an opaque value, equal only to itself.
type Userdata struct{ Name string }

// The constants nil, true and false.
var (
	Nil   = Value{}
	True  = Value{ref: isBool{}, num: 1}
	False = Value{ref: isBool{}}
)

// Number returns a number value.
func Number(n float64) Value { return Value{ref: isNumber{}, num: n} }

// String returns a string value.
func String(s string) Value { return Value{ref: &text{s: s}} }

// Bool returns a boolean value.
func Bool(b bool) Value {
	if b {
		return True
	}
	return False
}

// Of returns the value of a table, a function, a coroutine or userdata.
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

// AsBool returns v if it is a boolean.
func (v Value) AsBool() (b, ok bool) {
	_, ok = v.ref.(isBool)
	return v.num != 0, ok
}

// AsNumber returns v if it is a number. It does not convert strings.
func (v Value) AsNumber() (float64, bool) {
	_, ok := v.ref.(isNumber)
	return v.num, ok
}

// AsString returns v if it is a string. It does not convert numbers.
func (v Value) AsString() (string, bool) {
	if t, ok := v.ref.(*text); ok {
		return t.s, true
	}
	return "", false
}

// AsTable returns v if it is a table, and nil otherwise.
func (v Value) AsTable() *Table {
	t, _ := v.ref.(*Table)
	return t
}

// AsFunction returns v if it is a function, and nil otherwise.
func (v Value) AsFunction() *Function {
	f, _ := v.ref.(*Function)
	return f
}

// AsUserdata returns v if it is userdata, and nil otherwise.
func (v Value) AsUserdata() *Userdata {
	u, _ := v.ref.(*Userdata)
	return u
}

// Type returns the name of v's type, as type() does.
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

// Text returns a string, or a number in Lua's format; ok is false for other types.
func (v Value) Text() (s string, ok bool) {
	switch r := v.ref.(type) {
	case *text:
		return r.s, true
	case isNumber:
		return FormatNumber(v.num), true
	}
	return "", false
}

// ToNumber returns a number, or the number in a string; ok is false for anything else.
func (v Value) ToNumber() (n float64, ok bool) {
	switch r := v.ref.(type) {
	case isNumber:
		return v.num, true
	case *text:
		return ParseNumber(r.s)
	}
	return 0, false
}

// rawEqual reports equality without metamethods.
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

// sum returns the hash that orders strings in tables. It covers all of a long string, as in Redis's Lua, where
// plain Lua skips bytes.
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

// String returns v as tostring does, without metamethods and addresses.
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

// cut returns s up to its first zero byte, as a C function sees it.
func cut(s string) string {
	if i := strings.IndexByte(s, 0); i >= 0 {
		return s[:i]
	}
	return s
}
