package compare

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/meowdis/meowdis/store/keytype"
)

// shape renders rows as text: the mark and both sides.
func shape(rows []row) string {
	var b strings.Builder
	for _, r := range rows {
		fmt.Fprintf(&b, "%c%s|%s\n", r.mark, r.left, r.right)
	}
	return b.String()
}

func TestContents(t *testing.T) {
	for _, c := range []struct{ name, left, right, want, note string }{
		{"the order of names is none of a document", `{"a":1,"b":[1,2]}`, `{"b":[1,2],"a":1}`, " {|{\n   \"a\": 1|  \"a\": 1\n   \"b\": [|  \"b\": [\n     1|    1\n     2|    2\n   ]|  ]\n }|}\n", "equal JSON, different bytes"},
		{"a name is gone, and one is new", `{"a":1,"b":2}`, `{"b":2,"c":{"d":3}}`, " {|{\n-  \"a\": 1|\n   \"b\": 2|  \"b\": 2\n+|  \"c\": {\n+|    \"d\": 3\n+|  }\n }|}\n", ""},
		{"inside an array", `[{"id":1},{"id":2}]`, `[{"id":1},{"id":3}]`, " [|[\n   {|  {\n     \"id\": 1|    \"id\": 1\n   }|  }\n   {|  {\n~    \"id\": 2|    \"id\": 3\n   }|  }\n ]|]\n", ""},
		{"another type", `{"a":[1]}`, `{"a":{"b":1}}`, " {|{\n~  \"a\": [1]|  \"a\": {\"b\": 1}\n }|}\n", ""},
		{"large numbers stay as they are", `[9007199254740993]`, `[9007199254740992]`, " [|[\n~  9007199254740993|  9007199254740992\n ]|]\n", ""},
		{"a name that is there twice", `{"a":1,"a":2}`, `{"a":1,"a":3}`, " {|{\n   \"a\": 1,|  \"a\": 1,\n~  \"a\": 2|  \"a\": 3\n }|}\n", ""},
		{"lines", "one\ntwo\nthree", "one\n2\nthree\nfour", " one|one\n~two|2\n three|three\n+|four\n", ""},
		{"no newline at the end", "one\n", "one", " one|one\n", "equal after decoding, different bytes"},
		{"bytes", "\x00\x01", "\x00\x02", "~00000000  00 01                                             |..||00000000  00 02                                             |..|\n", ""},
	} {
		rows, note := diffTexts([]byte(c.left), []byte(c.right))
		if got := shape(rows); got != c.want || note != c.note {
			t.Errorf("%s:\n%q %q, want\n%q %q", c.name, got, note, c.want, c.note)
		}
	}
}

// TestSequence checks that the rows contain both sides completely.
func TestSequence(t *testing.T) {
	words := []string{"a", "b", "c\nd", `e\`, ""}
	r := rand.New(rand.NewPCG(1, 2))
	for round := range 2000 {
		sides, most := [2][]string{}, 12
		if round%100 == 0 {
			most = 600 // more differs than is looked for
		}
		for i := range sides {
			for range r.IntN(most) {
				sides[i] = append(sides[i], words[r.IntN(len(words))])
			}
		}
		var left, right []string
		for _, row := range diffLines(sides[0], sides[1]) {
			if row.mark == same && row.left != row.right || row.mark == changed && row.left == row.right {
				t.Fatalf("%q and %q: %+v", sides[0], sides[1], row)
			}
			if row.mark != rightOnly {
				left = append(left, row.left)
			}
			if row.mark != leftOnly {
				right = append(right, row.right)
			}
		}
		for i, got := range [][]string{left, right} {
			if want := strings.ReplaceAll(strings.Join(sides[i], "|"), "\n", "↵"); strings.Join(got, "|") != want || len(got) != len(sides[i]) {
				t.Fatalf("%q and %q: side %d is %q", sides[0], sides[1], i, got)
			}
		}
	}
}

func TestByName(t *testing.T) {
	left := side{kind: keytype.ZSet, fields: []field{{"ann", "ann", "1"}, {"bob", "bob", "2"}, {"dan", "dan", "4"}}}
	right := side{kind: keytype.ZSet, fields: []field{{"bob", "bob", "3"}, {"cid", "cid", "3"}, {"dan", "dan", "4"}}}
	want := "-ann  1|\n~bob  2|bob  3\n+|cid  3\n dan  4|dan  4\n"
	if got := shape(compare(left, right).rows); got != want {
		t.Errorf("got\n%s", got)
	}
	right = side{kind: keytype.String, text: []byte("text")}
	if got := shape(compare(left, right).rows); got != "~ann  1|text\n-bob  2|\n-dan  4|\n" {
		t.Errorf("of two types:\n%s", got)
	}
}
