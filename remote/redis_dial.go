package remote

import (
	"context"
	"net"
	"time"
)

// Dial returns a new connection to the server, with the session's user. The caller speaks the protocol on it.
func (r *Redis) Dial(ctx context.Context) (net.Conn, error) {
	other := &Redis{server: r.server}
	if err := other.connect(ctx); err != nil {
		return nil, err
	}
	other.conn.SetDeadline(time.Time{})
	return other.conn, nil
}
