package local

import "sync"

// pool lends connections, the one that was used last first: its cache is warm, and
// who works alone needs no second one.
type pool struct {
	room chan struct{} // holds a token for each that may be lent
	mu   sync.Mutex
	idle []*conn
}

func newPool(n int) *pool {
	p := &pool{room: make(chan struct{}, n)}
	for range n {
		p.room <- struct{}{}
	}
	return p
}

// take waits for a connection. It is nil when a new one is to be opened.
func (p *pool) take() *conn {
	<-p.room
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.idle) == 0 {
		return nil
	}
	c := p.idle[len(p.idle)-1]
	p.idle = p.idle[:len(p.idle)-1]
	return c
}

// add gives the pool a connection that was opened elsewhere.
func (p *pool) add(c *conn) {
	<-p.room
	p.put(c)
}

// put gives a connection back, or nil when none could be opened.
func (p *pool) put(c *conn) {
	if c != nil {
		p.mu.Lock()
		p.idle = append(p.idle, c)
		p.mu.Unlock()
	}
	p.room <- struct{}{}
}

// drain waits until all that were lent are back, and returns them. Nothing is
// lent behind it.
func (p *pool) drain() []*conn {
	for range cap(p.room) {
		<-p.room
	}
	return p.idle
}
