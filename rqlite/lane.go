package rqlite

import (
	"context"
	"slices"
	"sync"

	"github.com/meowdis/meowdis/store"
)

// call is one of Apply.
type call struct {
	batches []store.Batch
	forms   [][]*form // of their statements
	results []store.Result
	err     error
	done    chan struct{}

	mu   sync.Mutex // whoever has asked may be gone before it is done, and its budget with it
	gone bool
	used int64 // of the budget, before the call

	filling int // the batch whose rows come, in a call that only reads
	cut     int // the first batch after the one that has filled the budget
}

func newCall(batches []store.Batch, forms [][]*form) *call {
	return &call{batches: batches, forms: forms, done: make(chan struct{})}
}

// end is for the one who serves it, once.
func (c *call) end(err error) {
	c.err = err
	close(c.done)
}

// budgeted runs with with the budget of a batch as long as somebody waits for the call.
func (c *call) budgeted(at int, with func(*store.Budget)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.gone && c.batches[at].Budget != nil {
		with(c.batches[at].Budget)
	}
}

func (c *call) leave() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.gone = true
}

// weight is about how many bytes it takes to send.
func (c *call) weight() (n int) {
	for i := range c.batches {
		n += weigh(&c.batches[i])
	}
	return n
}

func weigh(b *store.Batch) (n int) {
	for _, s := range b.Stmts {
		n += len(s.SQL) + 100
		for _, v := range s.Args {
			n += 8 + 2*len(v.Bytes())
		}
	}
	return n
}

// lane gathers calls: those that come while as many groups as may be are under way are the next one.
type lane struct {
	width int // groups at once
	most  int // calls in a group
	serve func([]*call)

	mu      sync.Mutex
	waiting []*call
	busy    int
	idle    sync.WaitGroup // those who serve
}

// maxGroup bounds a group in bytes, unless a single call is more.
const maxGroup = 2 << 20

// do has the call served and waits until it is, or ctx is done: what is under way by then goes on.
func (l *lane) do(ctx context.Context, c *call) error {
	l.mu.Lock()
	l.waiting = append(l.waiting, c)
	if l.busy < l.width {
		l.busy++
		l.idle.Go(l.run)
	}
	l.mu.Unlock()
	select {
	case <-c.done:
		return c.err
	case <-ctx.Done():
	}
	l.drop(c)
	c.leave()
	return ctx.Err()
}

func (l *lane) drop(c *call) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if i := slices.Index(l.waiting, c); i >= 0 {
		l.waiting = slices.Delete(l.waiting, i, i+1)
	}
}

// run serves groups until no call waits.
func (l *lane) run() {
	for {
		group := l.next()
		if len(group) == 0 {
			return
		}
		l.serve(group)
	}
}

func (l *lane) next() []*call {
	l.mu.Lock()
	defer l.mu.Unlock()
	n, weight := 0, 0
	for n < len(l.waiting) && n < l.most {
		if weight += l.waiting[n].weight(); n > 0 && weight > maxGroup {
			break
		}
		n++
	}
	group := slices.Clone(l.waiting[:n])
	if l.waiting = slices.Delete(l.waiting, 0, n); n == 0 {
		l.busy--
	}
	return group
}
