package remote_test

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/meowdis/meowdis/internal/test/hostile"
	"github.com/meowdis/meowdis/remote"
	"github.com/meowdis/meowdis/store"
	"github.com/meowdis/meowdis/store/wire"
)

// storage is an endpoint over a store, which fails as fault says.
type storage struct {
	store    *hostile.Store
	fault    func(n int64, w http.ResponseWriter) bool // of the n-th request, from 1; it has answered when true
	most     int                                       // batches of an answer, 0 for all
	requests atomic.Int64
	batches  atomic.Int64
}

func (s *storage) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	n := s.requests.Add(1)
	q, err := wire.ReadRequest(r.Body, wire.Limits{Bytes: 20 << 20, Batches: 10000, Stmts: 10000})
	if err != nil {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	if s.fault != nil && s.fault(n, w) {
		return
	}
	if s.most > 0 && len(q.Batches) > s.most {
		q.Batches = q.Batches[:s.most]
	}
	s.batches.Add(int64(len(q.Batches)))
	results := make([]store.Result, len(q.Batches))
	for i, b := range q.Batches {
		one, err := s.store.Apply(r.Context(), []store.Batch{b})
		if err != nil {
			results[i].Refused = &store.Refusal{Reason: err.Error(), BadStatement: true}
			continue
		}
		results[i] = one[0]
	}
	w.Write(wire.AppendResponse(nil, results, len(q.Batches) > 0 && q.Batches[0].ReadOnly))
}

func openStorage(t *testing.T, s *storage) *remote.Storage {
	t.Helper()
	var err error
	if s.store, err = hostile.Open(); err != nil {
		t.Fatal(err)
	}
	web := httptest.NewServer(s)
	c, err := remote.OpenStorage(web.URL, "", remote.Options{})
	if err != nil {
		t.Fatal(err)
	}
	remote.StorageWithoutWaiting(c)
	t.Cleanup(func() {
		c.Close()
		web.Close()
		s.store.Close()
	})
	return c
}

func reading(sql string) []store.Batch {
	return []store.Batch{{ReadOnly: true, Stmts: []store.Stmt{{SQL: sql}}}}
}

func writing(sql string) []store.Batch { return []store.Batch{{Stmts: []store.Stmt{{SQL: sql}}}} }

// drop ends the connection without an answer.
func drop(w http.ResponseWriter) bool {
	conn, _, err := http.NewResponseController(w).Hijack()
	if err == nil {
		conn.Close()
	}
	return true
}

// half begins an answer and ends the connection.
func half(w http.ResponseWriter) bool {
	w.Header().Set("Content-Length", "1000")
	w.Write([]byte(`{"r":[{"ok":[[[`))
	http.NewResponseController(w).Flush()
	return drop(w)
}

const aWrite = `INSERT INTO meowdis(version, applied_at) VALUES(12, 1) ON CONFLICT DO NOTHING`

// TestPanickingRequest makes a request panic: the caller gets the panic with its stack, and the next call works.
func TestPanickingRequest(t *testing.T) {
	c := openStorage(t, &storage{})
	for _, batches := range [][]store.Batch{reading("SELECT 1"), writing(aWrite)} {
		remote.StoragePanicsOnce(c)
		var p *store.Panic
		if _, err := c.Apply(t.Context(), batches); !errors.As(err, &p) || p.Value != "injected" || len(p.Stack) == 0 {
			t.Errorf("the error is %v", err)
		}
		for range 2 * remote.MaxRequests {
			if _, err := c.Apply(t.Context(), batches); err != nil {
				t.Errorf("then %v", err)
			}
		}
	}
}

// TestStorageTriesAgain sends reads again, and no write whose outcome is not known.
func TestStorageTriesAgain(t *testing.T) {
	status := func(code int) func(http.ResponseWriter) bool {
		return func(w http.ResponseWriter) bool {
			w.WriteHeader(code)
			w.Write([]byte(`{"error":"meow"}`))
			return true
		}
	}
	for name, test := range map[string]struct {
		fails            func(http.ResponseWriter) bool
		reads, ambiguous bool // it is sent again, and may have run
	}{
		"dropped": {drop, true, true}, "half": {half, true, true},
		"500": {status(500), true, true}, "503": {status(503), true, true}, "429": {status(429), true, false},
		"400": {status(400), false, false}, "401": {status(401), false, false}, "302": {status(302), false, false},
		"no answer": {func(w http.ResponseWriter) bool { w.Write([]byte("<html>")); return true }, false, true},
	} {
		for _, reads := range []bool{true, false} {
			s := &storage{fault: func(n int64, w http.ResponseWriter) bool { return n < 3 && test.fails(w) }}
			c := openStorage(t, s)
			batches, again := writing(aWrite), false
			if reads {
				batches, again = reading(`SELECT 1`), test.reads
			}
			_, err := c.Apply(context.Background(), batches)
			requests := s.requests.Load()
			switch {
			case again && (err != nil || requests != 3):
				t.Errorf("%s: a read: %d requests, %v", name, requests, err)
			case !again && (err == nil || requests != 1):
				t.Errorf("%s, reads %v: %d requests, %v", name, reads, requests, err)
			case !again && !reads && errors.Is(err, remote.ErrUnknown) != test.ambiguous:
				t.Errorf("%s: a write: %v", name, err)
			case !again && !reads && strings.Contains(c.PublicMessage(err), "not known") != test.ambiguous || err != nil && c.PublicMessage(err) == "":
				t.Errorf("%s: clients are told %q of %v", name, c.PublicMessage(err), err)
			}
		}
	}
}

