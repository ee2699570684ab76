package server

import (
	"container/list"
	"crypto/tls"
	"net"
	"sync"
	"sync/atomic"
)

// connLimiter limits the connections of a listener. A client that knows the secret gets in even if other clients only
// hold connections open: when the limit is reached, the oldest unauthenticated connection is closed for the new one.
// Unauthenticated connections may take a tenth of the limit.
type connLimiter struct {
	live    *live
	traffic *traffic

	mu              sync.Mutex
	open            int
	unauthenticated list.List // *limitedConn, oldest first
}

func (s *Server) newConnLimiter() *connLimiter {
	return &connLimiter{live: &s.live, traffic: &s.traffic}
}

// limitedConn wraps a connection counted by a connLimiter. Close may be called more than once.
type limitedConn struct {
	net.Conn
	limiter         *connLimiter
	traffic         atomic.Pointer[traffic]
	unauthenticated *list.Element // nil once authenticated
	uncounted       bool
}

// admit counts nc as an unauthenticated connection. It returns nil if authenticated clients hold all connections.
func (d *connLimiter) admit(nc net.Conn) *limitedConn {
	d.mu.Lock()
	defer d.mu.Unlock()
	most := int(d.live.maxClients.Load())
	if d.open >= most && !d.evictOldest() {
		return nil
	}
	if d.unauthenticated.Len() >= (most+9)/10 {
		d.evictOldest()
	}
	g := &limitedConn{Conn: nc, limiter: d}
	g.traffic.Store(d.traffic)
	g.unauthenticated = d.unauthenticated.PushBack(g)
	d.open++
	return g
}

// evictOldest closes the oldest unauthenticated connection and reports whether there was one. The caller holds d.mu.
func (d *connLimiter) evictOldest() bool {
	first := d.unauthenticated.Front()
	if first == nil {
		return false
	}
	g := first.Value.(*limitedConn)
	g.uncount()
	if conn, ok := g.Conn.(*tls.Conn); ok {
		conn.NetConn().Close() // without a TLS alert, which could block
	} else {
		g.Conn.Close()
	}
	return true
}

// uncount removes the connection from the count. The caller holds the limiter's lock.
func (g *limitedConn) uncount() {
	if g.uncounted {
		return
	}
	g.uncounted = true
	g.limiter.open--
	g.markAuthenticatedLocked()
}

// markAuthenticatedLocked marks the connection as authenticated. The caller holds the limiter's lock.
func (g *limitedConn) markAuthenticatedLocked() {
	if g.unauthenticated != nil {
		g.limiter.unauthenticated.Remove(g.unauthenticated)
		g.unauthenticated = nil
	}
}

// replaceConn replaces the underlying connection, for example with TLS over it.
func (g *limitedConn) replaceConn(nc net.Conn) {
	g.limiter.mu.Lock()
	g.Conn = nc
	left := g.uncounted
	g.limiter.mu.Unlock()
	if left { // the limiter has closed the old one
		nc.Close()
	}
}

// markAuthenticated marks the connection as authenticated.
func (g *limitedConn) markAuthenticated() {
	g.limiter.mu.Lock()
	defer g.limiter.mu.Unlock()
	g.markAuthenticatedLocked()
}

// socketAddr stands for both ends of a unix socket, in Redis's form. Peers of a unix socket have no address.
type socketAddr string

func (socketAddr) Network() string  { return "unix" }
func (a socketAddr) String() string { return string(a) + ":0" }

func (g *limitedConn) RemoteAddr() net.Addr {
	if g.Conn.LocalAddr().Network() == "unix" {
		return g.LocalAddr()
	}
	return g.Conn.RemoteAddr()
}

func (g *limitedConn) LocalAddr() net.Addr {
	if addr := g.Conn.LocalAddr(); addr.Network() == "unix" {
		return socketAddr(addr.String())
	} else {
		return addr
	}
}

func (g *limitedConn) Read(b []byte) (int, error) {
	n, err := g.Conn.Read(b)
	g.traffic.Load().read(n)
	return n, err
}

func (g *limitedConn) Write(b []byte) (int, error) {
	n, err := g.Conn.Write(b)
	g.traffic.Load().wrote(n)
	return n, err
}

// Close closes the connection and frees its place.
func (g *limitedConn) Close() error {
	g.limiter.mu.Lock()
	g.uncount()
	g.limiter.mu.Unlock()
	return g.Conn.Close()
}

// CloseWrite shuts down the sending side if the connection supports that.
func (g *limitedConn) CloseWrite() error {
	if half, ok := g.Conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return net.ErrClosed
}

// limitedListener limits the connections of a listener.
type limitedListener struct {
	net.Listener
	limiter *connLimiter
	refuse  func(net.Conn) // called before a connection over the limit is closed
}

func (l limitedListener) Accept() (net.Conn, error) {
	for {
		nc, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		if g := l.limiter.admit(nc); g != nil {
			return g, nil
		}
		l.refuse(nc)
		nc.Close()
	}
}
