package complete

import (
	"slices"
	"testing"
)

// TestShellLine reads lines up to the cursor as a shell does, and runs nothing of them.
func TestShellLine(t *testing.T) {
	variables := map[string]string{"HOME": "/home/me", "DB": "my cats.sqlite"}
	for _, test := range []struct {
		line   string
		words  []string
		typed  string
		quote  rune
		file   bool
		opaque bool
	}{
		{line: "meowdis exec GE", words: []string{"meowdis", "exec"}, typed: "GE"},
		{line: "meowdis exec ", words: []string{"meowdis", "exec"}},
		{line: `A=1 B=2 meowdis keys 'a b`, words: []string{"meowdis", "keys"}, typed: "a b", quote: '\''},
		{line: `meowdis keys "a \"b\x`, words: []string{"meowdis", "keys"}, typed: `a "b\x`, quote: '"'},
		{line: `meowdis keys a\ b`, words: []string{"meowdis", "keys"}, typed: "a b"},
		{line: `meowdis exec GET "" k`, words: []string{"meowdis", "exec", "GET", ""}, typed: "k"},
		{line: "ls | meowdis exec < commands.txt GET ", words: []string{"meowdis", "exec", "GET"}},
		{line: "ls; rm -rf x && meowdis ke", words: []string{"meowdis"}, typed: "ke"},
		{line: "meowdis dump > o", words: []string{"meowdis", "dump"}, typed: "o", file: true},
		{line: "meowdis dump 2>&1 a", words: []string{"meowdis", "dump"}, typed: "a"},
		{line: "meowdis --db ~/a", words: []string{"meowdis", "--db"}, typed: "/home/me/a"},
		{line: `meowdis --db "$DB" k`, words: []string{"meowdis", "--db", "my cats.sqlite"}, typed: "k"},
		{line: "meowdis --db ${DB} k", words: []string{"meowdis", "--db", "my cats.sqlite"}, typed: "k"},
		{line: "meowdis --db $NONE/k", words: []string{"meowdis", "--db"}, opaque: true},
		{line: "meowdis --db $(touch x) k", words: []string{"meowdis", "--db"}, opaque: true},
		{line: "meowdis --db `touch x` k", words: []string{"meowdis", "--db"}, opaque: true},
	} {
		got := readShellLine(test.line, func(name string) string { return variables[name] })
		if !slices.Equal(got.words, test.words) || got.typed != test.typed || got.quote != test.quote || got.file != test.file || got.opaque != test.opaque {
			t.Errorf("%s: %+v", test.line, got)
		}
	}
}

// TestEscaped reads back what it has offered, however much of a quote is open.
func TestEscaped(t *testing.T) {
	for _, value := range []string{"cat:1", "a b", `it's`, `"quoted"`, "$HOME", "a`b`c", `back\slash`, "semi;colon&", "ü*"} {
		for _, open := range []string{"", "'", `"`} {
			l := readShellLine("meowdis exec GET "+open, func(string) string { return "" })
			got := readShellLine("meowdis exec GET "+open+l.escaped(value)+open, func(string) string { return "" })
			if got.typed != value || got.quote != 0 || got.opaque {
				t.Errorf("%s in %q is read as %+v", value, open, got)
			}
		}
	}
}
