package remote

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/meowdis/meowdis/redis/resp"
)

// Listen sends SUBSCRIBE, a similar command, or MONITOR, and passes each message to each, including the
// confirmations. It uses its own connection, so the session is unaffected. It returns the cause of ctx when
// ctx ends, the error of each, nil after an error reply, or an error when the connection is lost.
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
		return fmt.Errorf("talking to %s: %w", r.server.address, explain(err))
	}
	for {
		v, err := other.replies.ReadReply()
		switch {
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case errors.Is(err, io.EOF):
			return fmt.Errorf("talking to %s: %w", r.server.address, errClosed)
		case err != nil:
			return fmt.Errorf("talking to %s: %w", r.server.address, explain(err))
		}
		if err := each(v); err != nil || v.IsError() {
			return err
		}
	}
}
