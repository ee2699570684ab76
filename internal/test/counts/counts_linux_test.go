package counts

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/meowdis/meowdis/engine"
	"github.com/meowdis/meowdis/local"
	"github.com/meowdis/meowdis/store"
)

var update = flag.Bool("update", false, "write the table anew")

const table = "counts.md"

// Each command is sent to a file with rounds keys of every type, {n} being one of them in
// no order. So most pages are in the cache, and each write is a commit of its own.
var measured = []struct {
	prepare string // the commands that make what {n} names, apart by semicolons
	command string
}{
	{"SET key:{n} xxxxxxxxxx", "GET key:{n}"},
	{"", "SET key:{n} xxxxxxxxxx"},
	{"SET key:{n} xxxxxxxxxx", "SET key:{n} yyyyyyyyyy"},
	{"", "SET key:{n} xxxxxxxxxx EX 100"},
	{"", "SETNX key:{n} xxxxxxxxxx"},
	{"", "INCR key:{n}"},
	{"SET key:{n} 7", "INCR key:{n}"},
	{"SET key:{n} xxxxxxxxxx", "APPEND key:{n} y"},
	{"SET key:{n} xxxxxxxxxx", "DEL key:{n}"},
	{"SET key:{n} xxxxxxxxxx", "EXISTS key:{n}"},
	{"SET key:{n} xxxxxxxxxx", "EXPIRE key:{n} 100"},
	{"SET key:{n} xxxxxxxxxx EX 100", "TTL key:{n}"},
	{"SET key:{n} xxxxxxxxxx", "TYPE key:{n}"},
	{"SET key:{n} xxxxxxxxxx", "MGET key:1 key:2 key:3 key:4 key:5 key:6 key:7 key:8 key:9 key:{n}"},
	{"", "MSET a:{n} x b:{n} x c:{n} x d:{n} x e:{n} x f:{n} x g:{n} x h:{n} x i:{n} x j:{n} x"},
	{"HSET h:{n} a 1 b 2", "HGET h:{n} a"},
	{"HSET h:{n} a 1 b 2", "HGETALL h:{n}"},
	{"HSET h:{n} a 1 b 2", "HSET h:{n} a x"},
	{"", "HSET h:{n} a x"},
	{"", "HSET hash field:{n} x"},
	{"HSET h:{n} a 1 b 2", "HINCRBY h:{n} a 1"},
	{"HSET h:{n} a 1 b 2", "HDEL h:{n} a"},
	{"", "LPUSH list x{n}"},
	{"RPUSH list x{n}", "RPOP list"},
	{"RPUSH list x{n}", "LRANGE list 0 99"},
	{"RPUSH l:{n} a b c", "LLEN l:{n}"},
	{"", "SADD set x{n}"},
	{"", "SADD s:{n} a"},
	{"SADD set x{n}", "SISMEMBER set x{n}"},
	{"SADD set x{n}", "SPOP set"},
	{"SADD s:{n} a b c", "SREM s:{n} a"},
	{"SADD s:{n} a b c", "SMEMBERS s:{n}"},
	{"", "ZADD zset {n} x{n}"},
	{"ZADD zset 5000 x{n}", "ZADD zset {n} x{n}"},
	{"", "ZADD z:{n} 1 x"},
	{"ZADD zset {n} x{n}", "ZINCRBY zset 1 x{n}"},
	{"ZADD zset {n} x{n}", "ZSCORE zset x{n}"},
	{"ZADD zset {n} x{n}", "ZRANGE zset 0 9 WITHSCORES"},
	{"ZADD zset {n} x{n}", "ZPOPMIN zset"},
	{"", "XADD stream * field x{n}"},
	{"XADD stream * field x{n}", "XRANGE stream - + COUNT 10"},
}

// rounds is how many times a command runs. It is prime, so that any step visits all.
const rounds = 1009

// count is the cost of one command.
type count struct{ statements, calls, bytes, allocations float64 }

