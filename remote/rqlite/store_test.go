package rqlite_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/meowdis/meowdis/engine"
	"github.com/meowdis/meowdis/internal/test/race"
	"github.com/meowdis/meowdis/internal/test/storetest"
	"github.com/meowdis/meowdis/remote/rqlite"
	"github.com/meowdis/meowdis/store"
)

// TestLevel asks for linearizable reads where they are what they say.
func TestLevel(t *testing.T) {
	read := store.Batch{ReadOnly: true, Stmts: []store.Stmt{{SQL: "SELECT 1"}}}
	for _, test := range []struct{ version, level, want string }{
		{"8", "", "strong"}, {"8.36.0", "", "strong"}, {"9.1.0", "", "strong"}, {"v9.1.1", "", "linearizable"}, {"10.2.3", "", "linearizable"},
		{"", "", "strong"}, {"8", "weak", "weak"}, {"10.2.3", "none", "none"}, {"10.2.3", "strong", "strong"},
	} {
		f := newFake(t, test.version)
		s := f.store(t, rqlite.Options{Level: test.level})
		must(t, s, read)
		if got, want := fmt.Sprint(f.asked()), "[query "+test.want+"]"; got != want {
			t.Errorf("version %q with level %q is asked %s, not %s", test.version, test.level, got, want)
		}
	}
}

// TestValues sends what rqlite would change on its way, and reads it back.
func TestValues(t *testing.T) {
	s := newFake(t, "10").store(t, rqlite.Options{})
	for _, v := range []store.Value{
		{}, store.Int(math.MaxInt64), store.Int(math.MinInt64), store.Float(1), store.Float(math.Copysign(0, -1)), store.Float(math.Inf(1)),
		store.Float(math.Inf(-1)), store.Float(math.SmallestNonzeroFloat64), store.Float(math.MaxFloat64), store.String("x'00ff'"), store.String(" X'' "),
		store.String(""), store.String("tkö\x00\"\\<&>\u2028\n"), store.Bytes(nil), store.Bytes([]byte("\xff'\x00")), store.String("b00"),
	} {
		for _, readOnly := range []bool{true, false} {
			row := must(t, s, store.Batch{ReadOnly: readOnly, Stmts: []store.Stmt{{SQL: "SELECT ?1, typeof(?1) -- not '?1", Args: []store.Value{v}}}}).Rows[0][0]
			if got := row[0]; got.Kind() != v.Kind() || got.Int() != v.Int() || math.Float64bits(got.Float()) != math.Float64bits(v.Float()) || !bytes.Equal(got.Bytes(), v.Bytes()) {
				t.Errorf("%v comes back as %v", v, row)
			}
		}
	}
	latin := must(t, s, store.Batch{Stmts: []store.Stmt{{SQL: "SELECT hex(?1), typeof(?1)", Args: []store.Value{store.TextBytes([]byte("\xe9"))}}}}).Rows[0][0]
	if string(latin[0].Bytes()) != "E9" || string(latin[1].Bytes()) != "text" {
		t.Errorf("text that is no UTF-8 arrives as %v", latin)
	}
}

// TestGathering has one request carry all that waits, and each client get its own reply, the error of one
// among them.
func TestGathering(t *testing.T) {
	f := newFake(t, "8")
	s := f.store(t, rqlite.Options{})
	e := engine.New(s)
	c := storetest.NewClient(t, e)
	c.Want("SET wrong x", "OK")
	f.asked()
	held, going := make(chan struct{}), make(chan struct{})
	var once sync.Once
	f.hook = func(http.ResponseWriter, *http.Request, func() []byte) bool {
		once.Do(func() {
			close(held)
			<-going
		})
		return false
	}
	var all sync.WaitGroup
	all.Go(func() { storetest.NewClient(t, e).Want("INCR first", "(integer) 1") })
	<-held
	var replies [50]string
	begun := make(chan struct{}, len(replies))
	for i := range replies {
		all.Go(func() {
			c, line := storetest.NewClient(t, e), "INCR n"
			if i == 20 {
				line = "LPUSH wrong x"
			}
			begun <- struct{}{}
			replies[i] = c.Do(line)
		})
	}
	for range replies {
		<-begun
	}
	for until := time.Now().Add(time.Minute); s.Waiting() < len(replies) && time.Now().Before(until); time.Sleep(time.Millisecond) {
	}
	close(going)
	all.Wait()
	slices.Sort(replies[:])
	if !strings.HasPrefix(replies[0], "(error) WRONGTYPE") || len(slices.Compact(replies[:])) != len(replies) {
		t.Errorf("the replies are %q", replies)
	}
	c.Want("GET n", `"49"`)
	// The first one, all of them, those before the refused one, that and those after it, and the rest;
	// and GET.
	if n := len(f.asked()); n > 6 {
		t.Errorf("%d clients took %d requests", len(replies), n)
	}
}

