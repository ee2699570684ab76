package remote

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/meowdis/meowdis/resp"
)

// Listen sends a command that turns the connection into a stream of messages,
// such as SUBSCRIBE or MONITOR, and calls each for every message and reply, until
// ctx is done or each fails. It uses a connection of its own to the server at
// rawURL, and does not make another one when that is lost: messages would be
// missing.
func Listen(ctx context.Context, rawURL string, args [][]byte, each func(resp.Value) error) error {
	r, err := OpenRedis(ctx, rawURL, false)
	if err != nil {
		return err
	}
	defer r.Close()
	conn, address := r.conn, r.server.address
	stop := context.AfterFunc(ctx, func() { conn.SetDeadline(time.Unix(1, 0)) })
	defer stop()
	conn.SetDeadline(time.Time{})
	if _, err := conn.Write(resp.AppendCommand(nil, args...)); err != nil {
		return lost(ctx, address, err)
	}
	for {
		v, err := r.replies.ReadReply()
		if err != nil {
			return lost(ctx, address, err)
		}
		if err := each(v); err != nil {
			return err
		}
	}
}

func lost(ctx context.Context, address string, err error) error {
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		err = errClosed
	}
	return fmt.Errorf("listening to %s: %w", address, err)
}
