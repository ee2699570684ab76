package engine_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/meowdis/meowdis/engine"
	"github.com/meowdis/meowdis/internal/test/corpus"
	"github.com/meowdis/meowdis/local"
	"github.com/meowdis/meowdis/redis/resp"
	"github.com/meowdis/meowdis/store"
)

func inMemory(t *testing.T) *engine.Engine {
	t.Helper()
	s, err := local.Open(local.Memory, local.Options{SweepEvery: -1})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return engine.New(s)
}

func split(t *testing.T, lines []string) (calls [][][]byte) {
	t.Helper()
	for _, line := range lines {
		args, err := resp.SplitLine(line)
		if err != nil {
			t.Fatal(err)
		}
		calls = append(calls, args)
	}
	return calls
}

// TestStream sends replies in parts of any size: they are the same as one by one, in order, and the budget is
// empty in the end.
func TestStream(t *testing.T) {
	lines := strings.Split(mixture, "\n")
	for len(lines) < 3000 { // the last one is a bulk
		calls := split(t, lines)
		var want []string
		one := inMemory(t).Session()
		for _, args := range calls {
			v, err := one.Do(context.Background(), args...)
			if err != nil {
				t.Fatal(err)
			}
			want = append(want, corpus.Show(v))
		}
		for _, piece := range []int64{1, 500, 5000, 1 << 30} {
			pool := store.NewPool(1 << 30)
			s := inMemory(t).Session()
			s.Bound(store.NewBudget(pool, 1<<30, piece))
			var got []string
			pieces := 0
			err := s.Stream(context.Background(), calls, func(replies []resp.Value) error {
				pieces++
				for _, v := range replies {
					got = append(got, corpus.Show(v))
				}
				return nil
			})
			if err != nil || !slices.Equal(got, want) {
				t.Errorf("%d calls, pieces of %d: %v, %d replies, want %d", len(calls), piece, err, len(got), len(want))
			}
			if piece == 1 && pieces < len(calls)/3 || piece == 1<<30 && pieces != 1 {
				t.Errorf("%d calls, pieces of %d: %d pieces", len(calls), piece, pieces)
			}
			if s.Release(); pool.Used() != 0 {
				t.Errorf("%d bytes are still counted", pool.Used())
			}
		}
		lines = append(append(lines, lines...), lines...)
	}
}

// TestStreamEnds runs no command after send has failed.
func TestStreamEnds(t *testing.T) {
	s := inMemory(t).Session()
	s.Bound(store.NewBudget(nil, 1<<30, 1))
	gone := errors.New("gone")
	err := s.Stream(context.Background(), split(t, []string{"SET a 1", "GET a", "SET b 1", "GET b", "SET c 1"}), func([]resp.Value) error { return gone })
	if !errors.Is(err, gone) {
		t.Errorf("%v", err)
	}
	s.Bound(nil)
	if v, err := s.Do(context.Background(), []byte("EXISTS"), []byte("a"), []byte("c")); err != nil || v.Int != 1 {
		t.Errorf("%s, %v", corpus.Show(v), err)
	}
}

const (
	tooMuch = "(error) ERR request memory limit exceeded (serve --max-request-memory): ask for less at a time"
	noRoom  = "(error) OOM server memory limit reached (serve --max-memory); try again later"
)

// TestTooMuch refuses results above the limit before they are in memory, for every kind of call, without a
// trace.
func TestTooMuch(t *testing.T) {
	e := inMemory(t)
	free := e.Session()
	for _, line := range []string{
		"SET s " + strings.Repeat("s", 100_000), "SET long " + strings.Repeat("l", 300_000), "SETBIT sparse 8000000 1", "SADD set a b c",
		"RPUSH list 1 2 3", "HSET hash f " + strings.Repeat("h", 100_000), "SET n 1", "MSET w1 " + strings.Repeat("w", 100_000) + " w2 " + strings.Repeat("w", 100_000) + " w3 " + strings.Repeat("w", 100_000),
	} {
		if _, err := free.Do(context.Background(), split(t, []string{line})[0]...); err != nil {
			t.Fatal(err)
		}
	}
	s := e.Session()
	s.Bound(store.NewBudget(nil, 250_000, 0))
	check := func(line, want string) {
		t.Helper()
		v, err := s.Do(context.Background(), split(t, []string{line})[0]...)
		if err != nil {
			t.Fatal(err)
		}
		if got := corpus.Show(v); got != want && !(want == "" && !v.IsError()) {
			t.Errorf("%.100s: %.200s, want %.100s", line, got, want)
		}
		s.Release()
	}
	for _, line := range []string{
		"MGET s s s", "GET long", "GETRANGE long 0 -1", "GET sparse", "GETDEL sparse", "GETSET sparse x", "SET sparse x GET", "GETEX sparse EX 10", "MGET sparse",
		"GETRANGE sparse 0 -1", "DUMP sparse", "SRANDMEMBER set -1000000", "HRANDFIELD hash -1000000 WITHVALUES",
		"SORT list" + strings.Repeat(" GET #", 1000), "SORT list GET w*",
	} {
		check(line, tooMuch)
	}
	check("GET s", "")
	check("GETRANGE sparse 0 10", "")
	check("MGET s s", "")
	check("STRLEN sparse", "(integer) 1000001")
	check("TTL sparse", "(integer) -1")
}

