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
		{filter{"us*:[12] >1MB", byGlob}, "us*:[12]", "user:1", "user:3"},
		{filter{"<10k >=1 er", byGlob}, "*>=1 er*", ">=1 er", "er"},
		{filter{">1 <2", byExact}, ">1 <2", ">1 <2", ""},
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

// TestSizes checks the bounds of bytes in a filter.
func TestSizes(t *testing.T) {
	for _, c := range []struct {
		filter
		above, below int64
	}{
		{filter{">1MB", byGlob}, 1 << 20, 0},
		{filter{"user <1.5kb >10", byFuzzy}, 10, 1536},
		{filter{"<2G", byGlob}, 0, 2 << 30},
		{filter{">0", byGlob}, 1, 0},
		{filter{">1MB", byRegex}, 0, 0},
		{filter{">1MB", byExact}, 0, 0},
		{filter{"a>1MB", byGlob}, 0, 0},
		{filter{">1PB >", byGlob}, 0, 0},
	} {
		_, above, below := c.split()
		if above != c.above || below != c.below || c.isSized() != (c.above+c.below > 0) {
			t.Errorf("%v: above %d, below %d", c.filter, above, below)
		}
	}
}

// TestSpans checks the parts of a name that a filter matched.
func TestSpans(t *testing.T) {
	for _, c := range []struct {
		filter
		name, want string
	}{
		{filter{"", byGlob}, "user:1", "user:1"},
		{filter{"er", byGlob}, "user:1", "us[er]:1"},
		{filter{"us*:1", byGlob}, "user:1", "[us]er[:1]"},
		{filter{"ur1", byFuzzy}, "User:1", "[U]se[r]:[1]"},
		{filter{"[0-9]+", byRegex}, "user:12", "user:[12]"},
		{filter{"x*", byRegex}, "user:12", "user:12"},
		{filter{"user:1", byExact}, "user:1", "[user:1]"},
		{filter{"zz", byGlob}, "user:1", "user:1"},
	} {
		got := c.name
		spans := c.spans(c.name)
		for i := len(spans) - 1; i >= 0; i-- {
			from, to := spans[i][0], spans[i][1]
			got = got[:from] + "[" + got[from:to] + "]" + got[to:]
		}
		if got != c.want {
			t.Errorf("%v of %q: %s, want %s", c.filter, c.name, got, c.want)
		}
	}
}
