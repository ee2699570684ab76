package records_test

import (
	"strconv"
	"strings"
	"testing"

	"github.com/rivo/uniseg"

	"github.com/meowdis/meowdis/internal/test/oracle"
	"github.com/meowdis/meowdis/keyspace/records"
	"github.com/meowdis/meowdis/redis/resp"
)

var setup = []string{
	"HSET h f v g \"a \\\"b\\\"\\n,c\"", "SADD s only", "ZADD z 1.5 a 3 b -inf c", "RPUSH l x y \"\"", "MSET k v",
	"XADD st 1-0 f v g w", "XADD st 2-0 g x", "XADD st 3-0 f 1 f 2", "XADD other 1-0 f v", "XGROUP CREATE st grp 0", "XREADGROUP GROUP grp me COUNT 1 STREAMS st >",
	"GEOADD geo 13.361389 38.115556 Palermo",
}

// shapes lists commands and their records, as CSV with a header and as NDJSON; "-" for a reply
// without records.
var shapes = []struct{ command, csv, ndjson string }{
	{"HGETALL h", "\"field\",\"value\"\n\"f\",\"v\"\n\"g\",\"a \"\"b\"\"\n,c\"\n", `{"field":"f","value":"v"}` + "\n" + `{"field":"g","value":"a \"b\"\n,c"}` + "\n"},
	{"HGETALL none", "\"field\",\"value\"\n", ""},
	{"HSCAN h 0 MATCH f", "\"field\",\"value\"\n\"f\",\"v\"\n", `{"field":"f","value":"v"}` + "\n"},
	{"HKEYS h", "\"field\"\n\"f\"\n\"g\"\n", "\"f\"\n\"g\"\n"},
	{"ZRANGE z 0 -1 WITHSCORES", "\"member\",\"score\"\n\"c\",-inf\n\"a\",1.5\n\"b\",3\n",
		`{"member":"c","score":"-inf"}` + "\n" + `{"member":"a","score":1.5}` + "\n" + `{"member":"b","score":3}` + "\n"},
	{"ZRANGE z 0 0", "\"member\"\n\"c\"\n", "\"c\"\n"},
	{"ZSCAN z 0 MATCH a", "\"member\",\"score\"\n\"a\",1.5\n", `{"member":"a","score":1.5}` + "\n"},
	{"SSCAN s 0", "\"member\"\n\"only\"\n", "\"only\"\n"},
	{"SCAN 0 MATCH k", "\"key\"\n\"k\"\n", "\"k\"\n"},
	{"LRANGE l 0 -1", "\"value\"\n\"x\"\n\"y\"\n\"\"\n", "\"x\"\n\"y\"\n\"\"\n"},
	{"MGET k none", "\"value\"\n\"v\"\nNULL\n", "\"v\"\nnull\n"},
	{"XRANGE st - +", "\"id\",\"f\",\"g\"\n\"1-0\",\"v\",\"w\"\n\"2-0\",NULL,\"x\"\n\"3-0\",\"1,2\",NULL\n",
		`{"id":"1-0","fields":{"f":"v","g":"w"}}` + "\n" + `{"id":"2-0","fields":{"g":"x"}}` + "\n" + `{"id":"3-0","fields":["f","1","f","2"]}` + "\n"},
	{"XREAD COUNT 1 STREAMS st other 0 0", "\"stream\",\"id\",\"f\",\"g\"\n\"st\",\"1-0\",\"v\",\"w\"\n\"other\",\"1-0\",\"v\",NULL\n",
		`{"stream":"st","id":"1-0","fields":{"f":"v","g":"w"}}` + "\n" + `{"stream":"other","id":"1-0","fields":{"f":"v"}}` + "\n"},
	{"XREAD STREAMS none 0", "\"stream\",\"id\"\n", ""},
	{"XINFO GROUPS st", "\"name\",\"consumers\",\"pending\",\"last-delivered-id\",\"entries-read\",\"lag\"\n\"grp\",1,1,\"1-0\",1,2\n",
		`{"name":"grp","consumers":1,"pending":1,"last-delivered-id":"1-0","entries-read":1,"lag":2}` + "\n"},
	{"GEOSEARCH geo FROMMEMBER Palermo BYRADIUS 1 km WITHHASH WITHDIST", "\"member\",\"distance\",\"hash\"\n\"Palermo\",\"0.0000\",3479099956230698\n",
		`{"member":"Palermo","distance":"0.0000","hash":3479099956230698}` + "\n"},
	{"GEORADIUSBYMEMBER_RO geo Palermo 1 km WITHDIST", "\"member\",\"distance\"\n\"Palermo\",\"0.0000\"\n", `{"member":"Palermo","distance":"0.0000"}` + "\n"},
	{"ZRANGE withscores 0 -1", "\"member\"\n", ""},
	{"GEOPOS geo nobody", "\"longitude\",\"latitude\"\nNULL,NULL\n", `{"longitude":null,"latitude":null}` + "\n"},
	{"XPENDING st grp - + 0", "\"value\"\n", ""},
	{"GET k", "-", ""},
	{"INCR k", "-", ""},
	{"EVAL \"return {1,2}\" 0", "-", ""},
	{"XPENDING st grp", "-", ""},
	{"HGETALL k", "-", ""},
	{"NOPE", "-", ""},
}

