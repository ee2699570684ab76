package lane

import (
	"context"
	"slices"
	"sync"

	"github.com/meowdis/meowdis/store"
)

// Call is a call of a Lane: a pointer to a struct that embeds Entry.
type Call interface {
	comparable
	entry() *Entry
}

// Entry holds the state of a call in its Lane.
type Entry struct {
	bytes int
	err   error
	done  chan struct{}
}

// NewEntry returns the entry of a call that takes about the given number of bytes in a request.
func NewEntry(bytes int) Entry { return Entry{bytes: bytes, done: make(chan struct{})} }

func (e *Entry) entry() *Entry { return e }

// End finishes the call, once.
func (e *Entry) End(err error) {
	e.err = err
	close(e.done)
}

// Lane queues calls. Calls that arrive while Width requests are in progress share the next request. The fields
// are set before the first call.
type Lane[C Call] struct {
	Width    int                   // requests at a time
	MaxCalls int                   // per request
	MaxBytes int                   // per request, unless a single call is larger
	Serve    func(group []C)       // sends a request with the calls, and ends each call
	Join     func(first, c C) bool // reports whether c may share the request of first; nil for always
	// FinishSent makes Do wait for a call that is in a request, even if its context ends.
	FinishSent bool

	mu      sync.Mutex
	waiting []C
	busy    int
	running sync.WaitGroup
}

// Do queues a call and returns its error when it has ended, or the cause of the end of ctx. A call in a request
// continues after ctx ends.
func (l *Lane[C]) Do(ctx context.Context, c C) error {
	e := c.entry()
	l.mu.Lock()
	l.waiting = append(l.waiting, c)
	if l.busy < l.Width {
		l.busy++
		l.running.Go(l.run)
	}
	l.mu.Unlock()
	select {
	case <-e.done:
		return e.err
	case <-ctx.Done():
	}
	if !l.withdraw(c) && l.FinishSent {
		<-e.done
		return e.err
	}
	return context.Cause(ctx)
}

// Wait waits for the requests in progress, and for the calls that wait.
func (l *Lane[C]) Wait() { l.running.Wait() }

// Waiting returns the number of calls that are in no request yet.
func (l *Lane[C]) Waiting() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.waiting)
}

// withdraw removes c from the waiting calls and reports whether it was waiting.
func (l *Lane[C]) withdraw(c C) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	i := slices.Index(l.waiting, c)
	if i >= 0 {
		l.waiting = slices.Delete(l.waiting, i, i+1)
	}
	return i >= 0
}

// run serves groups until no call is waiting.
func (l *Lane[C]) run() {
	for {
		var group []C
		if err := store.Caught(func() error { group = l.next(); return nil }); err != nil {
			l.endWaiting(err)
			return
		}
		if len(group) == 0 {
			return
		}
		if err := store.Caught(func() error { l.Serve(group); return nil }); err != nil {
			for _, c := range group {
				select {
				case <-c.entry().done:
				default:
					c.entry().End(err)
				}
			}
		}
	}
}

// endWaiting ends all waiting calls and the goroutine's turn, after a panic of next.
func (l *Lane[C]) endWaiting(err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, c := range l.waiting {
		c.entry().End(err)
	}
	l.waiting = nil
	l.busy--
}

// next removes and returns the calls of the next request.
func (l *Lane[C]) next() []C {
	l.mu.Lock()
	defer l.mu.Unlock()
	n, bytes := 0, 0
	for n < len(l.waiting) && n < l.MaxCalls {
		c := l.waiting[n]
		bytes += c.entry().bytes
		if n > 0 && (bytes > l.MaxBytes || l.Join != nil && !l.Join(l.waiting[0], c)) {
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
