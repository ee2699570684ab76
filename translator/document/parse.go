package document

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
	"unsafe"
)

// MaxDepth limits the nesting of arrays and objects in an argument. A value put at a path may nest less deep, by the
// length of the path.
const MaxDepth = 127

// MaxStoredDepth limits the nesting of a stored document. Earlier versions stored deeper documents than MaxDepth.
const MaxStoredDepth = 1024

var errNotUTF8 = errors.New("ERR Couldn't parse as UTF-8 string")

// Parse parses a user's JSON. Its errors are replies that include the position. The value refers to text, which must
// not change afterwards. grow, unless nil, is called with the number of bytes before memory for values is allocated.
func Parse(text []byte, grow func(bytes int64)) (*Value, error) {
	if !utf8.Valid(text) {
		return nil, errNotUTF8
	}
	return parse(asString(text), MaxDepth, grow)
}

// asString returns b as a string without copying it.
func asString(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }

// Load parses the output of Append, and refers to it as Parse does. It accepts deeper nesting than Parse, but has a
// limit, too: a damaged document may hold any number of brackets.
func Load(text []byte, grow func(bytes int64)) (*Value, error) {
	return parse(asString(text), MaxStoredDepth, grow)
}

func parse(text string, depth int, grow func(int64)) (v *Value, err error) {
	p := parser{text: text, grow: grow}
	defer func() {
		if fault := recover(); fault != nil {
			f, ok := fault.(parseFault)
			if !ok {
				panic(fault)
			}
			v, err = nil, errors.New(string(f))
		}
	}()
	v = p.value(depth)
	if p.space(); p.at < len(text) {
		p.fail("trailing characters")
	}
	return v, nil
}

// parser panics with a parseFault, which parse recovers.
type parseFault string

// parser makes few allocations: strings are parts of the text, values come from slabs, and the values of an array or an
// object are collected on stacks first.
type parser struct {
	text   string
	at     int
	slab   []Value // the next values
	room   int     // size of the last slab
	values []*Value
	names  []string
	grow   func(int64)
}

// valueBytes is about the size of a value with its pointer in an array.
const valueBytes = int64(unsafe.Sizeof(Value{})) + 16

// maxSlab limits the values of a slab; the first slabs are smaller.
const maxSlab = 256

// newValue returns a new value.
func (p *parser) newValue(v Value) *Value {
	if len(p.slab) == 0 {
		p.room = min(max(2*p.room, 4), maxSlab)
		if p.grow != nil && p.room == maxSlab { // small documents are free
			p.grow(maxSlab * valueBytes)
		}
		p.slab = make([]Value, p.room)
	}
	made := &p.slab[0]
	p.slab = p.slab[1:]
	*made = v
	return made
}

// fail stops at the byte at p.at.
func (p *parser) fail(what string) {
	if p.at < len(p.text) {
		p.at++ // columns count from 1
	}
	p.failBefore(what)
}

// failBefore stops at the byte before p.at.
func (p *parser) failBefore(what string) {
	seen := p.text[:p.at]
	line := strings.Count(seen, "\n") + 1
	column := len(seen) - (strings.LastIndexByte(seen, '\n') + 1)
	panic(parseFault(fmt.Sprintf("%s at line %d column %d", what, line, column)))
}

func (p *parser) space() {
	for p.at < len(p.text) && (p.text[p.at] == ' ' || p.text[p.at] == '\n' || p.text[p.at] == '\t' || p.text[p.at] == '\r') {
		p.at++
	}
}

// peek returns the next byte after space. It fails at the end.
func (p *parser) peek(inside string) byte {
	if p.space(); p.at >= len(p.text) {
		p.fail("EOF while parsing " + inside)
	}
	return p.text[p.at]
}

func (p *parser) value(depth int) *Value {
	switch ch := p.peek("a value"); {
	case ch == 'n':
		p.word("null")
		return p.newValue(Value{})
	case ch == 't':
		p.word("true")
		return p.newValue(Value{Kind: Bool, Bool: true})
	case ch == 'f':
		p.word("false")
		return p.newValue(Value{Kind: Bool})
	case ch == '"':
		return p.newValue(Value{Kind: String, Str: p.str()})
	case ch == '-' || isDigit(ch):
		return p.number()
	case ch != '[' && ch != '{':
		p.fail("expected value")
	case depth == 0:
		p.fail("recursion limit exceeded")
	case ch == '[':
		return p.array(depth - 1)
	}
	return p.object(depth - 1)
}

func (p *parser) word(word string) {
	for i := range len(word) {
		switch {
		case p.at >= len(p.text):
			p.fail("EOF while parsing a value")
		case p.text[p.at] != word[i]:
			p.fail("expected ident")
		}
		p.at++
	}
}

func (p *parser) array(depth int) *Value {
	v, base := p.newValue(Value{Kind: Array}), len(p.values)
	p.at++
	for {
		if p.peek("a list") == ']' {
			if len(p.values) > base {
				p.fail("trailing comma")
			}
			break
		}
		p.values = append(p.values, p.value(depth))
		if ch := p.peek("a list"); ch == ']' {
			break
		} else if ch != ',' {
			p.fail("expected `,` or `]`")
		}
		p.at++
	}
	p.at++
	v.Elems = append(make([]*Value, 0, len(p.values)-base), p.values[base:]...)
	p.values = p.values[:base]
	return v
}

