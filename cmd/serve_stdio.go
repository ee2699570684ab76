package cmd

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"sync"
	"time"

	"github.com/meowdis/meowdis/cmd/internal/exit"
	"github.com/meowdis/meowdis/cmd/internal/targets"
	"github.com/meowdis/meowdis/engine"
	"github.com/meowdis/meowdis/engine/pubsub"
	"github.com/meowdis/meowdis/local"
	"github.com/meowdis/meowdis/local/bus"
	"github.com/meowdis/meowdis/server"
	"github.com/meowdis/meowdis/store"
	"github.com/meowdis/meowdis/store/logging"
)

// serveStdio implements --stdio: it serves one connection on the standard streams, for another meowdis that runs it with
// ssh. That client needs no password: it could read the file itself.
func (o *serveOptions) serveStdio(ctx context.Context, stop context.CancelFunc, s *streams, logger *slog.Logger) (err error) {
	if o.addresses.any() || o.tenants.dir != "" || o.replicate.to != "" || o.replicate.follow != "" {
		return exit.Usagef("--stdio serves a file to one client: leave out the addresses, --tenants, --replicate and --follow")
	}
	t, err := o.target.File(s.getenv)
	if err != nil {
		return err
	}
	file, err := o.openStdio(t, logger)
	if err != nil {
		return err
	}
	hub := pubsub.New()
	end := file.Close
	if t.Path != local.Memory {
		node := bus.New(t.Path, hub)
		end = func() error { return errors.Join(node.Close(), file.Close()) }
	}
	defer func() { err = errors.Join(err, end()) }()
	config := server.Config{Engine: engine.New(file, engine.WithHub(hub)), PublicMessage: local.PublicMessage, Logger: logger, Grace: o.grace, Stop: stop}
	o.limits.apply(&config, s.getenv)
	srv := server.New(config)
	context.AfterFunc(ctx, func() { time.AfterFunc(o.grace, srv.EndScripts) })
	return srv.ServeRESP(ctx, newStdioListener(s.in, s.out, stop))
}

// openStdio opens the file, or waits for the first write if it is missing.
func (o *serveOptions) openStdio(t targets.Target, logger *slog.Logger) (targets.Store, error) {
	options := local.Options{RowCacheBytes: rowCacheBytes, FallbackReadOnly: true, ReadOnly: o.existing && t.IsNew(),
		Report: logging.Errors(logger, "maintaining the file", "file", t.Path)}
	open := func() (*local.Store, error) { return o.target.OpenFile(t, options) }
	if t.IsNew() && !o.existing && o.target.CanMake(t) {
		return local.NewLazyStore(t.Path, open)
	}
	return open()
}

// stdioListener accepts one connection, and ends the server after it.
type stdioListener struct {
	conn   chan net.Conn
	closed chan struct{}
	once   sync.Once
}

func newStdioListener(in io.Reader, out io.Writer, stop func()) *stdioListener {
	ours, theirs := net.Pipe()
	go store.Caught(func() error {
		defer ours.Close()
		_, err := io.Copy(ours, in)
		return err
	})
	l := &stdioListener{conn: make(chan net.Conn, 1), closed: make(chan struct{})}
	sent := make(chan struct{})
	go store.Caught(func() error {
		defer close(sent)
		_, err := io.Copy(out, ours)
		return err
	})
	l.conn <- &stdioConn{Conn: theirs, ended: func() {
		<-sent // the last replies have been written
		stop()
	}}
	return l
}

// Accept returns the connection, and then waits until the listener is closed.
func (l *stdioListener) Accept() (net.Conn, error) {
	select {
	case c := <-l.conn:
		return c, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

func (l *stdioListener) Close() error {
	l.once.Do(func() { close(l.closed) })
	return nil
}

// stdioAddr names both ends.
type stdioAddr struct{}

func (stdioAddr) Network() string { return "stdio" }
func (stdioAddr) String() string  { return "stdio" }

func (l *stdioListener) Addr() net.Addr { return stdioAddr{} }

// stdioConn ends the server when it is closed.
type stdioConn struct {
	net.Conn
	ended func()
	once  sync.Once
}

func (*stdioConn) RemoteAddr() net.Addr { return stdioAddr{} }
func (*stdioConn) LocalAddr() net.Addr  { return stdioAddr{} }

func (c *stdioConn) Close() error {
	err := c.Conn.Close()
	c.once.Do(c.ended)
	return err
}
