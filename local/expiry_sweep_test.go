package local_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/meowdis/meowdis/internal/test/storetest"
	"github.com/meowdis/meowdis/local"
	"github.com/meowdis/meowdis/store"
)

// TestSweep deletes expired keys, the oldest first, and no other keys.
func TestSweep(t *testing.T) {
	clock := storetest.NewClock()
	s := open(t, t.TempDir()+"/db.sqlite", local.Options{Now: clock.Now})
	c := storetest.NewClient(t, storetest.NewEngine(s, clock))
	for i := range 25 {
		c.Want(fmt.Sprintf("SET k%d v PX %d", i, 100+i), "OK")
	}
	c.Want("SET forever v", "OK")
	c.Want("SET later v PX 10000", "OK")
	ctx := context.Background()
	for _, step := range []struct {
		advance     int64
		limit, want int
	}{{99, 10, 0}, {1, 10, 1}, {1000, 10, 10}, {0, 10, 10}, {0, 10, 4}, {0, 10, 0}} {
		clock.Advance(step.advance)
		if n, err := s.Sweep(ctx, step.limit); err != nil || n != step.want {
			t.Errorf("a sweep deleted %d, want %d (%v)", n, step.want, err)
		}
		storetest.Check(t, s)
	}
	c.Want("GET forever", `"v"`)
	c.Want("GET later", `"v"`)
}

// TestSweepFields deletes expired fields, once no expired key is left, and counts the remaining fields.
func TestSweepFields(t *testing.T) {
	clock := storetest.NewClock()
	s := open(t, t.TempDir()+"/db.sqlite", local.Options{Now: clock.Now})
	c := storetest.NewClient(t, storetest.NewEngine(s, clock))
	for i := range 12 {
		c.Want(fmt.Sprintf("HSETEX dead PX %d FIELDS 1 f%d v", 50+i, i), "(integer) 1")
		c.Want(fmt.Sprintf("HSETEX alive PX %d FIELDS 1 f%d v", 50+i, i), "(integer) 1")
	}
	c.Want("HSET alive stays v", "(integer) 1")
	c.Want("HSETEX later PX 10 FIELDS 1 a v", "(integer) 1")
	c.Want("HSETEX later PX 10000 FIELDS 1 b v", "(integer) 1")
	clock.Advance(61)
	ctx := context.Background()
	for _, step := range []struct{ limit, want int }{{5, 1}, {5, 5}, {5, 5}, {5, 3}, {5, 0}} {
		if n, err := s.Sweep(ctx, step.limit); err != nil || n != step.want {
			t.Errorf("a sweep deleted %d, want %d (%v)", n, step.want, err)
		}
		storetest.Check(t, s)
	}
	c.Want("DBSIZE", "(integer) 2")
	c.Want("HLEN alive", "(integer) 1")
	c.Want("HLEN later", "(integer) 1")
}

// sweeper is a store whose sweeper the test runs, with its reports.
type sweeper struct {
	*storetest.Client
	store *local.Store
	clock *storetest.Clock

	mu       sync.Mutex
	reported []string
}

func newSweeper(t *testing.T) *sweeper {
	s := &sweeper{clock: storetest.NewClock()}
	s.store = open(t, t.TempDir()+"/db.sqlite", local.Options{Now: s.clock.Now, SweepEvery: time.Hour, Report: func(err error) {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.reported = append(s.reported, err.Error())
	}})
	s.Client = storetest.NewClient(t, storetest.NewEngine(s.store, s.clock))
	return s
}

func (s *sweeper) reports() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.reported
}

// TestSweeper runs the background sweeper on hashes with as many expired as live fields, with more, and with
// fewer.
func TestSweeper(t *testing.T) {
	s := newSweeper(t)
	const most = 6
	want := func() {
		t.Helper()
		for live := range most {
			s.Want(fmt.Sprint("HLEN h", live), fmt.Sprintf("(integer) %d", live))
			for i := range live {
				s.Want(fmt.Sprintf("HGET h%d live%d", live, i), `"v"`)
			}
		}
	}
	for live := range most {
		for i := range live {
			s.Want(fmt.Sprintf("HSET h%d live%d v", live, i), "(integer) 1")
		}
		s.Want(fmt.Sprintf("HSETEX h%d PX 100 FIELDS 3 a v b v c v", live), "(integer) 1")
	}
	s.Want("HSETEX dies PX 100 FIELDS 2 a v b v", "(integer) 1")
	s.Want("HSETEX later PX 200 FIELDS 1 a v", "(integer) 1")
	s.Want("HPEXPIRE later 100 FIELDS 1 a", "1) (integer) 1")
	s.Want("HSETEX later PX 200 FIELDS 1 b v", "(integer) 1")
	s.clock.Advance(100)
	want() // not swept yet
	s.store.SweepAll()
	want()
	storetest.Check(t, s.store)
	s.Want("EXISTS dies h0", "(integer) 0")
	s.Want("HGETALL later", "1) \"b\"\n2) \"v\"")
	s.clock.Advance(100)
	s.store.SweepAll()
	s.Want("DBSIZE", fmt.Sprintf("(integer) %d", most-1))
	s.Want("HDEL h1 live0", "(integer) 1")
	s.Want("EXISTS h1", "(integer) 0")
	storetest.Check(t, s.store)
	if got := s.reports(); len(got) > 0 {
		t.Errorf("it reported %q", got)
	}
}

