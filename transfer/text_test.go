package transfer_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/meowdis/meowdis/internal/test/oracle"
	"github.com/meowdis/meowdis/internal/test/race"
	"github.com/meowdis/meowdis/keyspace"
	"github.com/meowdis/meowdis/redis/rdb"
	"github.com/meowdis/meowdis/redis/resp"
	"github.com/meowdis/meowdis/transfer"
)

func TestJSONLines(t *testing.T) {
	race.Skip(t)
	file, _ := openLocal(t)
	run(t, file, append(sample(), newTypes...)...)
	var out bytes.Buffer
	dumpTo(t, file, transfer.NewJSONWriter(&out))
	s, told, err := restore(t, transfer.FromJSONLines(&out))
	if err != nil || len(told) > 0 {
		t.Fatal(err, told)
	}
	same(t, contents(t, s, 0, 3), contents(t, file, 0, 3))
}

// TestJSONArray writes JSON lines as one array, also without keys.
func TestJSONArray(t *testing.T) {
	race.Skip(t)
	file, _ := openLocal(t)
	for range 2 {
		var lines, array bytes.Buffer
		dumpTo(t, file, transfer.NewJSONWriter(&lines))
		if err := transfer.Run(t.Context(), transfer.FromJSONLines(bytes.NewReader(lines.Bytes())), transfer.NewJSONArrayWriter(&array), nil, nil); err != nil {
			t.Fatal(err)
		}
		var got []json.RawMessage
		if err := json.Unmarshal(array.Bytes(), &got); err != nil {
			t.Fatal(err)
		}
		want := strings.Split(strings.TrimSuffix(lines.String(), "\n"), "\n")
		if lines.Len() == 0 {
			want = nil
		}
		if len(got) != len(want) {
			t.Fatalf("%d elements of %d", len(got), len(want))
		}
		for i, line := range want {
			if string(got[i]) != line {
				t.Fatalf("element %d is %.100s, want %.100s", i, got[i], line)
			}
		}
		run(t, file, "FLUSHALL", "SET a <b>", "HSET h f v", `JSON.SET j $ '{"a":[1]}'`, many("RPUSH l", long(60_000), "element:#"))
	}
}

// TestCSV writes a row for each element.
func TestCSV(t *testing.T) {
	race.Skip(t)
	file, _ := openLocal(t)
	for _, c := range []struct{ commands, rows, lost string }{
		{"", "", ""},
		{`SET s "a \"b\", c\nd"`, `0,"s",string,,,"a ""b"", c` + "\nd\"\n", ""},
		{fmt.Sprintf("SET \"a,\\x00\\xff\" v PXAT %d", later), fmt.Sprintf("0,\"a,\x00\xff\",string,%d,,\"v\"\n", later), ""},
		{"SELECT 3\nRPUSH l a b", "3,\"l\",list,,\"0\",\"a\"\n3,\"l\",list,,\"1\",\"b\"\n", ""},
		{"SADD s m", "0,\"s\",set,,,\"m\"\n", ""},
		{"ZADD z 1.5 m inf n", "0,\"z\",zset,,\"m\",\"1.5\"\n0,\"z\",zset,,\"n\",\"inf\"\n", ""},
		{fmt.Sprintf("HSET h f v g w\nHPEXPIREAT h %d FIELDS 1 g", later), fmt.Sprintf("0,\"h\",hash,,\"f\",\"v\"\n0,\"h\",hash,%d,\"g\",\"w\"\n", later), ""},
		{"XADD x 1-1 a b", "0,\"x\",stream,,\"1-1\",\"[\"\"a\"\",\"\"b\"\"]\"\n", ""},
		{"XADD x 1-1 a b\nXGROUP CREATE x g 0", "0,\"x\",stream,,\"1-1\",\"[\"\"a\"\",\"\"b\"\"]\"\n", "consumer groups"},
		{"JSON.SET j $ '{\"a\":[1]}'", "0,\"j\",ReJSON-RL,,,\"{\"\"a\"\":[1]}\"\n", ""},
		{"ARSET a 7 x", "0,\"a\",array,,\"7\",\"x\"\n", ""},
		{"VADD v VALUES 2 1 0 e NOQUANT SETATTR {}", "0,\"v\",vectorset,,\"e\",\"[1,0]\"\n", "attributes"},
	} {
		run(t, file, "FLUSHALL", "SELECT 0")
		if c.commands != "" {
			run(t, file, strings.Split(c.commands, "\n")...)
		}
		var out bytes.Buffer
		p := &problems{}
		dumpTo(t, file, transfer.NewCSVWriter(&out, p.add))
		if got := strings.TrimPrefix(out.String(), transfer.CSVHeader); got != c.rows {
			t.Errorf("%s\ngot  %q\nwant %q", c.commands, got, c.rows)
		}
		if told := fmt.Sprint(*p); (c.lost == "") != (len(*p) == 0) || !strings.Contains(told, c.lost) {
			t.Errorf("%s: told %s, want %s", c.commands, told, c.lost)
		}
	}
}

