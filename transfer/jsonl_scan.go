package transfer

import (
	"bufio"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/meowdis/meowdis/internal/readfull"
)

// jsonScanner parses the JSON of a line while reading it, so a long string is held only in its
// decoded form. The end of the line ends the text.
//
// Internally a failure is a panic with a jsonFailure, which recovered converts to an error.
// Methods that read values therefore return only the value.
type jsonScanner struct {
	in    *bufio.Reader
	field string // field being read, "" for an array element
	text  readfull.Pieces
	even  []byte // pending base64, decoded in pieces
}

type jsonFailure struct{ error }

var (
	errNotJSON       = errors.New("it is not valid JSON")
	errTruncatedJSON = errors.New("the file ends in the middle of it, and is incomplete")
)

func (s *jsonScanner) fail(err error) { panic(jsonFailure{err}) }

// recovered sets err from a jsonFailure.
func (s *jsonScanner) recovered(err *error) {
	switch f := recover().(type) {
	case nil:
	case jsonFailure:
		*err = f.error
	default:
		panic(f)
	}
}

// byte reads the next byte of a value.
func (s *jsonScanner) byte() byte {
	c, err := s.in.ReadByte()
	switch {
	case errors.Is(err, io.EOF):
		s.fail(errTruncatedJSON)
	case err != nil:
		s.fail(err)
	}
	return c
}

// peek skips spaces and returns the next byte without consuming it, or 0 at the end of the
// file.
func (s *jsonScanner) peek() byte {
	for {
		c, err := s.in.ReadByte()
		switch {
		case errors.Is(err, io.EOF):
			return 0
		case err != nil:
			s.fail(err)
		case c == ' ' || c == '\t' || c == '\r':
			continue
		}
		if err := s.in.UnreadByte(); err != nil {
			s.fail(err)
		}
		return c
	}
}

// begins consumes c if it is the next byte.
func (s *jsonScanner) begins(c byte) bool {
	if s.peek() != c {
		return false
	}
	s.byte()
	return true
}

// expect consumes c or fails.
func (s *jsonScanner) expect(c byte) {
	s.peek()
	if s.byte() != c {
		s.fail(errNotJSON)
	}
}

// isNull consumes null, which is accepted in place of any value.
func (s *jsonScanner) isNull() bool {
	if s.peek() != 'n' {
		return false
	}
	for _, c := range []byte("null") {
		if s.byte() != c {
			s.fail(errNotJSON)
		}
	}
	return true
}

// open consumes the opening bracket or quote of a value.
func (s *jsonScanner) open(bracket byte) {
	if s.begins(bracket) {
		return
	}
	is := ""
	switch c := s.peek(); {
	case c == 0:
		s.fail(errTruncatedJSON)
	case c == '"':
		is = "string"
	case c == '[':
		is = "array"
	case c == '{':
		is = "object"
	case c == 't' || c == 'f':
		is = "bool"
	case c == '-' || '0' <= c && c <= '9':
		is = "number"
	default:
		s.fail(errNotJSON)
	}
	s.fail(s.mismatch(is))
}

func (s *jsonScanner) mismatch(is string) error {
	if s.field == "" {
		return fmt.Errorf("a %s is not what should be here", is)
	}
	return fmt.Errorf("%q cannot be a %s", s.field, is)
}

// object reads an object. field reads the value of a named field and returns false for an
// unknown name.
func (s *jsonScanner) object(field func(name string) bool) {
	if s.isNull() {
		return
	}
	s.open('{')
	if s.begins('}') {
		return
	}
	outside := s.field
	for {
		s.expect('"')
		s.chars()
		name := string(s.text.Join())
		s.expect(':')
		if s.field = strings.ToLower(name); !field(s.field) {
			s.fail(fmt.Errorf("unknown field %q", name))
		}
		if !s.begins(',') {
			break
		}
	}
	s.field = outside
	s.expect('}')
}

// array reads an array. element reads one element.
func (s *jsonScanner) array(element func()) {
	if s.isNull() {
		return
	}
	s.open('[')
	if s.begins(']') {
		return
	}
	s.field = ""
	for {
		element()
		if !s.begins(',') {
			break
		}
	}
	s.expect(']')
}

// blob reads bytes: a string, or {"base64":"…"}.
func (s *jsonScanner) blob() []byte {
	if s.isNull() {
		return nil
	}
	if s.peek() != '{' {
		s.open('"')
		s.chars()
		return s.text.Join()
	}
	var b []byte
	s.object(func(name string) bool {
		if name != "base64" {
			return false
		}
		if !s.isNull() {
			s.open('"')
			b = s.base64()
		}
		return true
	})
	if b == nil {
		s.fail(errors.New(`bytes are a string or {"base64":"…"}`))
	}
	return b
}

// chars decodes the rest of a string to s.text. Invalid UTF-8 becomes U+FFFD.
func (s *jsonScanner) chars() {
	for {
		switch c := s.byte(); {
		case c == '"':
			return
		case c == '\\':
			s.escaped()
		case c < ' ':
			s.fail(errNotJSON)
		case c < utf8.RuneSelf:
			s.text.Byte(c)
		default:
			s.rune(c)
		}
	}
}

