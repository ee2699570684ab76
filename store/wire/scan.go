package wire

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/meowdis/meowdis/store"
)

// ErrTooLarge reports a request or an answer above its Limits.
var ErrTooLarge = errors.New("too large")

// scanner reads the JSON of this package from a stream, and no more bytes than left.
type scanner struct {
	in   *bufio.Reader
	left int64
}

func newScanner(r io.Reader, most int64) *scanner {
	return &scanner{in: bufio.NewReaderSize(r, 16<<10), left: most}
}

// bad returns the error for an unexpected byte.
func bad(want string, c byte) error {
	return fmt.Errorf("unexpected %q, want %s", c, want)
}

func (s *scanner) next() (byte, error) {
	if s.left--; s.left < 0 {
		return 0, ErrTooLarge
	}
	c, err := s.in.ReadByte()
	if err == io.EOF {
		err = io.ErrUnexpectedEOF
	}
	return c, err
}

// token returns the next byte that is not a space.
func (s *scanner) token() (byte, error) {
	for {
		c, err := s.next()
		if err != nil || c != ' ' && c != '\n' && c != '\t' && c != '\r' {
			return c, err
		}
	}
}

func (s *scanner) back() {
	s.left++
	s.in.UnreadByte() // never fails after ReadByte
}

func (s *scanner) expect(want byte) error {
	c, err := s.token()
	if err == nil && c != want {
		err = bad(strconv.QuoteRune(rune(want)), c)
	}
	return err
}

// end returns an error if anything but spaces follows.
func (s *scanner) end() error {
	for {
		switch c, err := s.in.ReadByte(); {
		case err == io.EOF:
			return nil
		case err != nil:
			return err
		case c != ' ' && c != '\n' && c != '\t' && c != '\r':
			return bad("the end", c)
		}
	}
}

// list reads a list from its bracket, and calls each for every element.
func (s *scanner) list(each func() error) error {
	if err := s.expect('['); err != nil {
		return err
	}
	return s.elements(']', each)
}

// elements calls each for every element up to the byte end.
func (s *scanner) elements(end byte, each func() error) error {
	c, err := s.token()
	if err != nil || c == end {
		return err
	}
	for s.back(); ; {
		if err := each(); err != nil {
			return err
		}
		switch c, err := s.token(); {
		case err != nil:
			return err
		case c == end:
			return nil
		case c != ',':
			return bad("a comma", c)
		}
	}
}

// members reads an object, and calls each for every member, whose value each reads.
func (s *scanner) members(each func(name string) error) error {
	if err := s.expect('{'); err != nil {
		return err
	}
	return s.elements('}', func() error {
		name, err := s.text()
		if err == nil {
			err = s.expect(':')
		}
		if err != nil {
			return err
		}
		return each(string(name))
	})
}

// text reads a string.
func (s *scanner) text() ([]byte, error) {
	if err := s.expect('"'); err != nil {
		return nil, err
	}
	return s.rest()
}

// rest reads a string after its opening quote.
func (s *scanner) rest() (out []byte, err error) {
	for {
		if _, err := s.in.Peek(1); err == io.EOF {
			return nil, io.ErrUnexpectedEOF
		} else if err != nil {
			return nil, err
		}
		some, _ := s.in.Peek(s.in.Buffered())
		n := plain(some)
		if s.left -= int64(n); s.left < 0 {
			return nil, ErrTooLarge
		}
		out = append(out, some[:n]...)
		s.in.Discard(n)
		if n == len(some) {
			continue
		}
		c, err := s.next()
		switch {
		case err != nil:
			return nil, err
		case c == '"':
			if !utf8.Valid(out) {
				return nil, errors.New("a string is not UTF-8")
			}
			if out == nil {
				out = []byte{}
			}
			return out, nil
		case c != '\\':
			return nil, bad("a character of a string", c)
		}
		if out, err = s.escaped(out); err != nil {
			return nil, err
		}
	}
}

// plain returns the number of leading bytes without a special meaning.
func plain(b []byte) int {
	for i, c := range b {
		if c < ' ' || c == '"' || c == '\\' {
			return i
		}
	}
	return len(b)
}

// escaped appends the character of the escape after a backslash.
func (s *scanner) escaped(out []byte) ([]byte, error) {
	c, err := s.next()
	if err != nil {
		return nil, err
	}
	switch c {
	case '"', '\\', '/':
		return append(out, c), nil
	case 'u':
		r, err := s.unit()
		if err == nil && utf16.IsSurrogate(r) {
			r, err = s.pair(r)
		}
		return utf8.AppendRune(out, r), err
	}
	if at := bytes.IndexByte([]byte("bfnrt"), c); at >= 0 {
		return append(out, "\b\f\n\r\t"[at]), nil
	}
	return nil, bad("an escape", c)
}

