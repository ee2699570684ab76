package resp

import (
	"strconv"
)

// Kind is the kind of a Value. The kinds are RESP3's, plus Scored and PairMap, whose shape
// differs between the protocol versions.
type Kind byte

const (
	Null      Kind = iota // RESP2 "$-1", RESP3 "_"
	NullArray             // RESP2 "*-1", RESP3 "_": the nil of a command whose reply is an array
	Status                // simple string, in Str
	Error                 // in Str, with its code: "ERR …", "WRONGTYPE …"
	Int                   // in Int
	Bulk                  // bytes, in Str
	Array                 // in Elems
	Map                   // in Elems, key and value alternating; RESP2 flattens it
	Set                   // in Elems; an array in RESP2
	Push                  // in Elems; an array in RESP2
	Scored                // in Elems, member and score alternating; RESP2 flat, RESP3 an array of pairs
	PairMap               // in Elems, key and value alternating; RESP2 an array of pairs, RESP3 a map
	Double                // in Float, and in Str if its text differs from FormatDouble's; RESP2 sends a bulk
	Bool                  // in Int, 0 or 1; RESP2 sends an integer
	Verbatim              // in Str, and the letters of its format in Int, 0 for txt; RESP2 sends a bulk
	BigNumber             // decimal digits, in Str; RESP2 sends a bulk
	Several               // in Elems, consecutive replies, such as SUBSCRIBE's to several channels
)

// Value is one Redis reply. The zero Value is the null reply.
type Value struct {
	Kind  Kind
	Int   int64
	Float float64
	Str   []byte
	Elems []Value

	// Packed, if not nil, holds the elements in place of Elems. Only long replies have it, and only
	// for callers that ask for it.
	Packed *Packed

	// RESP3, if not nil, replaces the reply in RESP3: for the few replies that differ there in
	// content.
	RESP3 *Value
}

// Shared replies. They must not be modified.
var (
	OK         = MakeStatus("OK")
	Queued     = MakeStatus("QUEUED")
	Pong       = MakeStatus("PONG")
	Nil        = Value{Kind: Null}
	NilArray   = Value{Kind: NullArray}
	EmptyArray = Value{Kind: Array}
	EmptyMap   = Value{Kind: Map}
	EmptySet   = Value{Kind: Set}
	Zero       = MakeInt(0)
	One        = MakeInt(1)
	EmptyBulk  = Value{Kind: Bulk, Str: []byte{}}
)

// MakeStatus returns the simple string s, which must not hold CR or LF.
func MakeStatus(s string) Value { return Value{Kind: Status, Str: []byte(s)} }

// MakeError returns the error reply msg, which starts with its code.
func MakeError(msg string) Value { return Value{Kind: Error, Str: []byte(msg)} }

// MakeInt returns the integer n.
func MakeInt(n int64) Value { return Value{Kind: Int, Int: n} }

// MakeBulk returns the bulk string b; a nil b is the empty string, not null.
func MakeBulk(b []byte) Value { return Value{Kind: Bulk, Str: b} }

// MakeString returns the bulk string s.
func MakeString(s string) Value { return Value{Kind: Bulk, Str: []byte(s)} }

// MakeDouble returns the double f.
func MakeDouble(f float64) Value { return Value{Kind: Double, Float: f} }

// MakeVerbatim returns the verbatim string text. The format is cut or filled with spaces to three letters.
func MakeVerbatim(format string, text []byte) Value {
	v := Value{Kind: Verbatim, Str: text}
	if format != "txt" {
		for _, letter := range []byte(format + "   ")[:3] {
			v.Int = v.Int<<8 | int64(letter)
		}
	}
	return v
}

// MakeArray returns the array of elems.
func MakeArray(elems ...Value) Value { return Value{Kind: Array, Elems: elems} }

// MakeMap returns a map of elems, key and value alternating.
func MakeMap(elems ...Value) Value { return Value{Kind: Map, Elems: elems} }

// FormatInt formats n in decimal.
func FormatInt(n int64) string { return strconv.FormatInt(n, 10) }

// IsError reports whether v is an error reply.
func (v Value) IsError() bool { return v.Kind == Error }

// HasError reports whether v is an error reply or holds one at any depth, as the
// reply of EXEC can.
func (v Value) HasError() bool {
	if v.Kind == Error {
		return true
	}
	for i := range v.Elems {
		if v.Elems[i].HasError() {
			return true
		}
	}
	return false
}

// IsNull reports whether v is one of the two null replies.
func (v Value) IsNull() bool { return v.Kind == Null || v.Kind == NullArray }
