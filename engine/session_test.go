package engine_test

import (
	"context"
	"errors"
	"testing"

	"github.com/meowdis/meowdis/engine"
	"github.com/meowdis/meowdis/internal/test/corpus"
	"github.com/meowdis/meowdis/internal/test/storetest"
	"github.com/meowdis/meowdis/local"
	"github.com/meowdis/meowdis/redis/resp"
	"github.com/meowdis/meowdis/store"
)

func words(t *testing.T, lines ...string) [][][]byte {
	t.Helper()
	calls := make([][][]byte, len(lines))
	for i, line := range lines {
		var err error
		if calls[i], err = resp.SplitLine(line); err != nil {
			t.Fatal(err)
		}
	}
	return calls
}

// visits counts the calls of a store, and fails on request.
type visits struct {
	engine.Store
	apply   []int // batches of each call
	failing error
}

func (v *visits) Apply(ctx context.Context, batches []store.Batch) ([]store.Result, error) {
	v.apply = append(v.apply, len(batches))
	if v.failing != nil {
		return nil, v.failing
	}
	return v.Store.Apply(ctx, batches)
}

// TestPipeline runs commands of every kind in one call: the replies are in order, each command sees the writes
// before it, and consecutive commands share a call of the store.
func TestPipeline(t *testing.T) {
	s := &visits{Store: openHostile(t)}
	session := storetest.NewEngine(s, storetest.NewClock()).Session()
	steps := []struct{ line, want string }{
		{"SET a 1", "OK"},
		{"INCR a", "(integer) 2"},
		{"SET a 3 NX", "(nil)"},
		{"GET a", `"2"`},
		{"NOPE", "(error) ERR unknown command 'NOPE', with args beginning with: "},
		{"INCRBY a x", "(error) ERR value is not an integer or out of range"},
		{"INCRBY a 9223372036854775807", "(error) ERR increment or decrement would overflow"},
		{"SET a 4 XX GET", `"2"`},
		{"SELECT 1", "OK"},
		{"GET a", "(nil)"},
		{"SET a other", "OK"},
		{"SELECT 0", "OK"},
		{"MULTI", "OK"},
		{"INCR a", "QUEUED"},
		{"EXEC", "1) (integer) 5"},
		{"GET a", `"5"`},
	}
	var lines []string
	for _, step := range steps {
		lines = append(lines, step.line)
	}
	replies, err := session.Pipeline(context.Background(), words(t, lines...))
	if err != nil {
		t.Fatal(err)
	}
	for i, step := range steps {
		if got := corpus.Show(replies[i]); got != step.want {
			t.Errorf("%s: %s, want %s", step.line, got, step.want)
		}
	}
	if s.apply[0] != 5 {
		t.Errorf("the first visits were of %v batches", s.apply)
	}
	if replies, err := session.Pipeline(context.Background(), nil); err != nil || len(replies) != 0 {
		t.Errorf("an empty pipeline: %v, %v", replies, err)
	}
}

// TestStoreFailure returns no reply: it is unknown which commands took effect.
func TestStoreFailure(t *testing.T) {
	s := &visits{Store: openHostile(t)}
	session := storetest.NewEngine(s, storetest.NewClock()).Session()
	ctx := context.Background()
	down := errors.New("the store is down")
	for _, lines := range [][]string{{"SET a 1"}, {"GET a"}, {"SET a 1 NX GET"}, {"WATCH a"}, {"MULTI", "SET a 1", "EXEC"}, {"SET a 1", "SELECT 1"}} {
		s.failing = down
		if replies, err := session.Pipeline(ctx, words(t, lines...)); !errors.Is(err, down) {
			t.Errorf("%q: %v, %v", lines, replies, err)
		}
		s.failing = nil
		if v, err := session.Do(ctx, []byte("PING")); err != nil || corpus.Show(v) != "PONG" {
			t.Errorf("after %q: %v, %v", lines, v, err)
		}
	}
}

// transacted counts the transactions of a store.
type transacted struct {
	*local.Store
	writing, reading int
}

func (s *transacted) Transact(ctx context.Context, readOnly bool, fn func(engine.Run) error) error {
	if readOnly {
		s.reading++
	} else {
		s.writing++
	}
	return s.Store.Transact(ctx, readOnly, fn)
}

// TestTransactionsAreHeld uses the local store's own transactions, and runs read-only ones next to the writer.
func TestTransactionsAreHeld(t *testing.T) {
	inner, err := local.Open(t.TempDir()+"/db.sqlite", local.Options{SweepEvery: -1})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { inner.Close() })
	storetest.CheckAtEnd(t, inner)
	s := &transacted{Store: inner}
	c := storetest.NewClient(t, storetest.NewEngine(s, storetest.NewClock()))
	c.Want("SET a 1 NX GET", "(nil)")
	c.Want("WATCH a", "OK")
	transaction(c, []string{"GET a", "PING"})
	transaction(c, []string{"GET a", "INCR a"})
	if s.writing != 2 || s.reading != 1 {
		t.Errorf("%d transactions that write and %d that read", s.writing, s.reading)
	}
}

// TestErrorsOnly leaves the statements out that only replies need: errors, values and what scripts see stay exact.
func TestErrorsOnly(t *testing.T) {
	file, err := local.Open(local.Memory, local.Options{SweepEvery: -1})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { file.Close() })
	calls := words(t,
		"SET n 41", "INCR n", "INCR new", "RPUSH list a b", "LPUSH list c",
		"INCR list", "RPUSH n a", "SET text x", "INCR text", "SET most 9223372036854775807", "INCR most",
		`EVAL "return redis.call('INCR', 'n') + redis.call('RPUSH', 'list', 'd')" 0`,
		"GET n", "GET new", "LRANGE list 0 -1",
	)
	want := []string{
		"OK", "(integer) 0", "(integer) 0", "(integer) 0", "(integer) 0",
		"(error) WRONGTYPE Operation against a key holding the wrong kind of value",
		"(error) WRONGTYPE Operation against a key holding the wrong kind of value",
		"OK", "(error) ERR value is not an integer or out of range",
		"OK", "(error) ERR increment or decrement would overflow",
		"(integer) 47", `"43"`, `"1"`, "1) \"c\"\n2) \"a\"\n3) \"b\"\n4) \"d\"",
	}
	replies, err := engine.New(file, engine.WithErrorsOnly()).Session().Pipeline(t.Context(), calls)
	if err != nil {
		t.Fatal(err)
	}
	for i := range calls {
		if got := corpus.Show(replies[i]); got != want[i] {
			t.Errorf("%s: %s, want %s", calls[i], got, want[i])
		}
	}
	storetest.Check(t, file)
}