// TestRecords checks that real Redis gives the same records in both protocols.
func TestRecords(t *testing.T) {
	conn := oracle.Start(t).Dial(t)
	do := func(line string) ([][]byte, resp.Value) {
		args, err := resp.SplitLine(line)
		if err != nil {
			t.Fatal(err)
		}
		return args, conn.Do(args...)
	}
	for _, line := range setup {
		if _, v := do(line); v.IsError() {
			t.Fatalf("%s: %s", line, v.Str)
		}
	}
	for _, proto := range []string{"2", "3"} {
		do("HELLO " + proto)
		for _, s := range shapes {
			table, ok := records.Of(do(s.command))
			if !ok {
				if s.csv != "-" {
					t.Errorf("RESP%s %s: no records", proto, s.command)
				}
				continue
			}
			if got := string(table.AppendCSV(nil, true, false)); got != s.csv {
				t.Errorf("RESP%s %s\ngot  %q\nwant %q", proto, s.command, got, s.csv)
			}
			if got := string(table.AppendNDJSON(nil)); got != s.ndjson {
				t.Errorf("RESP%s %s\ngot  %q\nwant %q", proto, s.command, got, s.ndjson)
			}
		}
	}
}

// TestCSVOfEntries checks that without a header each value follows its field name.
func TestCSVOfEntries(t *testing.T) {
	entry := func(id string, fields ...resp.Value) resp.Value {
		return resp.MakeArray(resp.MakeString(id), resp.MakeArray(fields...))
	}
	a, b := resp.MakeString("a"), resp.MakeString("b")
	v := resp.MakeArray(entry("1-0", a, b), entry("2-0", b, a, a, b), resp.MakeArray(resp.MakeString("3-0"), resp.NilArray))
	table, ok := records.Of([][]byte{[]byte("XRANGE"), []byte("s"), []byte("-"), []byte("+")}, v)
	if got, want := string(table.AppendCSV(nil, false, false)), "\"1-0\",\"a\",\"b\"\n\"2-0\",\"b\",\"a\",\"a\",\"b\"\n\"3-0\"\n"; !ok || got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func tableText(t records.Table, width int) (string, error) {
	var b strings.Builder
	err := t.WriteTable(&b, false, width)
	return b.String(), err
}

// TestTableOfManyRows writes the table of a large reply in parts. Its last row affects the
// column widths like every other row.
func TestTableOfManyRows(t *testing.T) {
	const n = 100_000
	v := resp.EmptyMap
	for i := range n {
		v.Elems = append(v.Elems, resp.MakeString(strconv.Itoa(i)), resp.MakeInt(int64(i)))
	}
	v.Elems = append(v.Elems, resp.MakeString("longer than the others"), resp.MakeInt(1))
	table, ok := records.Of([][]byte{[]byte("HGETALL"), []byte("h")}, v)
	if !ok {
		t.Fatal("no records")
	}
	w := &widths{t: t}
	if err := table.WriteTable(w, false, 0); err != nil {
		t.Fatal(err)
	}
	if want := 1 + len("longer than the others") + 1; w.lines != n+3 || w.at != want {
		t.Errorf("%d lines, the second column at %d, want %d and %d", w.lines, w.at, n+3, want)
	}
	if w.most > 64<<10 {
		t.Errorf("%d bytes at once", w.most)
	}
}

// widths records where the second column begins and how much is written at once.
type widths struct {
	t               *testing.T
	lines, at, most int
}

func (w *widths) Write(b []byte) (int, error) {
	w.most = max(w.most, len(b))
	for line := range strings.Lines(string(b)) {
		at := uniseg.StringWidth(line[:strings.IndexAny(line, "│┼")])
		if w.lines++; w.lines > 1 && at != w.at {
			w.t.Fatalf("line %d begins its second column at %d, not %d", w.lines, at, w.at)
		}
		w.at = at
	}
	return len(b), nil
}

func TestTable(t *testing.T) {
	long := strings.Repeat("世", 20)
	v := resp.Value{Kind: resp.Map, Elems: []resp.Value{
		resp.MakeString("plain"), resp.MakeString("é"), resp.MakeString("a\nb"), resp.MakeString("\xff"), resp.MakeString(""), resp.MakeString(long),
		resp.MakeString(" x"), resp.MakeArray(resp.MakeString("SET"), resp.MakeString("k v")),
	}}
	table, ok := records.Of([][]byte{[]byte("hgetall"), []byte("h")}, v)
	if !ok {
		t.Fatal("no records")
	}
	got, err := tableText(table, 22)
	want := ` field  │ value
────────┼─────────────
 plain  │ é
 "a\nb" │ "\xff"
 ""     │ 世世世世世…
 " x"   │ SET k v
`
	if err != nil || string(got) != want {
		t.Errorf("got\n%s\nwant\n%s%v", got, want, err)
	}

	page := resp.MakeArray(resp.MakeString("7"), resp.MakeArray(resp.MakeString("m"), resp.MakeString("1.5")))
	table, _ = records.Of([][]byte{[]byte("ZSCAN"), []byte("z"), []byte("0")}, page)
	if got, err = tableText(table, 0); err != nil || !strings.HasSuffix(string(got), " m      │   1.5\n(more after cursor 7)\n") {
		t.Errorf("got\n%s%v", got, err)
	}
}
