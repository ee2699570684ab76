package keyspace

import (
	"context"

	"github.com/meowdis/meowdis/redis/resp"
)

// RoundTrip collects the calls of several callers for one round trip. The zero RoundTrip is empty.
type RoundTrip struct {
	calls     [][][]byte
	callbacks []callback
}

// callback holds a callback and its number of replies.
type callback struct {
	replies int
	fn      func(ctx context.Context, replies []resp.Value) error
}

// Add adds calls. fn receives their replies and may run further round trips; it is also called if
// calls is empty.
func (t *RoundTrip) Add(calls [][][]byte, fn func(ctx context.Context, replies []resp.Value) error) {
	t.calls = append(t.calls, calls...)
	t.callbacks = append(t.callbacks, callback{len(calls), fn})
}

// Run sends the calls, if any, in one round trip, and passes the replies to the callbacks in the
// order of Add. The first error ends it.
func (t *RoundTrip) Run(ctx context.Context, client Client) error {
	var replies []resp.Value
	if len(t.calls) > 0 {
		var err error
		if replies, err = client.Pipeline(ctx, t.calls); err != nil {
			return err
		}
	}
	for _, c := range t.callbacks {
		if err := c.fn(ctx, replies[:c.replies]); err != nil {
			return err
		}
		replies = replies[c.replies:]
	}
	return nil
}
