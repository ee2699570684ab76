package compare

import (
	"bytes"
	"slices"
	"strings"

	"github.com/aymanbagabas/go-udiff/lcs"

	"github.com/meowdis/meowdis/inspect/screen"
	"github.com/meowdis/meowdis/keyspace/decode"
	"github.com/meowdis/meowdis/transfer"
)

// mark classifies the difference in a row.
type mark byte

const (
	same      mark = ' '
	changed   mark = '~'
	leftOnly  mark = '-'
	rightOnly mark = '+'
)

// row holds a line of the comparison: its left and right text.
type row struct {
	mark        mark
	left, right string
	pair        *pair // two values that Enter opens as a comparison of their own; nil for none
}

// pair is two values with the same name.
type pair struct{ name, left, right string }

// comparison holds the result of comparing two sides.
type comparison struct {
	left, right side
	rows        []row
	note        string // a difference that the rows do not show
}

// compare compares two sides.
func compare(left, right side) comparison {
	c := comparison{left: left, right: right}
	switch {
	case left.kind != right.kind:
		c.rows = sideBySide(left.lines(), right.lines())
	case left.kind == string(transfer.ListType):
		c.rows = diffLines(values(left.fields), values(right.fields))
	case left.text == nil && right.text == nil:
		c.rows = diffFields(left.fields, right.fields)
	default:
		c.rows, c.note = diffTexts(left.text, right.text)
	}
	return c
}

// sideBySide pairs the lines of two unrelated texts by position.
func sideBySide(left, right []string) (rows []row) {
	for i := range max(len(left), len(right)) {
		switch {
		case i >= len(left):
			rows = append(rows, row{mark: rightOnly, right: right[i]})
		case i >= len(right):
			rows = append(rows, row{mark: leftOnly, left: left[i]})
		default:
			rows = append(rows, row{mark: changed, left: left[i], right: right[i]})
		}
	}
	return rows
}

// lines returns the content of one side as lines.
func (s side) lines() []string {
	if s.fields == nil && s.text != nil {
		return decodedLines(s.text)
	}
	var lines []string
	for _, f := range s.fields {
		lines = append(lines, f.line())
	}
	return lines
}

func (f field) line() string {
	switch {
	case f.name == "":
		return visible(f.value)
	case f.value == "":
		return visible(f.name)
	}
	return visible(f.name) + "  " + visible(f.value)
}

func values(fields []field) []string {
	out := make([]string, len(fields))
	for i, f := range fields {
		out[i] = f.value
	}
	return out
}

// maxLineBytes limits the bytes shown of a line.
const maxLineBytes = 4 << 10

// visible returns text as one line for the screen.
func visible(text string) string {
	text = text[:min(len(text), maxLineBytes)]
	return screen.VisibleText([]byte(strings.ReplaceAll(text, "\n", "↵")))
}

// diffFields merges the fields of two sides, which are sorted.
func diffFields(left, right []field) (rows []row) {
	for len(left)+len(right) > 0 {
		switch {
		case len(right) == 0 || len(left) > 0 && left[0].sortKey < right[0].sortKey:
			rows = append(rows, row{mark: leftOnly, left: left[0].line()})
			left = left[1:]
		case len(left) == 0 || right[0].sortKey < left[0].sortKey:
			rows = append(rows, row{mark: rightOnly, right: right[0].line()})
			right = right[1:]
		case left[0].value == right[0].value:
			rows = append(rows, row{mark: same, left: left[0].line(), right: right[0].line()})
			left, right = left[1:], right[1:]
		default:
			rows = append(rows, row{
				mark: changed, left: left[0].line(), right: right[0].line(),
				pair: &pair{left[0].name, left[0].value, right[0].value},
			})
			left, right = left[1:], right[1:]
		}
	}
	return rows
}

// diffTexts compares two texts: as JSON if both are JSON, else by lines.
func diffTexts(left, right []byte) (rows []row, note string) {
	switch {
	case bytes.Equal(left, right):
		for _, line := range decodedLines(left) {
			rows = append(rows, row{mark: same, left: line, right: line})
		}
		return rows, ""
	}
	l, r := decodeText(left), decodeText(right)
	if a, ok := parseJSON(l.Text); ok && isJSON(l) && isJSON(r) {
		if b, ok := parseJSON(r.Text); ok {
			rows = diffJSON(a, b)
			if !slices.ContainsFunc(rows, func(r row) bool { return r.mark != same }) {
				note = "equal JSON, different bytes"
			}
			return rows, note
		}
	}
	if l.Names() != r.Names() && screen.IsText(left) && screen.IsText(right) {
		return diffLines(strings.Split(string(left), "\n"), strings.Split(string(right), "\n")), ""
	}
	rows = diffLines(strings.Split(l.Text, "\n"), strings.Split(r.Text, "\n"))
	if l.Text == r.Text {
		note = "equal after decoding, different bytes"
	}
	return rows, note
}

// decodeText decodes a text.
func decodeText(text []byte) decode.Shown {
	return decode.Value(text, decode.Options{MaxBytes: maxBytes, DumpBytes: 1 << 20})
}

func decodedLines(text []byte) []string {
	lines := strings.Split(decodeText(text).Text, "\n")
	for i, line := range lines {
		lines[i] = visible(line)
	}
	return lines
}

func isJSON(s decode.Shown) bool {
	last := s.Layers[len(s.Layers)-1].Name
	return last == "JSON" || last == "MessagePack"
}

// diffLines compares lines, or elements, in order.
func diffLines(left, right []string) (rows []row) {
	at, other := 0, 0
	end := lcs.Diff{Start: len(left), End: len(left), ReplStart: len(right), ReplEnd: len(right)}
	for _, h := range append(lcs.DiffLines(left, right), end) {
		for ; at < h.Start; at, other = at+1, other+1 {
			rows = append(rows, row{mark: same, left: visible(left[at]), right: visible(right[other])})
		}
		for ; at < h.End && other < h.ReplEnd; at, other = at+1, other+1 {
			if left[at] == right[other] { // a diff of many changes does not find every match
				rows = append(rows, row{mark: same, left: visible(left[at]), right: visible(right[other])})
				continue
			}
			rows = append(rows, row{
				mark: changed, left: visible(left[at]), right: visible(right[other]),
				pair: &pair{"", left[at], right[other]},
			})
		}
		for ; at < h.End; at++ {
			rows = append(rows, row{mark: leftOnly, left: visible(left[at])})
		}
		for ; other < h.ReplEnd; other++ {
			rows = append(rows, row{mark: rightOnly, right: visible(right[other])})
		}
	}
	return rows
}
