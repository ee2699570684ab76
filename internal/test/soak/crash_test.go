package soak

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/meowdis/meowdis/engine"
	"github.com/meowdis/meowdis/internal/test/history"
	"github.com/meowdis/meowdis/internal/test/storetest"
	"github.com/meowdis/meowdis/local"
	"github.com/meowdis/meowdis/local/doctor"
	"github.com/meowdis/meowdis/remote"
	"github.com/meowdis/meowdis/store"
	"github.com/meowdis/meowdis/store/schema"
)

var (
	runFor = flag.Duration("for", 0, "how long each test goes on, instead of a few times")
	seed   = flag.Uint64("seed", 1, "of the moments at which servers are killed")
)

const (
	rounds = 4   // without -for
	most   = 600 // acknowledged writes before the kill
)

// client is a writer at work on one server, round after round.
type client struct {
	writer
	name         string
	onREST       bool
	server       int // which of the two
	acknowledged int // the last number that was
}

// TestCrash kills both servers at a random moment, again and again, on one file: now the one
// while the other goes on, now both at once.
func TestCrash(t *testing.T) {
	path := t.TempDir() + "/db.sqlite"
	random := rand.New(rand.NewPCG(*seed, 0))
	var clients []*client
	for _, w := range writers {
		for server := range 2 {
			for _, rest := range []bool{false, true} {
				if w.speaks(rest) {
					clients = append(clients, &client{writer: w, name: fmt.Sprintf("%s:%d:%t", w.kind, server, rest), server: server, onREST: rest})
				}
			}
		}
	}
	until := time.Now().Add(*runFor)
	round := 0
	values := map[string]string{} // of the keys that all share
	for ; !t.Failed() && (round < rounds || time.Now().Before(until)); round++ {
		servers := []*process{start(t, path), start(t, path)}
		h := history.New()
		crash(t, random, servers, clients, h)
		findWritten(t, path, clients, func(c *storetest.Client) { values = h.Check(t, c, values) })
	}
	written := 0
	for _, c := range clients {
		written += c.acknowledged
	}
	t.Logf("%d kills of two servers, %d writes acknowledged", round, written)
}

// crash has all clients write until their server is killed, and others act on keys that they share.
func crash(t *testing.T, random *rand.Rand, servers []*process, clients []*client, h *history.History) {
	var acknowledged atomic.Int64
	moment := []int64{1 + random.Int64N(most), 0}
	moment[1] = moment[0] + random.Int64N(2)*random.Int64N(most)
	reached := []chan struct{}{make(chan struct{}), make(chan struct{})}
	first := random.IntN(2) // is killed first
	var running sync.WaitGroup
	for i := range 6 {
		s, err := servers[i%2].dial(i < 2)
		if err != nil {
			t.Fatal(err)
		}
		running.Go(func() {
			defer s.Close()
			for {
				if err := h.Act(s, i); err != nil {
					if wrong := history.ErrorReply(""); errors.As(err, &wrong) {
						t.Error(err)
					}
					return
				}
			}
		})
	}
	for _, c := range clients {
		s, err := servers[c.server].dial(c.onREST)
		if err != nil {
			t.Fatal(err)
		}
		if c.beside != nil {
			other, err := servers[1-c.server].dial(false)
			if err != nil {
				t.Fatal(err)
			}
			running.Go(func() {
				defer other.Close()
				var err error
				for err == nil {
					err = c.beside(other, c.name)
				}
				if wrong := (errorReply{}); errors.As(err, &wrong) {
					t.Errorf("beside %s: %v", c.name, err)
				}
			})
		}
		running.Go(func() {
			defer s.Close()
			for {
				if err := c.write(s, c.name, c.acknowledged+1); err != nil {
					if wrong := (errorReply{}); errors.As(err, &wrong) {
						t.Errorf("%s: %v", c.name, err)
					}
					return
				}
				c.acknowledged++
				n := acknowledged.Add(1)
				for i := range moment {
					if n == moment[i] {
						close(reached[i])
					}
				}
			}
		})
	}
	ended := make(chan struct{})
	go func() {
		running.Wait()
		close(ended)
	}()
	for i, moment := range reached {
		select {
		case <-moment:
		case <-ended:
			t.Error("the clients ended before they were to")
		}
		servers[(first+i)%2].kill()
	}
	<-ended
}

// dial connects with more patience than any machine should need.
func (p *process) dial(overREST bool) (session, error) {
	patient := remote.Options{Timeout: 2 * time.Minute}
	if overREST {
		return remote.OpenREST(p.rest, token, patient)
	}
	return remote.OpenRedis(context.Background(), p.redis, false, patient)
}

// findWritten opens the file that the servers left, and has each client find what it wrote: the
// number that was acknowledged, or the one that was under way, whole. More looks are at the file, too.
func findWritten(t *testing.T, path string, clients []*client, more ...func(*storetest.Client)) {
	file, err := local.Open(path, local.Options{SweepEvery: -1})
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	c := storetest.NewClient(t, engine.New(file))
	for _, writer := range clients {
		n, err := writer.look(c, writer.name)
		switch {
		case err != nil:
			t.Errorf("%s: %d was acknowledged: %v", writer.name, writer.acknowledged, err)
		case n != writer.acknowledged && n != writer.acknowledged+1:
			t.Errorf("%s: %d was acknowledged, and %d is there", writer.name, writer.acknowledged, n)
		}
		writer.acknowledged = n
	}
	for _, look := range more {
		look(c)
	}
	examine(t, file)
	for swept := -1; swept != 0; { // what the sweep had begun, too
		if swept, err = file.Sweep(t.Context(), 1000); err != nil {
			t.Fatal(err)
		}
	}
	examine(t, file)
	pending, err := queryOf(file)("SELECT count(*) FROM pending_deletes")
	if err != nil || pending[0][0].Int() != 0 {
		t.Errorf("%v pending deletes are left, %v", pending, err)
	}
}

func queryOf(file *local.Store) doctor.Query {
	return func(sql string, args ...store.Value) ([]store.Row, error) {
		r, err := file.Apply(context.Background(), []store.Batch{{ReadOnly: true, Stmts: []store.Stmt{{SQL: sql, Args: args}}}})
		if err != nil {
			return nil, err
		}
		return r[0].Rows[0], nil
	}
}

// examine is doctor.
func examine(t *testing.T, file *local.Store) {
	t.Helper()
	found, err := doctor.Exam{Query: queryOf(file), Now: time.Now().UnixMilli(), Version: schema.Version, Examples: 5}.Ours()
	if err != nil || doctor.IsWrong(found) {
		t.Errorf("doctor finds %+v, %v", found, err)
	}
}
