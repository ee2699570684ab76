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
	"github.com/meowdis/meowdis/internal/test/history"
	"github.com/meowdis/meowdis/internal/test/rqlitetest"
	"github.com/meowdis/meowdis/internal/test/storetest"
	"github.com/meowdis/meowdis/remote/rqlite"
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

// crowd is clients of three processes, each with another node first.
type crowd struct {
	cluster  *rqlitetest.Cluster
	stores   []*rqlite.Store
	engines  []*engine.Engine
	counters []*counter
	values   map[string]string // of the keys that all share
}

func newCrowd(t *testing.T) *crowd {
	c := &crowd{cluster: rqlitetest.Start(t, 3)}
	for i := range 3 {
		nodes := c.cluster.Addresses()
		s := open(t, "", slices.Concat(nodes[i:], nodes[:i])...)
		s.StartSweep(func(err error) { t.Log(err) })
		e := engine.New(s)
		c.stores, c.engines = append(c.stores, s), append(c.engines, e)
		c.counters = append(c.counters, &counter{session: e.Session(), key: fmt.Sprint("n", i)})
	}
	return c
}

// TestFailures has clients write while leaders are killed, hang, or are parted from the others: what was
// acknowledged is there, nothing took effect twice, and what all clients did to keys that they share was
// linearizable.
func TestFailures(t *testing.T) {
	needCluster(t)
	random := rand.New(rand.NewPCG(*seed, 0))
	c := newCrowd(t)
	for round := 0; round < *rounds && !t.Failed(); round++ {
		c.round(t, round, 50+random.Int64N(200))
	}
}

// round harms the leader once, after that many commands.
func (c *crowd) round(t *testing.T, round int, after int64) {
	harm, began := harms[round%len(harms)], time.Now()
	h := history.New()
	h.TookEffect = func(err error) bool { return errors.Is(err, rqlite.ErrReplyLost) }
	w := &work{ended: make(chan struct{})}
	defer w.end()
	for i := range 6 {
		session := c.engines[i%3].Session()
		w.begin(func() {
			err := h.Act(session, i)
			if wrong := history.ErrorReply(""); errors.As(err, &wrong) {
				t.Error(err)
			}
			if err != nil {
				w.failed.Add(1)
			}
		})
	}
	for _, n := range c.counters {
		w.begin(func() {
			if err := n.increment(); err != nil {
				t.Error(err)
			}
		})
	}
	w.reach(t, after, harm.name)
	leader := c.cluster.Leader()
	harm.begin(c.cluster, leader)
	w.reach(t, w.done.Load()+200, harm.name)
	harm.end(c.cluster, leader)
	w.reach(t, w.done.Load()+50, harm.name)
	w.end()
	for i := range 3 {
		c.cluster.WaitReady(i)
	}
	client := storetest.NewClient(t, c.engines[round%3])
	c.values = h.Check(t, client, c.values)
	for _, n := range c.counters {
		n.check(t, client)
	}
	storetest.Check(t, c.stores[0])
	t.Logf("round %d: node %d %s, %d commands, %d without a reply, %v", round+1, leader+1, harm.name, w.done.Load(), w.failed.Load(), time.Since(began))
}

// work is what clients do again and again until it ends.
type work struct {
	running      sync.WaitGroup
	ended        chan struct{}
	once         sync.Once
	done, failed atomic.Int64
}

func (w *work) begin(act func()) {
	w.running.Go(func() {
		for {
			select {
			case <-w.ended:
				return
			default:
				act()
				w.done.Add(1)
			}
		}
	})
}

// reach waits until the clients have done n commands.
func (w *work) reach(t *testing.T, n int64, while string) {
	t.Helper()
	for until := time.Now().Add(2 * time.Minute); w.done.Load() < n; time.Sleep(time.Millisecond) {
		if time.Now().After(until) {
			t.Fatalf("the clients stand still with a leader that is %s", while)
		}
	}
}

func (w *work) end() {
	w.once.Do(func() { close(w.ended) })
	w.running.Wait()
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
