package client

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"strconv"
	"time"

	"github.com/meowdis/meowdis/inspect/job"
	"github.com/meowdis/meowdis/keyspace"
	"github.com/meowdis/meowdis/redis/resp"
)

var errReplies = errors.New("the target sent fewer replies than commands")

// Conn shares a Client between jobs. It runs one call at a time, each in its job's
// database, and abandons a call whose job is cancelled.
type Conn struct {
	client   keyspace.Client
	now      func() int64
	busy     chan struct{} // holds a token while a call runs
	selected bool          // a database other than 0 may be selected
	Log      Log
	Refusals keyspace.Refusals
}

// NewConn returns a Conn for c; now is the clock of the command log, in Unix ms.
func NewConn(c keyspace.Client, now func() int64) *Conn {
	return &Conn{client: c, now: now, busy: make(chan struct{}, 1)}
}

type outcome struct {
	values    []resp.Value
	err       error
	panicText string // panic value and stack
}

// Do runs calls in database db and returns one reply for each. If ctx ends, it returns at
// once, even if the client is still running the call.
func (c *Conn) Do(ctx context.Context, db int, calls ...[][]byte) ([]resp.Value, error) {
	select {
	case c.busy <- struct{}{}:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	done := make(chan outcome, 1)
	go func() {
		defer func() { <-c.busy }()
		var o outcome
		defer func() {
			if r := recover(); r != nil {
				o.panicText = fmt.Sprintf("%v\n\n%s", r, debug.Stack())
			}
			done <- o
		}()
		o.values, o.err = c.callIn(ctx, db, calls)
	}()
	select {
	case o := <-done:
		if o.panicText != "" {
			panic(o.panicText) // panic in the caller, which restores the terminal
		}
		return o.values, o.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// callIn selects the database first, unless only database 0 was ever selected: some
// targets have no other database and no SELECT.
func (c *Conn) callIn(ctx context.Context, db int, calls [][][]byte) ([]resp.Value, error) {
	if db == 0 && !c.selected {
		return c.pipeline(ctx, calls)
	}
	selects := Command("SELECT", strconv.Itoa(db))
	values, err := c.pipeline(ctx, append([][][]byte{selects}, calls...))
	if err != nil {
		return nil, err
	}
	if err := ReplyError(values[0]); err != nil {
		return nil, err
	}
	c.selected = true
	return values[1:], nil
}

func (c *Conn) pipeline(ctx context.Context, calls [][][]byte) ([]resp.Value, error) {
	begun := c.now()
	spent := job.CostOf(ctx)
	spent.Commands.Add(int64(len(calls)))
	values, err := c.client.Pipeline(ctx, calls)
	for _, v := range values {
		spent.Bytes.Add(replySize(v))
	}
	if err == nil && len(values) < len(calls) {
		err = errReplies
	}
	c.Log.add(calls, values, c.now()-begun, err)
	for i := range min(len(calls), len(values)) {
		c.Refusals.Record(calls[i], values[i])
	}
	return values, err
}

// Use switches to another client, after the running call has ended.
func (c *Conn) Use(client keyspace.Client) {
	c.busy <- struct{}{}
	c.selected = c.selected || client != c.client // the selected database of a new client is unknown
	c.client = client
	c.Refusals.Clear()
	<-c.busy
}

// Drain waits until no call is running, for at most most.
func (c *Conn) Drain(most time.Duration) {
	select {
	case c.busy <- struct{}{}:
		<-c.busy
	case <-time.After(most):
	}
}

// One runs one command and returns an error reply as an error.
func (c *Conn) One(ctx context.Context, db int, call [][]byte) (resp.Value, error) {
	values, err := c.Do(ctx, db, call)
	if err != nil {
		return resp.Value{}, err
	}
	return values[0], ReplyError(values[0])
}

// replySize returns the approximate size of a reply in bytes.
func replySize(v resp.Value) int64 {
	n := int64(len(v.Str)) + 4
	for _, e := range v.Elems {
		n += replySize(e)
	}
	return n
}
