package screen

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"

	"github.com/meowdis/meowdis/display"
	"github.com/meowdis/meowdis/resp"
)

// Span is the bytes [start, end) of a chunk that one line of the screen shows.
type Span struct{ Start, End int }

// HexLines cuts n bytes into lines of a hex dump.
func HexLines(n, perLine int) []Span {
	lines := make([]Span, 0, n/perLine+1)
	for i := 0; i < n; i += perLine {
		lines = append(lines, Span{i, min(i+perLine, n)})
	}
	return lines
}

// HexWidth is how many bytes of a hex dump fit into width cells: the offset
// takes 10, a byte 3 and a letter, the gaps 3.
func HexWidth(width int) int {
	switch {
	case width >= 10+4*16+3:
		return 16
	case width >= 10+4*8+3:
		return 8
	}
	return 4
}

// HexLine is a line of a hex dump: offset, bytes, printable ASCII.
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

// BitsWidth is how many bytes fit into width cells as bits: the offset takes 12, a
// byte 9.
func BitsWidth(width int) int {
	switch {
	case width >= 12+8*9:
		return 8
	case width >= 12+4*9:
		return 4
	}
	return 2
}

// BitsLine is a line of bits as SETBIT counts them: offset of the first, and zeros
// as dots, so that ones are seen.
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

// HexColumn is where byte i of a line stands in its hex digits.
func HexColumn(i int) int { return 3*i + i/8 }

// WrapText cuts text into lines of at most width cells, at each newline and
// wherever the next letter does not fit.
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

// VisibleText is a line that textLines cut, fit for the screen.
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

// nextLetter reads what stands at the head of data: n bytes that show as letter
// in cells cells. Control bytes and broken UTF-8 are escaped; the CR of a CRLF
// shows as nothing.
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
		// A letter and the accent after it are one; that the accent is ASCII
		// is the usual case.
		if len(data) == 1 || data[1] < utf8.RuneSelf {
			return 1, string(rune(c)), 1
		}
	case c < utf8.RuneSelf:
		return 1, escaped(c), len(escaped(c))
	}
	return cluster(data)
}

// cluster reads one letter beyond ASCII, with what joins it.
func cluster(data []byte) (n int, letter string, cells int) {
	const longest = 64
	head := data[:min(len(data), longest)]
	first, _, width, _ := ansi.FirstGraphemeCluster(head, -1)
	if utf8.Valid(first) && width > 0 && visible(first) {
		return len(first), string(first), width
	}
	if r, n := utf8.DecodeRune(data); n > 1 && resp.Visible(r) {
		// What has no width joins letters or says where a word may part; an accent
		// that no letter carries is shown as its bytes.
		if w := ansi.StringWidth(string(data[:n])); w > 0 || unicode.Is(unicode.Cf, r) {
			return n, string(data[:n]), w
		}
	}
	return 1, escaped(data[0]), len(escaped(data[0]))
}

// visible reports whether a cluster holds nothing that steers the terminal.
func visible(cluster []byte) bool {
	return !strings.ContainsFunc(string(cluster), func(r rune) bool { return !resp.Visible(r) })
}

func escaped(c byte) string {
	const digits = "0123456789abcdef"
	return string([]byte{'\\', 'x', digits[c>>4], digits[c&15]})
}

// IsText reports whether data, the beginning of a value, reads as text: UTF-8
// without NUL. The end may be cut inside a letter.
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
