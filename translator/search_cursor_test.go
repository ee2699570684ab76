package translator_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/meowdis/meowdis/engine"
	"github.com/meowdis/meowdis/redis/resp"
)

// shopOf makes an index of n documents.
func shopOf(c *client, n int) {
	c.do("FT.CREATE", "shop", "PREFIX", "1", "d:", "SCHEMA", "n", "NUMERIC", "SORTABLE", "t", "TEXT")
	c.do("FT.ALIASADD", "store", "shop")
	c.do("FT.CREATE", "other", "PREFIX", "1", "o:", "SCHEMA", "n", "NUMERIC")
	for i := range n {
		c.do("HSET", fmt.Sprintf("d:%d", i), "n", fmt.Sprint(i), "t", "red")
	}
}

const cursorQuery = "FT.AGGREGATE shop * SORTBY 1 @n MAX 100 WITHCURSOR COUNT 2"

// page splits a reply with a cursor into the values of n, and the id.
func (c *client) page(line string) (values string, id string) {
	c.t.Helper()
	v := c.do(strings.Fields(line)...)
	if v.IsError() {
		return string(v.Str), ""
	}
	for _, row := range v.Elems[0].Elems[1:] {
		values += string(row.Elems[1].Str) + " "
	}
	return values, fmt.Sprint(v.Elems[1].Int)
}

// redis.io/docs/latest/commands/ft.cursor-read
func TestCursorPages(t *testing.T) {
	c := newClient(t)
	shopOf(c, 7)
	values, id := c.page(cursorQuery)
	c.do("HSET", "d:7", "n", "7") // a cursor has the rows of its query
	c.do("DEL", "d:3")
	for _, step := range []struct{ line, want string }{
		{"FT.CURSOR READ shop", "2 3 "}, {"FT.CURSOR READ store", "4 5 "}, {"FT.CURSOR READ shop", "6 "},
	} {
		if values == "" || id == "0" {
			t.Fatalf("%q, cursor %s", values, id)
		}
		var now string
		if now, id = c.page(step.line + " " + id); now != step.want {
			t.Errorf("%s: %q", step.line, now)
		}
	}
	if id != "0" {
		t.Errorf("the last page has cursor %s", id)
	}
	_, id = c.page(cursorQuery)
	if values, _ := c.page("FT.CURSOR READ shop " + id + " COUNT 4"); values != "2 4 5 6 " {
		t.Errorf("COUNT 4: %q", values)
	}
	missing := "-Cursor not found, id: " + id
	c.expect("FT.CURSOR READ other "+id, missing, "FT.CURSOR DEL other "+id, missing)
	c.do("SELECT", "1")
	c.expect("FT.CURSOR READ shop "+id, missing)
	c.do("SELECT", "0")
	c.expect("FT.CURSOR DEL shop "+id, "+OK", "FT.CURSOR DEL shop "+id, missing)
}

// TestHybridCursors reads the documents of each search of FT.HYBRID, as clients of redis.io/docs/latest/commands/ft.hybrid
// do with WITHCURSOR.
func TestHybridCursors(t *testing.T) {
	c := newClient(t)
	c.do("FT.CREATE", "shop", "PREFIX", "1", "d:", "SCHEMA", "title", "TEXT", "v", "VECTOR", "FLAT", "6", "TYPE", "FLOAT32", "DIM", "2", "DISTANCE_METRIC", "L2")
	one := "\x00\x00\x80?"
	c.do("HSET", "d:1", "title", "red shoes", "v", one+one)
	c.do("HSET", "d:2", "title", "red red hat", "v", one+"\x00\x00\x00\x00")
	c.do("HSET", "d:3", "title", "blue hat", "v", "\x00\x00\x00\x00\x00\x00\x00\x00")
	call := []string{"FT.HYBRID", "shop", "SEARCH", "red", "VSIM", "@v", one + one, "KNN", "2", "K", "2", "LOAD", "1", "title", "WITHCURSOR", "COUNT", "1", "MAXIDLE", "100"}
	v := c.do(call...)
	if len(v.Elems) != 6 || string(v.Elems[0].Str) != "SEARCH" || string(v.Elems[2].Str) != "VSIM" || len(v.Elems[5].Elems) != 0 {
		t.Fatalf("%v", v)
	}
	for i, want := range [][]string{{"d:2 red red hat", "d:1 red shoes"}, {"d:1 red shoes", "d:2 red red hat"}} {
		id := fmt.Sprint(v.Elems[2*i+1].Int)
		for n, row := range want {
			page := c.do("FT.CURSOR", "READ", "shop", id)
			fields := page.Elems[0].Elems[1].Elems
			if got := string(fields[1].Str) + " " + string(fields[5].Str); got != row || (page.Elems[1].Int == 0) != (n+1 == len(want)) {
				t.Errorf("%s: row %d is %s, and the cursor %d", v.Elems[2*i].Str, n, got, page.Elems[1].Int)
			}
		}
	}
	id := fmt.Sprint(c.do(call...).Elems[1].Int)
	c.now += 100
	c.expect("FT.CURSOR READ shop "+id, "-Cursor not found, id: "+id)
}

