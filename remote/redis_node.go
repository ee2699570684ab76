package remote

import (
	"bytes"
	"cmp"
	"context"
	"net"

	"github.com/meowdis/meowdis/redis/resp"
)

// ErrUnreachable reports a server that could not be connected to, so no command was sent.
var ErrUnreachable error = unreachable{}

type unreachable struct{ error }

func (u unreachable) Unwrap() error      { return u.error }
func (unreachable) Is(target error) bool { return target == ErrUnreachable }

// Address returns the server's host and port, or the path of its socket.
func (r *Redis) Address() string { return r.server.address }

// At returns a session on another server, with the credentials, the protocol and the options of r. It connects with
// its first command. With replica, its connections ask with READONLY to read from a replica of a cluster.
func (r *Redis) At(address string, replica bool) *Redis {
	s := r.server
	s.network, s.address, s.sentinels = "tcp", address, sentinels{}
	if host, _, err := net.SplitHostPort(address); err == nil && s.tls != nil {
		s.tls = s.tls.Clone()
		s.tls.ServerName = cmp.Or(s.options.TLS.SNI, host)
	}
	return &Redis{server: s, resp3: r.resp3, db: r.db, replica: replica, onPush: r.onPush}
}

// Again returns another session on the same server, for another goroutine. It connects with its first command.
func (r *Redis) Again() *Redis {
	return &Redis{server: r.server, resp3: r.resp3, db: r.db, replica: r.replica, onPush: r.onPush}
}

// Mode returns what the server says it is: "standalone", "cluster" or "sentinel"; "" for a server that does not say.
func (r *Redis) Mode(ctx context.Context) (string, error) {
	v, err := r.Do(ctx, []byte("HELLO"))
	if err != nil {
		return "", err
	}
	for i := 0; i+1 < len(v.Elems); i += 2 {
		if string(v.Elems[i].Str) == "mode" {
			return string(v.Elems[i+1].Str), nil
		}
	}
	if !isTooOld(v) {
		return "", nil
	}
	// HELLO came with Redis 6.
	if v, err = r.Do(ctx, []byte("INFO"), []byte("server")); err != nil || v.Kind == resp.Error {
		return "", err
	}
	for _, mode := range []string{"cluster", "sentinel", "standalone"} {
		if bytes.Contains(v.Str, []byte("redis_mode:"+mode)) {
			return mode, nil
		}
	}
	return "", nil
}
