package transfer_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/meowdis/meowdis/internal/test/race"
	"github.com/meowdis/meowdis/keyspace"
	"github.com/meowdis/meowdis/redis/rdb"
	"github.com/meowdis/meowdis/redis/resp"
	"github.com/meowdis/meowdis/transfer"
)

// interrupted is a session that calls happens before the first pipeline that contains the named
// command.
type interrupted struct {
	keyspace.Session
	before  string
	after   int // number of such pipelines to skip
	happens func()
}

func (m *interrupted) Pipeline(ctx context.Context, calls [][][]byte) ([]resp.Value, error) {
	holds := slices.ContainsFunc(calls, func(args [][]byte) bool { return string(args[0]) == m.before })
	if holds && m.happens != nil {
		if m.after--; m.after < 0 {
			m.happens()
			m.happens = nil
		}
	}
	return m.Session.Pipeline(ctx, calls)
}

// TestChanges reads a key while it changes.
func TestChanges(t *testing.T) {
	long := map[string]string{
		"hash": many("HSET k", 4_000, "f# v"), "set": many("SADD k", 4_000, "m#"), "zset": many("ZADD k", 4_000, "# m#"),
		"list": many("RPUSH k", 4_000, "e#"), "string": "SETRANGE k 20000000 x",
	}
	page := map[string]string{"hash": "HSCAN", "set": "SSCAN", "zset": "ZSCAN", "list": "LRANGE", "string": "GETRANGE"}
	add := map[string]string{"hash": "HSET k new v", "set": "SADD k new", "zset": "ZADD k 1 new", "list": "LPUSH k new", "string": "APPEND k new"}
	for _, typ := range []string{"hash", "set", "zset", "list", "string"} {
		for change, c := range map[string]struct{ line, says string }{
			"more":    {add[typ], "changed"},
			"deleted": {"DEL k", transfer.ErrGone.Error()},
			"other":   {"JSON.SET k $ 1", transfer.ErrGone.Error()},
		} {
			s, _ := openLocal(t)
			run(t, s, long[typ])
			source := &interrupted{s, page[typ], 1, func() {
				if change == "other" {
					run(t, s, "DEL k")
				}
				run(t, s, c.line)
			}}
			ended := ""
			for p, err := range transfer.FromSession(context.Background(), source, transfer.ReadOptions{}) {
				switch {
				case err != nil:
					t.Fatal(err)
				case p.Err != nil:
					ended = p.Err.Error()
				case p.Last && p.Changed:
					ended = "changed"
				}
			}
			if ended != c.says {
				t.Errorf("%s, %s: %q, want %q", typ, change, ended, c.says)
			}
		}
	}
}

// TestBetween changes a small key after its type is read and before its value is read.
func TestBetween(t *testing.T) {
	race.Skip(t)
	for _, c := range []struct {
		change string
		want   transfer.Value
	}{
		{"SET k string", rdb.String("string")},
		{"DEL k", nil},
		{"RPUSH k b", rdb.List{[]byte("a"), []byte("b")}},
	} {
		s, _ := openLocal(t)
		run(t, s, "RPUSH k a")
		source := &interrupted{s, "LRANGE", 0, func() { run(t, s, c.change) }}
		var found transfer.Value
		for p, err := range transfer.FromSession(context.Background(), source, transfer.ReadOptions{}) {
			if err != nil || p.Err != nil {
				t.Fatal(err, p.Err)
			}
			found = p.Value
		}
		if fmt.Sprint(found) != fmt.Sprint(c.want) {
			t.Errorf("%s: found %q, want %q", c.change, found, c.want)
		}
	}
}

// TestInterrupted stops a copy at each of its parts and resumes it.
func TestInterrupted(t *testing.T) {
	from, _ := openLocal(t)
	for i := range 2000 {
		run(t, from, fmt.Sprintf("SET s%d v", i))
	}
	run(t, from, many("HSET h", 4_000, "f# v#"), "SELECT 2", many("RPUSH l", 4_000, "e#"), "SELECT 0")
	want := contents(t, from, 0, 2)
	for _, stop := range []int{1, 700, 2001, 2003, 2006} {
		to, _ := openLocal(t)
		ctx, cancel := context.WithCancel(context.Background())
		w := transfer.NewWriter(to, transfer.WriteOptions{Existing: transfer.Skip})
		reached := transfer.Position{Cursor: "0"}
		parts := 0
		err := transfer.Run(ctx, transfer.FromSession(ctx, from, transfer.ReadOptions{
			Reached: func(ctx context.Context, at transfer.Position) error {
				err := w.Flush(ctx)
				if err == nil {
					reached = at
				}
				return err
			},
		}), w, nil, func(transfer.Part) {
			if parts++; parts == stop {
				cancel()
			}
		})
		if !errors.Is(err, context.Canceled) {
			t.Fatal(stop, err)
		}
		part(t, contents(t, to, 0, 2), want)
		run(t, from, "SELECT 0")

		again, err := transfer.ParsePosition(reached.String())
		if err != nil {
			t.Fatal(err)
		}
		w = transfer.NewWriter(to, transfer.WriteOptions{Existing: transfer.Skip})
		ctx = context.Background()
		if err := transfer.Run(ctx, transfer.FromSession(ctx, from, transfer.ReadOptions{From: again}), w, nil, nil); err != nil {
			t.Fatal(err)
		}
		same(t, contents(t, to, 0, 2), want)
		run(t, from, "SELECT 0")
		run(t, to, "SELECT 0")
	}
}

