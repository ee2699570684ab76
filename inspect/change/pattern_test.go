package change

import "testing"

func TestPatterns(t *testing.T) {
	for _, c := range []struct{ from, to, old, name string }{
		{"user:*", "account:*", "user:1:name", "account:1:name"},
		{"user:*", "account:*", "a user:1", "a user:1"},
		{"*:*:name", "name:*:*", "user:1:name", "name:user:1"},
		{"user:*:*", "u:*", "user:1:name", "u:1"},
		{"k?", "?.k", "k1", "1.k"},
		{"k?", "?.k", "k12", "k12"},
		{"user:*", "gone", "user:1", "gone"},
		{"a.c", "$1", "a.c abc", "$1 abc"},
		{"er", "", "user:her", "us:h"},
		{`/(\d+):(\d+)/`, "$2-$1", "n:1:22:x", "n:22-1:x"},
		{"/^/", "old:", "k", "old:k"},
		{"b*", "*", "b\xff\n", "\xff\n"},
		{"/", ":", "a/b/c", "a:b:c"},
		{"[x]*", "*", "[x]1", "1"},
	} {
		p, err := ParsePattern(c.from, c.to)
		if err != nil {
			t.Errorf("%q to %q: %v", c.from, c.to, err)
		} else if got := p.Apply(c.old); got != c.name {
			t.Errorf("%q to %q makes %q of %q, not %q", c.from, c.to, got, c.old, c.name)
		}
	}
	for _, bad := range [][2]string{{"", "x"}, {"a*", "**"}, {"/(/", "x"}} {
		if _, err := ParsePattern(bad[0], bad[1]); err == nil {
			t.Errorf("%q is a pattern", bad)
		}
	}
}
