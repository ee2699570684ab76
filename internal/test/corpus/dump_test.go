package corpus_test

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/meowdis/meowdis/internal/test/corpus"
	"github.com/meowdis/meowdis/internal/test/hostile"
	"github.com/meowdis/meowdis/internal/test/oracle"
	"github.com/meowdis/meowdis/internal/test/storetest"
	"github.com/meowdis/meowdis/local"
	"github.com/meowdis/meowdis/redis/resp"
)

// many is a command with n groups of arguments, each made of the format and the
// group's number.
func many(command string, n int, format string) string {
	var b strings.Builder
	b.WriteString(command)
	for i := range n {
		b.WriteByte(' ')
		b.WriteString(strings.ReplaceAll(format, "#", fmt.Sprint(i)))
	}
	return b.String()
}

// dumpValues make values of every type and encoding at the key k, one after
// another.
func dumpValues() [][]string {
	long := strings.Repeat("long ", 30)
	wide := strings.Repeat("w", 9000)
	huge := strings.Repeat("0123456789abcdef", 5000)
	var stream []string
	for i := range 250 {
		stream = append(stream, fmt.Sprintf("XADD k %d-%d a %d b text%d", 1000+i, i%3, i*i, i))
	}
	stream = append(stream, "XADD k 5000-1 c 1", "XADD k 5000-2 a 1 b 2 c 3", "XADD k 5000-3 \"\" \"\"", "XDEL k 1005-2 5000-2")
	groups := append([]string{}, stream...)
	groups = append(groups, "XGROUP CREATE k g 0", "XGROUP CREATE k h 1010-1 ENTRIESREAD 5", "XGROUP CREATE k empty $",
		"XGROUP CREATECONSUMER k g idle", "XREADGROUP GROUP g c1 COUNT 20 STREAMS k >", "XREADGROUP GROUP g c2 COUNT 7 STREAMS k >",
		"XREADGROUP GROUP g c1 COUNT 3 STREAMS k >", "XREADGROUP GROUP h \"\" COUNT 3 STREAMS k >",
		"XCLAIM k g c2 0 1001-1 1003-0 RETRYCOUNT 77", "XACK k g 1000-0")
	values := [][]string{
		{"SET k hello"}, {"SET k \"\""}, {"SET k 0"}, {"SET k -1"}, {"SET k 127"}, {"SET k -129"}, {"SET k 32768"}, {"SET k 2147483647"},
		{"SET k 2147483648"}, {"SET k -9223372036854775808"}, {"SET k 007"}, {"SET k \"\\x00\\xff\\r\\n\""},
		{"SET k " + strings.Repeat("a", 63)}, {"SET k " + strings.Repeat("ab", 32)}, {"SET k " + huge}, {"SET k \"" + strings.Repeat("\\x00", 20_000) + "\""},
		{"RPUSH k a"}, {"RPUSH k 1 -1 127 128 -4096 4095 4096 32767 32768 -8388608 8388607 8388608 2147483648 9223372036854775807 -0 01 \"\""},
		{"RPUSH k " + strings.Repeat("x", 63) + " " + strings.Repeat("y", 64) + " " + strings.Repeat("z", 4095) + " " + strings.Repeat("t", 4096)},
		{many("RPUSH k", 5000, "element:#")}, {"RPUSH k " + wide + " a " + wide + " " + huge},
		{"SADD k 1 2 3"}, {"SADD k 1 -70000"}, {"SADD k 5000000000 -1"}, {"SADD k a b 1"}, {many("SADD k", 2000, "#")}, {many("SADD k", 600, "m#")},
		{"HSET k f v 1 2 \"\" \"\""}, {"HSET k f \"" + long + "\""}, {many("HSET k", 1000, "field# value#")},
		{"ZADD k 1 a 2.5 b -inf c +inf d 0.1 e 1e300 f -1e-300 g 123456789012345678 h 9007199254740993 i 1e17 j -4611686018427387904 k 1e19 l"}, {"ZADD k 1 \"" + long + "\" 1 b"}, {many("ZADD k", 900, "#.25 m#")},
		{"ZADD k 3 3 1 1 2 2"}, {"XADD k 1-1 a b"}, stream, groups,
		{"XADD k 7-7 a b", "XDEL k 7-7"}, {"XGROUP CREATE k g $ MKSTREAM"}, {"PFADD k a b c"},
	}
	return values
}

// dumpVectors make vector sets of every kind at the key k.
func dumpVectors() (values [][]string) {
	for _, options := range []string{"NOQUANT", "Q8 M 4", "BIN"} {
		for _, reduce := range []string{"", "REDUCE 5 "} {
			var lines []string
			for i := range 100 {
				lines = append(lines, fmt.Sprintf("VADD k %sVALUES 9 %d %d.5 -3 4 %d 6 7 8 %d e%d %s SETATTR '{\"n\":%d}'", reduce, i, i%7, i*i%11, -i, i, options, i))
			}
			values = append(values, lines, append(lines[:60:60], "VREM k e7", "VSETATTR k e8 ''", "VADD k "+reduce+"VALUES 9 0 0 0 0 0 0 0 0 0 \"\\xff\" "+options))
		}
	}
	return append(values, []string{"VADD k VALUES 1 1 12345"}, []string{"VADD k VALUES 2 0 0 " + strings.Repeat("long", 20_000) + " SETATTR " + strings.Repeat("x", 70_000)})
}

