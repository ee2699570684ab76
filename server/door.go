package server

import (
	"container/list"
	"crypto/tls"
	"net"
	"sync"
	"sync/atomic"
)

// door counts the connections of a listener, and keeps those of strangers, who have not
// shown yet that they may come in, from taking all the places: when there is none left
// for a new one, the stranger that has waited longest must leave. So a client that knows
// the secret gets in, however many others do nothing but hold connections.
type door struct {
	live    *live
	traffic *traffic

	mu        sync.Mutex
	open      int
	strangers list.List // of *guest, the first came first
}

func (s *Server) newDoor() *door { return &door{live: &s.live, traffic: &s.traffic} }

// guest is a connection that came in through a door. Closing it more than once is fine.
type guest struct {
	net.Conn
	door     *door
	traffic  atomic.Pointer[traffic]
	stranger *list.Element // nil for one who is known
	left     bool
}

// admit lets a connection in, as a stranger. It is nil when all places are taken by
// guests who are known.
func (d *door) admit(nc net.Conn) *guest {
	d.mu.Lock()
	defer d.mu.Unlock()
	most := int(d.live.maxClients.Load())
	if d.open >= most && !d.show() {
		return nil
	}
	if d.strangers.Len() >= (most+9)/10 {
		d.show()
	}
	g := &guest{Conn: nc, door: d}
	g.traffic.Store(d.traffic)
	g.stranger = d.strangers.PushBack(g)
	d.open++
	return g
}

// show shows the first stranger out, if there is one.
func (d *door) show() bool {
	first := d.strangers.Front()
	if first == nil {
		return false
	}
	g := first.Value.(*guest)
	g.leave()
	if conn, ok := g.Conn.(*tls.Conn); ok {
		conn.NetConn().Close() // without a last word, which could have to wait
	} else {
		g.Conn.Close()
	}
	return true
}

// leave is under the door's lock.
func (g *guest) leave() {
	if g.left {
		return
	}
	g.left = true
	g.door.open--
	g.meet()
}

// meet is known under the door's lock.
func (g *guest) meet() {
	if g.stranger != nil {
		g.door.strangers.Remove(g.stranger)
		g.stranger = nil
	}
}

// become puts another connection in place of the guest's own, which is the same one's.
func (g *guest) become(nc net.Conn) {
	g.door.mu.Lock()
	g.Conn = nc
	left := g.left
	g.door.mu.Unlock()
	if left { // it was shown out meanwhile
		nc.Close()
	}
}

// known says that the guest is none of the strangers any more.
func (g *guest) known() {
	g.door.mu.Lock()
	defer g.door.mu.Unlock()
	g.meet()
}

// socketAddr is the address of both ends of a unix socket, as Redis calls it: its peers have none.
type socketAddr string

func (socketAddr) Network() string  { return "unix" }
func (a socketAddr) String() string { return string(a) + ":0" }

func (g *guest) RemoteAddr() net.Addr {
	if g.Conn.LocalAddr().Network() == "unix" {
		return g.LocalAddr()
	}
	return g.Conn.RemoteAddr()
}

func (g *guest) LocalAddr() net.Addr {
	if addr := g.Conn.LocalAddr(); addr.Network() == "unix" {
		return socketAddr(addr.String())
	} else {
		return addr
	}
}

func (g *guest) Read(b []byte) (int, error) {
	n, err := g.Conn.Read(b)
	g.traffic.Load().read(n)
	return n, err
}

func (g *guest) Write(b []byte) (int, error) {
	n, err := g.Conn.Write(b)
	g.traffic.Load().wrote(n)
	return n, err
}

// Close closes the connection and makes room for another.
func (g *guest) Close() error {
	g.door.mu.Lock()
	g.leave()
	g.door.mu.Unlock()
	return g.Conn.Close()
}

// CloseWrite ends what is sent, where the connection can do that alone.
func (g *guest) CloseWrite() error {
	if half, ok := g.Conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return net.ErrClosed
}

// guarded is a listener whose connections come in through a door.
type guarded struct {
	net.Listener
	door   *door
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
