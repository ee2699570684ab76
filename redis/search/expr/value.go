package expr

import (
	"math"
	"strings"

	"github.com/meowdis/meowdis/redis/search/text"
)

// Kind is the type of a Value.
type Kind int

// The types of a Value.
const (
	Null Kind = iota
	Number
	String
	Array
	Map // a row of COLLECT
)

// Value is a value of a row. The zero Value is null.
type Value struct {
	Kind  Kind
	Num   float64
	Str   string
	Items []Value // of an Array, and the values of a Map
	Names []string
	Shown string // what rows show instead of the value: the JSON of all values that it is the first of
}

// Num returns a number.
func Num(v float64) Value { return Value{Kind: Number, Num: v} }

// Str returns a string.
func Str(s string) Value { return Value{Kind: String, Str: s} }

// List returns an array.
func List(items ...Value) Value { return Value{Kind: Array, Items: items} }

func boolean(b bool) Value {
	if b {
		return Num(1)
	}
	return Num(0)
}

// String returns the value as rows show it. Null is empty; the items of an array have commas between them.
func (v Value) String() string {
	switch v.Kind {
	case Number:
		return text.FormatNumber(v.Num)
	case String:
		return v.Str
	case Array, Map:
		parts := make([]string, len(v.Items))
		for i, item := range v.Items {
			parts[i] = item.String()
		}
		return strings.Join(parts, ",")
	}
	return ""
}

// Number returns the value as a number; ok is false if it is not one. An array counts as its first item.
func (v Value) Number() (n float64, ok bool) {
	switch v.Kind {
	case Number:
		return v.Num, true
	case String:
		return text.ParseNumber(v.Str)
	case Array:
		if len(v.Items) > 0 {
			return v.Items[0].Number()
		}
	}
	return 0, false
}

// Truth reports whether FILTER keeps a row with the value: a number other than 0, a string or an array that is not empty.
func (v Value) Truth() bool {
	switch v.Kind {
	case Number:
		return v.Num != 0
	case String:
		return v.Str != ""
	case Array, Map:
		return len(v.Items) > 0
	}
	return false
}

// Compare orders two values: numbers, and a number and a numeric string, by number; else by bytes. Null comes last.
func Compare(a, b Value) int {
	if a.Kind == Null || b.Kind == Null {
		return boolToInt(a.Kind == Null) - boolToInt(b.Kind == Null)
	}
	if a.Kind == Number || b.Kind == Number {
		x, okX := a.Number()
		y, okY := b.Number()
		if okX && okY {
			switch {
			case x < y:
				return -1
			case x > y:
				return 1
			}
			return boolToInt(math.IsNaN(x)) - boolToInt(math.IsNaN(y))
		}
	}
	if a.Kind == Array && len(a.Items) > 0 && b.Kind != Array {
		return Compare(a.Items[0], b)
	}
	if b.Kind == Array && len(b.Items) > 0 && a.Kind != Array {
		return Compare(a, b.Items[0])
	}
	return strings.Compare(a.String(), b.String())
}

func boolToInt(b bool) int {
	if b {
		return 1
	}
	return 0
}

// key returns a text that equal values, and only they, have.
func (v Value) key() string {
	switch v.Kind {
	case Null:
		return "0"
	case Array, Map:
		var out strings.Builder
		out.WriteByte('a')
		for _, item := range v.Items {
			k := item.key()
			out.WriteString(text.FormatNumber(float64(len(k))) + ":" + k)
		}
		return out.String()
	}
	return "s" + v.String()
}
