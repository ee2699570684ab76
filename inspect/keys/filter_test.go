package keys

import (
	"strings"
	"testing"
)

func TestFilters(t *testing.T) {
	for _, c := range []struct {
		filter
		glob, hits, misses string
	}{
		{filter{"", byGlob}, "", "anything", ""},
		{filter{"er", byGlob}, "*er*", "user:1", "ur"},
		{filter{`a\`, byGlob}, `*a\\*`, `xa\y`, "xay"},
		{filter{"us*:[12]", byGlob}, "us*:[12]", "user:1", "user:3"},
		{filter{"ur1", byFuzzy}, "", "USER:\xff1", "1ur"},
		{filter{"Ur", byFuzzy}, "", "User", "user"},
		{filter{"^u.*\\d$", byRegex}, "", "user:1", "a user:1"},
		{filter{"a*", byExact}, `a\*`, "a*", "ab"},
	} {
		if got := c.glob; got != c.filter.glob() {
			t.Errorf("%v: %q, want %q", c.filter, c.filter.glob(), got)
		}
		match, err := c.matcher()
		if err != nil {
			t.Fatal(err)
		}
		if match != nil && (!match(c.hits) || match(c.misses) || !strings.HasPrefix(c.hits, c.prefix())) {
			t.Errorf("%v: %v %v, prefix %q", c.filter, match(c.hits), match(c.misses), c.prefix())
		}
	}
}