// vectorsOf is the vector set at k: its shape, and all elements as they are kept.
func vectorsOf(do func(...[]byte) resp.Value) string {
	k := []byte("k")
	out := corpus.Show(without(resp.Downgrade(do([]byte("VINFO"), k)), "max-level", "vset-uid", "hnsw-max-node-uid"))
	names := do([]byte("VRANDMEMBER"), k, []byte("100000")).Elems
	slices.SortFunc(names, func(a, b resp.Value) int { return bytes.Compare(a.Str, b.Str) })
	for _, name := range names {
		for _, call := range [][][]byte{{[]byte("VEMB"), k, name.Str, []byte("RAW")}, {[]byte("VEMB"), k, name.Str}, {[]byte("VGETATTR"), k, name.Str}} {
			out += "\n" + corpus.Show(resp.Downgrade(do(call...)))
		}
	}
	return out
}

// reading are the commands that return all of the value at k.
var reading = map[string]string{
	"string": "GET k", "list": "LRANGE k 0 -1", "set": "SMEMBERS k", "hash": "HGETALL k", "zset": "ZRANGE k 0 -1 WITHSCORES",
	"stream": "XINFO STREAM k FULL COUNT 0",
}

// contentsOf is the value at k as do returns it, without what only one side knows.
func contentsOf(do func(...[]byte) resp.Value) string {
	typ := string(do([]byte("TYPE"), []byte("k")).Str)
	if typ == "vectorset" {
		return vectorsOf(do)
	}
	line, _ := resp.SplitLine(reading[typ])
	if line == nil {
		return typ
	}
	v := resp.Downgrade(do(line...))
	switch typ {
	case "stream":
		v = without(v, "radix-tree-keys", "radix-tree-nodes", "active-time")
	case "zset": // before 8.0 numbers were written otherwise
		for i := 1; i < len(v.Elems); i += 2 {
			score, _ := strconv.ParseFloat(string(v.Elems[i].Str), 64)
			v.Elems[i] = resp.MakeString(resp.FormatDouble(score))
		}
	}
	if typ == "set" || typ == "hash" {
		return sortedText(v, typ == "hash")
	}
	return corpus.Show(v)
}

func encodingOf(do func(...[]byte) resp.Value) string {
	return string(do([]byte("OBJECT"), []byte("ENCODING"), []byte("k")).Str)
}

func scanOf(do func(...[]byte) resp.Value) resp.Value {
	return do([]byte("ZSCAN"), []byte("k"), []byte("0"))
}

// without drops labels with what they say, at every depth: numbers of nodes, which are
// about Redis's memory, and what was not said before 8.0.
func without(v resp.Value, labels ...string) resp.Value {
	if v.Kind != resp.Array {
		return v
	}
	out := resp.EmptyArray
	for i := 0; i < len(v.Elems); i++ {
		if slices.Contains(labels, string(v.Elems[i].Str)) {
			i++
			continue
		}
		out.Elems = append(out.Elems, without(v.Elems[i], labels...))
	}
	return out
}

func sortedText(v resp.Value, pairs bool) string {
	var all []string
	for i := 0; i < len(v.Elems); i++ {
		text := fmt.Sprintf("%q", v.Elems[i].Str)
		if pairs {
			i++
			text += fmt.Sprintf(" %q", v.Elems[i].Str)
		}
		all = append(all, text)
	}
	slices.Sort(all)
	return strings.Join(all, "\n")
}

// TestDumpAndRestore moves values of every type and encoding from redis-server to
// meowdis and back: what arrives must be what left.
func TestDumpAndRestore(t *testing.T) {
	redis := oracle.Start(t).Dial(t)
	old := redis.Version().Before("7.4")
	values := dumpValues()
	if !redis.Version().Before("8.0") {
		values = append(values, dumpVectors()...)
	}
	for _, open := range []func() (store, error){
		func() (store, error) { return openLocal(local.Memory) },
		func() (store, error) { return hostile.Open() },
	} {
		for _, settings := range [][2]string{{"512", "yes"}, {"0", "no"}} {
			for _, name := range []string{"hash-max-listpack-entries", "zset-max-listpack-entries", "set-max-intset-entries"} {
				redis.Do([]byte("CONFIG"), []byte("SET"), []byte(name), []byte(settings[0]))
			}
			redis.Do([]byte("CONFIG"), []byte("SET"), []byte("rdbcompression"), []byte(settings[1]))
			s, err := open()
			if err != nil {
				t.Fatal(err)
			}
			now := int64(start)
			session := newEngine(s, &now).Session()
			ours := func(args ...[]byte) resp.Value {
				v, err := session.Do(context.Background(), args...)
				if err != nil {
					t.Fatal(err)
				}
				return v
			}
			for _, lines := range values {
				move(t, old, lines, redis.Do, ours)
				move(t, old, lines, ours, redis.Do)
			}
			storetest.Check(t, s)
			s.Close()
		}
	}
}

