package peek

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/meowdis/meowdis/engine"
	"github.com/meowdis/meowdis/keyspace"
	"github.com/meowdis/meowdis/local"
	"github.com/meowdis/meowdis/redis/resp"
)

// TestPeek shows keys of several types as text and as JSON.
func TestPeek(t *testing.T) {
	file, err := local.Open(local.Memory, local.Options{SweepEvery: -1})
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	s := engine.New(file).Session()
	ctx := context.Background()
	for _, line := range []string{
		"SET text hello", `HSET h name Tom since 1700000000 bin "\xff"`, "RPUSH l a b c", "XADD x 1-1 kind open", "ZADD z 1 one",
		`SET json '{"a":1}'`, "SET packed eyJhIjogMSwgImIiOiBbMSwgMiwgM119", `RPUSH dirty "\x1b[2J"`, "SET long " + strings.Repeat("line\\n", 3), "VADD v VALUES 2 1 0 e",
	} {
		args, err := resp.SplitLine(line)
		if err != nil {
			t.Fatal(err)
		}
		if v, err := s.Do(ctx, args...); err != nil || v.IsError() {
			t.Fatal(line, v, err)
		}
	}
	measured := func(_ context.Context, keys []keyspace.Key) error {
		for i := range keys {
			keys[i].Bytes = 1234
		}
		return nil
	}
	for _, test := range []struct {
		key   string
		n     int
		width int
		bytes func(context.Context, []keyspace.Key) error
		text  string
		json  string
	}{
		{"text", 10, 80, measured, "key   text\ntype  string\nform  embstr, by OBJECT ENCODING\nttl   none\nsize  5 bytes\nbytes 1,234 of name and value\n\nhello\n",
			`{"key":"text","type":"string","ttl_ms":null,"count":5,"bytes":1234,"measure":"tables","value":"hello"}`},
		{"l", 2, 80, measured, "key   l\ntype  list\nform  listpack, by OBJECT ENCODING\nttl   none\nsize  3 elements\nbytes 1,234 of name and value\n\na\nb\n… and 1 more\n",
			`{"key":"l","type":"list","ttl_ms":null,"count":3,"bytes":1234,"measure":"tables","elements":[{"value":"a"},{"value":"b"}]}`},
		{"h", 10, 80, nil, "name   Tom\nsince  1700000000  <as a time: 2023-11-14", ""},
		{"h", 10, 80, nil, "bin    <(binary 1 B)> \"\\xff\"\n", ""},
		{"h", 10, 80, nil, ", by MEMORY USAGE\n", `"measure":"memory usage"`},
		{"h", 10, 8, nil, "\nname  T…\nsin…  1…\n", ""},
		{"x", 10, 80, nil, "\n1-1  kind open\n", `"elements":[{"id":"1-1","fields":{"kind":"open"}}]}`},
		{"z", 10, 80, nil, "\none  1\n", `"elements":[{"member":"one","score":"1"}]}`},
		{"z", 0, 80, nil, "size  1 member\n", `"elements":[]}`},
		{"v", 10, 80, nil, "type  vectorset\n", ""},
		{"json", 10, 80, nil, "\n<JSON 7 B>\n{\n  \"a\": 1\n}\n", ""},
		{"packed", 10, 80, nil, "→ JSON", ""},
		{"dirty", 10, 80, nil, "\n\"\\x1b[2J\"\n", ""},
	} {
		p, err := Take(ctx, &keyspace.Lister{Client: s, Detail: keyspace.Measured, Bytes: test.bytes}, []byte(test.key), test.n)
		if err != nil {
			t.Fatal(test.key, err)
		}
		text := p.Text(test.width, func(text string) string { // leave labels unstyled
			if strings.HasSuffix(text, " ") || text == "bytes " {
				return text
			}
			return "<" + text + ">"
		})
		if !strings.Contains(text, test.text) || strings.Contains(text, "\x1b") {
			t.Errorf("%s in %d columns:\n%s\nwant\n%s", test.key, test.width, text, test.text)
		}
		if json := string(resp.AppendJSON(nil, p.JSON())); !strings.Contains(json, test.json) {
			t.Errorf("%s: %s\nwant %s", test.key, json, test.json)
		}
	}
	if _, err := Take(ctx, &keyspace.Lister{Client: s}, []byte("none"), 1); !errors.Is(err, keyspace.ErrMissing) {
		t.Error(err)
	}
}
