package local

import (
	"context"
	"errors"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/meowdis/meowdis/store"
)

const sqlNumber = `INSERT INTO guard VALUES(?1)`

func insert(numbers ...int64) store.Batch {
	var b store.Batch
	for _, n := range numbers {
		arg := store.Int(n)
		if n < 0 {
			arg = store.Value{} // refused: the column is NOT NULL
		}
		b.Stmts = append(b.Stmts, store.Stmt{SQL: sqlNumber, Args: []store.Value{arg}})
	}
	return b
}

func newJob(batches ...store.Batch) *job { return &job{batches: batches, done: make(chan struct{})} }

// TestGroupCommit commits a group with broken batches, and with batches that are refused before or after they
// have changed something: each job gets the same result as alone.
func TestGroupCommit(t *testing.T) {
	broken := store.Batch{Stmts: append(insert(100).Stmts, store.Stmt{SQL: "SELECT abs(-9223372036854775808)"})}
	failed := errors.New("the function failed")
	for name, withBroken := range map[string]bool{"refusals": false, "refusals and failures": true} {
		t.Run(name, func(t *testing.T) {
			s, err := Open(t.TempDir()+"/db.sqlite", Options{SweepEvery: -1})
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			var refusals []bool
			group := []*job{
				newJob(insert(1)),
				newJob(insert(-1)),
				newJob(insert(2, -1), insert(3), insert(4, 5, -1)),
				{done: make(chan struct{}), fn: func(run func(store.Batch) (store.Result, error)) error {
					refusals = nil
					for _, b := range []store.Batch{insert(6), insert(7, -1), insert(8)} {
						r, err := run(b)
						if err != nil {
							return err
						}
						refusals = append(refusals, r.Refused != nil)
					}
					return nil
				}},
				newJob(insert(9)),
			}
			if withBroken {
				group = append(group, newJob(broken), newJob(insert(10), broken), &job{
					done: make(chan struct{}),
					fn: func(run func(store.Batch) (store.Result, error)) error {
						if _, err := run(insert(11)); err != nil {
							return err
						}
						return failed
					},
				})
			}
			s.commit(group)
			for i, j := range group {
				select {
				case <-j.done:
				default:
					t.Errorf("job %d was not released", i)
				}
				if (j.err != nil) != (i >= 5) {
					t.Errorf("job %d: %v", i, j.err)
				}
			}
			if withBroken && !errors.Is(group[7].err, failed) {
				t.Errorf("the function's error is %v", group[7].err)
			}
			if r := group[1].results[0].Refused; r == nil || r.At != 0 {
				t.Errorf("refused at once: %+v", r)
			}
			for i, at := range []int{1, -1, 2} {
				if r := group[2].results[i].Refused; r == nil != (at < 0) || r != nil && r.At != at {
					t.Errorf("batch %d: refused: %+v", i, r)
				}
			}
			if len(refusals) != 3 || refusals[0] || !refusals[1] || refusals[2] {
				t.Errorf("the function's refusals: %v", refusals)
			}
			var rows []store.Row
			err = s.withWriter(func(c *conn) (err error) {
				rows, _, err = c.run(store.Stmt{SQL: "SELECT group_concat(ok) FROM (SELECT ok FROM guard ORDER BY ok)"})
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
			if got := string(rows[0][0].Bytes()); got != "1,3,6,8,9" {
				t.Errorf("the group left %s", got)
			}
		})
	}
}

// TestPiece: a pipeline stays in one transaction unless it takes longer than a second; then it continues in
// later transactions.
func TestPiece(t *testing.T) {
	for _, test := range []struct {
		batch time.Duration // of each batch
		want  []int64       // committed batches after each transaction
	}{
		{99 * time.Millisecond, []int64{8}},
		{333 * time.Millisecond, []int64{4, 8}},
		{2 * time.Second, []int64{1, 2, 3, 4, 5, 6, 7, 8}},
	} {
		s, err := Open(t.TempDir()+"/db.sqlite", Options{SweepEvery: -1})
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		var clock time.Duration // advanced by the batches of a transaction
		s.clock = func() time.Time { return time.Unix(0, int64(clock)) }
		var pipeline []store.Batch
		for n := range 8 {
			pipeline = append(pipeline, insert(int64(n)))
		}
		j := newJob(pipeline...)
		var kept []int64
		for whole := false; !whole; {
			clock = 0
			err := s.withWriter(func(c *conn) error {
				return s.newWorkLimit(t.Context()).run(c, func(c *conn) error {
					return c.transaction(beginNow, func() (err error) {
						counted := func(b store.Batch) (store.Result, error) {
							clock += test.batch
							return c.runner(false)(b)
						}
						whole, err = j.work(c, counted, writersPace.piece, false)
						return err
					})
				})
			})
			if err != nil {
				t.Fatal(err)
			}
			j.committed = j.ran
			kept = append(kept, int64(j.committed))
		}
		if !slices.Equal(kept, test.want) {
			t.Errorf("%v for each: %v were kept, want %v", test.batch, kept, test.want)
		}
	}
}

// TestApplyGroupGivesWay runs the parts that fit in a moment: a longer pipeline continues in the writer, and
// parts that have not begun are handed back.
func TestApplyGroupGivesWay(t *testing.T) {
	s, err := Open(t.TempDir()+"/db.sqlite", Options{SweepEvery: -1})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	var asked atomic.Int64
	// Each reading of the clock takes time, so that the moment ends within the second part.
	s.clock = func() time.Time { return time.Unix(0, asked.Add(1)*int64(maxClockGap)/9) }
	parts := []*store.Part{
		{Batches: []store.Batch{insert(1)}},
		{Batches: []store.Batch{insert(2), insert(3), insert(4)}},
		{Batches: []store.Batch{insert(5)}},
	}
	done := make(chan int, len(parts))
	for i, began := range []int{2, 1} {
		if got := s.ApplyGroup(parts[2*i:], func(i int) { done <- i }); got != began {
			t.Errorf("call %d began %d parts, want %d", i, got, began)
		}
	}
	for range parts {
		<-done
	}
	for i, p := range parts {
		if p.Err != nil || len(p.Results) != len(p.Batches) {
			t.Errorf("part %d: %+v", i, p)
		}
	}
}

// TestApplyGroupWaitsForNobody leaves writes to the writer's goroutine while another goroutine uses its
// connection.
func TestApplyGroupWaitsForNobody(t *testing.T) {
	s, err := Open(t.TempDir()+"/db.sqlite", Options{SweepEvery: -1})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	p := &store.Part{Batches: []store.Batch{insert(1)}}
	done := make(chan int, 1)
	s.withWriter(func(*conn) error {
		s.ApplyGroup([]*store.Part{p}, func(i int) { done <- i })
		select {
		case <-done:
			t.Error("it wrote beside another")
		default:
		}
		return nil
	})
	if <-done; p.Err != nil || len(p.Results) != 1 {
		t.Errorf("%+v", p)
	}
}

// TestWaitingEnds writes once another process, after several attempts, releases its lock.
func TestWaitingEnds(t *testing.T) {
	path := t.TempDir() + "/db.sqlite"
	open := func() *Store {
		s, err := Open(path, Options{SweepEvery: -1})
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	s, other := open(), open()
	defer s.Close()
	defer other.Close()
	locked, free, freed := make(chan struct{}), make(chan struct{}), make(chan error)
	go func() {
		freed <- other.Transact(context.Background(), false, func(func(store.Batch) (store.Result, error)) error {
			close(locked)
			<-free
			return nil
		})
	}()
	<-locked
	j := newJob(insert(1))
	s.send([]*job{j})
	for range 4 { // the writer takes new jobs after each attempt
		s.jobs <- nil
		for len(s.jobs) > 0 {
			time.Sleep(time.Millisecond)
		}
	}
	select {
	case <-j.done:
		t.Error("it wrote beside another process, or failed:", j.err)
	default:
	}
	close(free)
	if err := <-freed; err != nil {
		t.Error(err)
	}
	if <-j.done; j.err != nil || len(j.results) != 1 || j.results[0].Refused != nil {
		t.Errorf("once it is done: %+v, %v", j.results, j.err)
	}
}

// TestGate ends the wait of calls that have not begun, and of no other call.
func TestGate(t *testing.T) {
	why := errors.New("the gate is shut")
	for _, path := range []string{t.TempDir() + "/db.sqlite", Memory} {
		s, err := Open(path, Options{SweepEvery: -1})
		if err != nil {
			t.Fatal(err)
		}
		gate := &store.Gate{}
		ctx := store.WithWriteWait(context.Background(), &store.WriteWait{Gate: gate})
		running, end := make(chan struct{}), make(chan struct{})
		first := make(chan error)
		go func() {
			first <- s.Transact(ctx, false, func(run func(store.Batch) (store.Result, error)) error {
				close(running)
				<-end
				_, err := run(insert(1))
				return err
			})
		}()
		<-running
		waiting := make(chan error)
		go func() {
			_, err := s.Apply(ctx, []store.Batch{insert(2)})
			waiting <- err
		}()
		go func() {
			waiting <- s.Transact(ctx, false, func(func(store.Batch) (store.Result, error)) error { return nil })
		}()
		go func() {
			p := &store.Part{Batches: []store.Batch{insert(3)}, Wait: store.WriteWaitOf(ctx)}
			s.ApplyGroup([]*store.Part{p}, func(int) { waiting <- p.Err })
		}()
		gate.Close(why)
		for range 3 {
			if err := <-waiting; err != why {
				t.Errorf("%s: %v", path, err)
			}
		}
		gate.Open()
		close(end)
		if err := <-first; err != nil {
			t.Errorf("%s: what has begun: %v", path, err)
		}
		if _, err := s.Apply(ctx, []store.Batch{insert(4)}); err != nil {
			t.Errorf("%s: after the gate has opened: %v", path, err)
		}
		count := store.Batch{ReadOnly: true, Stmts: []store.Stmt{{SQL: "SELECT group_concat(ok) FROM guard"}}}
		if r, err := s.Apply(ctx, []store.Batch{count}); err != nil || string(r[0].Rows[0][0][0].Bytes()) != "1,4" {
			t.Errorf("%s: %v, %v", path, r, err)
		}
		s.Close()
	}
}

// TestHolds repeats a transaction without the jobs that it delays.
func TestHolds(t *testing.T) {
	s, err := Open(t.TempDir()+"/db.sqlite", Options{SweepEvery: -1})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	turn, before := &store.WriteWait{}, newJob(insert(1))
	var held []bool
	long := &job{done: make(chan struct{}), turn: turn, fn: func(run func(store.Batch) (store.Result, error)) error {
		held = append(held, turn.DelaysOthers.Load())
		if turn.DelaysOthers.Load() {
			return store.ErrLong
		}
		select {
		case <-before.done:
		default:
			t.Error("the call before has no reply yet")
		}
		_, err := run(insert(2))
		return err
	}}
	s.commit([]*job{before, long})
	if before.err != nil || long.err != nil || !slices.Equal(held, []bool{true, false}) {
		t.Errorf("%v, %v, held: %v", before.err, long.err, held)
	}
}
