package text

import (
	"fmt"
	"strings"
	"testing"
)

// Redis documentation, Tokenization and escaping: the rules of tokenization.
func TestTokens(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"Hello, World", "1:hello 2:world"},
		{"hello-world foo_bar", "1:hello 2:world 3:foo_bar"},
		{`hello\-world a\ b`, "1:hello-world 2:a b"},
		{"Élan ÇA", "1:élan 2:ça"},
		{"the cat and a dog", "1:cat 2:dog"},
		{"one\ntwo", "1:onetwo"},
		{"\x01 \n", ""},
		{"(a|b)[c]{d}:e", "1:b 2:c 3:d 4:e"},
		{"\xffA b", "1:\xffa 2:b"},
		{`end\`, `1:end\`},
	} {
		var got []string
		for token := range Tokens(c.in, StopWords(DefaultStopWords)) {
			got = append(got, fmt.Sprintf("%d:%s", token.Position, token.Term))
		}
		if s := strings.Join(got, " "); s != c.want {
			t.Errorf("%q: got %q, want %q", c.in, s, c.want)
		}
	}
}

func FuzzTokens(f *testing.F) {
	f.Add(`a\-b "c" é`)
	f.Fuzz(func(t *testing.T, in string) {
		end := 0
		for token := range Tokens(in, nil) {
			if token.Start < end || token.End <= token.Start || token.End > len(in) || token.Term == "" {
				t.Fatalf("%+v after %d", token, end)
			}
			end = token.End
		}
	})
}
