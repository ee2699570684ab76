package repl

import (
	"slices"
	"strings"
	"testing"

	"github.com/meowdis/meowdis/redis/resp"
)

func TestScan(t *testing.T) {
	for _, c := range []struct {
		text      string
		want      string // words joined by |, commands by /
		continued bool
	}{
		{"", "", false},
		{"  ", "", false},
		{"GET k", "GET|k", false},
		{`SET k "a b"`, "SET|k|a b", false},
		{`SET k "a \" b"`, `SET|k|a " b`, false},
		{`SET k 'a \' b'`, `SET|k|a ' b`, false},
		{`SET k 'a\\'`, `SET|k|a\'`, true},
		{`SET k "a`, "SET|k|a", true},
		{`SET k "a\`, "SET|k|a", true},
		{`SET k 'a\`, `SET|k|a`, true},
		{"SET k \"a\nb\" NX", "SET|k|a\nb|NX", false},
		{"SET k \\", "SET|k", true},
		{"SET k\\", "SET|k", true},
		{"SET k \\\nv", "SET|k|v", false},
		{"SET k \\\n", "SET|k", true},
		{"GET a\nGET b\n", "GET|a/GET|b", false},
		{"GET a\n\n  \nGET \"b", "GET|a/GET|b", true},
		{`GET a\b`, `GET|a\b`, false},
	} {
		commands, continued := scan(c.text)
		var got []string
		for _, words := range commands {
			got = append(got, strings.Join(values(words), "|"))
		}
		if joined := strings.Join(got, "/"); joined != c.want || continued != c.continued {
			t.Errorf("%q: got %q, continued %v", c.text, joined, continued)
		}
	}
}

func TestUnderstand(t *testing.T) {
	for _, c := range []struct{ text, words, op, target string }{
		{"GET k", "GET k", "", ""},
		{"5 INCR n", "INCR n", "", ""},
		{"GET k | less -R", "GET k", "|", "less -R"},
		{`GET k | jq ".a | .b" > out`, "GET k", "|", `jq ".a | .b" > out`},
		{"GET k > out.txt", "GET k", ">", "out.txt"},
		{"GET k >| out.txt", "GET k", ">|", "out.txt"},
		{`GET k >> "my file"`, "GET k", ">>", "my file"},
		{"2 GET k | cat", "GET k", "|", "cat"},
		{`GET "|" x`, "GET | x", "", ""},
		{`SET k "a > b"`, "SET k a > b", "", ""},
		{`SET k ">" x`, "SET k > x", "", ""},
		{"SET k > x", "SET k > x", "", ""}, // SET k alone is no command
		{"LPUSH l | x", "LPUSH l | x", "", ""},
		{"GET k >", "GET k >", "", ""},
		{"GET k > a b", "GET k > a b", "", ""},
		{"GET a|b", "GET a|b", "", ""},
		{"ACL SETUSER cat >secret", "ACL SETUSER cat >secret", "", ""},
		{"XREADGROUP GROUP g c STREAMS s >", "XREADGROUP GROUP g c STREAMS s >", "", ""},
		{"XREADGROUP GROUP g c STREAMS a b > 0", "XREADGROUP GROUP g c STREAMS a b > 0", "", ""},
		{"XREADGROUP GROUP g c STREAMS a b > >", "XREADGROUP GROUP g c STREAMS a b > >", "", ""},
		{"XREADGROUP GROUP g c STREAMS s > > out.txt", "XREADGROUP GROUP g c STREAMS s >", ">", "out.txt"},
		{"XREADGROUP GROUP g c STREAMS s > | cat", "XREADGROUP GROUP g c STREAMS s >", "|", "cat"},
		{"NEW.COMMAND x > out", "NEW.COMMAND x", ">", "out"},
		{":peek k | less", ":peek k", "|", "less"},
	} {
		commands, _ := scan(c.text)
		got := parseCommand(c.text, commands[0], true)
		if words := strings.Join(values(got.words), " "); words != c.words || got.op != c.op || got.target != c.target {
			t.Errorf("%q: got %q %q %q", c.text, words, got.op, got.target)
		}
		plain := parseCommand(c.text, commands[0], false)
		if plain.op != "" {
			t.Errorf("%q: %q without a shell", c.text, plain.op)
		}
	}
}

// Words are what the wire's own reading of a line makes of them.
func FuzzScan(f *testing.F) {
	for _, text := range []string{`SET k "a\x00b" 'c'`, `GET "a"b`, `GET a"b c"`, "a\tb\vc", `"\"" '\''`, `\ a\`} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if strings.ContainsAny(text, "\n\x00\v\f") {
			return // several commands, or what no one types
		}
		want, err := resp.SplitLine(text)
		commands, continued := scan(text)
		var got []string
		bad := false
		for _, words := range commands {
			for _, w := range words {
				bad = bad || w.bad
			}
			got = append(got, values(words)...)
		}
		if continued {
			return
		}
		if bad != (err != nil) {
			t.Fatalf("%q: bad %v, error %v", text, bad, err)
		}
		if err == nil && !slices.EqualFunc(got, want, func(a string, b []byte) bool { return a == string(b) }) {
			t.Fatalf("%q: got %q, want %q", text, got, want)
		}
	})
}
