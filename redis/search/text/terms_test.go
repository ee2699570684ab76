package text

import (
	"fmt"
	"math"
	"slices"
	"testing"
)

func TestMain(m *testing.M) {
	RegisterStemmer("testish", func(term string) string { return term[:min(3, len(term))] })
	RegisterPhonetic(func(term string) string { return "P" + term[:1] })
	m.Run()
}

// Redis documentation, Stemming, Synonyms and Phonetic matching: what is indexed and searched beside a term.
func TestExpansions(t *testing.T) {
	groups := Synonyms{}
	groups.Add("g1", "Jumping", "leaping")
	groups.Add("g1", "JUMPING")
	a := Analysis{Language: "testish", Phonetic: true, Synonyms: groups}
	if got, want := Extras("jumping", a), []string{"+jum", "~g1", "<Pj"}; !slices.Equal(got, want) {
		t.Error(got)
	}
	if got, want := Expansions("jumping", a), []string{"+jum", "jum", "~g1", "<Pj"}; !slices.Equal(got, want) {
		t.Error(got)
	}
	a.NoStem = true
	if got, want := Expansions("jumping", a), []string{"~g1", "<Pj"}; !slices.Equal(got, want) {
		t.Error(got)
	}
	// FT.EXPLAINCLI: foo and bar are expanded to +foo and +bar.
	if got := Expansions("ab", Analysis{Language: "testish", Phonetic: true}); !slices.Equal(got, []string{"+ab"}) {
		t.Error(got)
	}
	if got := Extras("ab", Analysis{Language: "testish", Phonetic: true}); got != nil {
		t.Error(got)
	}
	var d Document
	d.Add(0, 2.5, []string{"Big jump", "jump"}, nil, Analysis{Language: "testish"})
	d.Add(1, 1, []string{"jump the"}, StopWords(DefaultStopWords), Analysis{NoStem: true})
	p := d.Postings["jump"]
	if got := fmt.Sprint(*p, *d.Postings["+jum"], d.Length, d.MaxFreq); got !=
		"{5 [{0 2} {0 103} {1 104}]} {2 [{0 2} {0 103}]} 7 5" {
		t.Error(got)
	}
}

// Redis documentation, Query syntax: wildcard matching, and fuzzy matching by Levenshtein distance.
func TestMatching(t *testing.T) {
	for _, c := range []struct {
		pattern, s string
		want       bool
	}{
		{"h?llo*", "hello world", true}, {"*a*b", "xaxxb", true}, {"*a*b", "xaxxbc", false}, {"", "", true},
		{"?", "", false}, {"?", "é", true}, {`\*`, "*", true}, {`\*`, "a", false}, {"**", "", true}, {"a*", "ba", false},
	} {
		if got := MatchWildcard(c.pattern, c.s); got != c.want {
			t.Errorf("%q %q: %v", c.pattern, c.s, got)
		}
	}
	for _, c := range []struct {
		a, b         string
		most         int
		want, prefix int
	}{
		{"hello", "helo", 1, 1, 1}, {"hello", "hello world", 1, 2, 0}, {"kitten", "sitting", 3, 3, 2}, {"", "ab", 3, 2, 0},
		{"é", "e", 1, 1, 1}, {"abc", "xyz", 2, 3, 3},
	} {
		if d, p := Distance(c.a, c.b, c.most), PrefixDistance(c.a, c.b, c.most); d != c.want || p != c.prefix {
			t.Errorf("%q %q: %d %d", c.a, c.b, d, p)
		}
	}
	if d := Edits("garden", "gardne", 1, true, false); d != 1 {
		t.Error("a swap costs", d)
	}
	if d := Edits("garden", "gardneing", 1, true, true); d != 1 {
		t.Error("a swap in a beginning costs", d)
	}
}

// Redis documentation, Tags, and Numeric and geo fields of FT.CREATE.
func TestValues(t *testing.T) {
	for _, c := range []struct {
		s             string
		separator     byte
		caseSensitive bool
		indexEmpty    bool
		want          []string
	}{
		{" Red , blue,, ", ',', false, false, []string{"red", "blue"}},
		{"Red;Blue", ';', true, false, []string{"Red", "Blue"}},
		{"a,b", 0, false, false, []string{"a,b"}},
		{"", ',', false, true, []string{""}},
	} {
		if got := SplitTags(c.s, c.separator, c.caseSensitive, c.indexEmpty); !slices.Equal(got, c.want) {
			t.Errorf("%q: %q", c.s, got)
		}
	}
	for s, want := range map[string]float64{"5": 5, "-1e3": -1000, " 7": 7, "0x10p0": 16, "inf": math.Inf(1), "1e999": math.Inf(1)} {
		if v, ok := ParseNumber(s); v != want || !ok {
			t.Errorf("%q: %v %v", s, v, ok)
		}
	}
	for _, s := range []string{"", "5x", "1_0", "nan", "5 "} {
		if v, ok := ParseNumber(s); ok {
			t.Errorf("%q: %v", s, v)
		}
	}
	for v, want := range map[float64]string{5: "5", 0.1: "0.1", 1.0 / 3: "0.333333333333", 1e300: "1e+300", -2: "-2",
		math.Inf(-1): "-inf", 1234567.891: "1234567.891", 0.00001234: "1.234e-05", 1e15: "1000000000000000"} {
		if got := FormatNumber(v); got != want {
			t.Errorf("%v: %s, want %s", v, got, want)
		}
	}
	for s, want := range map[string]bool{"1.5,2": true, "1.5 2": true, "1,91": false, "181,1": false, "1": false, "a,b": false} {
		if _, _, ok := ParsePoint(s); ok != want {
			t.Errorf("%q: %v", s, ok)
		}
	}
}

func FuzzWildcard(f *testing.F) {
	f.Add("a*b?", "axbc")
	f.Fuzz(func(t *testing.T, pattern, s string) {
		MatchWildcard(pattern, s)
		if d := Distance(pattern, s, 2); d < PrefixDistance(pattern, s, 2) {
			t.Fatal(d)
		}
	})
}
