package server

import (
	"container/list"
	"crypto/tls"
	"net"
	"sync"
	"sync/atomic"
)

// connLimiter counts the connections of a listener, and keeps those of strangers, who have not
// shown yet that they may come in, from taking all the places: when there is none left
// for a new one, the stranger that has waited longest must leave. So a client that knows
// the secret gets in, however many others do nothing but hold connections.
type connLimiter struct {
	live    *live
	traffic *traffic

	mu        sync.Mutex
	open      int
	strangers list.List // of *guest, the first came first
}

func (s *Server) newDoor() *connLimiter { return &connLimiter{live: &s.live, traffic: &s.traffic} }

// limitedConn is a connection that came in through a door. Closing it more than once is fine.
type limitedConn struct {
	net.Conn
	limiter         *connLimiter
	traffic         atomic.Pointer[traffic]
	unauthenticated *list.Element // nil for one who is known
	left            bool
}

// admit lets a connection in, as a stranger. It is nil when all places are taken by
// guests who are known.
func (d *connLimiter) admit(nc net.Conn) *limitedConn {
	d.mu.Lock()
	defer d.mu.Unlock()
	most := int(d.live.maxClients.Load())
	if d.open >= most && !d.show() {
		return nil
	}
	if d.strangers.Len() >= (most+9)/10 {
		d.show()
	}
	g := &limitedConn{Conn: nc, limiter: d}
	g.traffic.Store(d.traffic)
	g.unauthenticated = d.strangers.PushBack(g)
	d.open++
	return g
}

// show shows the first stranger out, if there is one.
func (d *connLimiter) show() bool {
	first := d.strangers.Front()
	if first == nil {
		return false
	}
	g := first.Value.(*limitedConn)
	g.leave()
	if conn, ok := g.Conn.(*tls.Conn); ok {
		conn.NetConn().Close() // without a last word, which could have to wait
	} else {
		g.Conn.Close()
	}
	return true
}

// leave is under the door's lock.
func (g *limitedConn) leave() {
	if g.left {
		return
	}
	g.left = true
	g.limiter.open--
	g.meet()
}

// meet is known under the door's lock.
func (g *limitedConn) meet() {
	if g.unauthenticated != nil {
		g.limiter.strangers.Remove(g.unauthenticated)
		g.unauthenticated = nil
	}
}

// become puts another connection in place of the guest's own, which is the same one's.
func (g *limitedConn) become(nc net.Conn) {
	g.limiter.mu.Lock()
	g.Conn = nc
	left := g.left
	g.limiter.mu.Unlock()
	if left { // it was shown out meanwhile
		nc.Close()
	}
}

// known says that the guest is none of the strangers any more.
func (g *limitedConn) known() {
	g.limiter.mu.Lock()
	defer g.limiter.mu.Unlock()
	g.meet()
}

// socketAddr is the address of both ends of a unix socket, as Redis calls it: its peers have none.
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

// Close closes the connection and makes room for another.
func (g *limitedConn) Close() error {
	g.limiter.mu.Lock()
	g.leave()
	g.limiter.mu.Unlock()
	return g.Conn.Close()
}

// CloseWrite ends what is sent, where the connection can do that alone.
func (g *limitedConn) CloseWrite() error {
	if half, ok := g.Conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return net.ErrClosed
}

// guarded is a listener whose connections come in through a door.
type guarded struct {
	net.Listener
	door   *connLimiter
	refuse func(net.Conn) // before one that is not let in is closed
}

func (l guarded) Accept() (net.Conn, error) {
	for {
		nc, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		if g := l.door.admit(nc); g != nil {
			return g, nil
		}
		l.refuse(nc)
		nc.Close()
	}
}