func (p *parser) object(depth int) *Value {
	v, base, first := p.newValue(Value{Kind: Object}), len(p.values), len(p.names)
	p.at++
	for {
		switch ch := p.peek("an object"); {
		case ch == '}' && len(p.names) == first:
			p.at++
			return v
		case ch == '}':
			p.fail("trailing comma")
		case ch != '"':
			p.fail("key must be a string")
		}
		p.names = append(p.names, p.str())
		if p.peek("an object") != ':' {
			p.fail("expected `:`")
		}
		p.at++
		p.values = append(p.values, p.value(depth))
		if ch := p.peek("an object"); ch == '}' {
			break
		} else if ch != ',' {
			p.fail("expected `,` or `}`")
		}
		p.at++
	}
	p.at++
	v.Keys, v.Elems = make([]string, 0, len(p.names)-first), make([]*Value, 0, len(p.names)-first)
	for i, name := range p.names[first:] {
		v.Put(name, p.values[base+i])
	}
	p.values, p.names = p.values[:base], p.names[:first]
	return v
}

func isDigit(ch byte) bool { return '0' <= ch && ch <= '9' }

// digits reads one or more digits.
func (p *parser) digits() {
	switch {
	case p.at >= len(p.text):
		p.fail("EOF while parsing a value")
	case !isDigit(p.text[p.at]):
		p.fail("invalid number")
	}
	for p.at < len(p.text) && isDigit(p.text[p.at]) {
		p.at++
	}
}

// has consumes the next byte if it is in set.
func (p *parser) has(set string) bool {
	if p.at < len(p.text) && strings.IndexByte(set, p.text[p.at]) >= 0 {
		p.at++
		return true
	}
	return false
}

func (p *parser) number() *Value {
	from := p.at
	p.has("-")
	zero := p.at < len(p.text) && p.text[p.at] == '0'
	first := p.at
	p.digits()
	if zero && p.at > first+1 {
		p.at = first + 1
		p.fail("invalid number")
	}
	integer := true
	if p.has(".") {
		integer = false
		p.digits()
	}
	if p.has("eE") {
		integer = false
		p.has("+-")
		p.digits()
	}
	text := p.text[from:p.at]
	if integer && text != "-0" { // an integer cannot be -0
		if n, err := strconv.ParseInt(text, 10, 64); err == nil {
			return p.newValue(Value{Kind: Int, Int: n})
		}
		if n, err := strconv.ParseUint(text, 10, 64); err == nil {
			return p.newValue(Value{Kind: Uint, Uint: n})
		}
	}
	f, err := strconv.ParseFloat(text, 64)
	if err != nil {
		p.failBefore("number out of range")
	}
	return p.newValue(Value{Kind: Float, Float: f})
}

func (p *parser) str() string {
	p.at++
	from := p.at
	var out []byte
	for {
		if p.at >= len(p.text) {
			p.fail("EOF while parsing a string")
		}
		switch ch := p.text[p.at]; {
		case ch == '"':
			rest := p.text[from:p.at]
			p.at++
			if out == nil {
				return rest
			}
			return asString(append(out, rest...))
		case ch == '\\':
			if out == nil {
				out = make([]byte, 0, p.rest(from))
			}
			out = append(out, p.text[from:p.at]...)
			p.at++
			out = p.escape(out)
			from = p.at
		case ch < ' ':
			p.fail("control character (\\u0000-\\u001F) found while parsing a string")
		default:
			p.at++
		}
	}
}

// rest returns the number of bytes from from to the end of the string.
func (p *parser) rest(from int) int {
	for i := from; i < len(p.text); i++ {
		switch p.text[i] {
		case '"':
			return i - from
		case '\\':
			i++
		}
	}
	return 0
}

// escape parses the rest of an escape sequence after its backslash.
func (p *parser) escape(out []byte) []byte {
	if p.at >= len(p.text) {
		p.fail("EOF while parsing a string")
	}
	ch := p.text[p.at]
	if ch == 'u' {
		p.at++
		return utf8.AppendRune(out, p.codePoint())
	}
	at := strings.IndexByte(`"\/bfnrt`, ch)
	if at < 0 {
		p.fail("invalid escape")
	}
	p.at++
	return append(out, "\"\\/\b\f\n\r\t"[at])
}

// codePoint parses four hex digits. The first half of a surrogate pair must be followed by the second half.
func (p *parser) codePoint() rune {
	r := p.hex()
	if !utf16.IsSurrogate(r) {
		return r
	}
	if r >= 0xdc00 {
		p.failBefore("lone leading surrogate in hex escape")
	}
	if !p.has(`\`) || !p.has("u") {
		p.fail("unexpected end of hex escape")
	}
	r = utf16.DecodeRune(r, p.hex())
	if r == utf8.RuneError {
		p.failBefore("lone leading surrogate in hex escape")
	}
	return r
}

func (p *parser) hex() rune {
	if p.at+4 > len(p.text) {
		p.at = len(p.text)
		p.fail("EOF while parsing a string")
	}
	n, err := strconv.ParseUint(p.text[p.at:p.at+4], 16, 16)
	if err != nil {
		p.fail("invalid escape")
	}
	p.at += 4
	return rune(n)
}