// TestSweeperTicks runs the background sweepers of two processes, as under serve, beside clients of both.
func TestSweeperTicks(t *testing.T) {
	path, clock := t.TempDir()+"/db.sqlite", storetest.NewClock()
	options := local.Options{Now: clock.Now, SweepEvery: time.Millisecond, Report: func(err error) { t.Error(err) }}
	stores := []*local.Store{open(t, path, options), open(t, path, options)}
	var running sync.WaitGroup
	for i, s := range stores {
		running.Go(func() {
			c := storetest.NewClient(t, storetest.NewEngine(s, clock))
			for n := range 50 {
				key := fmt.Sprintf("h%d:%d", i, n%7)
				c.Do(fmt.Sprintf("HSET %s keep v a v", key))
				c.Do(fmt.Sprintf("HPEXPIRE %s 1 FIELDS 1 a", key))
				c.Do(fmt.Sprintf("HSET shared %d v own%d v", n, i))
				c.Do(fmt.Sprintf("HPEXPIRE shared 1 FIELDS 1 %d", n))
				clock.Advance(1)
				c.Want("HGETALL "+key, "1) \"keep\"\n2) \"v\"")
				c.Want(fmt.Sprintf("HGET shared own%d", i), `"v"`)
			}
		})
	}
	running.Wait()
	c := storetest.NewClient(t, storetest.NewEngine(stores[0], clock))
	c.Want("DBSIZE", "(integer) 15")
	c.Want("HLEN shared", "(integer) 2")
	// Each sweeps until nothing is left, whatever the other does.
	for stored(t, stores[1], "hashes") > 16 {
		time.Sleep(time.Millisecond)
	}
	storetest.Check(t, stores[0])
}

// stored counts the rows of a table.
func stored(t *testing.T, s *local.Store, table string) int64 {
	t.Helper()
	r, err := s.Apply(context.Background(), []store.Batch{{ReadOnly: true, Stmts: []store.Stmt{{SQL: "SELECT count(*) FROM " + table}}}})
	if err != nil {
		t.Fatal(err)
	}
	return r[0].Rows[0][0][0].Int()
}

// TestSweeperReports reports a failing sweep once, and again when its error changes. Undamaged rows are still
// swept.
func TestSweeperReports(t *testing.T) {
	s := newSweeper(t)
	damage := func(count int) {
		t.Helper()
		if _, err := s.store.Apply(context.Background(), []store.Batch{{Stmts: []store.Stmt{{
			SQL: "UPDATE keys SET count = ?1 WHERE key = CAST('bad' AS BLOB)", Args: []store.Value{store.Int(int64(count))},
		}}}}); err != nil {
			t.Fatal(err)
		}
	}
	wantReports := func(says ...string) {
		t.Helper()
		got := s.reports()
		if len(got) != len(says) {
			t.Fatalf("it reported %q", got)
		}
		for i := range says {
			if !strings.Contains(got[i], says[i]) {
				t.Errorf("it reported %q, want %q in it", got[i], says[i])
			}
		}
	}
	const count = "CHECK constraint failed"
	s.Want("HSET bad keep v stays v", "(integer) 2")
	s.Want("HSETEX bad PX 100 FIELDS 3 a v b v c v", "(integer) 1")
	s.Want("HSET good keep v", "(integer) 1")
	s.Want("HSETEX good PX 200 FIELDS 1 a v", "(integer) 1")
	damage(2)
	s.clock.Advance(100)
	for range 3 {
		s.store.SweepAll()
		wantReports(count)
	}
	s.clock.Advance(100)
	s.store.SweepAll()
	if n := stored(t, s.store, "hashes"); n != 6 {
		t.Errorf("%d fields are left, want those of the damaged hash and the live one", n)
	}
	damage(5)
	s.store.SweepAll()
	wantReports(count)
	storetest.Check(t, s.store)
	s.Want("HSETEX bad PX 100 FIELDS 3 a v b v c v", "(integer) 1")
	damage(2)
	s.clock.Advance(100)
	s.store.SweepAll()
	wantReports(count, count)

	// A closing store reports nothing.
	if err := s.store.Close(); err != nil {
		t.Fatal(err)
	}
	s.store.SweepAll()
	wantReports(count, count)
}

// TestTidy closes a store without a sweeper: it deletes the rows of its deleted keys. They fit in one slice, so
// the test does not depend on time.
func TestTidy(t *testing.T) {
	path := t.TempDir() + "/db.sqlite"
	for _, test := range []struct {
		options local.Options
		line    string
		pending int64
	}{
		{local.Options{SweepEvery: -1}, "DEL k", 1},
		{local.Options{SweepEvery: -1, SingleConn: true}, "GET k", 1}, // a read changes nothing
		{local.Options{SweepEvery: -1, SingleConn: true}, "SET k v", 0},
	} {
		s, err := local.Open(path, test.options)
		if err != nil {
			t.Fatal(err)
		}
		c := storetest.NewClient(t, storetest.NewEngine(s, storetest.NewClock()))
		if test.line == "DEL k" {
			c.Do("RPUSH k" + strings.Repeat(" e", 300))
		}
		c.Do(test.line)
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		s = open(t, path, local.Options{SweepEvery: -1})
		if pending, rows := stored(t, s, "pending_deletes"), stored(t, s, "lists"); pending != test.pending || (rows == 0) != (pending == 0) {
			t.Errorf("%s leaves %d pending deletes and %d elements", test.line, pending, rows)
		}
	}
}