// TestCSVOfMuch checks that values in several parts have the same rows as small values.
func TestCSVOfMuch(t *testing.T) {
	race.Skip(t)
	file, _ := openLocal(t)
	run(t, file, fmt.Sprintf("SETRANGE huge %d tail", long(9_000_000)), many("RPUSH l:long", long(60_000), "element:#"))
	var out bytes.Buffer
	dumpTo(t, file, transfer.NewCSVWriter(&out, func(*transfer.Key, error) {}))
	rows, err := csv.NewReader(&out).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	index := 0
	for _, row := range rows {
		switch row[1] {
		case "l:long":
			if want := fmt.Sprint("element:", index); row[4] != fmt.Sprint(index) || row[5] != want {
				t.Fatalf("element %d is %s, %s", index, row[4], row[5])
			}
			index++
		case "huge":
			if n := len(row[5]); n != long(9_000_000)+4 {
				t.Errorf("a large string has %d bytes", n)
			}
		}
	}
	if index != long(60_000) {
		t.Errorf("a long list has %d rows", index)
	}
}

func TestBadJSONLines(t *testing.T) {
	race.Skip(t)
	oneGoroutine(t)
	good := `{"key":"a","type":"string","value":"v"}` + "\n"
	begun := `{"key":"l","type":"list","part":1,"more":true,"count":2,"value":["a"]}` + "\n"
	for _, c := range []struct{ text, says string }{
		{`{"key":"b","type":"strin","value":"v"}`, `line 2: there is no type "strin"`},
		{`{"key":"b","type":"string"}`, "line 2: the value is missing"},
		{`{"key":"b","type":"string","value":"v"`, "line 2: the file ends in the middle of it"},
		{`{"key":"b","type":"string","value":"v"} x`, "line 2: there is more on the line"},
		{`{"key":"b","type":"string","valeu":"v"}`, `line 2: unknown field "valeu"`},
		{`{"key":"b","type":"list","value":["a",{"base64":"%"}]}`, "line 2: illegal base64"},
		{`{"key":"b","type":"zset","value":[{"member":"m","score":"nan"}]}`, `line 2: "score" cannot be a string`},
		{`{"key":"b","type":"list","part":2,"value":["b"]}`, "line 2: its key's first part is missing"},
		{begun + `{"key":"l","type":"list","part":3,"value":["b"]}`, `line 3: part 2 of "l" should be here`},
		{begun, `it ends here, in the middle of "l"`},
	} {
		s, _, err := restore(t, transfer.FromJSONLines(strings.NewReader(good+c.text)))
		if err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v, want %s", c.text, err, c.says)
		}
		if got := contents(t, s, 0); len(got) != 1 || got[`0:"a"`] == "" {
			t.Errorf("%s left %v", c.text, got)
		}
	}
}

// TestCommands replays both command formats on the servers for which they are intended.
func TestCommands(t *testing.T) {
	race.Skip(t)
	redis := oracle.Start(t)
	redis.Dial(t)
	file, _ := openLocal(t)
	run(t, file, sample()...)
	want := contents(t, file, 0, 3)

	var script bytes.Buffer
	dumpTo(t, file, transfer.NewScriptWriter(&script, (&problems{}).add))
	replayed, _ := openLocal(t)
	lines := bufio.NewReader(&script)
	for {
		line, err := lines.ReadString('\n')
		if err != nil {
			break
		}
		run(t, replayed, line)
	}
	run(t, replayed, "SELECT 0")
	same(t, contents(t, replayed, 0, 3), want)

	var protocol bytes.Buffer
	dumpTo(t, file, transfer.NewProtocolWriter(&protocol, (&problems{}).add))
	server, commands := openRedis(t, redis.Socket), resp.NewReader(&protocol)
	for {
		args, err := commands.ReadCommand()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if v := do(t, server, args...); v.IsError() {
			t.Fatalf("%.80q: %s", args, v.Str)
		}
	}
	run(t, server, "SELECT 0")
	same(t, contents(t, server, 0, 3), want)
}

