package rqlite

import (
	"context"
	"slices"
	"sync"

	"github.com/meowdis/meowdis/store"
)

// call is one call of Apply.
type call struct {
	batches []store.Batch
	forms   [][]*form // one per statement
	results []store.Result
	err     error
	done    chan struct{}

	mu   sync.Mutex // the caller may leave before the call is done, and take its budget with it
	gone bool
	used int64 // bytes of the budget used before the call

	filling int // index of the batch whose rows are being read, in a call that only reads
	cut     int // index of the first batch after the one that filled the budget
}

func newCall(batches []store.Batch, forms [][]*form) *call {
	return &call{batches: batches, forms: forms, done: make(chan struct{})}
}

// end finishes the call. The goroutine that serves the call calls it once.
func (c *call) end(err error) {
	c.err = err
	close(c.done)
}

// withBudget calls fn with the batch's budget unless the caller has left.
func (c *call) withBudget(at int, fn func(*store.Budget)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.gone && c.batches[at].Budget != nil {
		fn(c.batches[at].Budget)
	}
}

func (c *call) leave() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.gone = true
}

// weight estimates the bytes it takes to send the call.
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

// lane groups calls. Calls that arrive while width groups are in progress form the next group.
type lane struct {
	width int // groups at a time
	most  int // calls per group
	serve func([]*call)

	mu      sync.Mutex
	waiting []*call
	busy    int
	idle    sync.WaitGroup // the goroutines in run
}

// maxGroupBytes bounds the size of a group, unless a single call is larger.
const maxGroupBytes = 2 << 20

// do queues the call and waits until it is served or ctx ends. A call in progress continues after ctx ends.
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

// run serves groups until no call is waiting.
func (l *lane) run() {
	for {
		group := l.next()
		if len(group) == 0 {
			return
		}
		if err := store.Caught(func() error { l.serve(group); return nil }); err != nil {
			for _, c := range group {
				select {
				case <-c.done:
				default:
					c.end(err)
				}
			}
		}
	}
}

func (l *lane) next() []*call {
	l.mu.Lock()
	defer l.mu.Unlock()
	n, weight := 0, 0
	for n < len(l.waiting) && n < l.most {
		if weight += l.waiting[n].weight(); n > 0 && weight > maxGroupBytes {
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
