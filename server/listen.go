package server

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"sync"
	"time"

	"github.com/meowdis/meowdis/redis/resp"
)

// ServeRESP serves RESP2 and RESP3 on ln until ctx is done, and closes ln. It returns when every connection is closed.
// Idle connections close at once; the other connections close after their running commands and replies.
func (s *Server) ServeRESP(ctx context.Context, ln net.Listener) error {
	s.listensOn(ln)
	var running sync.WaitGroup
	defer running.Wait()
	ctx, cancel := context.WithCancel(ctx)
	go s.guard(func() { s.closeIdle(ctx) })
	over, isTLS := ln.(tlsListener)
	var loop *loop
	if !isTLS && isSocket(ln.Addr()) {
		loop = s.newLoop(ctx)
	}
	defer func() {
		cancel()
		if loop != nil {
			loop.wait()
		}
	}()
	limited := limitedListener{ln, s.respConns, func(nc net.Conn) { s.counts.rejected.Add(1); s.refuse(nc, fullText) }}
	var config *tls.Config
	if isTLS {
		config = over.tls.forProtocols()
		limited.refuse = func(net.Conn) { s.counts.rejected.Add(1) } // nothing can be sent before the handshake
	}
	context.AfterFunc(ctx, func() { limited.Close() })
	for {
		nc, err := s.accept(ctx, limited)
		switch {
		case ctx.Err() != nil:
			if nc != nil {
				nc.Close()
			}
			return nil
		case err != nil:
			return fmt.Errorf("accepting RESP connections: %w", err)
		}
		s.counts.connections.Add(1)
		s.keepAlive(nc)
		c := newClient(s, nc) // here, so that IDs follow the order of arrival
		if config != nil {
			nc.(*limitedConn).replaceConn(tls.Server(nc.(*limitedConn).Conn, config))
		} else if !s.denies(nc) && c.mayRun() {
			c.markAuthenticated() // before the next connection could evict it as unauthenticated
		}
		if config != nil || s.denies(nc) || loop == nil || !loop.attach(c) {
			running.Go(func() { s.guard(func() { s.serve(ctx, c) }) })
		}
	}
}

// isSocket reports whether a loop may serve connections of a listener with that address.
func isSocket(addr net.Addr) bool {
	switch addr.(type) {
	case *net.TCPAddr, *net.UnixAddr:
		return true
	}
	return false
}

// keepAlive sets TCP keepalive from the parameter tcp-keepalive.
func (s *Server) keepAlive(nc net.Conn) {
	g, _ := nc.(*limitedConn)
	if g == nil {
		return
	}
	tcp, is := g.Conn.(interface {
		SetKeepAliveConfig(net.KeepAliveConfig) error
	})
	if !is {
		return
	}
	config := net.KeepAliveConfig{}
	if seconds := s.live.keepAlive.Load(); seconds > 0 { // like Redis: three probes in that time
		after := time.Duration(seconds) * time.Second
		config = net.KeepAliveConfig{Enable: true, Idle: after, Interval: max(after/3, time.Second), Count: 3}
	}
	if err := tcp.SetKeepAliveConfig(config); err != nil {
		s.config.Logger.Debug("setting tcp-keepalive", "error", err)
	}
}

// accept returns the next connection. It retries after temporary errors such as a lack of file descriptors.
func (s *Server) accept(ctx context.Context, ln net.Listener) (net.Conn, error) {
	for pause := 5 * time.Millisecond; ; pause = min(2*pause, time.Second) {
		nc, err := ln.Accept()
		if err == nil || errors.Is(err, net.ErrClosed) || ctx.Err() != nil {
			return nc, err
		}
		s.config.Logger.Warn("accepting a connection", "error", err)
		select {
		case <-time.After(pause):
		case <-ctx.Done():
		}
	}
}

const (
	deniedText = "DENIED Redis is running in protected mode because no password is set:  " +
		"only clients on the loopback interface are served. To serve other clients, start meowdis with a password."
	fullText = "ERR max number of clients reached"
)

// denies reports whether protected mode refuses a peer.
func (s *Server) denies(nc net.Conn) bool {
	return !s.live.open.Load() && !s.users.HasPassword() && !onLoopback(nc.RemoteAddr()) && !hasClientCert(nc)
}

// serve serves a connection until it ends.
func (s *Server) serve(ctx context.Context, c *client) {
	nc := c.net
	defer nc.Close()
	if err := c.handshake(ctx); err != nil {
		s.config.Logger.Debug("TLS failed", "peer", nc.RemoteAddr(), "error", err)
		return
	}
	if s.denies(nc) {
		s.refuse(nc, deniedText)
		return
	}
	if c.mayRun() {
		c.markAuthenticated()
	}
	s.add(c)
	defer c.end()
	// From now on reading fails; writing fails after the grace period.
	defer context.AfterFunc(ctx, func() {
		nc.SetReadDeadline(time.Unix(1, 0))
		nc.SetWriteDeadline(time.Now().Add(s.config.Grace))
	})()
	c.loop(ctx)
}

// onLoopback reports whether a peer is on this machine.
func onLoopback(a net.Addr) bool {
	tcp, ok := a.(*net.TCPAddr)
	return !ok || tcp.IP.IsLoopback()
}

// refuse sends an error to a client that is not served.
func (s *Server) refuse(nc net.Conn, text string) {
	nc.SetWriteDeadline(time.Now().Add(time.Second))
	nc.Write(resp.Append2(nil, resp.MakeError(text)))
}
