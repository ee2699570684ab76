package compare

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"io"
	"strconv"
	"strings"

	"github.com/aymanbagabas/go-udiff/lcs"

	"github.com/meowdis/meowdis/redis/xxh3"
)

// node holds a JSON value and keeps the order of object members.
type node struct {
	open   byte     // '{', '[', or 0 for a scalar
	text   string   // source text of a scalar
	names  []string // member names of an object
	values []node
	line   string // the value on one line, cut off near maxLineBytes
	hash   uint64 // hash of the value's meaning
}

// maxDepth limits the nesting of documents compared by structure; deeper ones are compared by lines.
const maxDepth = 200

var errShape = errors.New("not a document")

// parseJSON parses a document. ok is false for invalid JSON, a document deeper than
// maxDepth, and an object with a duplicate name.
func parseJSON(text string) (n node, ok bool) {
	dec := json.NewDecoder(strings.NewReader(text))
	dec.UseNumber()
	n, err := readNode(dec, 0)
	if err != nil {
		return n, false
	}
	_, err = dec.Token()
	return n, errors.Is(err, io.EOF)
}

func readNode(dec *json.Decoder, depth int) (n node, err error) {
	token, err := dec.Token()
	if err != nil || depth > maxDepth {
		return n, errors.Join(err, errShape)
	}
	open, nested := token.(json.Delim)
	if !nested {
		n.text, err = scalarText(token)
		n.line, n.hash = n.text[:min(len(n.text), maxLineBytes)], xxh3.HashString(n.text)
		return n, err
	}
	n.open, n.line, n.hash = byte(open), string(rune(open)), uint64(open)
	known := map[string]bool{}
	for dec.More() {
		label := ""
		if n.open == '{' {
			token, err := dec.Token()
			name, _ := token.(string)
			if err != nil || known[name] {
				return n, errors.Join(err, errShape)
			}
			known[name] = true
			n.names = append(n.names, name)
			label = quoted(name) + ": "
		}
		value, err := readNode(dec, depth+1)
		if err != nil {
			return n, err
		}
		n.add(label, value)
	}
	if _, err := dec.Token(); err != nil {
		return n, err
	}
	n.line += string(n.closing())
	return n, nil
}

// add adds a value. The hash depends on the order of array elements, but not of object members.
func (n *node) add(label string, value node) {
	if len(n.line) < maxLineBytes {
		if len(n.values) > 0 {
			n.line += ", "
		}
		n.line += label + value.line
	}
	n.values = append(n.values, value)
	sum := xxh3.Hash(binary.LittleEndian.AppendUint64([]byte(label), value.hash))
	if n.open == '[' {
		n.hash = n.hash*31 + sum
		return
	}
	n.hash += sum
}

func scalarText(token json.Token) (string, error) {
	if name, is := token.(string); is {
		return quoted(name), nil
	}
	text, err := json.Marshal(token)
	return string(text), err
}

func quoted(text string) string {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if enc.Encode(text) != nil {
		return text
	}
	return strings.TrimSuffix(b.String(), "\n")
}

func (n node) closing() byte {
	if n.open == '{' {
		return '}'
	}
	return ']'
}

// diffJSON compares two documents by structure, regardless of the order of object members.
func diffJSON(left, right node) []row {
	w := walker{}
	w.compareValues("", "", left, right)
	return w.rows
}

type walker struct{ rows []row }

func (w *walker) add(m mark, indent, left, right string) {
	r := row{mark: m}
	if m != rightOnly {
		r.left = visible(indent + left)
	}
	if m != leftOnly {
		r.right = visible(indent + right)
	}
	w.rows = append(w.rows, r)
}

// compareValues compares two values at the same place.
func (w *walker) compareValues(indent, name string, left, right node) {
	switch {
	case left.hash == right.hash && left.open == right.open:
		w.addValue(same, indent, name, left)
	case left.open != right.open || left.open == 0:
		w.add(changed, indent, name+left.line, name+right.line)
		if left.open == 0 && right.open == 0 {
			w.rows[len(w.rows)-1].pair = &pair{strings.TrimSuffix(name, ": "), unquoted(left.text), unquoted(right.text)}
		}
	default:
		w.add(same, indent, name+string(left.open), name+string(right.open))
		if left.open == '{' {
			w.objects(indent+"  ", left, right)
		} else {
			w.arrays(indent+"  ", left, right)
		}
		w.add(same, indent, string(left.closing()), string(right.closing()))
	}
}

// addValue adds the rows of a value that is on one side only, or the same on both.
func (w *walker) addValue(m mark, indent, name string, n node) {
	if n.open == 0 || len(n.values) == 0 {
		w.add(m, indent, name+n.line, name+n.line)
		return
	}
	w.add(m, indent, name+string(n.open), name+string(n.open))
	for i, v := range n.values {
		w.addValue(m, indent+"  ", n.label(i), v)
	}
	w.add(m, indent, string(n.closing()), string(n.closing()))
}

// label returns the member name in front of value i, "" in an array.
func (n node) label(i int) string {
	if n.open == '{' {
		return quoted(n.names[i]) + ": "
	}
	return ""
}

func (w *walker) objects(indent string, left, right node) {
	there := make(map[string]int, len(right.names))
	for i, name := range right.names {
		there[name] = i
	}
	taken := make(map[string]bool, len(left.names))
	for i, name := range left.names {
		taken[name] = true
		if j, ok := there[name]; ok {
			w.compareValues(indent, left.label(i), left.values[i], right.values[j])
		} else {
			w.addValue(leftOnly, indent, left.label(i), left.values[i])
		}
	}
	for j, name := range right.names {
		if !taken[name] {
			w.addValue(rightOnly, indent, right.label(j), right.values[j])
		}
	}
}

func (w *walker) arrays(indent string, left, right node) {
	at, other := 0, 0
	end := lcs.Diff{Start: len(left.values), End: len(left.values), ReplStart: len(right.values), ReplEnd: len(right.values)}
	for _, h := range append(lcs.DiffLines(left.hashes(), right.hashes()), end) {
		for ; at < h.Start; at, other = at+1, other+1 {
			w.addValue(same, indent, "", left.values[at])
		}
		for ; at < h.End && other < h.ReplEnd; at, other = at+1, other+1 {
			w.compareValues(indent, "", left.values[at], right.values[other])
		}
		for ; at < h.End; at++ {
			w.addValue(leftOnly, indent, "", left.values[at])
		}
		for ; other < h.ReplEnd; other++ {
			w.addValue(rightOnly, indent, "", right.values[other])
		}
	}
}

// unquoted returns the value of a JSON string without quotes, and other scalars as they are.
func unquoted(text string) string {
	var s string
	if json.Unmarshal([]byte(text), &s) == nil && text != "null" {
		return s
	}
	return text
}

// hashes returns the hashes of the values, for a diff of their order.
func (n node) hashes() []string {
	out := make([]string, len(n.values))
	for i, v := range n.values {
		out[i] = strconv.FormatUint(v.hash, 36)
	}
	return out
}
