package translator_test

import (
	"context"
	"strings"
	"testing"

	"github.com/meowdis/meowdis/engine"
	"github.com/meowdis/meowdis/internal/test/storetest"
	"github.com/meowdis/meowdis/local"
	"github.com/meowdis/meowdis/redis/resp"
	"github.com/meowdis/meowdis/store"
)

// client is a session on a store in memory. The test may also write to the store directly.
type client struct {
	t       testing.TB
	store   *local.Store
	session *engine.Session
	now     int64
}

func newClient(t testing.TB) *client {
	t.Helper()
	c := &client{t: t, now: 1_700_000_000_000}
	clock := func() int64 { return c.now }
	var err error
	if c.store, err = local.Open(local.Memory, local.Options{Now: clock, SweepEvery: -1}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.store.Close() })
	storetest.CheckAtEnd(t, c.store)
	seed := uint64(0)
	c.session = engine.New(c.store, engine.WithClock(clock), engine.WithSeed(func() uint64 { seed++; return seed })).Session()
	return c
}

func (c *client) do(args ...string) resp.Value {
	c.t.Helper()
	words := make([][]byte, len(args))
	for i, a := range args {
		words[i] = []byte(a)
	}
	v, err := c.session.Do(context.Background(), words...)
	if err != nil {
		c.t.Fatalf("%q: %v", args, err)
	}
	return v
}

// show returns the reply to the words of line, on one line, in RESP3's shape.
func (c *client) show(line string) string {
	c.t.Helper()
	return strings.ReplaceAll(string(resp.Append3(nil, c.do(strings.Fields(line)...))), "\r\n", " ")
}

// expect runs pairs of a line and its reply.
func (c *client) expect(pairs ...string) {
	c.t.Helper()
	for i := 0; i < len(pairs); i += 2 {
		if got := c.show(pairs[i]); got != pairs[i+1]+" " {
			c.t.Errorf("%s: %s, not %s", pairs[i], got, pairs[i+1])
		}
	}
}

func (c *client) exec(sql string, args ...store.Value) []store.Row {
	c.t.Helper()
	r, err := c.store.Apply(context.Background(), []store.Batch{{Stmts: []store.Stmt{{SQL: sql, Args: args}}}})
	if err != nil || r[0].Refused != nil {
		c.t.Fatalf("%s: %v %v", sql, err, r)
	}
	return r[0].Rows[0]
}

// list returns all elements of the key.
func (c *client) list(key string) []string {
	c.t.Helper()
	var list []string
	for _, e := range c.do("LRANGE", key, "0", "-1").Elems {
		list = append(list, string(e.Str))
	}
	return list
}
