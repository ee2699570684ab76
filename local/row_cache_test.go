package local_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/meowdis/meowdis/engine"
	"github.com/meowdis/meowdis/internal/test/corpus"
	"github.com/meowdis/meowdis/internal/test/storetest"
	"github.com/meowdis/meowdis/local"
	"github.com/meowdis/meowdis/store"
)

// compared is a store with a row cache that repeats each read on a second store without one. After each write
// it repeats the latest reads.
type compared struct {
	*local.Store
	plain  *local.Store
	t      testing.TB
	clock  func() int64
	mu     sync.Mutex // the engine serves blocked clients in a goroutine of its own
	latest []store.Batch
}

// repeated limits the reads that are repeated.
const repeated = 12

func (c *compared) Apply(ctx context.Context, batches []store.Batch) ([]store.Result, error) {
	results, err := c.Store.Apply(ctx, batches)
	if err != nil {
		return results, err
	}
	wrote := false
	for _, b := range batches {
		wrote = wrote || !b.ReadOnly
		if b.ReadOnly && len(b.Keys) == 1 {
			c.first(b)
		}
	}
	if wrote {
		c.again()
	}
	return results, nil
}

func (c *compared) Transact(ctx context.Context, readOnly bool, fn func(engine.Run) error) error {
	err := c.Store.Transact(ctx, readOnly, fn)
	c.again()
	return err
}

// first repeats a read that has just run.
func (c *compared) first(b store.Batch) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.latest = append(c.latest, b)
	for range 3 { // the first is recorded, the second cached
		c.compare(b)
	}
}

// again repeats the latest reads.
func (c *compared) again() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.latest = c.latest[max(0, len(c.latest)-repeated):]
	for _, b := range c.latest {
		c.compare(at(b, c.clock()))
	}
}

// at returns b with another time.
func at(b store.Batch, now int64) store.Batch {
	stmts := make([]store.Stmt, len(b.Stmts))
	for i, s := range b.Stmts {
		args := append([]store.Value{}, s.Args...)
		args[2] = store.Int(now)
		s.Args = args
		stmts[i] = s
	}
	b.Stmts = stmts
	return b
}

func (c *compared) compare(b store.Batch) {
	c.t.Helper()
	b.Budget = nil
	got, err := c.Store.Apply(context.Background(), []store.Batch{b})
	want, plainErr := c.plain.Apply(context.Background(), []store.Batch{b})
	for _, results := range [][]store.Result{got, want} {
		for i := range results {
			results[i].Took = 0
		}
	}
	if (err == nil) != (plainErr == nil) || !reflect.DeepEqual(got, want) {
		c.t.Fatalf("%v\nkept:   %v %v\nSQLite: %v %v", b.Stmts, got, err, want, plainErr)
	}
}

// TestRowCacheCorpus plays the transcripts, and compares all cached rows with SQLite's.
func TestRowCacheCorpus(t *testing.T) {
	all, err := corpus.All()
	if err != nil {
		t.Fatal(err)
	}
	for _, tr := range all {
		t.Run(tr.Name, func(t *testing.T) {
			path := t.TempDir() + "/db.sqlite"
			clock := storetest.NewClock()
			s := open(t, path, local.Options{Now: clock.Now})
			plain, err := local.Open(path, local.Options{Now: clock.Now, SweepEvery: -1})
			if err != nil {
				t.Fatal(err)
			}
			defer plain.Close()
			e := storetest.NewEngine(&compared{Store: s, plain: plain, t: t, clock: clock.Now}, clock)
			sessions := []*engine.Session{e.Session(), e.Session()}
			for _, step := range tr.Steps {
				clock.Advance(step.Clock)
				if step.Clock > 0 {
					if _, err := s.Sweep(t.Context(), 1); err != nil {
						t.Fatal(err)
					}
				}
				v, err := sessions[step.Client-1].Do(t.Context(), step.Args...)
				if err != nil || !step.Matches(v) {
					t.Fatalf("%s.txt:%d: %q: %s, %v", tr.Name, step.Line, step.Args, corpus.Show(v), err)
				}
			}
		})
	}
}

