package inspect

import (
	"context"
	"errors"
	"strconv"

	"github.com/meowdis/meowdis/resp"
)

var errReplies = errors.New("the target sent fewer replies than commands")

// conn shares a Client between jobs: one call at a time, each in the database
// that its job wants, each left behind when its job is cancelled.
type conn struct {
	client Client
	turn   chan struct{} // holds a token while a call runs
	moved  bool          // a database other than 0 may be selected
}

func newConn(c Client) *conn {
	return &conn{client: c, turn: make(chan struct{}, 1)}
}

type outcome struct {
	values []resp.Value
	err    error
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
		values, err := c.call(ctx, db, calls)
		done <- outcome{values, err}
	}()
	select {
	case o := <-done:
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
	values, err := c.client.Pipeline(ctx, calls)
	if err == nil && len(values) < len(calls) {
		err = errReplies
	}
	return values, err
}

// one runs one command; its error reply is an error.
func (c *conn) one(ctx context.Context, db int, call [][]byte) (resp.Value, error) {
	values, err := c.do(ctx, db, call)
	if err != nil {
		return resp.Value{}, err
	}
	return values[0], replyError(values[0])
}

// command makes a command of words.
func command(words ...string) [][]byte {
	args := make([][]byte, len(words))
	for i, w := range words {
		args[i] = []byte(w)
	}
	return args
}

// refusal is an error reply.
type refusal string

func (r refusal) Error() string { return string(r) }

// replyError is the error that v is, or nil.
func replyError(v resp.Value) error {
	if v.IsError() {
		return refusal(v.Str)
	}
	return nil
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
