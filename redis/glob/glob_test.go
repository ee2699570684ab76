package glob

import (
	"strings"
	"testing"
)

func TestGlob(t *testing.T) {
	for _, tt := range []struct {
		pattern, s string
		want       bool
	}{
		{"", "", true}, {"", "a", false}, {"*", "a", true}, {"*", "", false}, {"**", "", false}, {"**", "a/b", true},
		{"a*", "a", true}, {"a*c", "abbc", true}, {"a*c", "abbcd", false}, {"*a*b*", "xxaxxbxx", true}, {"*a*b*", "xxbxxa", false},
		{"?", "", false}, {"?", "\xff", true}, {"a?", "a", false}, {"a*?", "a", false}, {"a*?", "ab", true},
		{"[abc]", "b", true}, {"[abc]", "d", false}, {"[^abc]", "d", true}, {"[^abc]", "", false},
		{"[a-c]", "b", true}, {"[c-a]", "b", true}, {"[a-c-e]", "-", true}, {"[]a]", "a", false}, {"[]", "a", false}, {"[^]", "a", true},
		{"[abc", "c", true}, {"[abc", "d", false}, {"[^", "x", true}, {"[", "[", false}, {"x[", "x", false},
		{`[\]]`, "]", true}, {`[\-a]`, "-", true}, {`[a\`, `\`, true},
		{`\*`, "*", true}, {`\*`, "a", false}, {`a\`, `a\`, true}, {`\\`, `\`, true}, {`\a`, "a", true},
		{"[\x01-\xff]", "\x00", true}, {"[\x01-\xff]", "\x02", false}, // signed: -1 to 1
		{"a\x00*", "a\x00b", true}, {"A", "a", false},
	} {
		if got := Match([]byte(tt.pattern), []byte(tt.s), false); got != tt.want {
			t.Errorf("%q on %q: %v", tt.pattern, tt.s, got)
		}
	}
	for _, tt := range []struct {
		pattern, s string
		want       bool
	}{{"OBJ*", "object", true}, {"[A-C]", "b", true}, {`\A`, "a", true}, {`[\A]`, "a", false}, {"é", "É", false}} {
		if got := Match([]byte(tt.pattern), []byte(tt.s), true); got != tt.want {
			t.Errorf("%q on %q, in any case: %v", tt.pattern, tt.s, got)
		}
	}
}

// TestGlobStars would not end if each * tried all that the ones before it left.
func TestGlobStars(t *testing.T) {
	if Match([]byte(strings.Repeat("a*", 1000)+"b"), []byte(strings.Repeat("a", 10_000)), false) {
		t.Error("matched")
	}
}

func TestGlobRange(t *testing.T) {
	for _, tt := range []struct{ pattern, from, to string }{
		{"user:*", "user:", "user;"}, {"a?", "a", "b"}, {"a[bc]", "a", "b"}, {`a\*b*`, "a*b", "a*c"},
		{"abc", "abc", "abc\x00"}, {`a\`, `a\`, `a\` + "\x00"}, {"", "", "\x00"},
		{"a\xff\xff*", "a\xff\xff", "b"}, {"*", "", "none"}, {"\xff*", "\xff", "none"},
	} {
		from, to := Range([]byte(tt.pattern))
		if to == nil {
			to = []byte("none")
		}
		if string(from) != tt.from || string(to) != tt.to {
			t.Errorf("%q: from %q to %q", tt.pattern, from, to)
		}
	}
}
