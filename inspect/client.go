package inspect

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"strconv"
	"time"

	"github.com/meowdis/meowdis/resp"
)

var errReplies = errors.New("the target sent fewer replies than commands")

// conn shares a Client between jobs: one call at a time, each in the database
// that its job wants, each left behind when its job is cancelled.
type conn struct {
	client   Client
	now      func() int64
	turn     chan struct{} // holds a token while a call runs
	moved    bool          // a database other than 0 may be selected
	log      commandLog
	refusals refusals
}

func newConn(c Client, now func() int64) *conn {
	return &conn{client: c, now: now, turn: make(chan struct{}, 1)}
}

type outcome struct {
	values  []resp.Value
	err     error
	mistake string // what it panicked with, and where
}

// do runs calls in database db and returns one reply for each. When ctx ends it
// returns at once, even if the client does not.
func (c *conn) do(ctx context.Context, db int, calls ...[][]byte) ([]resp.Value, error) {
	select {
	case c.turn <- struct{}{}:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	done := make(chan outcome, 1)
	go func() {
		defer func() { <-c.turn }()
		var o outcome
		defer func() {
			if r := recover(); r != nil {
				o.mistake = fmt.Sprintf("%v\n\n%s", r, debug.Stack())
			}
			done <- o
		}()
		o.values, o.err = c.call(ctx, db, calls)
	}()
	select {
	case o := <-done:
		if o.mistake != "" {
			panic(o.mistake) // here somebody gives the terminal back first
		}
		return o.values, o.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// call selects the database first, unless only 0 was ever selected: some targets
// have no other and no SELECT.
func (c *conn) call(ctx context.Context, db int, calls [][][]byte) ([]resp.Value, error) {
	if db == 0 && !c.moved {
		return c.pipeline(ctx, calls)
	}
	selects := command("SELECT", strconv.Itoa(db))
	values, err := c.pipeline(ctx, append([][][]byte{selects}, calls...))
	if err != nil {
		return nil, err
	}
	if err := replyError(values[0]); err != nil {
		return nil, err
	}
	c.moved = true
	return values[1:], nil
}

func (c *conn) pipeline(ctx context.Context, calls [][][]byte) ([]resp.Value, error) {
	begun := c.now()
	spent := costOf(ctx)
	spent.commands.Add(int64(len(calls)))
	values, err := c.client.Pipeline(ctx, calls)
	for _, v := range values {
		spent.bytes.Add(size(v))
	}
	if err == nil && len(values) < len(calls) {
		err = errReplies
	}
	c.log.add(calls, values, c.now()-begun, err)
	for i := range min(len(calls), len(values)) {
		c.refusals.learn(calls[i], values[i])
	}
	return values, err
}

// use goes on with another client, once the running call has ended.
func (c *conn) use(client Client) {
	c.turn <- struct{}{}
	c.moved = c.moved || client != c.client // nobody knows where another one is
	c.client = client
	c.refusals.forgive()
	<-c.turn
}

// rest waits until no call runs any more, at most for so long.
func (c *conn) rest(most time.Duration) {
	select {
	case c.turn <- struct{}{}:
		<-c.turn
	case <-time.After(most):
	}
}

// one runs one command; its error reply is an error.
func (c *conn) one(ctx context.Context, db int, call [][]byte) (resp.Value, error) {
	values, err := c.do(ctx, db, call)
	if err != nil {
		return resp.Value{}, err
	}
	return values[0], replyError(values[0])
}

// chunk fetches a chunk of a value, with what else is known of its elements.
func (c *conn) chunk(ctx context.Context, db int, s *sheet, key string, i int, from link) (*chunk, error) {
	v, err := c.one(ctx, db, s.src.fetch(key, int64(i), from))
	if err != nil {
		return nil, err
	}
	found := s.read(i, from, v)
	return found, c.complete(ctx, db, s.src, key, found)
}

// complete asks what else is to be known of the elements of a chunk.
func (c *conn) complete(ctx context.Context, db int, src *source, key string, found *chunk) error {
	if src.about == nil || len(found.rows) == 0 || found.told {
		return nil
	}
	found.told = true
	call := src.about(key, found)
	if c.refusals.has(string(call[0])) {
		return nil
	}
	v, err := c.one(ctx, db, call)
	if c.refusals.has(string(call[0])) {
		return nil
	}
	if err == nil {
		src.learn(found, v)
	}
	return err
}

// command makes a command of words.
func command(words ...string) [][]byte {
	args := make([][]byte, len(words))
	for i, w := range words {
		args[i] = []byte(w)
	}
	return args
}

// text is a scalar reply as text. Targets differ in whether a number comes as
// an integer, a double or a bulk.
func text(v resp.Value) string {
	switch v.Kind {
	case resp.Int, resp.Bool:
		return strconv.FormatInt(v.Int, 10)
	case resp.Double:
		return resp.FormatDouble(v.Float)
	}
	return string(v.Str)
}

// number is a scalar reply as an integer, 0 when it is none.
func number(v resp.Value) int64 {
	n, _ := strconv.ParseInt(text(v), 10, 64)
	return n
}
