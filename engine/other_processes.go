package engine

import (
	"context"
	"sync"
	"time"

	"github.com/meowdis/meowdis/store"
)

// shares is a store whose file other processes may write to.
type shares interface {
	// Changed reports whether they may have since it was last called, at the cost of a look into
	// memory.
	Changed(context.Context) bool
}

// sole is a store whose clients are not to hear what other processes write: no one looks for that.
type sole interface{ Sole() }

// otherProcesses is the look at other processes, which goes on as long as anyone wants it.
type otherProcesses struct {
	mu    sync.Mutex
	wants int
	stop  chan struct{}
	wake  chan struct{} // of a poll; it has room for one
}

// othersEvery is how often it is looked whether other processes have committed.
const othersEvery = 5 * time.Millisecond

// On a store that cannot say whether others have written, the versions of the keys that are waited for
// are read: soon after something has changed or a client has begun to wait, and then ever more rarely.
const (
	pollSoonest = 20 * time.Millisecond
	pollLatest  = time.Second
)

// watch begins to look whether other processes have committed, and unwatch follows it.
func (f *feed) watch() {
	o := &f.otherProcesses
	o.mu.Lock()
	defer o.mu.Unlock()
	_, alone := f.engine.store.(sole)
	if o.wants++; o.wants > 1 || f.off || alone {
		o.again()
		return
	}
	stop := make(chan struct{})
	o.stop, o.wake = stop, make(chan struct{}, 1)
	if s, can := f.engine.store.(shares); can {
		s.Changed(context.Background()) // whatever there is now, everyone sees
		go f.watching(stop, func() { f.follow(s, stop) })
	} else {
		go f.watching(stop, func() { f.poll(stop, o.wake) })
	}
}

// again has a poll that waits begin anew.
func (o *otherProcesses) again() {
	select {
	case o.wake <- struct{}{}:
	default:
	}
}

// watching calls look until stop is closed: again when it panics, but at most once a second.
func (f *feed) watching(stop <-chan struct{}, look func()) {
	for {
		store.Guard(func(err error) { f.engine.reported(err) }, look)
		select {
		case <-stop:
			return
		case <-time.After(time.Second):
		}
	}
}

// follow looks whether a store says that others have written.
func (f *feed) follow(s shares, stop <-chan struct{}) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	wrote := false // and no one has been served for it
	tick := time.NewTicker(othersEvery)
	defer tick.Stop()
	for {
		select {
		case <-stop:
			return
		case <-tick.C:
			if s.Changed(ctx) {
				f.tell([]Change{{}})
				wrote = true
			}
			if wrote && f.engine.paused.Load() == nil {
				_, err := f.othersWrote(ctx)
				wrote = err != nil
			}
		}
	}
}

// poll looks for other versions of the keys that are waited for.
func (f *feed) poll(stop, wake <-chan struct{}) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	go func() {
		select {
		case <-stop:
			cancel()
		case <-ctx.Done():
		}
	}()
	pause := pollSoonest
	for f.pause(pause, stop, wake) {
		if f.engine.paused.Load() != nil {
			continue
		}
		if some, err := f.othersWrote(ctx); some && err == nil {
			pause = pollSoonest
		} else {
			pause = min(pollLatest, pause+pause/4)
		}
	}
}

// pause waits for that long, or less when a client begins to wait meanwhile. It is false at the end.
func (f *feed) pause(d time.Duration, stop, wake <-chan struct{}) bool {
	ring, end := f.engine.alarm(d)
	defer func() { end() }()
	for {
		select {
		case <-stop:
			return false
		case <-ring:
			return true
		case <-wake:
			if d > pollSoonest {
				end()
				d = pollSoonest
				ring, end = f.engine.alarm(d)
			}
		}
	}
}

func (f *feed) unwatch() {
	o := &f.otherProcesses
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.wants--; o.wants == 0 && o.stop != nil {
		close(o.stop)
		o.stop = nil
	}
}
