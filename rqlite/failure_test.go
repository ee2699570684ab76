package rqlite_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/meowdis/meowdis/engine"
	"github.com/meowdis/meowdis/internal/history"
	"github.com/meowdis/meowdis/internal/rqlitetest"
	"github.com/meowdis/meowdis/internal/storetest"
	"github.com/meowdis/meowdis/rqlite"
)

var (
	rounds = flag.Int("rounds", 3, "how often TestFailures harms the leader")
	seed   = flag.Uint64("seed", 1, "of the moments at which it does")
)

// harms are what befalls a leader, and what ends it.
var harms = []struct {
	name       string
	begin, end func(c *rqlitetest.Cluster, leader int)
}{
	{"killed", (*rqlitetest.Cluster).Kill, (*rqlitetest.Cluster).Restart},
	{"parted from the others", (*rqlitetest.Cluster).Cut, func(c *rqlitetest.Cluster, _ int) { c.Heal() }},
	{"hanging", (*rqlitetest.Cluster).Hang, (*rqlitetest.Cluster).Continue},
}

// counter is a client that alone increments a key.
type counter struct {
	session            *engine.Session
	key                string
	last, lost, doubts int // the last reply, and how many had none: done for sure, and not
}

func (c *counter) increment() error {
	v, err := c.session.Do(context.Background(), []byte("INCR"), []byte(c.key))
	switch {
	case errors.Is(err, rqlite.ErrReplyLost):
		c.lost++
	case err != nil:
		c.doubts++
	case v.IsError():
		return history.ErrorReply(v.Str)
	case int(v.Int) <= c.last+c.lost || int(v.Int) > c.last+c.lost+c.doubts+1:
		return fmt.Errorf("%s went from %d to %d, with %d replies lost and %d commands in doubt", c.key, c.last, v.Int, c.lost, c.doubts)
	default:
		c.last, c.lost, c.doubts = int(v.Int), 0, 0
	}
	return nil
}

// TestFailures has clients of three processes write while leaders are killed, hang, or are parted from
// the others: what was acknowledged is there, nothing took effect twice, and what all clients did to keys
// that they share was linearizable.
func TestFailures(t *testing.T) {
	needCluster(t)
	c := rqlitetest.Start(t, 3)
	random := rand.New(rand.NewPCG(*seed, 0))
	var engines []*engine.Engine
	var stores []*rqlite.Store
	for i := range 3 {
		nodes := c.Addresses()
		s := open(t, "", slices.Concat(nodes[i:], nodes[:i])...)
		s.StartSweep(func(err error) { t.Log(err) })
		stores, engines = append(stores, s), append(engines, engine.New(s))
	}
	var counters []*counter
	for i, e := range engines {
		counters = append(counters, &counter{session: e.Session(), key: fmt.Sprint("n", i)})
	}
	values := map[string]string{}
	for round := range *rounds {
		h := history.New()
		h.TookEffect = func(err error) bool { return errors.Is(err, rqlite.ErrReplyLost) }
		harm := harms[round%len(harms)]
		began := time.Now()
		var failed, done atomic.Int64
		ended := make(chan struct{})
		var running sync.WaitGroup
		work := func(act func() error) {
			running.Go(func() {
				for {
					select {
					case <-ended:
						return
					default:
					}
					err := act()
					if wrong := history.ErrorReply(""); errors.As(err, &wrong) {
						t.Error(err)
					}
					if done.Add(1); err != nil {
						failed.Add(1)
					}
				}
			})
		}
		for i := range 6 {
			session := engines[i%3].Session()
			work(func() error { return h.Act(session, i) })
		}
		for _, n := range counters {
			work(func() error {
				if err := n.increment(); err != nil {
					t.Error(err)
				}
				return nil
			})
		}
		reach := func(n int64) {
			t.Helper()
			for until := time.Now().Add(2 * time.Minute); done.Load() < n; time.Sleep(time.Millisecond) {
				if time.Now().After(until) {
					t.Fatalf("the clients stand still %s", harm.name)
				}
			}
		}
		reach(50 + random.Int64N(200))
		leader := c.Leader()
		harm.begin(c, leader)
		reach(done.Load() + 200)
		harm.end(c, leader)
		reach(done.Load() + 50)
		close(ended)
		running.Wait()
		for i := range 3 {
			c.WaitReady(i)
		}
		client := storetest.NewClient(t, engines[round%3])
		values = h.Check(t, client, values)
		for _, n := range counters {
			n.check(t, client)
		}
		storetest.Check(t, stores[0])
		t.Logf("round %d: node %d %s, %d commands, %d without a reply, %v", round+1, leader+1, harm.name, done.Load(), failed.Load(), time.Since(began))
		if t.Failed() {
			return
		}
	}
}

// check compares the counter with what was acknowledged.
func (n *counter) check(t *testing.T, c *storetest.Client) {
	t.Helper()
	now, err := strconv.Atoi(strings.Trim(c.Do("GET "+n.key), `"`))
	if least := n.last + n.lost; err != nil || now < least || now > least+n.doubts {
		t.Errorf("%s is %d (%v): %d were acknowledged, %d more took effect, and %d may have", n.key, now, err, n.last, n.lost, n.doubts)
	}
	n.last, n.lost, n.doubts = now, 0, 0
}
