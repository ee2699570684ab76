package local

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/meowdis/meowdis/store"
)

// pool lends connections. It lends the most recently used one first: its cache is warm, and a single client
// needs no second one.
//
// Each connection is lent in a lane, which has one token for each connection it may lend. A read begins in the
// short lane. Once it has run for longer than a short read, it moves to the long lane and returns its token. If
// the long lane is full, the read ends, and runs again when the long lane has a token. So a short read waits
// only for short reads, and a processor stays free for it, however many long reads run.
type pool struct {
	short, long chan struct{}
	mu          sync.Mutex
	idle        []*conn
}

// readLimits limits a short read: one command, and all commands of one request.
type readLimits struct{ one, all time.Duration }

var shortReadLimits = readLimits{20 * time.Millisecond, 250 * time.Millisecond}

func newPool(short, long int) *pool {
	p := &pool{short: make(chan struct{}, short), long: make(chan struct{}, long)}
	p.freeAll()
	return p
}

// loan holds a lent connection. conn is nil if the caller must open a new one.
type loan struct {
	*conn
	pool *pool
	lane chan struct{}
}

// take waits for a connection until ctx or life ends, or refused closes.
func (l *loan) take(ctx, life context.Context, refused *store.WaitEnd) error {
	select {
	case <-l.lane:
	default:
		select {
		case <-l.lane:
		case <-ctx.Done():
			return ctx.Err()
		case <-life.Done():
			return errAbandoned
		case <-refused.C:
			return refused.Err
		}
	}
	l.lend()
	return nil
}

// lend takes an idle connection, if any. The caller has taken a token.
func (l *loan) lend() {
	p := l.pool
	p.mu.Lock()
	defer p.mu.Unlock()
	if n := len(p.idle); n > 0 {
		l.conn, p.idle = p.idle[n-1], p.idle[:n-1]
	}
}

// moveToLong moves the loan to the long lane, or returns errLong if that lane is full.
func (l *loan) moveToLong() error {
	select {
	case <-l.pool.long:
		l.lane <- struct{}{}
		l.lane = l.pool.long
		return nil
	default:
		return errLong
	}
}

// giveBack ends the loan. conn is nil if no connection could be opened.
func (l *loan) giveBack() {
	p := l.pool
	if l.conn != nil && l.conn.stuck {
		l.conn.close() // the next loan opens another one
		l.conn = nil
	}
	if l.conn != nil {
		p.mu.Lock()
		p.idle = append(p.idle, l.conn)
		p.mu.Unlock()
	}
	l.lane <- struct{}{}
}

// add gives the pool a connection that was opened elsewhere.
func (p *pool) add(c *conn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.idle = append(p.idle, c)
}

// missing returns how many connections are not open yet. No connection may be lent.
func (p *pool) missing() int { return cap(p.short) + cap(p.long) - len(p.idle) }

// takeAll waits until all connections are back, and takes them out of the pool. The pool lends nothing until
// freeAll. If ctx ends first, takeAll takes nothing.
func (p *pool) takeAll(ctx context.Context) ([]*conn, error) {
	for i, lane := range p.tokens() {
		select {
		case <-lane:
		case <-ctx.Done():
			for _, lane := range p.tokens()[:i] {
				lane <- struct{}{}
			}
			return nil, ctx.Err()
		}
	}
	idle := p.idle
	p.idle = nil
	return idle, nil
}

func (p *pool) freeAll() {
	for _, lane := range p.tokens() {
		lane <- struct{}{}
	}
}

// tokens returns each lane once per token.
func (p *pool) tokens() []chan struct{} {
	return append(slices.Repeat([]chan struct{}{p.short}, cap(p.short)), slices.Repeat([]chan struct{}{p.long}, cap(p.long))...)
}
