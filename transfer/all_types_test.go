package transfer_test

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/meowdis/meowdis/engine"
	"github.com/meowdis/meowdis/internal/test/storetest"
	"github.com/meowdis/meowdis/keyspace"
	"github.com/meowdis/meowdis/local"
	"github.com/meowdis/meowdis/redis/rdb"
	"github.com/meowdis/meowdis/redis/resp"
	"github.com/meowdis/meowdis/redis/xxh3"
	"github.com/meowdis/meowdis/remote"
	"github.com/meowdis/meowdis/server"
	"github.com/meowdis/meowdis/transfer"
)

// openLocal returns a session on an empty in-memory database, and its engine.
func openLocal(t testing.TB) (*engine.Session, *engine.Engine) {
	t.Helper()
	file, err := local.Open(local.Memory, local.Options{SweepEvery: -1})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { file.Close() })
	storetest.CheckAtEnd(t, file)
	e := engine.New(file)
	return e.Session(), e
}

// openREST returns a session on an empty database through a REST endpoint.
func openREST(t testing.TB) keyspace.Session { return openRESTLimited(t, 0) }

// openRESTLimited limits the requests of openREST to limit bytes; 0 for the default.
func openRESTLimited(t testing.TB, limit int64) keyspace.Session {
	t.Helper()
	_, e := openLocal(t)
	web := httptest.NewServer(server.New(server.Config{Engine: e, Token: "purr", MaxRequest: limit}).REST())
	t.Cleanup(web.Close)
	s, err := remote.OpenREST(web.URL, "purr", remote.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func openRedis(t testing.TB, socket string) keyspace.Session {
	t.Helper()
	s, err := remote.OpenRedis(context.Background(), "unix://"+socket, false, remote.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func do(t testing.TB, s keyspace.Session, args ...[]byte) resp.Value {
	t.Helper()
	v, err := s.Do(context.Background(), args...)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// run runs lines of commands. None may fail.
func run(t testing.TB, s keyspace.Session, lines ...string) {
	t.Helper()
	for _, line := range lines {
		args, err := resp.SplitLine(line)
		if err != nil {
			t.Fatal(err)
		}
		if v := do(t, s, args...); v.IsError() {
			t.Fatalf("%.80s: %s", line, v.Str)
		}
	}
}

// many returns a command with n groups of arguments. format formats a group's number.
func many(command string, n int, format string) string {
	var b strings.Builder
	b.WriteString(command)
	for i := range n {
		b.WriteString(" " + strings.ReplaceAll(format, "#", fmt.Sprint(i)))
	}
	return b.String()
}

// later is a time after the end of all tests, in Unix ms.
var later = time.Now().Add(time.Hour).UnixMilli()

// long returns the number of elements of a long key: with -short, for the race detector, a
// quarter of n, which is still several pages.
func long(n int) int {
	if testing.Short() {
		return n / 4
	}
	return n
}

// oneGoroutine skips, with -short, a test whose code starts no goroutine.
func oneGoroutine(t *testing.T) {
	if testing.Short() {
		t.Skip("-short is for the race detector, which sees these goroutines in other tests")
	}
}

// sample returns commands that create keys of every type, size and encoding of Redis 7.0.
func sample() []string {
	lines := []string{
		"SET s hello", `SET "" ""`, `SET "\x00\xff\r\n key" "\x00\xff\r\n"`, fmt.Sprintf("SET s:ttl v PXAT %d", later),
		"SET big " + strings.Repeat("0123456789abcdef", 1<<16), fmt.Sprintf("SETRANGE huge %d tail", long(9_000_000)),
		`RPUSH l a "" "\x00" a b 1 2`, many("RPUSH l:long", long(6_000), "element:#"), fmt.Sprintf("PEXPIREAT l %d", later+1),
		`SADD set a b "\xff\xfe" 1 2 3`, many("SADD set:long", long(6_000), "member:#"), many("SADD set:ints", 300, "#"),
		`HSET h f v "\x00" "\xff" "" ""`, many("HSET h:long", long(6_000), "field# value#"), fmt.Sprintf("PEXPIREAT h %d", later+2),
		"ZADD z 1 a 2.5 b -inf c +inf d 0.1 e 1e300 f -1e-300 g 0.30000000000000004 h", many("ZADD z:long", long(6_000), "#.1 m#"),
		fmt.Sprintf("PEXPIREAT z:long %d", later+3), "PFADD hll a b c", "GEOADD geo 13.361389 38.115556 palermo",
		"XADD x 1-1 a b", "XADD x 5-5 c d e f", "XDEL x 1-1",
		"XADD x:emptied 7-7 a b", "XDEL x:emptied 7-7", "XGROUP CREATE x:new g $ MKSTREAM",
		"SELECT 3", "SET in-three 3", "SELECT 0",
	}
	for i := range long(3000) {
		lines = append(lines, fmt.Sprintf("XADD x:long %d-%d a %d b text%d", 1000+i, i%3, i*i, i))
	}
	for i := range 50 {
		lines = append(lines, fmt.Sprintf("XADD x:groups %d-1 a %d", 100+i, i))
	}
	return append(lines, "XGROUP CREATE x:groups g 0", "XGROUP CREATE x:groups h 110-1 ENTRIESREAD 5", "XGROUP CREATE x:groups empty $",
		"XGROUP CREATECONSUMER x:groups g idle", "XREADGROUP GROUP g c1 COUNT 20 STREAMS x:groups >",
		"XREADGROUP GROUP g c2 COUNT 7 STREAMS x:groups >", "XREADGROUP GROUP h \"\" COUNT 3 STREAMS x:groups >",
		"XCLAIM x:groups g c2 0 101-1 103-1 RETRYCOUNT 77", "XACK x:groups g 100-1", "XDEL x:groups 104-1 149-1",
		"XGROUP CREATE x:long g 0", fmt.Sprintf("XREADGROUP GROUP g c COUNT %d STREAMS x:long >", long(1500)))
}

// contents returns all keys of a session as DUMP payloads, without using the tested code.
func contents(t testing.TB, s keyspace.Session, databases ...int) map[string]string {
	t.Helper()
	all := map[string]string{}
	for _, db := range databases {
		run(t, s, fmt.Sprint("SELECT ", db))
		for _, key := range do(t, s, []byte("KEYS"), []byte("*")).Elems {
			expires := do(t, s, []byte("PEXPIRETIME"), key.Str).Int
			all[fmt.Sprintf("%d:%q", db, key.Str)] = fmt.Sprintf("%d %s", expires, valueText(t, s, key.Str))
		}
	}
	run(t, s, "SELECT 0")
	return all
}

func valueText(t testing.TB, s keyspace.Session, key []byte) string {
	if string(do(t, s, []byte("TYPE"), key).Str) == string(transfer.JSONType) {
		return string(do(t, s, []byte("JSON.GET"), key).Str)
	}
	if string(do(t, s, []byte("TYPE"), key).Str) == string(transfer.ArrayType) {
		next := do(t, s, []byte("ARNEXT"), key)
		all := do(t, s, []byte("ARSCAN"), key, []byte("0"), []byte("18446744073709551614"))
		return fmt.Sprintf("%d%s %s", next.Int, next.Str, resp.AppendCSV(nil, resp.Downgrade(all), true))
	}
	if string(do(t, s, []byte("TYPE"), key).Str) == string(transfer.VectorSetType) {
		return vectorText(t, s, key)
	}
	payload := do(t, s, []byte("DUMP"), key)
	v, err := rdb.Restore(payload.Str, nil)
	if err != nil {
		t.Fatalf("%q: %v (%.100s)", key, err, payload.Str)
	}
	switch v := v.(type) {
	case rdb.String:
		if len(v) > 100 {
			return fmt.Sprintf("%d bytes, %x", len(v), xxh3.Hash(v))
		}
	case rdb.Set:
		slices.SortFunc(v, bytes.Compare)
	case rdb.Hash:
		slices.SortFunc(v, func(a, b rdb.Field) int { return bytes.Compare(a.Name, b.Name) })
	case rdb.ZSet:
		slices.SortFunc(v, func(a, b rdb.Member) int { return bytes.Compare(a.Name, b.Name) })
	case *rdb.Stream:
		slices.SortFunc(v.Groups, func(a, b rdb.Group) int { return bytes.Compare(a.Name, b.Name) })
		for _, g := range v.Groups {
			slices.SortFunc(g.Consumers, func(a, b rdb.Consumer) int { return cmp.Compare(string(a.Name), string(b.Name)) })
			for i := range g.Consumers {
				g.Consumers[i].SeenAt, g.Consumers[i].ActiveAt = 0, 0
				for j := range g.Consumers[i].Pending {
					// Reported as an age, in ms.
					g.Consumers[i].Pending[j].DeliveredAt /= 10_000
				}
			}
		}
	}
	return fmt.Sprintf("%T %q", v, v)
}

// same fails the test for every key that differs.
func same(t testing.TB, got, want map[string]string) {
	t.Helper()
	for k, v := range want {
		if g := got[k]; g != v {
			t.Errorf("%s is\n%.300s\nwant\n%.300s", k, g, v)
		}
	}
	for k := range got {
		if _, ok := want[k]; !ok {
			t.Errorf("%s is there, and should not be", k)
		}
	}
}

// problems collects the calls of a Notify.
type problems []string

func (p *problems) add(k *transfer.Key, err error) { *p = append(*p, fmt.Sprintf("%s: %v", k, err)) }
