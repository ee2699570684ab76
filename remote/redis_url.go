package remote

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/url"
	"strings"

	"github.com/meowdis/meowdis/redis/commands"
	"github.com/meowdis/meowdis/redis/resp"
)

// server holds a parsed redis:// URL.
type server struct {
	network string // tcp or unix
	address string
	tls     *tls.Config // nil without TLS
	auth    [][]byte    // optional user, then password
	user    string      // of the URL, for Options.Credentials
	db      int
	options Options

	sentinels sentinels // know the address; none for a server with a fixed one
}

// CheckURL returns an error if rawURL is not the URL of a Redis server.
func CheckURL(rawURL string) error {
	_, err := parseServer(rawURL, Options{})
	return err
}

// parseServer parses redis://[user:password@]host[:port][/db], rediss:// for TLS,
// unix://[user:password@]/path[?db=n], and redis-sentinel://[user:password@]host[:port],…/name[/db].
func parseServer(rawURL string, o Options) (server, error) {
	u, err := url.Parse(rawURL)
	if err != nil {
		return server{}, errors.New("the URL cannot be read")
	}
	s := server{network: "tcp", options: o, user: u.User.Username()}
	if password, ok := u.User.Password(); ok {
		if name := u.User.Username(); name != "" {
			s.auth = append(s.auth, []byte(name))
		}
		s.auth = append(s.auth, []byte(password))
	}
	db, host := strings.Trim(u.Path, "/"), ""
	switch u.Scheme {
	case "redis", "rediss":
		host = cmp.Or(u.Hostname(), "127.0.0.1")
		s.address = net.JoinHostPort(host, cmp.Or(u.Port(), "6379"))
	case "redis-sentinel", "rediss-sentinel":
		s.sentinels, db, err = parseSentinels(u)
	case "unix":
		s.network, s.address, db = "unix", u.Path, ""
	default:
		return s, fmt.Errorf("%s:// is not the URL of a Redis server", u.Scheme)
	}
	if err == nil && strings.HasPrefix(u.Scheme, "rediss") {
		s.tls, err = o.TLS.config(host)
	}
	if err != nil {
		return server{}, err
	}
	if q := u.Query().Get("db"); q != "" {
		db = q
	}
	if db != "" {
		n, bad := commands.AnyDB([]byte(db))
		if bad.IsError() {
			return s, fmt.Errorf("invalid database %q in the URL: use a number from 0", db)
		}
		s.db = n
	}
	return s, nil
}

func (s server) dial(ctx context.Context) (net.Conn, error) {
	bounded, cancel := context.WithTimeout(ctx, s.options.dialTimeout())
	defer cancel()
	conn, err := s.options.dial(bounded, s.network, s.address)
	if err == nil && s.tls != nil {
		conn, err = s.handshake(bounded, conn)
	}
	switch {
	case err == nil:
		return conn, nil
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	}
	return nil, unreachable{fmt.Errorf("reaching %s: %w", s.address, explain(err))}
}

// greeting returns the commands that a new connection sends first.
func (r *Redis) greeting() [][][]byte {
	var calls [][][]byte
	if r.resp3 {
		hello := [][]byte{[]byte("HELLO"), []byte("3")}
		if len(r.server.auth) > 0 {
			user := []byte("default")
			if len(r.server.auth) == 2 {
				user = r.server.auth[0]
			}
			hello = append(hello, []byte("AUTH"), user, r.server.auth[len(r.server.auth)-1])
		}
		calls = append(calls, hello)
	} else if len(r.server.auth) > 0 {
		calls = append(calls, append([][]byte{[]byte("AUTH")}, r.server.auth...))
	}
	if r.db != 0 {
		calls = append(calls, [][]byte{[]byte("SELECT"), fmt.Append(nil, r.db)})
	}
	if r.replica {
		calls = append(calls, [][]byte{[]byte("READONLY")})
	}
	return calls
}

// ErrNoPassword reports a server that requires a password when none was given.
var ErrNoPassword = errors.New("wants a password, and none was given")

// Greet sends PING. It returns ErrNoPassword if the server requires a password, which opening a session may
// not have revealed.
func (r *Redis) Greet(ctx context.Context) error {
	v, err := r.Do(ctx, []byte("PING"))
	if err == nil && strings.HasPrefix(string(v.Str), "NOAUTH ") {
		err = fmt.Errorf("%s %w: %s", r.server.address, ErrNoPassword, v.Str)
	}
	return err
}

// connect opens a connection and restores the session's state on it.
func (r *Redis) connect(ctx context.Context) error {
	if len(r.server.sentinels.addresses) > 0 {
		return r.connectToMaster(ctx)
	}
	return r.connectOnce(ctx)
}

// connectOnce connects to the server's address. After refused credentials it tries others once.
func (r *Redis) connectOnce(ctx context.Context) error {
	if err := r.identify(ctx, ""); err != nil {
		return err
	}
	err := r.connectAs(ctx)
	if errors.Is(err, errWrongPassword) && r.server.options.Credentials != nil {
		was := r.password()
		if err := r.identify(ctx, was); err != nil {
			return err
		}
		if r.password() != was {
			return r.connectAs(ctx)
		}
	}
	return err
}

// errWrongPassword reports refused credentials.
var errWrongPassword = errors.New("wrong password")

// wrongPassword adds the text of the reply to errWrongPassword.
type wrongPassword struct{ error }

func (wrongPassword) Is(target error) bool { return target == errWrongPassword }

// connectAs connects with the credentials of the session.
func (r *Redis) connectAs(ctx context.Context) error {
	conn, err := r.server.dial(ctx)
	if err != nil {
		return err
	}
	r.attach(conn)
	calls := r.greeting()
	replies, err := r.exchange(ctx, calls)
	if err == nil && r.resp3 && isTooOld(replies[0]) {
		r.resp3 = false
		r.drop()
		return r.connectAs(ctx)
	}
	for i, v := range replies {
		switch {
		case err != nil || !v.IsError():
		case strings.Contains(string(v.Str), "called without any password configured"):
			// As redis-cli does, continue: the server needs no password.
			r.server.auth = nil
			r.drop()
			return r.connectAs(ctx)
		case strings.HasPrefix(string(v.Str), "NOAUTH "):
			err = fmt.Errorf("%s %w: %s", r.server.address, ErrNoPassword, v.Str)
		default:
			err = fmt.Errorf("%s refused %s: %s", r.server.address, calls[i][0], v.Str)
			if refusesAuth(v) {
				err = wrongPassword{err}
			}
		}
	}
	if err != nil {
		r.drop()
		return err
	}
	r.made++
	return nil
}

// isTooOld reports whether v, a reply to HELLO, is from a server without RESP3.
func isTooOld(v resp.Value) bool {
	return v.IsError() && (strings.HasPrefix(string(v.Str), "ERR unknown command") || strings.HasPrefix(string(v.Str), "NOPROTO"))
}

// unavailable returns an error reply for a command that turns the connection into a stream of messages or
// suppresses replies, because it cannot be part of a pipeline.
func unavailable(args [][]byte) (resp.Value, bool) {
	cmd := commands.Known(args)
	if !cmd.Has(commands.OpensStream | commands.Unpaired) {
		return resp.Value{}, false
	}
	return resp.MakeError("ERR " + cmd.Name + " is not available here"), true
}
