package local

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/meowdis/meowdis/store"
)

// pool lends connections, the one that was used last first: its cache is warm, and
// who works alone needs no second one.
//
// Each is lent in a lane, which has a token for each that it may lend. A read begins
// among the short ones. When it has run for longer than those do it goes over to the
// long ones, and gives its place back; when they are as many as may be, it ends, and
// runs again when it is its turn among them. So a client that reads something short waits at
// most for short reads, and a core is left for it, however many long reads there are.
type pool struct {
	short, long chan struct{}
	mu          sync.Mutex
	idle        []*conn
}

// shortness is what short reads take at most: one command, and all that are asked for at
// once.
type shortness struct{ one, all time.Duration }

var shortRead = shortness{20 * time.Millisecond, 250 * time.Millisecond}

func newPool(short, long int) *pool {
	p := &pool{short: make(chan struct{}, short), long: make(chan struct{}, long)}
	p.freeAll()
	return p
}

// loan is a connection that is lent. It is nil when a new one is to be opened.
type loan struct {
	*conn
	pool *pool
	lane chan struct{}
}

// take waits for a connection until ctx or life ends, or it is refused.
func (l *loan) take(ctx, life context.Context, refused *store.Refused) error {
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

// lend takes an idle connection, if there is one, for who has the token.
func (l *loan) lend() {
	p := l.pool
	p.mu.Lock()
	defer p.mu.Unlock()
	if n := len(p.idle); n > 0 {
		l.conn, p.idle = p.idle[n-1], p.idle[:n-1]
	}
}

// outlast goes over to the lane of the long ones, or is errLong when that is full.
func (l *loan) outlast() error {
	select {
	case <-l.pool.long:
		l.lane <- struct{}{}
		l.lane = l.pool.long
		return nil
	default:
		return errLong
	}
}

// giveBack ends the loan; the connection is nil when none could be opened.
func (l *loan) giveBack() {
	p := l.pool
	if l.conn != nil && l.conn.stuck {
		l.conn.close() // another one is opened in its place
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

// missing is how many of the connections that may be lent are not open yet, while none
// is lent.
func (p *pool) missing() int { return cap(p.short) + cap(p.long) - len(p.idle) }

// takeAll waits until all that were lent are back, and takes them out of the pool, which
// lends nothing until freeAll. When ctx ends before, nothing is taken.
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

// tokens are the lanes, each as often as it has tokens.
func (p *pool) tokens() []chan struct{} {
	return append(slices.Repeat([]chan struct{}{p.short}, cap(p.short)), slices.Repeat([]chan struct{}{p.long}, cap(p.long))...)
}
