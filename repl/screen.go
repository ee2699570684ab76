package repl

import (
	"fmt"
	"io"
	"sort"
	"strings"
	"unicode"

	"github.com/charmbracelet/x/ansi"
)

// screen draws what is being edited: a prompt, a text that may take several rows,
// a hint after it, and rows below. Each drawing is one write that overwrites the
// last one in place, so that nothing flickers.
type screen struct {
	out  io.Writer
	size func() (columns, rows int)
	row  int // of the cursor, counted from where the drawing begins
	last picture
}

// picture is what a drawing shows.
type picture struct {
	prompt string // may have colours
	text   []glyph
	cursor int    // the glyph that it stands on
	hint   string // after the text, with colours; one row at most
	below  []string
}

// glyph is one rune of a text as the terminal shows it.
type glyph struct {
	shown  string
	width  int
	style  string // SGR parameters, "" for none
	breaks bool   // it ends its row
	fixed  bool   // terminals disagree on its width, and are told where it ends
}

// continuation stands before each further row of a text of several lines.
const continuation = "... "

// glyphsOf lays runes out, in the styles given for each. The first rune of a letter
// shows all of it.
func glyphsOf(text []rune, style func(i int) string) []glyph {
	glyphs := make([]glyph, len(text))
	places := graphemeBounds(text)
	for n, from := range places[:len(places)-1] {
		letter := text[from:places[n+1]]
		apart := 0 // the width of its runes
		for i, r := range letter {
			glyphs[from+i].style = style(from + i)
			apart += ansi.StringWidth(string(r))
		}
		g := &glyphs[from]
		switch r := letter[0]; {
		case r == '\n':
			g.breaks = true
		case r == '\r' && len(letter) > 1: // the one letter of two control characters
			g.shown, g.width, glyphs[from+1].breaks = "^M", 2, true
		case unicode.IsControl(r):
			g.shown, g.width = "^"+string((r+'@')&0x7f), 2
		default:
			g.shown, g.width = string(letter), ansi.StringWidth(string(letter))
			g.fixed = g.width != apart
		}
	}
	return glyphs
}

// place is where something stands.
type place struct{ row, column int }

// draw shows p in place of what was shown before.
func (s *screen) draw(p picture) {
	columns, rows := s.size()
	s.last = p
	if columns < 4 {
		return
	}
	p, places, end := p.layout(columns, rows)
	cursor := end
	if p.cursor < len(places) {
		cursor = places[p.cursor]
	}
	var b strings.Builder
	b.WriteString("\x1b[?25l\r")
	up(&b, s.row)
	b.WriteString(p.prompt)
	style := ""
	for i, g := range p.text {
		if g.style != style {
			style = g.style
			b.WriteString("\x1b[0;" + style + "m")
		}
		if g.fixed {
			drawFixed(&b, g, places[i].column, columns)
		} else {
			b.WriteString(g.shown)
		}
		switch last := i+1 == len(p.text); {
		case g.breaks:
			b.WriteString("\x1b[K\r\n" + continuation)
		case last && end.column == 0, !last && p.text[i+1].breaks && places[i+1].column == 0:
			b.WriteString(" \r") // makes the terminal begin the next row
		}
	}
	if style != "" {
		b.WriteString("\x1b[0m")
	}
	hint := ansi.Truncate(p.hint, max(0, columns-1-end.column), "…")
	b.WriteString(hint + "\x1b[K")
	for _, line := range p.below {
		b.WriteString("\r\n" + ansi.Truncate(line, columns-1, "…") + "\x1b[K")
	}
	b.WriteString("\x1b[J\r")
	up(&b, end.row+len(p.below)-cursor.row)
	if cursor.column > 0 {
		fmt.Fprintf(&b, "\x1b[%dC", cursor.column)
	}
	b.WriteString("\x1b[?25h")
	s.row = cursor.row
	io.WriteString(s.out, b.String())
}

// drawFixed draws g, which begins at the column at, and goes to where it is to end: a
// terminal that thinks it is wider or narrower shows the next letter there, too.
func drawFixed(b *strings.Builder, g glyph, at, columns int) {
	if at+g.width < columns {
		fmt.Fprintf(b, "\x1b[%dX%s\x1b[%dG", g.width, g.shown, at+g.width+1)
	} else {
		b.WriteString(g.shown + "\r\n")
	}
}

func up(b *strings.Builder, n int) {
	if n > 0 {
		fmt.Fprintf(b, "\x1b[%dA", n)
	}
}

// layout finds the place of each glyph and of the end. What does not fit on the
// screen is left out: rows below first, then the beginning of the text.
func (p picture) layout(columns, rows int) (shown picture, places []place, end place) {
	at := place{column: ansi.StringWidth(p.prompt)}
	if at.column >= columns-1 {
		p.prompt = ansi.Truncate(p.prompt, columns-2, "…")
		at.column = ansi.StringWidth(p.prompt)
	}
	places = make([]place, len(p.text))
	for i, g := range p.text {
		if at.column+g.width > columns {
			at = place{row: at.row + 1}
		}
		places[i] = at
		if at.column += g.width; g.breaks {
			at = place{at.row + 1, len(continuation)}
		} else if at.column == columns {
			at = place{row: at.row + 1}
		}
	}
	if at.row >= rows && rows > 1 {
		return p.window(columns, rows, places, at)
	}
	p.below = p.below[:max(0, min(len(p.below), rows-1-at.row))]
	return p, places, at
}

// window is layout for a text of more rows than the screen has: those up to the
// end, or from the cursor on when that is above.
func (p picture) window(columns, rows int, places []place, end place) (picture, []place, place) {
	top := end.row - rows + 2
	if p.cursor < len(places) {
		top = min(top, places[p.cursor].row)
	}
	row := func(n int) int {
		return sort.Search(len(places), func(i int) bool { return places[i].row >= n })
	}
	from, to := row(top), row(top+rows-1)
	if from > 0 {
		p.prompt = ""
		if p.text[from-1].breaks {
			p.prompt = continuation
		}
	}
	if to < len(p.text) {
		p.hint = ""
		if p.text[to-1].breaks {
			to--
		}
	}
	p.text, p.cursor, p.below = p.text[from:to], p.cursor-from, nil
	return p.layout(columns, rows+1)
}

// finish ends the drawing: the text stays, with what is appended to it, and the
// cursor goes to the next line.
func (s *screen) finish(p picture, appended string) {
	p.cursor, p.hint, p.below = len(p.text), "", nil
	s.draw(p)
	io.WriteString(s.out, appended+"\r\n")
	s.reset()
}

// reset says that the cursor stands at the beginning of an empty line.
func (s *screen) reset() { s.row = 0 }

// clear empties the screen.
func (s *screen) clear() {
	io.WriteString(s.out, "\x1b[H\x1b[2J")
	s.reset()
}

// resized finds the cursor after the terminal has another width, which moved what
// had been drawn: it wraps long lines anew.
func (s *screen) resized() {
	columns, rows := s.size()
	p, places, end := s.last.layout(max(columns, 4), rows)
	s.row = end.row
	if p.cursor < len(places) {
		s.row = places[p.cursor].row
	}
}