// unit reads four hexadecimal digits.
func (s *scanner) unit() (rune, error) {
	var digits [4]byte
	for i := range digits {
		var err error
		if digits[i], err = s.next(); err != nil {
			return 0, err
		}
	}
	n, err := strconv.ParseUint(string(digits[:]), 16, 16)
	return rune(n), err
}

// pair reads the second half of a surrogate pair.
func (s *scanner) pair(high rune) (rune, error) {
	for _, want := range []byte(`\u`) {
		if c, err := s.next(); err != nil || c != want {
			return 0, errors.Join(err, errors.New("unpaired surrogate in a string"))
		}
	}
	low, err := s.unit()
	if err != nil {
		return 0, err
	}
	r := utf16.DecodeRune(high, low)
	if r == utf8.RuneError {
		return 0, errors.New("unpaired surrogate in a string")
	}
	return r, nil
}

// word reads a number, null, true or false.
func (s *scanner) word() (string, error) {
	var out []byte
	for {
		c, err := s.next()
		if err == io.ErrUnexpectedEOF && len(out) > 0 {
			return string(out), nil
		}
		if err != nil {
			return "", err
		}
		switch c {
		case ',', ']', '}', ' ', '\n', '\t', '\r':
			s.back()
			return string(out), nil
		}
		if out = append(out, c); len(out) > 400 {
			return "", fmt.Errorf("invalid value %.20q", out)
		}
	}
}

// integer reads an integer from least to most.
func (s *scanner) integer(least, most int64) (int64, error) {
	if _, err := s.token(); err != nil {
		return 0, err
	}
	s.back()
	text, err := s.word()
	if err != nil {
		return 0, err
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < least || n > most {
		return 0, fmt.Errorf("%.20q is not an integer from %d to %d", text, least, most)
	}
	return n, nil
}

// boolean reads true or false.
func (s *scanner) boolean() (bool, error) {
	if _, err := s.token(); err != nil {
		return false, err
	}
	s.back()
	switch text, err := s.word(); {
	case err != nil:
		return false, err
	case text == "true", text == "false":
		return text == "true", nil
	default:
		return false, fmt.Errorf("%.20q is neither true nor false", text)
	}
}

// value reads an argument or a cell.
func (s *scanner) value() (store.Value, error) {
	s.left -= store.CellBytes
	c, err := s.token()
	if err != nil {
		return store.Value{}, err
	}
	switch c {
	case '"':
		text, err := s.rest()
		return store.TextBytes(text), err
	case '{':
		return s.typed()
	}
	s.back()
	text, err := s.word()
	if err != nil {
		return store.Value{}, err
	}
	return number(text)
}

// number parses a word as a number or null.
func number(text string) (store.Value, error) {
	if text == "null" {
		return store.Value{}, nil
	}
	whole := true
	for i := range len(text) {
		switch c := text[i]; {
		case c >= '0' && c <= '9', c == '-' && i == 0:
		case c == '.', c == 'e', c == 'E', c == '-', c == '+':
			whole = false
		default:
			return store.Value{}, fmt.Errorf("invalid value %.20q", text)
		}
	}
	if whole && text != "-0" {
		if n, err := strconv.ParseInt(text, 10, 64); err == nil {
			return store.Int(n), nil
		}
	}
	f, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return store.Value{}, fmt.Errorf("%.20q is not a valid double", text)
	}
	return store.Float(f), nil
}

// typed reads a value in an object, after the brace.
func (s *scanner) typed() (v store.Value, err error) {
	name, err := s.text()
	if err == nil {
		err = s.expect(':')
	}
	if err != nil {
		return v, err
	}
	text, err := s.text()
	if err != nil {
		return v, err
	}
	switch string(name) {
	case "b", "t":
		n, err := base64.StdEncoding.Strict().Decode(text, text) // in place: the decoded bytes are shorter
		if err != nil {
			return v, fmt.Errorf("decoding bytes: %w", err)
		}
		if name[0] == 'b' {
			v = store.Bytes(text[:n:n])
		} else {
			v = store.TextBytes(text[:n:n])
		}
	case "i":
		n, err := strconv.ParseInt(string(text), 10, 64)
		if err != nil {
			return v, fmt.Errorf("%.30q is not a 64-bit integer", text)
		}
		v = store.Int(n)
	case "f":
		switch string(text) {
		case "Infinity":
			v = store.Float(math.Inf(1))
		case "-Infinity":
			v = store.Float(math.Inf(-1))
		case "-0":
			v = store.Float(math.Copysign(0, -1))
		default:
			return v, fmt.Errorf("%.30q is not a double in this form", text)
		}
	default:
		return v, fmt.Errorf("unknown type of a value: %.20q", name)
	}
	return v, s.expect('}')
}
