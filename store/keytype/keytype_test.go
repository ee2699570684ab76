package keytype_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/meowdis/meowdis/redis/commands"
	"github.com/meowdis/meowdis/redis/resp"
	"github.com/meowdis/meowdis/store/keytype"
)

// joined are args on one line.
func joined(args [][]byte) (line string) {
	for i, a := range args {
		if i > 0 {
			line += " "
		}
		line += string(a)
	}
	return line
}

func bulks(texts ...string) resp.Value {
	var all []resp.Value
	for _, t := range texts {
		all = append(all, resp.MakeString(t))
	}
	return resp.MakeArray(all...)
}

func TestPages(t *testing.T) {
	for _, c := range []struct {
		name, cursor, call string
		reply              resp.Value
		elements, next     string
	}{
		{"list", "", "LRANGE k 0 1", bulks("a", "b"), "[[a] [b]]", "2"},
		{"list", "2", "LRANGE k 2 3", bulks("a"), "[[a]]", ""},
		{"hash", "", "HSCAN k 0 COUNT 2", resp.MakeArray(resp.MakeString("7"), bulks("f", "v")), "[[f v]]", "7"},
		{"set", "7", "SSCAN k 7 COUNT 2", resp.MakeArray(resp.MakeString("0"), bulks()), "[]", ""},
		{"zset", "", "ZRANGE k 0 1 WITHSCORES", bulks("a", "1"), "[[a 1]]", ""},
		{"zset", "2", "ZRANGE k 2 3 WITHSCORES", resp.MakeArray(bulks("a", "1"), bulks("b", "2")), "[[a 1] [b 2]]", "4"},
		{"stream", "1-1", "XRANGE k (1-1 + COUNT 2", resp.MakeArray(
			resp.MakeArray(resp.MakeString("1-2"), bulks("f", "v")), resp.MakeArray(resp.MakeString("1-3"), bulks("f", "w", "g", "x"))),
			"[[1-2 f v] [1-3 f w g x]]", "1-3"},
		{"array", "", "ARSCAN k 0 18446744073709551614 LIMIT 2", bulks("4", "a", "9", "b"), "[[4 a] [9 b]]", "10"},
		{"array", "9", "ARSCAN k 9 18446744073709551614 LIMIT 2", resp.MakeArray(bulks("11", "a"), bulks("18446744073709551614", "b")),
			"[[11 a] [18446744073709551614 b]]", ""},
		{"vectorset", "0", "VRANGE k (0 + 2", bulks("a", "b"), "[[a] [b]]", "b"},
		{"string", "4", "GETRANGE k 4 5", resp.MakeString("hi"), "[[hi]]", ""},
		{"ReJSON-RL", "", "JSON.GET k", resp.MakeString("{}"), "[[{}]]", ""},
	} {
		typ := keytype.Of(c.name)
		if got := joined(typ.PageAt([]byte("k"), c.cursor, 2)); got != c.call {
			t.Errorf("%s at %q: %s, want %s", c.name, c.cursor, got, c.call)
		}
		elements, next, err := typ.Elements(c.reply, c.cursor, 2)
		if got := fmt.Sprintf("%s", elements); got != c.elements || next != c.next || err != nil {
			t.Errorf("%s: %s, next %q, %v; want %s, next %q", c.name, got, next, err, c.elements, c.next)
		}
	}
}

// TestStandIn cuts pages out of all names, which a server of Redis 8.0 returns in any order.
func TestStandIn(t *testing.T) {
	vec := keytype.Of("vectorset")
	for _, c := range []struct {
		cursor string
		n      int
		least  int
		want   string
	}{
		{"", 2, 0, "[a b]"}, {"b", 2, 0, "[c d]"}, {"bb", 2, 0, "[c d]"}, {"c", 2, 0, "[d]"}, {"d", 2, 0, "[]"}, {"", 2, 3, "[a b c]"},
		{"", 1, math.MaxInt / 2, "[a b c d]"},
	} {
		call, page := keytype.Fallback(vec.PageAt([]byte("k"), c.cursor, c.n), c.least)
		if got := joined(call); got != "VRANDMEMBER k 2147483647" {
			t.Fatal(got)
		}
		got := "["
		for i, e := range page(bulks("c", "a", "d", "b")).Elems {
			got += strings.Repeat(" ", min(i, 1)) + string(e.Str)
		}
		if got+"]" != c.want {
			t.Errorf("%d after %q: %s], want %s", c.n, c.cursor, got, c.want)
		}
	}
	if call, _ := keytype.Fallback(keytype.Of("list").PageAt([]byte("k"), "", 2), 0); call != nil {
		t.Errorf("%s stands in for LRANGE", joined(call))
	}
	for _, c := range []struct{ typ, match, call, want string }{
		{"hash", "", "HGETALL k", "[a 1 b 2]"}, {"hash", "b*", "HGETALL k", "[b 2]"}, {"zset", "a", "ZRANGE k 0 -1 WITHSCORES", "[a 1]"},
		{"set", "[ab]", "SMEMBERS k", "[a b]"},
	} {
		call, page := keytype.Fallback(keytype.Of(c.typ).ScanAt([]byte("k"), "", c.match, 10), 0)
		got := page(bulks("a", "1", "b", "2"))
		var names []string
		for _, e := range got.Elems[1].Elems {
			names = append(names, string(e.Str))
		}
		if joined(call) != c.call || string(got.Elems[0].Str) != "0" || fmt.Sprint(names) != c.want {
			t.Errorf("%s %q: %s with %v", c.typ, c.match, joined(call), names)
		}
	}
}

func TestWriting(t *testing.T) {
	for _, c := range []struct {
		got  [][]byte
		want string
	}{
		{keytype.Of("hash").AddCall("k", []string{"key", "name text"}), "HSET k key name text"},
		{keytype.Of("stream").AddCall("k", []string{"f", "v"}), "XADD k * f v"},
		{keytype.Of("vectorset").AddCall("k", []string{"e", "[1, 2.5]"}), "VADD k VALUES 2 1 2.5 e"},
		{keytype.Of("array").DropCall("k", "3"), "ARDEL k 3"},
		{keytype.Of("list").DropCall("k", "3"), ""},
		{keytype.Of("stream").ReadAll([]byte("k")), "XRANGE k - +"},
	} {
		if joined(c.got) != c.want {
			t.Errorf("%s, want %s", joined(c.got), c.want)
		}
	}
}

// Each command of a type is one of the table, and has keys of that type.
func TestCommandsExist(t *testing.T) {
	numbers := map[byte]string{}
	for _, typ := range keytype.Types {
		if other := numbers[typ.Number]; other != "" || typ.Number == 0 {
			t.Errorf("%s and %s have the number %d", typ.Name, other, typ.Number)
		}
		numbers[typ.Number] = typ.Name
		for _, call := range []string{typ.Count, typ.Probe, typ.Read, typ.Page, typ.Scan, typ.Add, typ.Drop, typ.Get, typ.Put} {
			if call == "" {
				continue
			}
			name := strings.Fields(call)[0]
			cmd := commands.Lookup(name)
			if cmd == nil {
				t.Errorf("%s: there is no command %s", typ.Name, name)
				continue
			}
			if of, ok := keytype.OfCommand(cmd.Group, cmd.Name); !ok || of != typ {
				t.Errorf("%s of group %s is not of %s", name, cmd.Group, typ.Name)
			}
		}
	}
}