// TestLostConnections cuts connections before and after a write took effect: it takes effect once, and
// has its reply unless that is lost.
func TestLostConnections(t *testing.T) {
	f := newFake(t, "8")
	s := f.store(t, rqlite.Options{})
	c := storetest.NewClient(t, engine.New(s))
	for n := 1; n <= 6; n++ {
		after := n%2 == 0
		var cuts atomic.Int32
		cut := func(w http.ResponseWriter, _ *http.Request, carry func() []byte) bool {
			if cuts.Add(1) > 2 {
				return false
			}
			if after {
				carry()
			}
			panic(http.ErrAbortHandler)
		}
		f.set(cut)
		session := engine.New(s).Session()
		v, err := session.Do(context.Background(), []byte("INCR"), []byte("n"))
		f.set(nil)
		if after != errors.Is(err, rqlite.ErrReplyLost) || after && !strings.Contains(s.PublicMessage(err), "took effect") || !after && (err != nil || v.Int != int64(n)) {
			t.Errorf("increment %d answers %v, %v", n, v, err)
		}
		c.Want("GET n", fmt.Sprintf("%q", fmt.Sprint(n)))
	}
}

// TestLate has a request arrive again after the next one, as out of a node that hung.
func TestLate(t *testing.T) {
	f := newFake(t, "8")
	c := storetest.NewClient(t, engine.New(f.store(t, rqlite.Options{})))
	var again func() []byte
	f.set(func(w http.ResponseWriter, r *http.Request, carry func() []byte) bool {
		if again == nil {
			again = carry
		}
		return false
	})
	c.Want("INCR n", "(integer) 1")
	f.set(nil)
	c.Want("INCR n", "(integer) 2")
	if answer := again(); !bytes.Contains(answer, []byte("_meowdis_writers.seq")) {
		t.Errorf("it answers %s", answer)
	}
	c.Want("GET n", `"2"`)
}

// TestLeader asks whom a node names as the leader, and has others pass requests on when that cannot be
// reached.
func TestLeader(t *testing.T) {
	leader, follower := newFake(t, "8"), newFake(t, "8")
	away := "http://127.0.0.1:1"
	names := leader.URL
	var passedOn atomic.Int32
	follower.hook = func(w http.ResponseWriter, r *http.Request, _ func() []byte) bool {
		if r.URL.Query().Has("redirect") {
			http.Redirect(w, r, names+r.URL.RequestURI(), http.StatusMovedPermanently)
			return true
		}
		passedOn.Add(1)
		leader.ServeHTTP(w, r)
		return true
	}
	c := storetest.NewClient(t, engine.New(leader.store(t, rqlite.Options{Nodes: []string{follower.address()}})))
	follower.asked()
	c.Want("SET k v", "OK")
	if n := len(follower.asked()); n > 0 || passedOn.Load() > 0 {
		t.Errorf("the follower was asked %d times, though the leader is known", n)
	}
	names = away
	other := storetest.NewClient(t, engine.New(leader.store(t, rqlite.Options{Nodes: []string{follower.address()}})))
	other.Want("GET k", `"v"`)
	if passedOn.Load() == 0 {
		t.Error("nothing was passed on")
	}
}

// TestRejections are errors that no other node would mend: they come at once, without the password.
func TestRejections(t *testing.T) {
	f := newFake(t, "8")
	s := f.store(t, rqlite.Options{User: "tom", Password: "secret"})
	for status, want := range map[int]string{http.StatusUnauthorized: "user or password", http.StatusNotFound: "404"} {
		f.set(func(w http.ResponseWriter, r *http.Request, _ func() []byte) bool {
			if user, password, _ := r.BasicAuth(); user != "tom" || password != "secret" {
				t.Errorf("it comes as %q with %q", user, password)
			}
			w.WriteHeader(status)
			return true
		})
		_, err := s.Apply(context.Background(), []store.Batch{{Stmts: []store.Stmt{{SQL: "DELETE FROM keys"}}}})
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "secret") {
			t.Errorf("%d: %v", status, err)
		}
	}
}

// TestUnsound does not use a version that goes on with a transaction after an error.
func TestUnsound(t *testing.T) {
	race.Skip(t)
	f := newFake(t, "8")
	s := f.store(t, rqlite.Options{})
	f.set(func(w http.ResponseWriter, r *http.Request, _ func() []byte) bool {
		fmt.Fprint(w, `{"results":[{"rows_affected":1},{"error":"no such table: x"},{"rows_affected":1}]}`)
		return true
	})
	_, err := s.Apply(context.Background(), []store.Batch{{Stmts: []store.Stmt{{SQL: "DELETE FROM x"}, {SQL: "DELETE FROM keys"}}}})
	if err == nil || !strings.Contains(err.Error(), "another version of rqlite") {
		t.Error(err)
	}
}

