package repl

import (
	"fmt"
	"io"
	"sort"
	"strings"
	"unicode"

	"github.com/charmbracelet/x/ansi"
)

// screen draws the line being edited: a prompt, a text of one or more rows, a hint after it,
// and rows below. Each drawing is a single write over the previous one, so that nothing
// flickers.
type screen struct {
	out  io.Writer
	size func() (columns, rows int)
	row  int // row of the cursor, from the top of the drawing
	last picture
}

// picture holds the content of a drawing.
type picture struct {
	prompt string // may have colours
	text   []glyph
	cursor int    // the glyph under the cursor
	hint   string // after the text, with colours; at most one row
	below  []string
}

// glyph is one rune of a text as the terminal shows it.
type glyph struct {
	shown  string
	width  int
	style  string // SGR parameters, "" for none
	breaks bool   // it ends its row
	fixed  bool   // terminals disagree about its width, so its end is set explicitly
}

// continuation prompts for each further line of a text.
const continuation = "... "

// glyphsOf returns the glyphs of a text in the given styles. The first rune of a grapheme
// shows all of it.
func glyphsOf(text []rune, style func(i int) string) []glyph {
	glyphs := make([]glyph, len(text))
	places := graphemeBounds(text)
	for n, from := range places[:len(places)-1] {
		letter := text[from:places[n+1]]
		apart := 0 // total width of its runes
		for i, r := range letter {
			glyphs[from+i].style = style(from + i)
			apart += ansi.StringWidth(string(r))
		}
		g := &glyphs[from]
		switch r := letter[0]; {
		case r == '\n':
			g.breaks = true
		case r == '\r' && len(letter) > 1: // the only grapheme of two control characters
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

// place holds a position on the screen.
type place struct{ row, column int }

// draw replaces the previous drawing by p.
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
			b.WriteString(" \r") // moves the terminal to the next row
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

// drawFixed draws g at column at and moves the cursor to its end, so that the next glyph is in
// the right place even if the terminal disagrees about the width of g.
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

// layout computes the place of each glyph and of the end. It leaves out what does not fit
// the screen: first the rows below, then the beginning of the text.
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

// window is layout for a text with more rows than the screen. It shows the last rows, or
// starts at the cursor if that is further up.
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

// finish ends the drawing: the text stays, followed by appended, and the cursor moves to the
// next line.
func (s *screen) finish(p picture, appended string) {
	p.cursor, p.hint, p.below = len(p.text), "", nil
	s.draw(p)
	io.WriteString(s.out, appended+"\r\n")
	s.reset()
}

// printAbove prints text, whose lines end with \r\n, in place of the drawing.
func (s *screen) printAbove(text string) {
	var b strings.Builder
	b.WriteString("\r")
	up(&b, s.row)
	b.WriteString("\x1b[J" + text)
	io.WriteString(s.out, b.String())
	s.reset()
}

// reset records that the cursor is at the start of an empty line.
func (s *screen) reset() { s.row = 0 }

// clear clears the screen.
func (s *screen) clear() {
	io.WriteString(s.out, "\x1b[H\x1b[2J")
	s.reset()
}

// resized recomputes the cursor's row after a change of the terminal's width, which rewraps
// long lines.
func (s *screen) resized() {
	columns, rows := s.size()
	p, places, end := s.last.layout(max(columns, 4), rows)
	s.row = end.row
	if p.cursor < len(places) {
		s.row = places[p.cursor].row
	}
}