// TestRowCacheIsUsed reads the same rows again without SQLite, until they change.
func TestRowCacheIsUsed(t *testing.T) {
	path := t.TempDir() + "/db.sqlite"
	s := open(t, path, local.Options{})
	c := storetest.NewClient(t, engine.New(s))
	c.Want("SET k v", "OK")
	c.Want("HSET h f v", "(integer) 1")
	for range 3 {
		c.Want("GET k", `"v"`)
		c.Want("HGET h f", `"v"`)
		c.Want("GET none", "(nil)")
	}
	read := s.Read()
	for range 5 {
		c.Want("GET k", `"v"`)
		c.Want("HGET h f", `"v"`)
		c.Want("GET none", "(nil)")
	}
	if n := s.Read() - read; n != 0 {
		t.Errorf("%d reads asked SQLite", n)
	}
	c.Want("SET k w", "OK")
	c.Want("HGET h f", `"v"`)
	if n := s.Read() - read; n != 0 {
		t.Errorf("after a write of another key %d reads asked SQLite", n)
	}
	c.Want("GET k", `"w"`)
	c.Want("GET k", `"w"`)
	if n := s.Read() - read; n != 1 {
		t.Errorf("after a write %d reads asked SQLite", n)
	}
	other := storetest.NewClient(t, engine.New(open(t, path, local.Options{})))
	other.Want("HSET h f w", "(integer) 0")
	c.Want("HGET h f", `"w"`)
	other.Want("FLUSHALL", "OK")
	c.Want("GET k", "(nil)")
}

// TestRowCacheExpiry returns no expired rows, even if the clock goes back after the sweep.
func TestRowCacheExpiry(t *testing.T) {
	clock := storetest.NewClock()
	s := open(t, t.TempDir()+"/db.sqlite", local.Options{Now: clock.Now})
	c := storetest.NewClient(t, storetest.NewEngine(s, clock))
	c.Want("SET k v PX 100", "OK")
	c.Want("HSETEX h PX 100 FIELDS 1 f v", "(integer) 1")
	c.Want("HSET h g w", "(integer) 1")
	read := func(k, f string) {
		t.Helper()
		for range 3 {
			c.Want("GET k", k)
			c.Want("HGET h f", f)
			c.Want("HGET h g", `"w"`)
		}
	}
	read(`"v"`, `"v"`)
	clock.Advance(99)
	read(`"v"`, `"v"`)
	clock.Advance(1)
	read("(nil)", "(nil)")
	clock.Advance(-50)
	read(`"v"`, `"v"`)
	clock.Advance(50)
	for range 2 {
		if _, err := s.Sweep(t.Context(), 10); err != nil {
			t.Fatal(err)
		}
	}
	clock.Advance(-50)
	read("(nil)", "(nil)")
}

// TestRowCacheFailure: after a failed commit, nothing of it is cached.
func TestRowCacheFailure(t *testing.T) {
	if runtime.GOOS == "windows" {
		return // an open file cannot be moved
	}
	path := filepath.Join(t.TempDir(), "db.sqlite")
	s := open(t, path, local.Options{})
	c := storetest.NewClient(t, engine.New(s))
	c.Want("SET k old", "OK")
	for range 3 {
		c.Want("GET k", `"old"`)
	}
	if err := os.Rename(path, path+".away"); err != nil {
		t.Fatal(err)
	}
	if v, err := engine.New(s).Session().Do(t.Context(), []byte("SET"), []byte("k"), []byte("new")); err == nil {
		t.Fatalf("the reply is %v", v)
	}
	for range 3 {
		c.Want("GET k", `"old"`)
	}
	if err := os.Rename(path+".away", path); err != nil {
		t.Fatal(err)
	}
	c.Want("GET k", `"old"`)
	c.Want("SET k new", "OK")
	c.Want("GET k", `"new"`)
	refused := "(error) ERR value is not an integer or out of range"
	for range 3 {
		c.Want("INCR k", refused)
		c.Want("GET k", `"new"`)
	}
}

