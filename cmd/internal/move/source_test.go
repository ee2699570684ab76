package move

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/meowdis/meowdis/cmd/internal/targets"
	"github.com/meowdis/meowdis/engine"
	"github.com/meowdis/meowdis/keyspace"
	"github.com/meowdis/meowdis/local"
	"github.com/meowdis/meowdis/redis/resp"
	"github.com/meowdis/meowdis/transfer"
)

// TestRenamedDuringListing renames the first key of a file to the last one after some keys were read. The key exists
// throughout, so it must be read.
func TestRenamedDuringListing(t *testing.T) {
	file, err := local.Open(local.Memory, local.Options{SweepEvery: -1})
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	e, ctx := engine.New(file), context.Background()
	c, other := &targets.Conn{Session: e.Session(), File: file}, e.Session()
	calls := [][][]byte{{[]byte("SET"), []byte("new"), []byte("v")}}
	for i := range 20_000 {
		calls = append(calls, [][]byte{[]byte("SET"), fmt.Appendf(nil, "k:%d", i), []byte("v")})
	}
	calls = append(calls, [][]byte{[]byte("SET"), []byte("live"), []byte("v")})
	if _, err := c.Pipeline(ctx, calls); err != nil {
		t.Fatal(err)
	}
	renamed, found := false, false
	for p, err := range Keys(ctx, c, transfer.ReadOptions{}) {
		if err != nil {
			t.Fatal(err)
		}
		if !renamed {
			renamed = true
			if _, err := other.Do(ctx, []byte("RENAME"), []byte("new"), []byte("live")); err != nil {
				t.Fatal(err)
			}
		}
		found = found || string(p.Key.Name) == "live"
	}
	if !found {
		t.Error("a key that exists throughout was not read")
	}
}

// TestListedAsRead compares keys that a file lists with the same keys as its commands
// return them.
func TestListedAsRead(t *testing.T) {
	present := time.Now().UnixMilli()
	now := present - 60_000 // at first, so that what dies soon is dead in the end
	file, err := local.Open(local.Memory, local.Options{SweepEvery: -1, Now: func() int64 { return now }})
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	c := &targets.Conn{Session: engine.New(file, engine.WithClock(func() int64 { return now })).Session(), File: file}
	ctx := context.Background()
	run := func(line string) {
		t.Helper()
		args, err := resp.SplitLine(line)
		if err != nil {
			t.Fatal(err)
		}
		if v, err := c.Do(ctx, args...); err != nil || v.IsError() {
			t.Fatal(line, v, err)
		}
	}
	for db := range 2 {
		run(fmt.Sprint("SELECT ", db))
		for _, line := range []string{
			"SET s hello", `SET "" ""`, `SET "\x00\xff" "\xff\r\n\x00"`, fmt.Sprintf("SET ttl v PXAT %d", now+3600_000),
			"SET long " + strings.Repeat("x", 5000), `RPUSH l b "" a b`, "LPUSH l first", "LINSERT l BEFORE a new",
			"RPUSH l:long " + strings.Repeat("e ", 200), "RPUSH l:wide a " + strings.Repeat("x", 300),
			`SADD set z y x "\xff" ""`, "SREM set y", "ZADD z 2 b 1 a -inf c +inf d 0.1 e", `HSET h f v "" "" "\x00" "\xff"`, "HSET h g w",
			"HSET fields a 1 b 2 c 3", fmt.Sprintf("HPEXPIREAT fields %d FIELDS 1 a", now+3600_000),
			"HSET dying a 1 b 2", fmt.Sprintf("HPEXPIREAT dying %d FIELDS 1 a", now+10), fmt.Sprintf("SET dead v PXAT %d", now+10),
			`JSON.SET doc $ '{"b":[1,2.0],"a":"\u00e9"}'`, "XADD x 1-1 a b", "XGROUP CREATE x g 0", "ARMSET arr 3 a 9 b",
		} {
			run(line)
		}
		for i := range 1200 {
			run(fmt.Sprintf("HSET many:%d f %d", i, i))
		}
	}
	now = present
	listed, read := partsOf(t, Keys(ctx, c, transfer.ReadOptions{})), partsOf(t, transfer.FromSession(ctx, c, transfer.ReadOptions{}))
	if len(listed) < 2*1215 {
		t.Errorf("%d keys", len(listed))
	}
	for k, want := range read {
		if listed[k] != want {
			t.Errorf("%s is listed as\n%.200s\nwant\n%.200s", k, listed[k], want)
		}
	}
	if len(listed) != len(read) {
		t.Errorf("%d keys are listed, and %d read", len(listed), len(read))
	}
}

// partsOf is what a source yields, by key.
func partsOf(t *testing.T, source transfer.Source) map[string]string {
	t.Helper()
	parts := map[string]string{}
	for p, err := range source {
		if err != nil || p.Err != nil || p.Changed {
			t.Fatal(p.Key, p, err)
		}
		name := p.Key.String()
		if p.First {
			parts[name] = fmt.Sprintf("%s %d %d %T", p.Key.Type, p.Key.ExpiresAt, p.Key.Count, p.Value)
		}
		parts[name] += " " + strings.Trim(fmt.Sprintf("%q", p.Value), "[]")
	}
	return parts
}