// TestStorageIsDown gives up after some tries, and knows that nothing has run.
func TestStorageIsDown(t *testing.T) {
	web := httptest.NewServer(nil)
	web.Close()
	c, err := remote.OpenStorage(web.URL, "", remote.Options{})
	if err != nil {
		t.Fatal(err)
	}
	remote.StorageWithoutWaiting(c)
	_, err = c.Apply(context.Background(), writing(aWrite))
	if err == nil || strings.Contains(err.Error(), "not known") || !strings.Contains(err.Error(), "connection refused") {
		t.Errorf("it says %v", err)
	}
}

// TestStorageTimesOut gives an endpoint up that does not answer.
func TestStorageTimesOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		quiet, connections := make(chan struct{}), make(dialed)
		var asked atomic.Int64
		web := &http.Server{Handler: http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
			asked.Add(1)
			<-quiet
		})}
		go web.Serve(connections)
		defer web.Close()
		defer close(quiet)
		c, err := remote.OpenStorage("http://cats.example", "", remote.Options{Timeout: time.Minute})
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		remote.StorageDialWith(c, func(context.Context, string, string) (net.Conn, error) {
			here, there := net.Pipe()
			connections <- there
			return here, nil
		})
		remote.StorageWithoutWaiting(c)
		if _, err = c.Apply(context.Background(), reading(`SELECT 1`)); err == nil || asked.Load() != 1 {
			t.Errorf("a read: %d requests, %v", asked.Load(), err)
		}
		if _, err = c.Apply(context.Background(), writing(aWrite)); err == nil || !strings.Contains(err.Error(), "not known whether") {
			t.Errorf("it says %v", err)
		}
	})
}

// TestStorageShares gathers what comes while requests are under way: each call has its own results, one that
// is wrong is nobody else's fault, and one whose client has left is not sent.
func TestStorageShares(t *testing.T) {
	open := make(chan struct{})
	s := &storage{fault: func(int64, http.ResponseWriter) bool { <-open; return false }}
	c := openStorage(t, s)
	const calls = 100
	var all sync.WaitGroup
	for i := range int64(remote.MaxRequests) { // as many as may be under way
		all.Go(func() {
			if _, err := c.Apply(context.Background(), writing(`SELECT 1`)); err != nil {
				t.Error(err)
			}
		})
		for s.requests.Load() <= i {
			time.Sleep(time.Millisecond)
		}
	}
	for i := range calls {
		all.Go(func() {
			v := store.Int(int64(i))
			batches := []store.Batch{{Stmts: []store.Stmt{{SQL: `SELECT ?1`, Args: []store.Value{v}}}}, {Stmts: []store.Stmt{{SQL: `SELECT ?1 + 1000`, Args: []store.Value{v}}}}}
			if i%10 == 0 {
				batches[1].Stmts[0].SQL = `SELEC ?1`
			}
			results, err := c.Apply(context.Background(), batches)
			switch {
			case i%10 == 0:
				if err == nil || !strings.Contains(err.Error(), "syntax") {
					t.Errorf("call %d: %v", i, err)
				}
			case err != nil:
				t.Errorf("call %d: %v", i, err)
			case results[0].Rows[0][0][0].Int() != int64(i) || results[1].Rows[0][0][0].Int() != int64(i+1000):
				t.Errorf("call %d has %v", i, results)
			}
		})
	}
	for c.Waiting() < calls {
		time.Sleep(time.Millisecond)
	}
	ctx, leave := context.WithCancel(context.Background())
	left := make(chan error)
	go func() {
		_, err := c.Apply(ctx, writing(`DELETE FROM keys`))
		left <- err
	}()
	for c.Waiting() < calls+1 {
		time.Sleep(time.Millisecond)
	}
	leave()
	if err := <-left; !errors.Is(err, context.Canceled) {
		t.Errorf("the one that left: %v", err)
	}
	close(open)
	all.Wait()
	if n := s.requests.Load(); n > 2*remote.MaxRequests {
		t.Errorf("%d calls took %d requests", calls, n)
	}
	if n := s.batches.Load(); n != 2*calls+remote.MaxRequests {
		t.Errorf("%d batches ran", n)
	}
}