// TestRowCacheBesideProcess reads the writes of another process: each read is at least as new as the writes
// acknowledged before it began, and never older than an earlier read.
func TestRowCacheBesideProcess(t *testing.T) {
	path := t.TempDir() + "/db.sqlite"
	s := open(t, path, local.Options{IsolateSlowReads: true, SweepEvery: time.Millisecond})
	e := engine.New(s)
	storetest.NewClient(t, e).Want("SET n 0", "OK")
	const each = 60
	cmd, lines := startChild(t, path, each, 0)
	var acknowledged, seen atomic.Int64
	stop := make(chan struct{})
	var wg sync.WaitGroup
	for id := range 4 {
		wg.Go(func() {
			session := e.Session()
			for i := 0; ; i++ {
				select {
				case <-stop:
					return
				default:
				}
				least := max(acknowledged.Load(), seen.Load())
				v, err := session.Do(context.Background(), []byte("GET"), []byte("n"))
				if err != nil {
					t.Error(err)
					return
				}
				n, _ := strconv.ParseInt(string(v.Str), 10, 64)
				if n < least {
					t.Errorf("a read says %d after %d", n, least)
					return
				}
				raise(&seen, n)
				if id == 0 && i%64 == 0 { // our own commits, between the other process's
					if _, err := session.Do(context.Background(), []byte("SET"), []byte("other"), []byte("x")); err != nil {
						t.Error(err)
						return
					}
				}
			}
		})
	}
	for lines.Scan() {
		_, n, _ := strings.Cut(lines.Text(), " ")
		said, err := strconv.ParseInt(n, 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		raise(&acknowledged, said)
	}
	close(stop)
	wg.Wait()
	if err := cmd.Wait(); err != nil {
		t.Fatal(err)
	}
	storetest.NewClient(t, e).Want("GET n", strconv.Quote(strconv.Itoa(each*childClients)))
}

// TestRowCacheOrder: a pipeline never sees an older state than it saw before.
func TestRowCacheOrder(t *testing.T) {
	s := open(t, t.TempDir()+"/db.sqlite", local.Options{IsolateSlowReads: true})
	e := engine.New(s)
	done := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		defer close(done)
		session := e.Session()
		for i := range 400 {
			for _, key := range []string{"a", "b", "c"} { // c is never newer than b, nor b than a
				if _, err := session.Do(context.Background(), []byte("SET"), []byte(key), []byte(strconv.Itoa(i))); err != nil {
					t.Error(err)
					return
				}
			}
		}
	})
	for range 3 {
		wg.Go(func() {
			session := e.Session()
			for {
				select {
				case <-done:
					return
				default:
				}
				replies, err := session.Pipeline(context.Background(), [][][]byte{
					{[]byte("GET"), []byte("c")}, {[]byte("GET"), []byte("b")}, {[]byte("GET"), []byte("a")}, {[]byte("GET"), []byte("b")},
				})
				if err != nil {
					t.Error(err)
					return
				}
				var n [4]int
				for i := range n {
					n[i], _ = strconv.Atoi(string(replies[i].Str))
				}
				if n[0] > n[1] || n[1] > n[2] || n[1] > n[3] {
					t.Errorf("a pipeline saw %v", n)
					return
				}
			}
		})
	}
	wg.Wait()
}

// TestRowCacheRoom: the cache does not exceed its limit, and does not keep large rows.
func TestRowCacheRoom(t *testing.T) {
	s := open(t, t.TempDir()+"/db.sqlite", local.Options{RowCacheBytes: 256 << 10})
	c := storetest.NewClient(t, engine.New(s))
	for i := range 2000 {
		c.Want(fmt.Sprintf("SET k%d %s", i, strings.Repeat("x", 1+i%100)), "OK")
	}
	for range 2 {
		for i := range 2000 {
			for range 2 {
				c.Do(fmt.Sprintf("GET k%d", i))
			}
		}
	}
	if n := s.Kept(); n < 100<<10 || n > 256<<10 {
		t.Errorf("%d bytes are kept", n)
	}
	s = open(t, t.TempDir()+"/db.sqlite", local.Options{})
	c = storetest.NewClient(t, engine.New(s))
	c.Do("SET long " + strings.Repeat("x", 140_000))
	for range 3 {
		c.Do("STRLEN long")
		c.Do("GET long")
	}
	if n := s.Kept(); n > 2000 {
		t.Errorf("%d bytes are kept of a long string", n)
	}
	s = open(t, t.TempDir()+"/db.sqlite", local.Options{RowCacheBytes: 8 << 20})
	c = storetest.NewClient(t, engine.New(s))
	c.Do("RPUSH list" + strings.Repeat(" element", 600))
	for range 3 {
		c.Do("LRANGE list 0 599")
	}
	if n := s.Kept(); n < 600*store.CellBytes {
		t.Errorf("%d bytes are kept of a list of 600", n)
	}
}

// TestKeptSparse counts all bytes of a string with missing parts, however often it is read.
func TestKeptSparse(t *testing.T) {
	ctx := context.Background()
	s := open(t, filepath.Join(t.TempDir(), "db.sqlite"), local.Options{SweepEvery: -1, RowCacheBytes: 1 << 20})
	e := engine.New(s)
	all, bounded := e.Session(), e.Session()
	bounded.Bound(store.NewBudget(nil, 1<<20, 0))
	get := [][]byte{[]byte("GET"), []byte("b")}
	if _, err := all.Do(ctx, []byte("SETBIT"), []byte("b"), []byte("67108863"), []byte("0")); err != nil {
		t.Fatal(err)
	}
	for range 3 { // the first is noted, the second kept
		if v, err := all.Do(ctx, get...); err != nil || len(v.Str) != 8<<20 {
			t.Fatalf("%d bytes, %v", len(v.Str), err)
		}
		if v, err := bounded.Do(ctx, get...); err != nil || !v.IsError() {
			t.Errorf("more than its budget: %d bytes, %v", len(v.Str), err)
		}
	}
}
