package engine_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/meowdis/meowdis/engine"
	"github.com/meowdis/meowdis/redis/resp"
	"github.com/meowdis/meowdis/store"
)

// slow is a store whose transactions and batches exceed the time limit once a statement has the argument
// "slow". It counts its commits.
type slow struct {
	committed int
	limit     time.Duration
}

var late = &store.TooLong{Limit: time.Second}

func (s *slow) SetTimeLimit(d time.Duration) { s.limit = d }

func (s *slow) run(b store.Batch) (store.Result, error) {
	for _, stmt := range b.Stmts {
		for _, arg := range stmt.Args {
			if string(arg.Bytes()) == "slow" {
				return store.Result{}, late
			}
		}
	}
	rows := make([][]store.Row, len(b.Stmts))
	return store.Result{Rows: rows}, nil
}

func (s *slow) Apply(_ context.Context, batches []store.Batch) ([]store.Result, error) {
	results := make([]store.Result, len(batches))
	for i, b := range batches {
		var err error
		if results[i], err = s.run(b); err != nil {
			results[i] = late.Result()
		}
	}
	return results, nil
}

func (s *slow) Transact(_ context.Context, _ bool, fn func(engine.Run) error) error {
	n := 0
	err := fn(func(b store.Batch) (store.Result, error) {
		n++
		return s.run(b)
	})
	if err == nil {
		s.committed += n
	}
	return err
}

// TestTooLong replies to the call that exceeds the time limit with an error, and runs the other calls: in
// pipelines, in bulks, and in scripts up to it.
func TestTooLong(t *testing.T) {
	const says = "ERR time limit of 1s exceeded; nothing was changed"
	ctx := context.Background()
	get := func(key string) [][]byte { return [][]byte{[]byte("GET"), []byte(key)} }
	isLate := func(v resp.Value) bool { return v.IsError() && string(v.Str) == says }
	for _, n := range []int{1, 3, 3000} {
		s := &slow{}
		session := engine.New(s).Session()
		calls := make([][][]byte, n)
		for i := range calls {
			calls[i] = get(fmt.Sprint("k", i))
		}
		calls[n/2], calls[n-1] = get("slow"), get("slow")
		replies, err := session.Pipeline(ctx, calls)
		if err != nil {
			t.Fatal(err)
		}
		for i, v := range replies {
			if isLate(v) != (i == n/2 || i == n-1) {
				t.Fatalf("reply %d of %d: %s", i, n, v.Str)
			}
		}
		if n >= 1024 && s.committed != n-2 {
			t.Errorf("%d of %d calls were committed", s.committed, n)
		}
		s.committed = 0
		replies, err = session.PipelineUntilError(ctx, calls)
		if err != nil || len(replies) != n/2+1 || !isLate(replies[n/2]) || s.committed != n/2 {
			t.Errorf("a script of %d: %d replies, %d committed, %v", n, len(replies), s.committed, err)
		}
	}
	s := &slow{}
	session := engine.New(s).Session()
	for _, args := range [][][]byte{{[]byte("MULTI")}, get("k"), get("slow")} {
		session.Do(ctx, args...)
	}
	if v, err := session.Do(ctx, []byte("EXEC")); err != nil || !isLate(v) || s.committed != 0 {
		t.Errorf("EXEC: %s, %v", v.Str, err)
	}
	if v, err := session.Do(ctx, []byte("INCRBYFLOAT"), []byte("slow"), []byte("1")); err != nil || !isLate(v) {
		t.Errorf("INCRBYFLOAT: %s, %v", v.Str, err)
	}
	if v, err := session.Do(ctx, []byte("WATCH"), []byte("slow")); err != nil || !isLate(v) {
		t.Errorf("WATCH: %s, %v", v.Str, err)
	}
	engine.New(s).SetTimeLimit(time.Minute)
	if s.limit != time.Minute {
		t.Errorf("the limit is %v", s.limit)
	}
}
