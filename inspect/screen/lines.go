package screen

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"

	"github.com/meowdis/meowdis/keyspace/display"
	"github.com/meowdis/meowdis/redis/resp"
)

// Span is the bytes [Start, End) of a chunk on one line of the screen.
type Span struct{ Start, End int }

// HexLines splits n bytes into lines of a hex dump.
func HexLines(n, perLine int) []Span {
	lines := make([]Span, 0, n/perLine+1)
	for i := 0; i < n; i += perLine {
		lines = append(lines, Span{i, min(i+perLine, n)})
	}
	return lines
}

// HexWidth returns the number of bytes per line of a hex dump in width cells: the offset takes 10
// cells, each byte 4, the gaps 3.
func HexWidth(width int) int {
	switch {
	case width >= 10+4*16+3:
		return 16
	case width >= 10+4*8+3:
		return 8
	}
	return 4
}

// HexLine returns a line of a hex dump: offset, bytes and printable ASCII.
func HexLine(offset int64, data []byte, perLine int) (place, bytes, letters string) {
	const digits = "0123456789abcdef"
	var hex, ascii strings.Builder
	for i := range perLine {
		if i > 0 && i%8 == 0 {
			hex.WriteByte(' ')
		}
		if i >= len(data) {
			hex.WriteString("   ")
			continue
		}
		c := data[i]
		hex.Write([]byte{digits[c>>4], digits[c&15], ' '})
		if c < ' ' || c > '~' {
			c = '.'
		}
		ascii.WriteByte(c)
	}
	place = strconv.FormatInt(offset, 16)
	return strings.Repeat("0", max(8-len(place), 0)) + place, hex.String(), ascii.String()
}

// BitsWidth returns the number of bytes per line of bits in width cells: the offset takes 12 cells,
// each byte 9.
func BitsWidth(width int) int {
	switch {
	case width >= 12+8*9:
		return 8
	case width >= 12+4*9:
		return 4
	}
	return 2
}

// BitsLine returns a line of bits in the order of SETBIT: the offset of the first bit, and the bits
// with dots for zeros, so that ones stand out.
func BitsLine(offset int64, data []byte) (place, bits string) {
	var b strings.Builder
	for _, c := range data {
		for i := 7; i >= 0; i-- {
			b.WriteByte(".1"[c>>i&1])
		}
		b.WriteByte(' ')
	}
	return display.FitRight(strconv.FormatInt(8*offset, 10), 10), b.String()
}

// HexColumn returns the column of byte i in the hex digits of a line.
func HexColumn(i int) int { return 3*i + i/8 }

// WrapText splits text into lines of at most width cells, at newlines and where the next character does
// not fit.
func WrapText(data []byte, width int) []Span {
	width = max(width, 1)
	var lines []Span
	start, col := 0, 0
	for i := 0; i < len(data); {
		n, letter, cells := nextLetter(data[i:], col)
		if letter == "\n" {
			end := i
			if end > start && data[end-1] == '\r' {
				end--
			}
			lines = append(lines, Span{start, end})
			i += n
			start, col = i, 0
			continue
		}
		if col > 0 && col+cells > width {
			lines = append(lines, Span{start, i})
			start, col = i, 0
			continue
		}
		i += n
		col += cells
	}
	if start < len(data) {
		lines = append(lines, Span{start, len(data)})
	}
	return lines
}

// VisibleText returns a line from WrapText in displayable form.
func VisibleText(data []byte) string {
	var out strings.Builder
	col := 0
	for len(data) > 0 {
		n, letter, cells := nextLetter(data, col)
		out.WriteString(letter)
		col += cells
		data = data[n:]
	}
	return out.String()
}

const tabStop = 4

// nextLetter reads the first character of data: n bytes, displayed as letter in cells cells. Control
// bytes and invalid UTF-8 are escaped; the CR of a CRLF is invisible.
func nextLetter(data []byte, col int) (n int, letter string, cells int) {
	switch c := data[0]; {
	case c == '\n':
		return 1, "\n", 0
	case c == '\r' && len(data) > 1 && data[1] == '\n':
		return 1, "", 0
	case c == '\t':
		cells = tabStop - col%tabStop
		return 1, display.Spaces(cells), cells
	case ' ' <= c && c <= '~':
		// A combining accent belongs to the letter before it. An ASCII byte, the usual case, cannot start
		// one.
		if len(data) == 1 || data[1] < utf8.RuneSelf {
			return 1, string(rune(c)), 1
		}
	case c < utf8.RuneSelf:
		return 1, escaped(c), len(escaped(c))
	}
	return cluster(data)
}

// cluster reads one non-ASCII character with its combining characters.
func cluster(data []byte) (n int, letter string, cells int) {
	const longest = 64
	head := data[:min(len(data), longest)]
	first, _, width, _ := ansi.FirstGraphemeCluster(head, -1)
	if utf8.Valid(first) && width > 0 && visible(first) {
		return len(first), string(first), width
	}
	if r, n := utf8.DecodeRune(data); n > 1 && resp.Visible(r) {
		// A zero-width format character joins letters or marks a break and is kept; a combining accent
		// without a letter is escaped.
		if w := ansi.StringWidth(string(data[:n])); w > 0 || unicode.Is(unicode.Cf, r) {
			return n, string(data[:n]), w
		}
	}
	return 1, escaped(data[0]), len(escaped(data[0]))
}

// visible reports whether a cluster contains no terminal control characters.
func visible(cluster []byte) bool {
	return !strings.ContainsFunc(string(cluster), func(r rune) bool { return !resp.Visible(r) })
}

func escaped(c byte) string {
	const digits = "0123456789abcdef"
	return string([]byte{'\\', 'x', digits[c>>4], digits[c&15]})
}

// IsText reports whether data, the beginning of a value, is text: UTF-8 without NUL. The end may cut a
// character.
func IsText(data []byte) bool {
	for i := 0; i < len(data); {
		r, n := utf8.DecodeRune(data[i:])
		if r == 0 || r == utf8.RuneError && n == 1 && utf8.FullRune(data[i:]) {
			return false
		}
		i += n
	}
	return true
}