// TestCounts fails when a command has come to cost more than the table says, or less: then
// -update writes it anew, and the change is there for its reviewer to see.
func TestCounts(t *testing.T) {
	var out bytes.Buffer
	fmt.Fprintf(&out, "# Counts\n\n"+
		"What one command costs on a file, on its own in a transaction: SQL statements that ran, write calls of\n"+
		"the process, KB that they write, and allocations of engine and store. `{n}` is another key or member\n"+
		"each time. `go test ./internal/test/counts -update` writes this table; the test fails when it is not true.\n\n"+
		"| Command | where there was | Statements | Writes | KB written | Allocations |\n|---|---|---:|---:|---:|---:|\n")
	was := rows(t)
	for _, m := range measured {
		c := measure(t, m.prepare, m.command)
		name := fmt.Sprintf("| `%s` | %s |", m.command, strings.TrimSpace(code(m.prepare)))
		// A SET of a new key looks now and then whether it is: hundredths of a statement.
		statements := strconv.FormatFloat(math.Round(100*c.statements)/100, 'f', -1, 64)
		fmt.Fprintf(&out, "%s %s | %.1f | %.1f | %.0f |\n", name, statements, c.calls, c.bytes/1000, c.allocations)
		if *update {
			continue
		}
		old, known := was[name]
		switch {
		case !known:
			t.Errorf("%s is not in the table: run with -update", name)
		case !old.like(c):
			t.Errorf("%s costs %.2f, and the table says %.2f: mend it, or run with -update", name, c, old)
		}
	}
	if *update {
		if err := os.WriteFile(table, out.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// like reports whether b is a, but for what the runtime's own work adds and for how many
// pages have room for a row, which are never quite the same.
func (a count) like(b count) bool {
	near := func(a, b, fraction, least float64) bool { return max(a, b)-min(a, b) <= max(fraction*a, least) }
	return near(a.statements, b.statements, 0, 0.01) && // the last element costs the key, too
		near(a.calls, b.calls, 0.05, 0.1) &&
		near(a.bytes, b.bytes, 0.05, 0.1) && near(a.allocations, b.allocations, 0.03, 1.5)
}

func code(s string) string {
	if s == "" {
		return ""
	}
	return "`" + s + "`"
}

// rows reads the table.
func rows(t *testing.T) map[string]count {
	text, err := os.ReadFile(table)
	if err != nil && !*update {
		t.Fatal(err)
	}
	all := map[string]count{}
	for line := range strings.Lines(string(text)) {
		cells := strings.Split(strings.TrimSpace(line), "|")
		if len(cells) != 8 {
			continue
		}
		number := func(i int) float64 {
			f, _ := strconv.ParseFloat(strings.TrimSpace(cells[i]), 64)
			return f
		}
		all[strings.Join(cells[:3], "|")+"|"] = count{number(3), number(4), number(5) * 1000, number(6)}
	}
	return all
}

func measure(t *testing.T, prepare, command string) count {
	// With so large a cache the log is not copied back meanwhile, which is done beside the commands.
	file, err := local.Open(filepath.Join(t.TempDir(), "db.sqlite"), local.Options{SweepEvery: -1, CacheBytes: 256 << 20, Now: func() int64 { return 1_800_000_000_000 }})
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	counting, seed := &counting{Store: file}, uint64(0)
	session := engine.New(counting, engine.WithClock(func() int64 { return 1_800_000_000_000 }),
		engine.WithSeed(func() uint64 { seed++; return seed * 0x9e3779b97f4a7c15 })).Session()
	defer session.Release()
	do := func(calls [][][]byte) {
		replies, err := session.Pipeline(context.Background(), calls)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range replies {
			if r.IsError() {
				t.Fatalf("%s: %s", calls[0], r.Str)
			}
		}
	}
	if prepare != "" {
		do(calls(prepare))
	}
	all := calls(command)
	do(all[:1]) // prepares the statements
	all = all[1:]
	runtime.GC()
	before, stmts := total(t), counting.statements
	for i := range all {
		if v, err := session.Do(context.Background(), all[i]...); err != nil || v.IsError() {
			t.Fatalf("%s: %s %v", all[i], v.Str, err)
		}
	}
	after, n := total(t), float64(len(all))
	return count{
		statements: float64(counting.statements-stmts) / n, calls: (after.calls - before.calls) / n,
		bytes: (after.bytes - before.bytes) / n, allocations: (after.allocations - before.allocations) / n,
	}
}

// calls is the command for each n, in no order.
func calls(command string) [][][]byte {
	all := make([][][]byte, rounds)
	for i := range all {
		n := strconv.Itoa(i * 617 % rounds)
		for _, word := range strings.Fields(command) {
			all[i] = append(all[i], []byte(strings.ReplaceAll(word, "{n}", n)))
		}
	}
	return all
}

// total is what this process has done so far.
func total(t *testing.T) (c count) {
	io, err := os.ReadFile("/proc/self/io")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(io)) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), ": ")
		n, _ := strconv.ParseFloat(value, 64)
		switch name {
		case "syscw":
			c.calls = n
		case "wchar":
			c.bytes = n
		}
	}
	var memory runtime.MemStats
	runtime.ReadMemStats(&memory)
	c.allocations = float64(memory.Mallocs)
	return c
}

// counting counts the statements that a store is given and that are not moot.
type counting struct {
	*local.Store
	statements int
}

func (c *counting) Apply(ctx context.Context, batches []store.Batch) ([]store.Result, error) {
	results, err := c.Store.Apply(ctx, batches)
	for i := range results {
		c.count(batches[i], results[i])
	}
	return results, err
}

func (c *counting) count(b store.Batch, r store.Result) {
	for i, s := range b.Stmts {
		before := store.Result{Rows: r.Rows[:i], Changes: r.Changes[:min(i, len(r.Changes))]}
		if s.SkipIf == nil || !s.SkipIf(before) {
			c.statements++
		}
	}
}

func (c *counting) Transact(ctx context.Context, readOnly bool, fn func(func(store.Batch) (store.Result, error)) error) error {
	return c.Store.Transact(ctx, readOnly, func(run func(store.Batch) (store.Result, error)) error {
		return fn(func(b store.Batch) (store.Result, error) {
			r, err := run(b)
			if err == nil {
				c.count(b, r)
			}
			return r, err
		})
	})
}
