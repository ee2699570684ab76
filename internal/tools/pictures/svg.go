package main

import (
	"fmt"
	"html"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
)

// Geometry of the drawn terminal, in pixels.
const (
	cellWidth  = 8.4
	cellHeight = 18
	margin     = 14
)

const (
	foreground = "#d8dee9"
	background = "#1c2129"
)

// style is the style of a run of characters.
type style struct {
	fg, bg               string
	bold, faint, reverse bool
}

// svg draws a screen, including its escape sequences, as an SVG document, without empty rows
// at the end.
func svg(screen string, columns int) string {
	var b strings.Builder
	lines := strings.Split(strings.TrimRight(screen, "\n"), "\n")
	w, h := float64(columns)*cellWidth+2*margin, len(lines)*cellHeight+2*margin
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %.0f %d" font-family="ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono',monospace" font-size="14">`+"\n", w, h)
	fmt.Fprintf(&b, `<rect width="100%%" height="100%%" rx="8" fill="%s"/>`+"\n", background)
	var now style
	for y, line := range lines {
		now = drawLine(&b, line, y, now)
	}
	b.WriteString("</svg>\n")
	return b.String()
}

func drawLine(b *strings.Builder, line string, y int, now style) style {
	x := 0
	for line != "" {
		if strings.HasPrefix(line, "\x1b[") {
			end := strings.IndexFunc(line[2:], func(r rune) bool { return r >= '@' && r <= '~' })
			if end < 0 {
				return now
			}
			if line[2+end] == 'm' {
				now = now.apply(line[2 : 2+end])
			}
			line = line[3+end:]
			continue
		}
		n := strings.IndexByte(line, '\x1b')
		switch n {
		case -1:
			n = len(line)
		case 0: // any other sequence
			_, n = utf8.DecodeRuneInString(line)
			line = line[n:]
			continue
		}
		x += drawRun(b, line[:n], x, y, now)
		line = line[n:]
	}
	return now
}

func drawRun(b *strings.Builder, text string, x, y int, s style) int {
	width := ansi.StringWidth(text)
	fg, bg := s.fg, s.bg
	if fg == "" {
		fg = foreground
	}
	if s.reverse {
		if bg == "" {
			bg = background
		}
		fg, bg = bg, fg
	}
	left, top := margin+float64(x)*cellWidth, margin+y*cellHeight
	if bg != "" {
		fmt.Fprintf(b, `<rect x="%.1f" y="%d" width="%.1f" height="%d" fill="%s"/>`, left, top, float64(width)*cellWidth, cellHeight, bg)
	}
	if strings.TrimSpace(text) != "" {
		var extra string
		if s.bold {
			extra += ` font-weight="bold"`
		}
		if s.faint {
			extra += ` opacity="0.6"`
		}
		fmt.Fprintf(b, `<text xml:space="preserve" x="%.1f" y="%d" textLength="%.1f" fill="%s"%s>%s</text>`+"\n",
			left, top+13, float64(width)*cellWidth, fg, extra, html.EscapeString(text))
	}
	return width
}

// apply applies one SGR sequence.
func (s style) apply(params string) style {
	codes := strings.Split(params, ";")
	for i := 0; i < len(codes); i++ {
		n, _ := strconv.Atoi(codes[i])
		switch {
		case n == 0:
			s = style{}
		case n == 1:
			s.bold = true
		case n == 2:
			s.faint = true
		case n == 7:
			s.reverse = true
		case n == 22:
			s.bold, s.faint = false, false
		case n == 27:
			s.reverse = false
		case n == 39:
			s.fg = ""
		case n == 49:
			s.bg = ""
		case n == 38 || n == 48:
			var colour string
			colour, i = extended(codes, i)
			if n == 38 {
				s.fg = colour
			} else {
				s.bg = colour
			}
		case n >= 30 && n <= 37:
			s.fg = palette(n - 30)
		case n >= 40 && n <= 47:
			s.bg = palette(n - 40)
		case n >= 90 && n <= 97:
			s.fg = palette(n - 90 + 8)
		case n >= 100 && n <= 107:
			s.bg = palette(n - 100 + 8)
		}
	}
	return s
}

// extended parses "38;5;N" or "38;2;R;G;B" and returns the last position used.
func extended(codes []string, i int) (string, int) {
	num := func(k int) int {
		if k >= len(codes) {
			return 0
		}
		n, _ := strconv.Atoi(codes[k])
		return n
	}
	if num(i+1) == 5 {
		return palette(num(i + 2)), i + 2
	}
	return fmt.Sprintf("#%02x%02x%02x", num(i+2), num(i+3), num(i+4)), i + 4
}

var basic = [16]string{
	"#2e3440", "#e06c75", "#98c379", "#e5c07b", "#61afef", "#c678dd", "#56b6c2", "#d8dee9",
	"#6b7380", "#ef7a85", "#a9d68a", "#f0d08c", "#7cc0ff", "#d78ced", "#6fd0dc", "#ffffff",
}

// palette returns colour n of a terminal's 256.
func palette(n int) string {
	switch {
	case n < 16:
		return basic[max(n, 0)]
	case n < 232:
		n -= 16
		level := func(v int) int {
			if v == 0 {
				return 0
			}
			return 55 + 40*v
		}
		return fmt.Sprintf("#%02x%02x%02x", level(n/36), level(n/6%6), level(n%6))
	}
	grey := 8 + 10*(min(n, 255)-232)
	return fmt.Sprintf("#%02x%02x%02x", grey, grey, grey)
}