// TestUnknown says of a write that no node has answered that nobody knows, and of one that none could be
// asked for nothing of the kind.
func TestUnknown(t *testing.T) {
	f := newFake(t, "8")
	s := f.impatient(t, time.Second)
	write := []store.Batch{{Stmts: []store.Stmt{{SQL: "DELETE FROM keys"}}}}
	f.set(func(w http.ResponseWriter, r *http.Request, _ func() []byte) bool { panic(http.ErrAbortHandler) })
	if _, err := s.Apply(context.Background(), write); !strings.Contains(s.PublicMessage(err), "unknown") {
		t.Error(err)
	}
	f.set(func(w http.ResponseWriter, r *http.Request, _ func() []byte) bool {
		http.Error(w, "leader not found", http.StatusServiceUnavailable)
		return true
	})
	// Unless the time is up while it waits for that answer.
	if _, err := s.Apply(context.Background(), write); !strings.Contains(s.PublicMessage(err), "no effect") && !errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
}

// TestBudget refuses rows that are too many, and stops after a batch that fills the budget.
func TestBudget(t *testing.T) {
	s := newFake(t, "8").store(t, rqlite.Options{})
	rows := store.Stmt{SQL: "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 100) SELECT i, zeroblob(100) FROM n"}
	budget := store.NewBudget(nil, 30_000, 0)
	one := store.Batch{ReadOnly: true, Stmts: []store.Stmt{rows}, Budget: budget}
	r, err := s.Apply(context.Background(), []store.Batch{one, one})
	if err != nil || len(r) != 2 || r[0].Refused != nil || r[1].Refused == nil || r[1].Refused.Reply == nil {
		t.Errorf("%v, %v", r, err)
	}
	one.Budget = store.NewBudget(nil, 1<<20, 10_000)
	if r, err = s.Apply(context.Background(), []store.Batch{one, one}); err != nil || len(r) != 1 {
		t.Errorf("%d results, %v", len(r), err)
	}
}

// TestPartly has the node fail after the first of two requests that a pipeline takes.
func TestPartly(t *testing.T) {
	f := newFake(t, "8")
	s := f.store(t, rqlite.Options{})
	var sent atomic.Int32
	f.set(func(w http.ResponseWriter, r *http.Request, _ func() []byte) bool {
		if sent.Add(1) == 1 {
			return false
		}
		w.WriteHeader(http.StatusUnauthorized)
		return true
	})
	large := store.Batch{Stmts: []store.Stmt{{SQL: "DELETE FROM keys WHERE key = ?1", Args: []store.Value{store.Bytes(make([]byte, 1<<20))}}}}
	if _, err := s.Apply(context.Background(), []store.Batch{large, large}); !strings.Contains(s.PublicMessage(err), "which of them") {
		t.Error(err)
	}
}

func TestURL(t *testing.T) {
	for text, want := range map[string]string{
		"rqlite://a":                     "[a:4001] '' '' '' false",
		"rqlite://tom:p%40x@a:1,b:2?tls": "[a:1 b:2] 'tom' 'p@x' '' true",
		"rqlites://a:1/?level=weak":      "[a:1] '' '' 'weak' true",
		"rqlite://[::1]:1":               "[[::1]:1] '' '' '' false",
		"rqlite://,a:1":                  `"" is not HOST:PORT`,
		"rqlite://a:1?level=wek":         `invalid level "wek": use linearizable, strong, weak, none`,
		"rqlite://a:1?lvl=weak":          `unknown parameter "lvl": use tls or level`,
		"rqlite://a:1/db":                "the URL of a cluster has no path: remove /db",
	} {
		u, err := url.Parse(text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		o, secure, err := rqlite.FromURL(u)
		got := fmt.Sprintf("%v '%s' '%s' '%s' %t", o.Nodes, o.User, o.Password, o.Level, secure)
		if err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("%s is %s, not %s", text, got, want)
		}
	}
}

// TestPanickingLane makes a group of reads and a group of writes panic: the callers get the panic, and the next calls
// work.
func TestPanickingLane(t *testing.T) {
	s := newFake(t, "8").store(t, rqlite.Options{})
	client := engine.New(s).Session()
	for _, c := range []struct {
		reads bool
		args  [][]byte
	}{{false, [][]byte{[]byte("SET"), []byte("k"), []byte("v")}}, {true, [][]byte{[]byte("GET"), []byte("k")}}} {
		s.PanicOnce(c.reads)
		if v, err := client.Do(t.Context(), c.args...); err != nil || !strings.Contains(string(v.Str), "internal error: injected") {
			t.Errorf("%s replies %s, %v", c.args[0], v.Str, err)
		}
		if v, err := client.Do(t.Context(), c.args...); err != nil || v.IsError() {
			t.Errorf("then %s replies %s, %v", c.args[0], v.Str, err)
		}
	}
}