// rune decodes the character that begins with c.
func (s *jsonScanner) rune(c byte) {
	letter := [utf8.UTFMax]byte{c}
	n := 1
	for ; !utf8.FullRune(letter[:n]); n++ {
		next, err := s.in.Peek(1)
		if err != nil || utf8.RuneStart(next[0]) {
			break
		}
		letter[n] = s.byte()
	}
	for at := 0; at < n; {
		r, size := utf8.DecodeRune(letter[at:n])
		s.letter(r)
		at += size
	}
}

func (s *jsonScanner) letter(r rune) {
	var b [utf8.UTFMax]byte
	s.text.Add(utf8.AppendRune(b[:0], r))
}

// escaped decodes the characters after a backslash.
func (s *jsonScanner) escaped() {
	switch c := s.byte(); c {
	case '"', '\\', '/':
		s.text.Byte(c)
	case 'b':
		s.text.Byte('\b')
	case 'f':
		s.text.Byte('\f')
	case 'n':
		s.text.Byte('\n')
	case 'r':
		s.text.Byte('\r')
	case 't':
		s.text.Byte('\t')
	case 'u':
		r := s.hex()
		if utf16.IsSurrogate(r) {
			r = s.surrogate(r)
		}
		s.letter(r)
	default:
		s.fail(errNotJSON)
	}
}

// surrogate returns the character of a surrogate pair, or U+FFFD if the second escape is
// missing.
func (s *jsonScanner) surrogate(first rune) rune {
	next, err := s.in.Peek(6)
	if err != nil || next[0] != '\\' || next[1] != 'u' {
		return utf8.RuneError
	}
	second := rune(0)
	for _, c := range next[2:] {
		second = second<<4 | hexDigit(c)
		if hexDigit(c) < 0 {
			return utf8.RuneError
		}
	}
	r := utf16.DecodeRune(first, second)
	if r != utf8.RuneError {
		s.in.Discard(6)
	}
	return r
}

func (s *jsonScanner) hex() (r rune) {
	for range 4 {
		d := hexDigit(s.byte())
		if d < 0 {
			s.fail(errNotJSON)
		}
		r = r<<4 | d
	}
	return r
}

// hexDigit returns the value of a hex digit, or -1.
func hexDigit(c byte) rune {
	switch {
	case '0' <= c && c <= '9':
		return rune(c - '0')
	case 'a' <= c|0x20 && c|0x20 <= 'f':
		return rune(c|0x20-'a') + 10
	}
	return -1
}

// base64 decodes the rest of a base64 string.
func (s *jsonScanner) base64() []byte {
	s.text.Reset()
	s.even = s.even[:0]
	at, ended := 0, false
	flush := func() {
		if len(s.even) == 0 {
			return
		}
		n, err := base64.StdEncoding.Decode(s.even, s.even)
		var bad base64.CorruptInputError
		if errors.As(err, &bad) {
			s.fail(at64(at) + bad)
		}
		if ended {
			s.fail(at64(at))
		}
		s.text.Add(s.even[:n])
		at += len(s.even)
		ended = n < len(s.even)/4*3
		s.even = s.even[:0]
	}
	for {
		c := s.byte()
		switch {
		case c == '"':
			flush()
			return s.text.Join()
		case c == '\\':
			c = s.escapedByte()
		case c < ' ':
			s.fail(errNotJSON)
		}
		if c == '\r' || c == '\n' {
			continue
		}
		if s.even = append(s.even, c); len(s.even) == piece {
			flush()
		}
	}
}

func at64(at int) base64.CorruptInputError { return base64.CorruptInputError(at) }

// escapedByte decodes an escape in text of one-byte characters.
func (s *jsonScanner) escapedByte() byte {
	var aside readfull.Pieces
	aside, s.text = s.text, aside
	s.escaped()
	letter := s.text.Join()
	s.text = aside
	return letter[0]
}

// into reads a short value with encoding/json.
func (s *jsonScanner) into(v any) {
	text := s.raw()
	err := strict(text, v)
	var kind *json.UnmarshalTypeError
	switch {
	case err == nil:
	case errors.As(err, &kind) && kind.Field != "":
		s.fail(fmt.Errorf("%q cannot be a %s", kind.Field, kind.Value))
	case errors.As(err, &kind):
		s.fail(s.mismatch(kind.Value))
	default:
		s.fail(errors.New(strings.TrimPrefix(err.Error(), "json: ")))
	}
}

// raw returns the text of any value.
func (s *jsonScanner) raw() []byte {
	s.peek()
	for depth := 0; ; {
		c := s.byte()
		switch {
		case c == '\n':
			s.fail(errNotJSON)
		case c == '"':
			s.text.Byte(c)
			s.rawString()
		default:
			s.text.Byte(c)
		}
		switch c {
		case '{', '[':
			depth++
		case '}', ']':
			depth--
		}
		if depth > 0 {
			continue
		}
		if next, err := s.in.Peek(1); c == '"' || c == '}' || c == ']' || err != nil || strings.IndexByte(" \t\r\n,]}:", next[0]) >= 0 {
			break
		}
	}
	text := s.text.Join()
	if !json.Valid(text) {
		s.fail(errNotJSON)
	}
	return text
}

// rawString copies the rest of a string, including its closing quote, to s.text.
func (s *jsonScanner) rawString() {
	for {
		c := s.byte()
		s.text.Byte(c)
		switch {
		case c == '"':
			return
		case c == '\\':
			s.text.Byte(s.byte())
		case c == '\n':
			s.fail(errNotJSON)
		}
	}
}
