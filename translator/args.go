package translator

import (
	"bytes"
	"errors"
	"math"
	"strconv"
	"strings"

	"github.com/meowdis/meowdis/redis/commands"
	"github.com/meowdis/meowdis/store"
)

// key returns the usual first arguments of a statement: database, key, now. The arguments in more begin at ?4.
func (c *Call) key(key []byte, more ...store.Value) []store.Value {
	args := make([]store.Value, 3, 3+len(more))
	args[0] = store.Int(int64(c.Env.DB))
	args[1] = store.Bytes(key)
	args[2] = store.Int(c.Env.Now)
	return append(args, more...)
}

// sharedKey is key without more arguments. Statements about the same key share the slice, so callers must not change
// it.
func (c *Call) sharedKey(key []byte) []store.Value {
	if c.sharedArgs == nil || !sameSlice(c.sharedArgs[1].Bytes(), key) {
		c.sharedArgs = c.key(key)
	}
	return c.sharedArgs
}

// stmt returns sql bound to key and more, in the order of key.
func (c *Call) stmt(sql string, key []byte, more ...store.Value) store.Stmt {
	if len(more) == 0 {
		return store.Stmt{SQL: sql, Args: c.sharedKey(key), SizeColumn: sizeColumn(sql)}
	}
	return store.Stmt{SQL: sql, Args: c.key(key, more...), SizeColumn: sizeColumn(sql)}
}

// sameSlice reports whether a and b are the same bytes in memory.
func sameSlice(a, b []byte) bool {
	return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0])
}

// lowerName returns the command's name as Redis writes it in errors: "set", "object|encoding".
func (c *Call) lowerName() string { return c.Command.WireName() }

// is reports whether argument i is the option word, in any case.
func (c *Call) is(i int, word string) bool { return wordIs(c.Args[i], word) }

func wordIs(b []byte, word string) bool { return commands.Is(b, word) }

func parseInt(b []byte) (int64, bool) { return commands.ParseInt(b) }

// parseFloat parses a double as Redis's getDoubleFromObject does: as strtod, but without surrounding space, in range
// and not NaN.
func parseFloat(b []byte) (float64, bool) {
	f, inRange, ok := strtod(string(b))
	return f, ok && inRange && !math.IsNaN(f)
}

// strtod parses all of s as C's strtod does, except for leading space. inRange is false for a number too large or too
// small for a double; f is then infinite or 0.
func strtod(s string) (f float64, inRange, ok bool) {
	if strings.ContainsAny(s, "_ \t\n\v\f\r") {
		return 0, false, false
	}
	mantissa, exponent := s, "eE"
	unsigned := strings.TrimLeft(s, "+-")
	if len(unsigned) > 1 && unsigned[0] == '0' && unsigned[1]|0x20 == 'x' {
		if exponent = "pP"; !strings.ContainsAny(s, exponent) {
			s += "p0"
		}
	}
	if i := strings.IndexAny(mantissa, exponent); i >= 0 {
		mantissa = mantissa[:i]
	}
	f, err := strconv.ParseFloat(s, 64)
	if err != nil {
		return f, false, errors.Is(err, strconv.ErrRange)
	}
	vanished := f == 0 && strings.ContainsAny(mantissa, "123456789abcdefABCDEF")
	return f, !vanished, true
}

// looseFloat parses a double as Redis parses the ends of a range of scores, and the values that SORT orders by: it
// stops at a NUL, an empty string is 0, and a number out of range is infinite or 0. It accepts decimal numbers only,
// and no NaN.
func looseFloat(b []byte) (float64, bool) {
	text := string(cString(b))
	if text == "" {
		return 0, true
	}
	f, _, ok := strtod(text)
	return f, ok && !math.IsNaN(f) && !strings.ContainsAny(text, "xX")
}

// cString returns b up to its first NUL, as C reads a string.
func cString(b []byte) []byte {
	text, _, _ := bytes.Cut(b, []byte{0})
	return text
}

// hexList returns the JSON argument of a list of byte strings, each in hex. SQL reads it with json_each(?n) and
// unhex(j.value).
func hexList(list [][]byte) store.Value {
	n := 2
	for _, b := range list {
		n += 2*len(b) + 3
	}
	out := make([]byte, 0, n)
	out = append(out, '[')
	for i, b := range list {
		if i > 0 {
			out = append(out, ',')
		}
		out = appendHex(out, b)
	}
	return store.TextBytes(append(out, ']'))
}

// appendHex appends b as a JSON string of hex digits.
func appendHex(out, b []byte) []byte {
	const digits = "0123456789abcdef"
	out = append(out, '"')
	for _, ch := range b {
		out = append(out, digits[ch>>4], digits[ch&15])
	}
	return append(out, '"')
}

// upper returns an argument in upper case, for an error text.
func upper(b []byte) string { return strings.ToUpper(string(b)) }
