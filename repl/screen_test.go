package repl

import (
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
	"github.com/meowdis/meowdis/redis/commands"
)

// painted draws a text as the editor does, and returns the terminal's output.
func painted(text string, cursor, columns, rows int) string {
	var out strings.Builder
	s := screen{out: &out, size: func() (int, int) { return columns, rows }}
	styleAt, after := paint(text, commands.Ours, true)
	styles := runeStyles(text, styleAt)
	s.draw(picture{
		prompt: "db> ", text: glyphsOf([]rune(text), func(i int) string { return styles[i] }), cursor: cursor, hint: after.render(columns - 1 - len("db> ") - len(text)),
		below: []string{"one", "two"},
	})
	return out.String()
}

func TestPaint(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"SETEX k 5", "\x1b[0;1;36mSETEX\x1b[0;m \x1b[0;33mk\x1b[0;m \x1b[0;35m5\x1b[0m\x1b[3m value\x1b[0m"},
		{`GET "k"`, "\x1b[0;1;36mGET\x1b[0;m \x1b[0;33m\"k\"\x1b[0m"},
		{"NOPE ", "\x1b[0;31;4mNOPE\x1b[0;m \x1b[2;31m unknown command\x1b[0m"},
		{"GET k | wc", "\x1b[0;1;36mGET\x1b[0;m \x1b[0;33mk\x1b[0;m \x1b[0;1;35m|\x1b[0;m wc"},
		{"GET a\n", "\x1b[0;1;36mGET\x1b[0;m \x1b[0;33ma\x1b[0;m\x1b[K\r\n... "},
		{"\x01", "^A"},
		{"猫e\u0301", "猫e\u0301"},
		{"👩\u200d👧", "\x1b[2X👩\u200d👧\x1b[7G"}, // as wide as one letter on every terminal
		{"❤\ufe0f", "\x1b[2X❤\ufe0f\x1b[7G"},
	} {
		got := painted(c.text, len([]rune(c.text)), 60, 10)
		_, got, _ = strings.Cut(got, "db> ")
		got, _, _ = strings.Cut(got, "\x1b[K\r\none")
		if got != c.want {
			t.Errorf("%q: got\n%q, want\n%q", c.text, got, c.want)
		}
	}
}

// The cursor comes to stand where its letter is, in windows of any width.
func TestLayout(t *testing.T) {
	for _, c := range []struct {
		text            string
		cursor          int
		columns, rows   int
		row, column     int
		endRow, endColn int
	}{
		{"abc", 3, 10, 5, 0, 7, 0, 7},
		{"abcdef", 6, 10, 5, 1, 0, 1, 0},        // full: the cursor is in the next row
		{"abcde猫", 5, 10, 5, 1, 0, 1, 2},        // a wide letter does not fit
		{"abcd猫x", 5, 10, 5, 1, 0, 1, 1},        // one that does
		{"ab\ncd", 3, 10, 5, 1, 4, 1, 6},        // a line of its own
		{"abcdef\nx", 6, 10, 5, 1, 0, 2, 5},     // a line that ends with its row
		{"e\u0301f", 3, 10, 5, 0, 6, 0, 6},      // an accent takes no room
		{"👩\u200d👧x", 3, 10, 5, 0, 6, 0, 7},     // an emoji of several
		{"abcd👩\u200d👧x", 7, 10, 5, 1, 0, 1, 1}, // at the end of a row
		{"a\r\nb", 3, 10, 5, 1, 4, 1, 5},
		{strings.Repeat("x", 96), 96, 10, 4, 2, 0, 2, 0}, // more than the window
		{strings.Repeat("x", 96), 0, 10, 4, 0, 4, 3, 0},  // from the cursor on
	} {
		p := picture{prompt: "db> ", text: glyphsOf([]rune(c.text), func(int) string { return "" }), cursor: c.cursor}
		shown, places, end := p.layout(c.columns, c.rows)
		at := end
		if shown.cursor < len(places) {
			at = places[shown.cursor]
		}
		if at != (place{c.row, c.column}) || end != (place{c.endRow, c.endColn}) {
			t.Errorf("%q at %d: cursor %v, end %v", c.text, c.cursor, at, end)
		}
	}
}

// Nothing that can be typed breaks the drawing or the completion.
func FuzzPaint(f *testing.F) {
	for _, text := range []string{"SET k v EX 5", "5 GET \"a\nb\" | jq .", ":peek k > out", "XREADGROUP STREAMS a >", "BITFIELD k OVERFLOW SAT SET u8 #0 1", "CLIENT KILL", "OBJECT x", "0", "猫 '"} {
		f.Add(text, 3, 20, 5)
	}
	f.Fuzz(func(t *testing.T, text string, cursor, columns, rows int) {
		runes := []rune(strings.ToValidUTF8(text, "?"))
		text = string(runes)
		cursor = max(0, min(cursor, len(runes)))
		out := painted(text, cursor, columns&0xff, rows&0x3f)
		if strings.Contains(ansi.Strip(out), "\x1b") {
			t.Fatalf("%q leaves an escape sequence open: %q", text, out)
		}
		c := complete(text, &Options{})
		if c.from > len(text) || text[c.from:] != c.typed {
			t.Fatalf("%q: the word at %d is not %q", text, c.from, c.typed)
		}
		holdsSecret(text)
	})
}
