// Package storetest is the conformance kit of stores: Run checks everything that the engine
// requires of a store. It also has the checker of database invariants (Check), which any test
// may call at its end, and a transcript player that makes every statement fail once (Faults).
package storetest

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/meowdis/meowdis/engine"
	"github.com/meowdis/meowdis/internal/test/corpus"
	"github.com/meowdis/meowdis/redis/resp"
	"github.com/meowdis/meowdis/store"
)

// Open creates an empty store that closes with the test. Its sweeper, if any, is off.
type Open func(t *testing.T) engine.Store

// Run checks the whole contract of a store; with -short, all but the faults.
func Run(t *testing.T, open Open) {
	Contract(t, open)
	// -short is for the race detector, which makes SQLite slow and finds nothing in a single
	// client's run.
	if !testing.Short() {
		t.Run("faults", func(t *testing.T) { Faults(t, open) })
	}
}

// Contract is Run without the faults, which take most of its time.
func Contract(t *testing.T, open Open) {
	for _, test := range []struct {
		name string
		run  func(*testing.T, engine.Store)
	}{
		{"values", values},
		{"atomicity", atomicity},
		{"order", order},
		{"folding", folding},
		{"changes", changed},
		{"moot", skipIf},
		{"keys apart", similarKeys},
		{"expiry", expiry},
		{"broken batch", brokenBatch},
		{"cancelled", cancelled},
		{"increments", increments},
		{"one winner", oneWinner},
		{"watch", watch},
		{"transactions", transactions},
		{"sweeping", sweeping},
		{"sweeping concurrently", sweepingConcurrently},
		{"sweeping large keys", sweepingLarge},
		{"sweeping pending deletes", sweepingDeleted},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := open(t)
			test.run(t, s)
			Check(t, s)
		})
	}
}

// Clock is a manual clock. It is safe for concurrent use.
type Clock struct{ ms atomic.Int64 }

// NewClock returns a clock that shows corpus.Start.
func NewClock() *Clock {
	c := &Clock{}
	c.ms.Store(corpus.Start)
	return c
}

// Now returns the time in Unix ms.
func (c *Clock) Now() int64 { return c.ms.Load() }

// Advance moves the clock by ms.
func (c *Clock) Advance(ms int64) { c.ms.Add(ms) }

// NewEngine returns a deterministic engine over s: its clock is c and its random numbers are
// the same in every run.
func NewEngine(s engine.Store, c *Clock, more ...engine.Option) *engine.Engine {
	var seed atomic.Uint64
	more = append([]engine.Option{Unhurried()}, more...)
	return engine.New(s, append(more, engine.WithClock(c.Now), engine.WithSeed(func() uint64 { return seed.Add(1) }))...)
}

// Empty removes all keys and functions, so that the next transcript can use the store with the statements that it has
// compiled.
func Empty(t testing.TB, s engine.Store) {
	t.Helper()
	c := NewClient(t, NewEngine(s, NewClock()))
	c.Want("FLUSHALL SYNC", "OK")
	c.Want("FUNCTION FLUSH SYNC", "OK")
}

// Unhurried lifts the time limit of loading a library, which a busy machine may exceed.
func Unhurried() engine.Option {
	return engine.WithDeadline(func(time.Duration) func() bool { return func() bool { return false } })
}

// Play plays a transcript on an empty store and checks the database after it. With swept, the
// store is swept between commands (Swept).
func Play(t testing.TB, tr corpus.Transcript, s engine.Store, swept bool, options ...engine.Option) {
	t.Helper()
	play(t, tr, s, swept, func(corpus.Step, resp.Value) {}, options...)
	Check(t, s)
}

// play calls after after every step.
func play(t testing.TB, tr corpus.Transcript, s engine.Store, swept bool, after func(corpus.Step, resp.Value), options ...engine.Option) {
	t.Helper()
	clock, gone := NewClock(), 0
	if swept {
		s = sweptBy(s, clock.Now, &gone)
	}
	e := NewEngine(s, clock, options...)
	sessions := []*engine.Session{e.Session(), e.Session()}
	tr.Play(t, clock.Advance, func(step corpus.Step) resp.Value {
		t.Helper()
		v, err := sessions[step.Client-1].Do(context.Background(), step.Args...)
		if err != nil {
			t.Fatalf("%s.txt:%d: %q: %v", tr.Name, step.Line, step.Args, err)
		}
		after(step, v)
		return v
	})
	if gone > 0 && !tr.Expires() {
		t.Errorf("%s.txt: %d keys and fields expired while no time passed", tr.Name, gone)
	}
}

// Client is a session whose commands and replies are written as in transcripts.
type Client struct {
	t       testing.TB
	session *engine.Session
}

// NewClient starts a session of e.
func NewClient(t testing.TB, e *engine.Engine) *Client { return &Client{t, e.Session()} }

// Do runs the command line and returns the reply as a transcript shows it.
func (c *Client) Do(line string) string {
	c.t.Helper()
	args, err := resp.SplitLine(line)
	if err != nil {
		c.t.Errorf("%s: %v", line, err)
		return ""
	}
	v, err := c.session.Do(context.Background(), args...)
	if err != nil {
		c.t.Errorf("%s: %v", line, err)
	}
	return corpus.Show(v)
}

// Want runs the command line and compares its reply.
func (c *Client) Want(line, want string) {
	c.t.Helper()
	if got := c.Do(line); got != want {
		c.t.Errorf("%s\ngot  %s\nwant %s", line, got, want)
	}
}

// apply runs batches that must not fail.
func apply(t testing.TB, s engine.Store, batches ...store.Batch) []store.Result {
	t.Helper()
	results, err := s.Apply(context.Background(), batches)
	if err != nil {
		t.Fatal(err)
	}
	if len(results) != len(batches) {
		t.Fatalf("%d results of %d batches", len(results), len(batches))
	}
	return results
}

// batch returns a batch with one text and one statement per list of arguments.
func batch(sql string, args ...[]store.Value) store.Batch {
	var b store.Batch
	for _, a := range args {
		b.Stmts = append(b.Stmts, store.Stmt{SQL: sql, Args: a})
	}
	return b
}

// query returns the rows of one statement that reads.
func query(t testing.TB, s engine.Store, sql string, args ...store.Value) []store.Row {
	t.Helper()
	b := batch(sql, args)
	b.ReadOnly = true
	return apply(t, s, b)[0].Rows[0]
}
