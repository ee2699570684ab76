package keyspace

import (
	"context"

	"github.com/meowdis/meowdis/redis/resp"
)

// Client runs commands: engine.Session and the clients of servers.
type Client interface {
	Do(ctx context.Context, args ...[]byte) (resp.Value, error)
	Pipeline(ctx context.Context, calls [][][]byte) ([]resp.Value, error)
}

// Trip gathers what several have to ask, so that it is asked in one round trip. The zero
// Trip asks nothing.
type Trip struct {
	calls [][][]byte
	takes []taking
}

// taking is who takes how many replies.
type taking struct {
	replies int
	take    func(ctx context.Context, replies []resp.Value) error
}

// Ask adds calls, none of them for what needs no call any more. Their replies are given
// to take, which may make further trips.
func (t *Trip) Ask(calls [][][]byte, take func(ctx context.Context, replies []resp.Value) error) {
	t.calls = append(t.calls, calls...)
	t.takes = append(t.takes, taking{len(calls), take})
}

// Go makes the round trip, if there are calls, and hands the replies out in the order of
// asking. The first error ends it.
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