// TestExpiring moves keys that expire during the transfer.
func TestExpiring(t *testing.T) {
	race.Skip(t)
	now := later - 1000
	list := func(name string) *transfer.Key {
		return &transfer.Key{Name: []byte(name), Type: transfer.ListType, ExpiresAt: later, Count: 2}
	}
	source := func(yield func(transfer.Part, error) bool) {
		k := list("large")
		_ = yield(transfer.Part{Key: k, Value: rdb.List{[]byte("a")}, First: true}, nil)
		now = later
		_ = yield(transfer.Part{Key: k, Value: rdb.List{[]byte("b")}, Last: true}, nil)
		_ = yield(transfer.Whole(list("small"), rdb.List{[]byte("a")}), nil)
	}
	s, _ := openLocal(t)
	var told problems
	w := transfer.NewWriter(s, transfer.WriteOptions{Now: func() int64 { return now }, Notify: told.add})
	if err := transfer.Run(context.Background(), source, w, told.add, nil); err != nil {
		t.Fatal(err)
	}
	// The store's clock is behind: the large key exists until its expiry.
	if got := w.Written(); got != (transfer.Written{Keys: 1, Expired: 1}) || len(told) > 0 {
		t.Errorf("%+v %v", got, told)
	}
	for k, v := range contents(t, s, 0) {
		if !strings.HasPrefix(v, fmt.Sprint(later)) {
			t.Errorf("%s is %s", k, v)
		}
	}
}

// TestFailures writes to a session that refuses a command.
func TestFailures(t *testing.T) {
	race.Skip(t)
	for _, refused := range []string{"RPUSH", "PEXPIREAT", "RENAMENX"} {
		from, _ := openLocal(t)
		run(t, from, "RPUSH l a", fmt.Sprintf("PEXPIREAT l %d", later), "SET s v", many("RPUSH long", 4_000, "e#"), fmt.Sprintf("PEXPIREAT long %d", later))
		to, _ := openLocal(t)
		written, told, err := move(t, from, &refusing{to, refused}, transfer.WriteOptions{})
		if err != nil || written != (transfer.Written{Keys: 1, Failed: 2}) || len(told) != 2 {
			t.Errorf("%s: %+v %v %v", refused, written, told, err)
		}
		if got := contents(t, to, 0); len(got) != 1 {
			t.Errorf("%s left %v", refused, got)
		}
	}
}

// refusing is a session that replies to one command with an error.
type refusing struct {
	keyspace.Session
	name string
}

func (r *refusing) Pipeline(ctx context.Context, calls [][][]byte) ([]resp.Value, error) {
	var replies []resp.Value
	for _, args := range calls {
		if string(args[0]) == r.name {
			args = [][]byte{[]byte("NO.SUCH.COMMAND")} // also fails inside a transaction
		}
		v, err := r.Do(ctx, args...)
		if err != nil {
			return nil, err
		}
		replies = append(replies, v)
	}
	return replies, nil
}

// TestLargeValues moves values that exceed the target's request limit. A string is written in
// parts, an element is reported, and later keys are written.
func TestLargeValues(t *testing.T) {
	race.Skip(t)
	oneGoroutine(t)
	const limit = 10 << 20
	large := bytes.Repeat([]byte("x"), 2*limit)
	key := func(name string, typ transfer.Type, expires int64) *transfer.Key {
		return &transfer.Key{Name: []byte(name), Type: typ, ExpiresAt: expires}
	}
	source := func(yield func(transfer.Part, error) bool) {
		for _, p := range []transfer.Part{
			transfer.Whole(key("text", transfer.StringType, 1<<42), rdb.String(large)),
			transfer.Whole(key("list", transfer.ListType, 0), rdb.List{[]byte("a"), large, []byte("b")}),
			transfer.Whole(key("after", transfer.StringType, 0), rdb.String("v")),
		} {
			if !yield(p, nil) {
				return
			}
		}
	}
	to := openRESTLimited(t, limit)
	var told []string
	notify := func(k *transfer.Key, err error) { told = append(told, fmt.Sprintf("%s %.30s", k.Name, err)) }
	w := transfer.NewWriter(to, transfer.WriteOptions{Notify: notify})
	if err := transfer.Run(context.Background(), source, w, notify, nil); err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprint(told, w.Written()); got != "[list ERR max request size exceeded.] {2 0 0 1}" {
		t.Error(got)
	}
	for _, want := range [][2]string{{"STRLEN text", fmt.Sprint(len(large))}, {"PEXPIRETIME text", fmt.Sprint(1 << 42)}, {"DBSIZE", "2"}} {
		if n := do(t, to, bytes.Fields([]byte(want[0]))...); fmt.Sprint(n.Int) != want[1] {
			t.Errorf("%s: %d", want[0], n.Int)
		}
	}
	var script bytes.Buffer
	if err := transfer.Run(context.Background(), source, transfer.NewScriptWriter(&script, notify), notify, nil); err != nil {
		t.Fatal(err)
	}
	if n := bytes.Count(script.Bytes(), []byte("\nAPPEND text ")); n != 2 {
		t.Errorf("a script appends %d pieces", n)
	}
}