// TestTooMuchTogether counts the commands of a pipeline and of a transaction together: each command above the
// limit is refused alone.
func TestTooMuchTogether(t *testing.T) {
	e := inMemory(t)
	s := e.Session()
	calls := split(t, []string{"SET s " + strings.Repeat("s", 100_000), "GET s", "GET s", "SET a 1", "GETDEL s", "GET s", "INCR a"})
	for _, multi := range []bool{false, true} {
		s.Bound(store.NewBudget(nil, 250_000, 0))
		all := calls
		if multi {
			all = slices.Concat(split(t, []string{"MULTI"}), calls, split(t, []string{"EXEC"}))
		}
		replies, err := s.Pipeline(context.Background(), all)
		if err != nil {
			t.Fatal(err)
		}
		if multi {
			replies = replies[len(replies)-1].Elems
		}
		var got []string
		for _, v := range replies {
			got = append(got, corpus.Show(v)[:min(60, len(corpus.Show(v)))])
		}
		x := `"` + strings.Repeat("s", 59)
		if want := []string{"OK", x, x, "OK", tooMuch[:60], tooMuch[:60], "(integer) 2"}; !slices.Equal(got, want) {
			t.Errorf("multi %t: %q", multi, got)
		}
		s.Release()
	}
}

// TestPool refuses requests that exceed the pool with the other requests, but never small ones.
func TestPool(t *testing.T) {
	e := inMemory(t)
	pool := store.NewPool(1 << 20)
	var sessions []*engine.Session
	for range 4 {
		s := e.Session()
		s.Bound(store.NewBudget(pool, 1<<30, 0))
		sessions = append(sessions, s)
	}
	do := func(s *engine.Session, line string) string {
		t.Helper()
		v, err := s.Do(context.Background(), split(t, []string{line})[0]...)
		if err != nil {
			t.Fatal(err)
		}
		return corpus.Show(v)
	}
	do(sessions[0], "SET s "+strings.Repeat("s", 400_000))
	do(sessions[0], "SET small x")
	for i, want := range []string{`"s`, `"s`, noRoom, noRoom} {
		if got := do(sessions[i], "GET s"); !strings.HasPrefix(got, want) {
			t.Errorf("session %d: %.200s", i, got)
		}
	}
	if got := do(sessions[3], "GET small"); got != `"x"` {
		t.Error(got)
	}
	sessions[0].Release()
	if got := do(sessions[3], "GET s"); !strings.HasPrefix(got, `"s`) {
		t.Errorf("%.200s", got)
	}
	for _, s := range sessions {
		s.Release()
	}
	if pool.Used() != 0 {
		t.Errorf("%d bytes are still counted", pool.Used())
	}
}

// TestQueueIsBounded refuses a command that MULTI cannot queue, and then EXEC.
func TestQueueIsBounded(t *testing.T) {
	s := inMemory(t).Session()
	pool := store.NewPool(1 << 30)
	s.Bound(store.NewBudget(pool, 250_000, 0))
	replies, err := s.Pipeline(context.Background(), split(t, []string{
		"MULTI", "SET a " + strings.Repeat("a", 200_000), "SET b " + strings.Repeat("b", 200_000), "SET c 1", "EXEC", "EXISTS a b c",
	}))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, v := range replies {
		got = append(got, corpus.Show(v))
	}
	want := []string{"OK", "QUEUED", tooMuch, "QUEUED", "(error) EXECABORT Transaction discarded because of previous errors.", "(integer) 0"}
	if !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
	if s.Release(); pool.Used() != 0 {
		t.Errorf("%d bytes are still counted", pool.Used())
	}
}