func TestCursorsEnd(t *testing.T) {
	c := newClient(t)
	shopOf(c, 3)
	_, id := c.page(cursorQuery + " MAXIDLE 50")
	_, other := c.page(cursorQuery)
	c.now += 49
	c.expect("FT.CURSOR GC shop 0", ":0")
	c.now++
	c.expect("FT.CURSOR GC shop 0", ":1", "FT.CURSOR READ shop "+id, "-Cursor not found, id: "+id)
	c.now += 299_950
	c.expect("FT.CURSOR READ shop "+other, "-Cursor not found, id: "+other)
	for range 128 {
		if values, id := c.page(cursorQuery); id == "" || id == "0" {
			t.Fatal(values)
		}
	}
	info := c.show("FT.INFO shop")
	if !strings.Contains(info, "index_total :128") && !strings.Contains(info, "$11 index_total :128") {
		t.Error(info)
	}
	full := "-INDEX_CURSOR_LIMIT of 128 has been reached for an index"
	c.expect(cursorQuery, full)
	c.expect("FT.CONFIG SET INDEX_CURSOR_LIMIT 0", "-Bad arguments for INDEX_CURSOR_LIMIT: Value is outside acceptable bounds")
	c.do("FT.DROPINDEX", "shop")
	c.now += 300_000
	shopOf(c, 3)
	if values, id := c.page(cursorQuery); id == "" {
		t.Error(values)
	}
}

// TestCursorBytes opens cursors until their rows take more memory than they may.
func TestCursorBytes(t *testing.T) {
	c := newClient(t)
	shopOf(c, 9)
	c.do("HSET", "d:8", "n", "8", "t", strings.Repeat("x", 16<<20))
	line := "FT.AGGREGATE shop * LOAD 2 @t @n SORTBY 1 @n MAX 100 WITHCURSOR COUNT 2"
	for range 3 {
		if v := c.do(strings.Fields(line)...); v.IsError() {
			t.Fatalf("%s", v.Str)
		}
	}
	c.expect(line, "-The rows of open cursors exceed 64 MB: read or close them, or use LIMIT")
}

// TestTimeout lets TIMEOUT pass after a number of questions.
func TestTimeout(t *testing.T) {
	c := newClient(t)
	shopOf(c, 600)
	left := 0
	asked := time.Duration(0)
	late := func(d time.Duration) func() bool {
		asked = d
		return func() bool { left--; return left < 0 }
	}
	c.session = engine.New(c.store, engine.WithClock(func() int64 { return c.now }), engine.WithInterrupt(func() error { return nil }), engine.WithDeadline(late)).Session()
	found := func(line string) (n int64, warning string) {
		v := c.do(strings.Fields(line)...)
		if v.IsError() {
			return -1, string(v.Str)
		}
		all := resp.Append3(nil, v)
		for _, says := range []string{"Timeout limit was reached"} {
			if strings.Contains(string(all), says) {
				warning = says
			}
		}
		return v.Elems[0].Int, warning
	}
	for _, test := range []struct {
		line    string
		left    int
		n       int64
		warning bool
	}{
		{"FT.SEARCH shop red", 0, 600, false}, {"FT.SEARCH shop red TIMEOUT 0", 0, 600, false}, {"FT.SEARCH shop red TIMEOUT 70", 9, 600, false},
		{"FT.SEARCH shop red TIMEOUT 70", 1, 255, true}, {"FT.AGGREGATE shop red TIMEOUT 70", 1, 255, true},
	} {
		left, asked = test.left, 0
		n, warning := found(test.line)
		if n != test.n || (warning != "") != test.warning || strings.HasSuffix(test.line, "70") && asked != 70*time.Millisecond {
			t.Errorf("%s, %d: %d, %q, %v", test.line, test.left, n, warning, asked)
		}
	}
	c.do("FT.CONFIG", "SET", "TIMEOUT", "5")
	c.do("FT.CONFIG", "SET", "ON_TIMEOUT", "fail")
	left = 1
	if n, says := found("FT.SEARCH shop red"); n != -1 || says != "Timeout limit was reached" || asked != 5*time.Millisecond {
		t.Error(n, says, asked)
	}
}
