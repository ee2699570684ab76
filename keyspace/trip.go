package keyspace

import (
	"context"

	"github.com/meowdis/meowdis/redis/resp"
)

// Trip collects the calls of several callers for one round trip. The zero Trip is empty.
type Trip struct {
	calls [][][]byte
	takes []taking
}

// taking holds a callback and its number of replies.
type taking struct {
	replies int
	take    func(ctx context.Context, replies []resp.Value) error
}

// Ask adds calls. take receives their replies and may make further trips; it is also called if
// calls is empty.
func (t *Trip) Ask(calls [][][]byte, take func(ctx context.Context, replies []resp.Value) error) {
	t.calls = append(t.calls, calls...)
	t.takes = append(t.takes, taking{len(calls), take})
}

// Go sends the calls, if any, in one round trip, and passes the replies to the callbacks in the
// order of Ask. The first error ends it.
func (t *Trip) Go(ctx context.Context, c Client) error {
	var replies []resp.Value
	if len(t.calls) > 0 {
		var err error
		if replies, err = c.Pipeline(ctx, t.calls); err != nil {
			return err
		}
	}
	for _, who := range t.takes {
		if err := who.take(ctx, replies[:who.replies]); err != nil {
			return err
		}
		replies = replies[who.replies:]
	}
	return nil
}
