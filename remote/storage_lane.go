package remote

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/meowdis/meowdis/store"
)

const (
	// maxRequests bounds the requests of a lane in progress. Calls that arrive while all are in use wait, and
	// share the next request.
	maxRequests = 4

	maxShared      = 256     // calls per request
	maxSharedBytes = 1 << 20 // of a request that several calls share
)

// lane queues the calls that read, or the calls that write, so that a read does not wait for a commit.
type lane struct {
	storage *Storage
	reads   bool

	mu      sync.Mutex
	running int
	waiting []*sending
}

// send sends c and returns when c has its results or an error. It returns early when the context of c ends,
// unless c is a write that was sent.
func (l *lane) send(c *sending) error {
	l.mu.Lock()
	l.waiting = append(l.waiting, c)
	if l.running < maxRequests {
		l.running++
		go l.run()
	}
	l.mu.Unlock()
	select {
	case <-c.done:
		return c.err
	case <-c.ctx.Done():
	}
	if l.reads || l.withdraw(c) {
		return context.Cause(c.ctx)
	}
	<-c.done
	return c.err
}

// withdraw removes c from the waiting calls and reports whether it was waiting.
func (l *lane) withdraw(c *sending) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	for i, other := range l.waiting {
		if other == c {
			l.waiting = append(l.waiting[:i:i], l.waiting[i+1:]...)
			return true
		}
	}
	return false
}

// run sends waiting calls until none is left.
func (l *lane) run() {
	for {
		group := l.next()
		if group == nil {
			return
		}
		if err := store.Caught(func() error { l.storage.share(group, l.reads); return nil }); err != nil {
			for _, c := range group {
				select {
				case <-c.done:
				default:
					c.err = err
					close(c.done)
				}
			}
		}
	}
}

// next removes and returns the calls of the next request. If no call is left, it decrements running.
func (l *lane) next() (group []*sending) {
	l.mu.Lock()
	defer l.mu.Unlock()
	size, n := 0, 0
	for _, c := range l.waiting {
		if n > 0 && (c.max != group0(group, c).max || size+c.bytes > maxSharedBytes || len(group) >= maxShared) {
			break
		}
		if n++; c.ctx.Err() != nil {
			c.err = context.Cause(c.ctx)
			close(c.done)
			continue
		}
		group, size = append(group, c), size+c.bytes
	}
	if l.waiting = l.waiting[n:]; len(l.waiting) == 0 {
		l.waiting = nil
	}
	if group == nil {
		l.running--
	}
	return group
}

// group0 returns the first call of group, or c if group is empty.
func group0(group []*sending, c *sending) *sending {
	if len(group) > 0 {
		return group[0]
	}
	return c
}

// share sends the calls in as few requests as possible, and finishes each call.
func (s *Storage) share(group []*sending, reads bool) {
	ctx, cancel := sharedContext(s.life, group, reads)
	defer cancel()
	for len(group) > 0 {
		var results []store.Result
		err := store.Caught(func() (err error) {
			results, err = s.post(ctx, group, reads)
			return err
		})
		if err == nil && len(results) == 0 {
			err = errors.New("the storage endpoint ran nothing")
		}
		if err != nil {
			if s.life.Err() != nil {
				s.abandoned.Add(int64(len(group)))
			}
			for _, c := range group {
				c.err = err
				close(c.done)
			}
			return
		}
		var others []*sending
		for _, c := range group {
			n := min(c.left(), len(results))
			if over := c.take(results[:n]); over {
				close(c.done)
			} else {
				others = append(others, c)
			}
			results = results[n:]
		}
		group = others
	}
}

// sharedContext returns the context of a request shared by group. For reads it ends when no caller waits any
// more. A write continues.
func sharedContext(life context.Context, group []*sending, reads bool) (context.Context, func()) {
	ctx, cancel := context.WithCancel(life)
	if !reads {
		return ctx, cancel
	}
	var gone atomic.Int64
	stops := make([]func() bool, len(group))
	for i, c := range group {
		stops[i] = context.AfterFunc(c.ctx, func() {
			if gone.Add(1) == int64(len(group)) {
				cancel()
			}
		})
	}
	return ctx, func() {
		for _, stop := range stops {
			stop()
		}
		cancel()
	}
}

// wait waits before a retry. It returns early if ctx ends.
func (s *Storage) wait(ctx context.Context, attempt int) error {
	t := time.NewTimer(s.waitBefore(attempt))
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
