package local_test

import (
	"errors"
	"testing"
	"time"

	"github.com/meowdis/meowdis/local"
	"github.com/meowdis/meowdis/store"
)

func part(readOnly bool, sql string) *store.Part {
	return &store.Part{Batches: []store.Batch{{ReadOnly: readOnly, Stmts: []store.Stmt{{SQL: sql}}}}}
}

// apply submits parts until all have begun, and waits until they are done.
func apply(s *local.Store, parts ...*store.Part) {
	done := make(chan int, len(parts))
	for rest := parts; len(rest) > 0; {
		rest = rest[s.ApplyGroup(rest, func(i int) { done <- i }):]
	}
	for range parts {
		<-done
	}
}

// number returns the only value of a part's result.
func number(p *store.Part) int64 { return p.Results[0].Rows[0][0][0].Int() }

// TestApplyGroupReads: a group's short reads get their rows, and a long read is handed back.
func TestApplyGroupReads(t *testing.T) {
	for _, path := range []string{local.Memory, t.TempDir() + "/db.sqlite"} {
		s := open(t, path, local.Options{IsolateSlowReads: true})
		one, two := part(true, "SELECT 1"), part(true, "SELECT 2")
		long, bad := part(true, endless), part(true, "SELECT no_such_function()")
		apply(s, one, long, bad, two)
		if one.Err != nil || number(one) != 1 || two.Err != nil || number(two) != 2 {
			t.Errorf("the short ones: %+v, %+v", one, two)
		}
		if !errors.Is(long.Err, store.ErrLong) || long.Results != nil {
			t.Errorf("the long one: %+v", long)
		}
		if bad.Err == nil || errors.Is(bad.Err, store.ErrLong) {
			t.Errorf("the bad one: %+v", bad)
		}
	}
}

// TestLargeValues gives back what reads a large value: SQLite does that in one step.
func TestLargeValues(t *testing.T) {
	s := open(t, t.TempDir()+"/db.sqlite", local.Options{})
	apply(s, part(false, "CREATE TABLE t(small, large)"), part(false, "INSERT INTO t VALUES(x'01', zeroblob(2000000))"))
	small, large := part(true, "SELECT length(small) FROM t"), part(true, "SELECT large FROM t")
	size := part(true, "SELECT length(large) FROM t") // which does not read it
	apply(s, small, large, size)
	if small.Err != nil || number(small) != 1 || size.Err != nil || number(size) != 2000000 {
		t.Errorf("the small ones: %+v, %+v", small, size)
	}
	if !errors.Is(large.Err, store.ErrLong) || large.Results != nil {
		t.Errorf("the large one: %v", large.Err)
	}
	results, err := s.Apply(t.Context(), large.Batches)
	if err != nil || len(results[0].Rows[0][0][0].Bytes()) != 2000000 {
		t.Errorf("by itself, the large one is read: %v", err)
	}
	change := part(false, "UPDATE t SET small = substr(large, 1, 2)")
	if apply(s, change); change.Err != nil {
		t.Error(change.Err)
	}
}

// TestApplyGroupWrites: one part fails, one takes too long, and all others commit.
func TestApplyGroupWrites(t *testing.T) {
	s := open(t, t.TempDir()+"/db.sqlite", local.Options{IsolateSlowReads: true})
	s.SetTimeLimit(100 * time.Millisecond)
	s.LimitSteps()
	apply(s, part(false, "CREATE TABLE t(n UNIQUE)"))
	one, again := part(false, "INSERT INTO t VALUES(1)"), part(false, "INSERT INTO t VALUES(1)")
	bad := part(false, "INSERT INTO nowhere VALUES(1)")
	late, two := part(false, endless), part(false, "INSERT INTO t VALUES(2)")
	apply(s, one, bad, again, late, two)
	if one.Err != nil || two.Err != nil || bad.Err == nil {
		t.Errorf("%v, %v, %v", one.Err, two.Err, bad.Err)
	}
	if again.Err != nil || again.Results[0].Refused == nil {
		t.Errorf("what a constraint stops: %+v", again)
	}
	if late.Err != nil || late.Results[0].Refused == nil || late.Results[0].Refused.TooLong == nil {
		t.Errorf("what takes too long: %+v", late)
	}
	count := part(true, "SELECT count(*) FROM t")
	if apply(s, count); number(count) != 2 {
		t.Errorf("%+v", count.Results)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if apply(s, count); count.Err == nil {
		t.Error("a closed store reads")
	}
}
