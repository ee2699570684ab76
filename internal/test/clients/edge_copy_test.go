package clients

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/meowdis/meowdis/engine"
	"github.com/meowdis/meowdis/keyspace"
	"github.com/meowdis/meowdis/local"
	"github.com/meowdis/meowdis/remote"
	"github.com/meowdis/meowdis/transfer"
)

// The numbers of a fixture: mixedKeys in each of mixedDatabases.
const mixedKeys = 228

var (
	mixedDatabases = []int{0, 3, 15}
	copies         = flag.Int("copies", 1, "how many fixtures are copied to a Worker")
)

// edgeCopies copies fixtures of all types, each into an object of its own, and compares the copies.
func edgeCopies(t *testing.T, url string) {
	for n := range *copies {
		t.Run(fmt.Sprint(n), func(t *testing.T) { edgeCopy(t, url, n) })
	}
}

func edgeCopy(t *testing.T, url string, n int) {
	ctx := context.Background()
	from := mixed(t, uint64(n))
	to, err := remote.OpenREST(url, fmt.Sprintf("test:copy%d:token", n), remote.Options{Timeout: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	defer to.Close()
	notify := func(k *transfer.Key, err error) { t.Errorf("key %q: %v", k.Name, err) }
	for tries := 5; ; tries-- {
		w := transfer.NewWriter(to, transfer.WriteOptions{Existing: transfer.Replace, Notify: notify})
		err := transfer.Run(ctx, transfer.FromSession(ctx, from, transfer.ReadOptions{}), w, notify, nil)
		if err == nil {
			break
		}
		// On a slow machine workerd may close a connection while a request arrives.
		if tries == 0 || !strings.Contains(err.Error(), "the connection was closed") {
			t.Fatal(err)
		}
	}
	libraries, err := transfer.ReadLibraries(ctx, from)
	if err != nil {
		t.Fatal(err)
	}
	loaded, err := transfer.WriteLibraries(ctx, to, libraries, transfer.Refuse, nil)
	if err != nil || loaded != 1 {
		t.Errorf("%d libraries loaded: %v", loaded, err)
	}
	keys, err := transfer.Diff(ctx, from, to, transfer.DiffOptions{
		Tolerance: time.Minute,
		Found:     func(d transfer.Difference) { t.Errorf("key %q differs: %s", d.Key.Name, d.What) },
		Notify:    notify, Seen: func(transfer.Part) {},
	})
	if want := int64(mixedKeys * len(mixedDatabases)); err != nil || keys != want {
		t.Fatalf("%d keys compared instead of %d: %v", keys, want, err)
	}
}

// mixed returns a session on a database in memory that holds random keys of all types and a library.
func mixed(t *testing.T, seed uint64) keyspace.Session {
	t.Helper()
	file, err := local.Open(local.Memory, local.Options{SweepEvery: -1})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { file.Close() })
	s := engine.New(file).Session()
	run := func(name string, args ...any) {
		t.Helper()
		call := [][]byte{[]byte(name)}
		for _, arg := range args {
			call = append(call, fmt.Append(nil, arg))
		}
		v, err := s.Do(context.Background(), call...)
		if err != nil || v.IsError() {
			t.Fatalf("%.200q: %s %v", call, v.Str, err)
		}
	}
	random := rand.New(rand.NewPCG(seed, 684))
	text := func(n int) []byte { return bytes.Repeat([]byte{byte('a' + random.IntN(26))}, n) }
	// Most values are small; one of eight is large.
	size := func(large int) int {
		if random.IntN(8) == 0 {
			return large
		}
		return 1 + random.IntN(20)
	}
	many := func(key string, n int, element func(i int) []any) (args []any) {
		args = []any{key}
		for i := range n {
			args = append(args, element(i)...)
		}
		return args
	}
	run("FUNCTION", "LOAD", "#!lua name=mixed\nredis.register_function('meow', function() return 'meow' end)")
	for _, db := range mixedDatabases {
		run("SELECT", db)
		for i := range mixedKeys {
			key := fmt.Sprintf("mixed:%d", i)
			switch i % 8 {
			case 0:
				run("SET", key, text(size(40_000)))
			case 1:
				run("RPUSH", many(key, size(600), func(i int) []any { return []any{text(i % 40)} })...)
			case 2:
				run("HSET", many(key, size(600), func(i int) []any { return []any{i, text(20)} })...)
			case 3:
				run("SADD", many(key, size(600), func(i int) []any { return []any{i} })...)
			case 4:
				run("ZADD", many(key, size(600), func(i int) []any { return []any{random.Float64(), i} })...)
			case 5:
				for i := range size(150) {
					run("XADD", key, fmt.Sprintf("%d-1", i+1), "f", text(9), "g", i)
				}
				run("XGROUP", "CREATE", key, "readers", "0")
				run("XREADGROUP", "GROUP", "readers", "tom", "COUNT", "5", "STREAMS", key, ">")
			case 6:
				for i := range size(60) {
					run("VADD", key, "VALUES", "3", random.Float32(), random.Float32(), random.Float32(), i, "SETATTR", `{"n":1}`)
				}
			case 7:
				run("JSON.SET", key, "$", fmt.Sprintf(`{"cats":[%d,2.5,{"name":"%s"}]}`, i, text(size(3000))))
			}
			if random.IntN(3) == 0 {
				run("EXPIRE", key, "100000")
			}
		}
	}
	run("SELECT", 0)
	return s
}
