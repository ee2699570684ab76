package mcptools

import (
	"fmt"
	"unicode/utf8"

	"github.com/meowdis/meowdis/redis/resp"
)

// The limits of a result, so that one does not fill an agent's context: bytes of strings, and elements at all depths.
// The argument limit changes the number of elements.
const (
	maxBytes     = 32 << 10
	defaultLimit = 100
	maxLimit     = 1000
)

// truncation cuts a reply to the limits, and records the cuts.
type truncation struct {
	bytes, elements int // left within the limits
	strings         int // strings cut
	arrays          int
	firstString     string // how the first string was cut
	outer           string // how the outermost array was cut, recorded last
}

func newTruncation(limit int) *truncation { return &truncation{bytes: maxBytes, elements: limit} }

// cut returns as much of v as the limits allow.
func (c *truncation) cut(v resp.Value) resp.Value {
	v.Str = c.text(v.Str)
	if v.Elems == nil {
		return v
	}
	step := 1 // a pair stays whole
	switch v.Kind {
	case resp.Map, resp.PairMap, resp.Scored:
		step = 2
	}
	elems := make([]resp.Value, 0, min(len(v.Elems), c.elements*step))
	for i := 0; i+step <= len(v.Elems) && c.elements > 0 && c.bytes > 0; i += step {
		c.elements--
		for _, e := range v.Elems[i : i+step] {
			elems = append(elems, c.cut(e))
		}
	}
	if len(elems) < len(v.Elems) {
		c.arrays++
		c.outer = fmt.Sprintf("%d of %d elements are shown", len(elems)/step, len(v.Elems)/step)
	}
	v.Elems = elems
	return v
}

func (c *truncation) text(s []byte) []byte {
	if len(s) <= c.bytes {
		c.bytes -= len(s)
		return s
	}
	end := len(whole(s[:c.bytes]))
	if c.strings++; c.strings == 1 {
		c.firstString = fmt.Sprintf("%d of %d bytes of a string are shown", end, len(s))
	}
	c.bytes = 0
	return s[:end]
}

// whole returns s without an incomplete UTF-8 character at its end. Bytes that are not UTF-8 are kept.
func whole(s []byte) []byte {
	for n := 0; n < utf8.UTFMax && n <= len(s); n++ {
		if utf8.Valid(s[:len(s)-n]) {
			return s[:len(s)-n]
		}
	}
	return s
}

// description describes the cuts; "" if nothing was cut.
func (c *truncation) description() string {
	text := c.outer
	if c.arrays > 1 {
		text += fmt.Sprintf(", and more within %d of them", c.arrays-1)
	}
	if c.strings > 0 {
		if text != "" {
			text += "; "
		}
		text += c.firstString
	}
	return text
}

// nextPage returns the cursor for the next call, and describes the cuts. If elements of the page were cut, the cursor
// is the page's own, at, so that no element is skipped.
func (c *truncation) nextPage(at, next string) (cursor, cut string) {
	switch cut = c.description(); {
	case c.arrays > 0:
		return at, cut + ": ask for this page again with a smaller limit"
	case c.strings > 0:
		return next, cut + ": read the rest with query"
	}
	return next, ""
}

// limited checks the limit that the caller asked for, and returns the default for 0.
func limited(n int) (int, error) {
	switch {
	case n == 0:
		return defaultLimit, nil
	case n < 0 || n > maxLimit:
		return 0, fmt.Errorf("limit %d: give 1 to %d", n, maxLimit)
	}
	return n, nil
}

// answer builds a map of names and values. It leaves out empty strings.
func answer(pairs ...any) resp.Value {
	var elems []resp.Value
	for i := 0; i < len(pairs); i += 2 {
		var v resp.Value
		switch of := pairs[i+1].(type) {
		case resp.Value:
			v = of
		case string:
			if of == "" {
				continue
			}
			v = resp.MakeString(of)
		}
		elems = append(elems, resp.MakeString(pairs[i].(string)), v)
	}
	return resp.MakeMap(elems...)
}
