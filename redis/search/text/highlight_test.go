package text

import (
	"math"
	"strings"
	"testing"
)

// Redis documentation, Highlighting.
func TestHighlight(t *testing.T) {
	a := Analysis{Language: "testish"}
	matched := Matcher([]string{"red", "+jum"}, a)
	if got, want := Highlight("A Red, red-hot JUMPER!", matched, "<b>", "</b>"), "A <b>Red</b>, <b>red</b>-hot <b>JUMPER</b>!"; got != want {
		t.Error(got)
	}
	source := "one two three red four   five six seven eight nine ten red jumps eleven twelve"
	for _, c := range []struct {
		fragments, words int
		tags             string
		want             string
	}{
		{3, 3, "", "three red four... red jumps eleven... "},
		{1, 4, "*", "ten *red* *jumps* eleven... "},
		{9, 100, "", strings.Replace(source, "   ", " ", 1) + "... "},
		{1, 1, "", "red... "},
	} {
		got := Summarize(source, matched, Summary{c.fragments, c.words, "... ", c.tags, c.tags})
		if got != c.want {
			t.Errorf("%+v: %q", c, got)
		}
	}
	if got := Summarize(source, func(string) bool { return false }, Summary{2, 2, "... ", "", ""}); got != "one two three red" {
		t.Errorf("%q", got)
	}
	if got := Summarize("", func(string) bool { return true }, DefaultSummary); got != "" {
		t.Errorf("%q", got)
	}
}

// Redis documentation, FT.SUGGET.
func TestSuggest(t *testing.T) {
	for _, c := range []struct {
		beginning, suggestion string
		fuzzy                 bool
		want                  float64
	}{
		{"hell", "Hello world", false, 3 / math.Sqrt(8)}, {"HELLO", "hello", false, SuggestExact}, {"hxl", "hello", false, 0},
		{"hxl", "hello", true, 3 / math.Sqrt(3) * math.Exp(-2)}, {"hxx", "hello", true, 0}, {"", "ab", false, 3 / math.Sqrt(3)},
	} {
		got, ok := Suggest(c.beginning, c.suggestion, 3, c.fuzzy)
		if math.Abs(got-c.want) > 1e-6 || ok != (c.want > 0) {
			t.Errorf("%+v: %v %v", c, got, ok)
		}
	}
}

func FuzzHighlight(f *testing.F) {
	f.Add("a b\tc red", "red", 3, 20)
	f.Fuzz(func(t *testing.T, source, term string, fragments, words int) {
		matched := func(s string) bool { return strings.HasPrefix(s, term) }
		Highlight(source, matched, "<", ">")
		Summarize(source, matched, Summary{max(1, fragments), max(1, words), "...", "<", ">"})
	})
}