// move makes a value on one side and restores it on the other. A Redis that is old
// does not know the version of our payloads.
func move(t *testing.T, old bool, lines []string, from, to func(...[]byte) resp.Value) {
	t.Helper()
	from([]byte("FLUSHALL"))
	to([]byte("FLUSHALL"))
	for _, line := range lines {
		args, err := resp.SplitLine(line)
		if err != nil {
			t.Fatal(err)
		}
		if v := from(args...); v.IsError() {
			t.Fatalf("%.80s: %s", line, v.Str)
		}
	}
	payload := from([]byte("DUMP"), []byte("k"))
	v := to([]byte("RESTORE"), []byte("k"), []byte("0"), payload.Str)
	if old && string(v.Str) == "ERR DUMP payload version or checksum are wrong" {
		return
	}
	if string(v.Str) != "OK" {
		t.Errorf("RESTORE of %.200s: %s\n%.200q", fmt.Sprint(lines), v.Str, payload.Str)
		return
	}
	if want, got := contentsOf(from), contentsOf(to); got != want {
		t.Errorf("%.80s arrived as\n%.2000s\nwant\n%.2000s", lines, got, want)
	}
	// Redis shows a scan of a small sorted set the text of the scores that the value came with.
	if !old && encodingOf(from) == "listpack" && encodingOf(to) == "listpack" {
		if want, got := corpus.Show(scanOf(from)), corpus.Show(scanOf(to)); got != want {
			t.Errorf("a scan of %.80s is\n%s\nwant\n%s", lines, got, want)
		}
	}
	again := to([]byte("DUMP"), []byte("k"))
	if v := from([]byte("RESTORE"), []byte("k"), []byte("0"), again.Str, []byte("REPLACE")); old && v.IsError() {
		return
	}
	if want, got := contentsOf(to), contentsOf(from); got != want {
		t.Errorf("%.80s came back as\n%.2000s\nwant\n%.2000s", lines, got, want)
	}
}

// TestDumpedGraph has redis-server search in vector sets that were made here: the links that came with
// them must find what is there, and stand changes.
func TestDumpedGraph(t *testing.T) {
	redis := oracle.Start(t).Dial(t)
	if redis.Version().Before("8.0") {
		return // it has no vector sets
	}
	s, err := openLocal(local.Memory)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	now := int64(start)
	session := newEngine(s, &now).Session()
	tell := func(do func(...[]byte) resp.Value, line string) resp.Value {
		t.Helper()
		args, err := resp.SplitLine(line)
		if err != nil {
			t.Fatal(err)
		}
		v := do(args...)
		if v.IsError() {
			t.Fatalf("%.80s: %s", line, v.Str)
		}
		return v
	}
	ours := func(args ...[]byte) resp.Value {
		v, err := session.Do(context.Background(), args...)
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	const n = 1500
	draw := rand.New(rand.NewPCG(1, 2))
	some := func(around int) string {
		v := "VALUES 12"
		for i := range 12 {
			v += fmt.Sprintf(" %.4f", float64(around>>(i%4)&1)*3+draw.NormFloat64()/4)
		}
		return v
	}
	for _, kind := range []string{"NOQUANT", "Q8 M 5"} {
		tell(ours, "DEL k")
		for i := range n {
			tell(ours, fmt.Sprintf("VADD k %s e%d %s", some(i%16), i, kind))
		}
		payload := ours([]byte("DUMP"), []byte("k"))
		if v := redis.Do([]byte("RESTORE"), []byte("k"), []byte("0"), payload.Str, []byte("REPLACE")); string(v.Str) != "OK" {
			t.Fatalf("%s: %s", kind, v.Str)
		}
		search := func() (found int) {
			for i := range 60 {
				line := "VSIM k " + some(i%16) + " COUNT 10"
				exact := tell(redis.Do, line+" TRUTH")
				for _, e := range tell(redis.Do, line+" EF 100").Elems {
					if slices.ContainsFunc(exact.Elems, func(o resp.Value) bool { return bytes.Equal(o.Str, e.Str) }) {
						found++
					}
				}
			}
			return found
		}
		if found := search(); found < 600*97/100 {
			t.Errorf("%s: %d of 600 were found", kind, found)
		}
		for i := range n / 2 {
			tell(redis.Do, fmt.Sprintf("VREM k e%d", 2*i))
			tell(redis.Do, fmt.Sprintf("VADD k %s new%d %s", some(i%16), i, kind))
		}
		if found := search(); found < 600*97/100 {
			t.Errorf("%s: %d of 600 were found after changes", kind, found)
		}
	}
}
