package engine_test

import (
	"context"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/meowdis/meowdis/engine"
	"github.com/meowdis/meowdis/internal/test/storetest"
	"github.com/meowdis/meowdis/store"
)

// counting is a store that counts its calls.
type counting struct {
	engine.Store
	calls atomic.Int64
}

func (s *counting) Apply(ctx context.Context, batches []store.Batch) ([]store.Result, error) {
	s.calls.Add(1)
	return s.Store.Apply(ctx, batches)
}

// TestCallsToTheStore counts the calls of a store: a remote store takes a round trip for each.
func TestCallsToTheStore(t *testing.T) {
	s := &counting{Store: openHostile(t)}
	e := storetest.NewEngine(s, storetest.NewClock())
	session := e.Session()
	for _, test := range []struct {
		lines string // a pipeline
		want  int64
	}{
		{"SET a 1", 1}, {"GET a", 1}, {"INCR a", 1}, {"LPUSH l a b c", 1}, {"LPOP l", 1}, {"BLPOP l 0", 1}, {"DEL l", 1}, {"PING", 0},
		{"SET a 1; GET a; INCR b; HSET h f v; DEL h; GET b", 1},
		{"MULTI; SET a 1; INCR a; GET a; EXEC", 1},
		{"WATCH a", 1}, {"MULTI; SET a 2; EXEC", 1},
		{"INCRBYFLOAT a 1.5", 2}, {"SET a 2 NX GET", 2}, {"SETRANGE a 2 x", 1}, {"MSET b 1 c 1; LCS b c", 1},
		{"MULTI; INCRBYFLOAT n 1; INCRBYFLOAT n 1; EXEC", 3},
		{"EVAL 'return redis.call(\"GET\", KEYS[1])' 1 a", 2},
		{"EVAL 'local n = redis.call(\"GET\", KEYS[1]) redis.call(\"SET\", KEYS[2], n) return n' 2 a b", 3},
	} {
		before := s.calls.Load()
		var calls [][][]byte
		for _, line := range strings.Split(test.lines, "; ") {
			calls = append(calls, words(t, line)...)
		}
		replies, err := session.Pipeline(context.Background(), calls)
		if err != nil {
			t.Fatal(err)
		}
		for _, v := range replies {
			if v.HasError() {
				t.Errorf("%s: %s", test.lines, v.Str)
			}
		}
		if got := s.calls.Load() - before; got != test.want {
			t.Errorf("%s: %d calls, want %d", test.lines, got, test.want)
		}
	}
}

// TestNoContentionWithin runs the same call for one key by 200 clients of a process: no call is built twice.
func TestNoContentionWithin(t *testing.T) {
	const clients = 200
	const plusOne = `redis.call("SET", K, redis.call("GET", K) + 1)`
	for _, test := range []struct {
		line, read, want string
		each             int64
	}{
		{"INCR n", "GET n", `"200"`, 1},
		{"INCRBYFLOAT n 1", "GET n", `"200"`, 2},
		{"HINCRBYFLOAT h n 1", "HGET h n", `"200"`, 2},
		{"SET n {i} NX GET", "GET n", `"0"`, 2},
		{"EVAL '" + strings.ReplaceAll(plusOne, "K", "KEYS[1]") + "' 1 n", "GET n", `"200"`, 3},
		// One that does not say which key it uses.
		{"EVAL '" + strings.ReplaceAll(plusOne, "K", `"n"`) + "' 0", "GET n", `"200"`, 3},
	} {
		s := &counting{Store: openHostile(t)}
		e := storetest.NewEngine(s, storetest.NewClock())
		storetest.NewClient(t, e).Want("SET n 0", "OK")
		s.calls.Store(0)
		var all sync.WaitGroup
		for i := range clients {
			all.Go(func() {
				line := strings.ReplaceAll(test.line, "{i}", strconv.Itoa(i))
				if got := storetest.NewClient(t, e).Do(line); strings.HasPrefix(got, "(error)") {
					t.Errorf("%s: %s", line, got)
				}
			})
		}
		all.Wait()
		if got := s.calls.Load(); got != clients*test.each {
			t.Errorf("%s: %d calls of the store, want %d", test.line, got, clients*test.each)
		}
		storetest.NewClient(t, e).Want(test.read, test.want)
	}
}

// TestMixedWithin runs calls of all kinds for one key: calls of a single batch wait for calls that read first.
func TestMixedWithin(t *testing.T) {
	s := &counting{Store: openHostile(t)}
	e := storetest.NewEngine(s, storetest.NewClock())
	storetest.NewClient(t, e).Want("SET n 0", "OK")
	s.calls.Store(0)
	var all sync.WaitGroup
	for i := range 90 {
		all.Go(func() {
			c := storetest.NewClient(t, e)
			switch i % 3 {
			case 0:
				c.Do("INCR n")
			case 1:
				c.Do("INCRBYFLOAT n 1")
			default:
				c.Want("MULTI", "OK")
				c.Want("INCR n", "QUEUED")
				c.Want("SET other 1", "QUEUED")
				c.Do("EXEC")
			}
		})
	}
	all.Wait()
	if got := s.calls.Load(); got != 30+60+30 {
		t.Errorf("%d calls of the store", got)
	}
	storetest.NewClient(t, e).Want("GET n", `"90"`)
}
