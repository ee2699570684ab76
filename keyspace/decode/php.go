package decode

import (
	"bytes"
	"strconv"
	"strings"
)

// php shows the output of PHP's serialize without instantiating anything.
func php(b []byte, most int) (string, bool) {
	if len(b) < 4 || len(b) > most || !beginsPHP(b) {
		return "", false
	}
	r := phpReader{byteSource{rest: b}}
	t := r.value(0)
	if r.err != nil || len(r.rest) > 0 {
		return "", false
	}
	return t.layout(most), true
}

// beginsPHP reports whether b begins like an array or an object. Scalars count as text.
func beginsPHP(b []byte) bool {
	return b[1] == ':' && bytes.IndexByte([]byte("aOCE"), b[0]) >= 0 && b[2] >= '0' && b[2] <= '9'
}

type phpReader struct{ byteSource }

func (r *phpReader) value(depth int) *tree {
	kind := r.byte()
	if !r.count() || depth > maxTreeDepth {
		r.fail()
		return nil
	}
	if kind == 'N' {
		r.expect(";")
		return leaf("null")
	}
	r.expect(":")
	switch kind {
	case 'b':
		return leaf(strconv.FormatBool(r.until(";") == "1"))
	case 'i', 'd':
		return leaf(r.number())
	case 'r', 'R':
		return leaf("reference to value " + r.number())
	case 's', 'S':
		text := r.text()
		r.expect(";")
		return leaf(quote(text))
	case 'E':
		text := r.text()
		r.expect(";")
		return leaf("enum " + quote(text))
	case 'a':
		return r.fields(&tree{open: '['}, depth)
	case 'O':
		class := r.text()
		r.expect(":")
		return r.fields(&tree{text: phpName(class), open: '{'}, depth)
	case 'C': // custom format of the class
		class := r.text()
		r.expect(":")
		n := r.length(":")
		r.expect("{")
		own := r.take(n)
		r.expect("}")
		return leaf(phpName(class) + " " + quote(own))
	}
	r.fail()
	return nil
}

func (r *phpReader) expect(text string) {
	if string(r.take(uint64(len(text)))) != text {
		r.fail()
	}
}

func (r *phpReader) number() string {
	n := r.until(";")
	switch n {
	case "NAN", "INF", "-INF":
		return n
	}
	if _, err := strconv.ParseFloat(n, 64); err != nil {
		r.fail()
	}
	return n
}

func (r *phpReader) length(end string) uint64 {
	n, err := strconv.ParseUint(r.until(end), 10, 31)
	if err != nil {
		r.fail()
	}
	return n
}

// text reads a length and a quoted string of that length.
func (r *phpReader) text() []byte {
	n := r.length(":")
	r.expect(`"`)
	text := r.take(n)
	r.expect(`"`)
	return text
}

// fields reads a count and that many pairs in braces.
func (r *phpReader) fields(t *tree, depth int) *tree {
	n := r.length(":")
	r.expect("{")
	for i := uint64(0); i < n && r.err == nil; i++ {
		key, value := r.value(depth+1), (*tree)(nil)
		if r.err == nil {
			value = r.value(depth + 1)
		}
		if r.err == nil {
			t.add(phpName([]byte(strings.Trim(key.text, `"`))), value)
		}
	}
	r.expect("}")
	return t
}

// phpName formats a property name. The encoded name of a private property contains its class,
// of a protected one a star.
func phpName(name []byte) string {
	text := string(name)
	for _, zero := range []string{"\x00", `\x00`} {
		if parts := strings.Split(text, zero); len(parts) == 3 && parts[0] == "" {
			if parts[1] == "*" {
				return printable([]byte(parts[2])) + " (protected)"
			}
			return printable([]byte(parts[2])) + " (private to " + printable([]byte(parts[1])) + ")"
		}
	}
	return strings.ReplaceAll(printable([]byte(text)), "\n", `\n`)
}
