package remote

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/meowdis/meowdis/redis/resp"
)

// Listen sends a command that makes the server send messages, SUBSCRIBE and its
// like or MONITOR, and gives what comes to each, the confirmations included. It
// has a connection of its own, so that the session goes on as it was. It ends with
// ctx, whose cause it returns, with an error of each, after an error reply, or
// when the connection is lost.
func (r *Redis) Listen(ctx context.Context, args [][]byte, each func(resp.Value) error) error {
	other := &Redis{server: r.server, resp3: r.resp3, db: r.db}
	if err := other.connect(ctx); err != nil {
		return err
	}
	defer other.Close()
	conn := other.conn
	conn.SetDeadline(time.Time{})
	defer context.AfterFunc(ctx, func() { conn.SetDeadline(time.Unix(1, 0)) })()
	if _, err := conn.Write(resp.AppendCommand(nil, args...)); err != nil && ctx.Err() == nil {
		return fmt.Errorf("talking to %s: %w", r.server.address, plainly(err))
	}
	for {
		v, err := other.replies.ReadReply()
		switch {
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case errors.Is(err, io.EOF):
			return fmt.Errorf("talking to %s: %w", r.server.address, errClosed)
		case err != nil:
			return fmt.Errorf("talking to %s: %w", r.server.address, plainly(err))
		}
		if err := each(v); err != nil || v.IsError() {
			return err
		}
	}
}