// TestCommandsOfDeletedEntries writes streams with pending entries that were deleted. A stream
// in several parts loses them and is reported.
func TestCommandsOfDeletedEntries(t *testing.T) {
	race.Skip(t)
	file, _ := openLocal(t)
	for i := range 5000 {
		run(t, file, fmt.Sprintf("XADD long %d-%d f v", i/3, i%3+1))
	}
	run(t, file, "XADD short 1-1 f v", "XADD short 2-1 f v")
	for _, key := range []string{"long", "short"} {
		run(t, file, "XGROUP CREATE "+key+" g 0", "XGROUP CREATE "+key+" h 0", "XREADGROUP GROUP g c COUNT 100 STREAMS "+key+" >", "XREADGROUP GROUP h c COUNT 4 STREAMS "+key+" >")
	}
	run(t, file, "XDEL long 0-2 1-1 5-3 1200-1", "XDEL short 1-1")
	var told problems
	var script bytes.Buffer
	dumpTo(t, file, transfer.NewScriptWriter(&script, told.add))
	if len(told) != 1 || !strings.Contains(told[0], `"long"`) || !strings.Contains(told[0], "of the entries that were deleted 5 are no longer pending") {
		t.Errorf("%q", told)
	}
	replayed, _ := openLocal(t)
	for line := range strings.Lines(script.String()) {
		run(t, replayed, line)
	}
	for _, c := range []struct{ line, want string }{{"XPENDING short g", "2"}, {"XPENDING long g", "97"}, {"XPENDING long h", "2"}, {"XLEN long", "4996"}} {
		args, _ := resp.SplitLine(c.line)
		v := do(t, replayed, args...)
		if len(v.Elems) > 0 {
			v = v.Elems[0]
		}
		if fmt.Sprint(v.Int) != c.want {
			t.Errorf("%s: %d, want %s", c.line, v.Int, c.want)
		}
	}
}

// TestHalfAKey checks that a key that cannot be read completely leaves nothing behind.
func TestHalfAKey(t *testing.T) {
	race.Skip(t)
	list := &transfer.Key{Name: []byte("a"), Type: transfer.ListType, Count: 4}
	source := func(yield func(transfer.Part, error) bool) {
		_ = yield(transfer.Part{Key: list, Value: rdb.List{[]byte("x"), []byte("y")}, First: true}, nil) &&
			yield(transfer.Part{Key: list, Last: true, Err: errors.New("gone")}, nil) &&
			yield(transfer.Whole(&transfer.Key{Name: []byte("b"), Type: transfer.StringType}, rdb.String("b")), nil)
	}
	ctx := context.Background()
	check := func(how string, s keyspace.Session, told problems) {
		t.Helper()
		if got := contents(t, s, 0); len(got) != 1 || got[`0:"b"`] == "" {
			t.Errorf("%s left %v", how, got)
		}
		if len(told) != 1 || !strings.HasPrefix(told[0], `"a": `) {
			t.Errorf("%s told %q", how, told)
		}
	}
	s, told, err := restore(t, source)
	if err != nil {
		t.Fatal(err)
	}
	check("a session", s, told)
	for name, c := range map[string]struct {
		sink func(io.Writer) transfer.Sink
		read func(io.Reader) transfer.Source
	}{
		"an archive": {
			func(w io.Writer) transfer.Sink { return transfer.NewArchiveWriter(w) },
			func(r io.Reader) transfer.Source { return transfer.FromArchive(r, transfer.ArchiveOptions{}) },
		},
		"JSON": {func(w io.Writer) transfer.Sink { return transfer.NewJSONWriter(w) }, transfer.FromJSONLines},
	} {
		var out bytes.Buffer
		var told problems
		if err := transfer.Run(ctx, source, c.sink(&out), told.add, nil); err != nil {
			t.Fatal(err)
		}
		s, again, err := restore(t, c.read(&out))
		if err != nil || len(told) != 1 {
			t.Fatal(err, told)
		}
		check(name, s, again)
	}
}