// TestStorageReadIsLeft ends a read whose client has gone.
func TestStorageReadIsLeft(t *testing.T) {
	quiet, here := make(chan struct{}), make(chan struct{}, 10)
	s := &storage{fault: func(int64, http.ResponseWriter) bool { here <- struct{}{}; <-quiet; return true }}
	c := openStorage(t, s)
	defer close(quiet)
	ctx, leave := context.WithCancel(context.Background())
	go func() { <-here; leave() }()
	if _, err := c.Apply(ctx, reading(`SELECT 1`)); !errors.Is(err, context.Canceled) {
		t.Errorf("it ends with %v", err)
	}
}

// TestStorageAnswersInParts asks for the rest of what an answer had no room for.
func TestStorageAnswersInParts(t *testing.T) {
	s := &storage{most: 2}
	c := openStorage(t, s)
	var batches []store.Batch
	for i := range 7 {
		batches = append(batches, store.Batch{Stmts: []store.Stmt{{SQL: `SELECT ?1`, Args: []store.Value{store.Int(int64(i))}}}})
	}
	results, err := c.Apply(context.Background(), batches)
	if err != nil || len(results) != 7 {
		t.Fatalf("%d results, %v", len(results), err)
	}
	for i, r := range results {
		if r.Rows[0][0][0].Int() != int64(i) {
			t.Errorf("result %d is %v", i, r.Rows)
		}
	}
	if n := s.requests.Load(); n != 4 {
		t.Errorf("it took %d requests", n)
	}
}

// TestStorageSendsInParts sends a long pipeline in several requests, in its order.
func TestStorageSendsInParts(t *testing.T) {
	for name, test := range map[string]struct {
		n, size int
		want    int64
	}{"many": {25_000, 1, 3}, "large": {20, 1 << 20, 4}} {
		s := &storage{}
		c := openStorage(t, s)
		var batches []store.Batch
		pad := store.Bytes(make([]byte, test.size))
		for i := range test.n {
			batches = append(batches, store.Batch{ReadOnly: true, Stmts: []store.Stmt{{SQL: `SELECT ?1, length(?2)`, Args: []store.Value{store.Int(int64(i)), pad}}}})
		}
		results, err := c.Apply(context.Background(), batches)
		if err != nil || len(results) != test.n || s.requests.Load() != test.want {
			t.Fatalf("%s: %d results by %d requests, %v", name, len(results), s.requests.Load(), err)
		}
		for i, r := range results {
			if r.Rows[0][0][0].Int() != int64(i) {
				t.Errorf("%s: result %d is %v", name, i, r.Rows)
			}
		}
	}
}

// TestStorageBudget refuses rows for which there is no room here, and stops when there are enough.
func TestStorageBudget(t *testing.T) {
	c := openStorage(t, &storage{})
	batches := func(b *store.Budget) (all []store.Batch) {
		for range 3 {
			all = append(all, store.Batch{ReadOnly: true, Budget: b, Stmts: []store.Stmt{{SQL: `SELECT zeroblob(1000)`}}})
		}
		return all
	}
	results, err := c.Apply(context.Background(), batches(store.NewBudget(nil, 10000, 1500)))
	if err != nil || len(results) != 2 {
		t.Errorf("%d results, %v", len(results), err)
	}
	results, err = c.Apply(context.Background(), batches(store.NewBudget(nil, 1500, 0)))
	if err != nil || len(results) != 3 || results[0].Refused != nil || results[1].Refused == nil || results[1].Refused.Reply == nil {
		t.Errorf("%+v, %v", results, err)
	}
}

// TestStorageIsAbandoned ends what is under way when the process does.
func TestStorageIsAbandoned(t *testing.T) {
	quiet, here := make(chan struct{}), make(chan struct{}, 10)
	s := &storage{fault: func(int64, http.ResponseWriter) bool { here <- struct{}{}; <-quiet; return true }}
	c := openStorage(t, s)
	defer close(quiet)
	go func() { <-here; c.Abandon() }()
	if _, err := c.Apply(context.Background(), writing(aWrite)); !errors.Is(err, remote.ErrUnknown) {
		t.Errorf("it ends with %v", err)
	}
	if n := c.Abandoned(); n != 1 {
		t.Errorf("%d calls were given up", n)
	}
}