// countedCalls counts the commands of a session.
type countedCalls struct {
	keyspace.Session
	n int
}

func (c *countedCalls) Pipeline(ctx context.Context, calls [][][]byte) ([]resp.Value, error) {
	c.n += len(calls)
	return c.Session.Pipeline(ctx, calls)
}

// TestFind compares files with and without Find: it finds the same differences with few commands.
func TestFind(t *testing.T) {
	ctx := context.Background()
	open := func(change ...string) *targets.Conn {
		t.Helper()
		file, err := local.Open(local.Memory, local.Options{SweepEvery: -1})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { file.Close() })
		c := &targets.Conn{Session: engine.New(file).Session(), File: file}
		lines := []string{
			"SET s hello", `SET "" ""`, `SET "\x00\xff" "\xff\r\n\x00"`, "SET ttl v PXAT 9999999999999", "SET type v", "SET only:a v",
			"SET long " + strings.Repeat("x", 5000), "RPUSH l a b c", "SADD set x y z", "ZADD z 1 a 2 b", "HSET h f v g w",
			"HSET fields a 1 b 2", "HPEXPIREAT fields 9999999999999 FIELDS 1 a", `JSON.SET doc $ '{"b":[1,2.0]}'`, "XADD x 1-1 a b", "ARMSET arr 3 a",
			"RPUSH l:long " + strings.Repeat("e ", 3000), "SET dead v PXAT 1",
		}
		for i := range 2000 {
			lines = append(lines, fmt.Sprintf("SET many:%d %d", i, i))
		}
		for _, line := range append(lines, change...) {
			args, err := resp.SplitLine(line)
			if err != nil {
				t.Fatal(err)
			}
			if v, err := c.Do(ctx, args...); err != nil || v.IsError() {
				t.Fatal(line, v, err)
			}
		}
		return c
	}
	a := open()
	b := open("SET s other", "PERSIST ttl", "DEL type only:a", "RPUSH type v", "SET only:b v", "APPEND long y", "LSET l 1 x", "SREM set y", "SADD set w",
		"ZADD z 3 b", "HSET h g x", "HPERSIST fields FIELDS 1 a", `JSON.SET doc $ '{"b":[1,3]}'`, "XADD x 2-1 a b", "ARMSET arr 4 b", "LSET l:long 2500 x", "SET many:1999 x",
		"SELECT 3", "SET only:c v", "SET only:d v", "SET dead v PXAT 1")
	var named []string // keys of which A was asked whether they exist
	compare := func(find transfer.Find, unseen transfer.ListUnseen) (lines []string, calls int) {
		t.Helper()
		named = nil
		counted := &countedCalls{Session: b.Session}
		asked := &askedExists{Session: a.Session, names: &named}
		_, err := transfer.Diff(ctx, asked, counted, transfer.DiffOptions{Find: find, Unseen: unseen, Seen: func(transfer.Part) {},
			Notify: func(k *transfer.Key, err error) { t.Errorf("%s: %v", k, err) },
			Found: func(d transfer.Difference) {
				lines = append(lines, fmt.Sprintf("%s: %s: %.60s | %.60s", d.Key, d.What, d.A, d.B))
			}})
		if err != nil {
			t.Fatal(err)
		}
		slices.Sort(lines)
		return lines, counted.n
	}
	want, all := compare(nil, nil)
	for _, unseen := range []transfer.ListUnseen{nil, Unseen(b, transfer.ReadOptions{})} {
		got, few := compare(Find(b), unseen)
		if !slices.Equal(got, want) || len(want) < 18 {
			t.Errorf("found\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
		most := all / 2 // the keys of B are listed by commands
		if unseen != nil {
			most = 30
			if slices.Sort(named); !slices.Equal(named, []string{"l:long", "only:b", "only:c", "only:d"}) { // Find does not look up keys in parts
				t.Errorf("looked up %q in A", named)
			}
		}
		if few > most {
			t.Errorf("%d commands, and %d without Find", few, all)
		}
	}

	// B is A, and the file that finds keys.
	var got []string
	counted := &countedCalls{Session: b.Session}
	_, err := transfer.Diff(ctx, counted, a, transfer.DiffOptions{FindInA: Find(b), UnseenInA: Unseen(b, transfer.ReadOptions{}), Seen: func(transfer.Part) {},
		Notify: func(k *transfer.Key, err error) { t.Errorf("%s: %v", k, err) },
		Found: func(d transfer.Difference) {
			what := map[string]string{transfer.OnlyInA: transfer.OnlyInB, transfer.OnlyInB: transfer.OnlyInA}
			got = append(got, fmt.Sprintf("%s: %s: %.60s | %.60s", d.Key, cmp.Or(what[d.What], d.What), d.B, d.A))
		}})
	if slices.Sort(got); err != nil || !slices.Equal(got, want) || counted.n > 30 {
		t.Errorf("%v, %d commands: found\n%s\nwant\n%s", err, counted.n, strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// askedExists collects the keys of EXISTS.
type askedExists struct {
	keyspace.Session
	names *[]string
}

func (s *askedExists) Do(ctx context.Context, args ...[]byte) (resp.Value, error) {
	if string(args[0]) == "EXISTS" {
		for _, name := range args[1:] {
			*s.names = append(*s.names, string(name))
		}
	}
	return s.Session.Do(ctx, args...)
}
