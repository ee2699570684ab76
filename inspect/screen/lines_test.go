package screen

import (
	"strings"
	"testing"
)

func TestTextLines(t *testing.T) {
	for _, c := range []struct {
		in    string
		width int
		want  []string
	}{
		{"", 5, nil},
		{"abc", 5, []string{"abc"}},
		{"abcdefg", 5, []string{"abcde", "fg"}},
		{"a\n\nb\n", 5, []string{"a", "", "b"}},
		{"a\r\nb", 5, []string{"a", "b"}},
		{"a\rb", 9, []string{`a\x0db`}},
		{"\tx\ty", 9, []string{"    x   y"}},
		{"東京都", 5, []string{"東京", "都"}},
		{"a\xffb", 9, []string{`a\xffb`}},
		{"a\x1b[2J", 20, []string{`a\x1b[2J`}},
		{"👩‍👩‍👧!", 9, []string{"👩‍👩‍👧!"}},
		{"e\u0301e\u0301e\u0301", 2, []string{"e\u0301e\u0301", "e\u0301"}},
		{"\u202eevil", 30, []string{`\xe2\x80\xaeevil`}},
		{"東", 1, []string{"東"}},
	} {
		var got []string
		for _, l := range WrapText([]byte(c.in), c.width) {
			got = append(got, VisibleText([]byte(c.in)[l.Start:l.End]))
		}
		if strings.Join(got, "|") != strings.Join(c.want, "|") || len(got) != len(c.want) {
			t.Errorf("%q in %d cells: %q, want %q", c.in, c.width, got, c.want)
		}
	}
}

func TestIsText(t *testing.T) {
	for in, want := range map[string]bool{"": true, "abc\n": true, "wörld": true, "cut w\xc3": true, "a\x00": false, "\xffa": false, "\xc3a": false} {
		if IsText([]byte(in)) != want {
			t.Errorf("isText(%q) is %v", in, !want)
		}
	}
}
