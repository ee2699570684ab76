package engine

import (
	"context"
	"sync"
	"time"

	"github.com/meowdis/meowdis/store"
)

// sharedFile is a store whose file other processes may write.
type sharedFile interface {
	// Changed reports whether another process may have written since the last call. It costs one read of shared
	// memory.
	Changed(context.Context) bool
}

// soleProcess is a store whose clients do not need to see the writes of other processes.
type soleProcess interface{ Sole() }

// otherProcesses checks for commits of other processes while any client or listener waits for them.
type otherProcesses struct {
	mu    sync.Mutex
	users int
	stop  chan struct{}
	wake  chan struct{} // wakes the poll; has a buffer of one
}

// externalCheckInterval sets the interval of the check for commits of other processes.
const externalCheckInterval = 5 * time.Millisecond

// On a store that cannot report the writes of other processes, the engine polls the versions of the keys that
// blocked clients wait for: after a change or a new waiter at the shortest interval, which then grows.
const (
	pollMinInterval = 20 * time.Millisecond
	pollMaxInterval = time.Second
)

// watch starts the check for commits of other processes. Each call needs one call of unwatch.
func (f *feed) watch() {
	o := &f.otherProcesses
	o.mu.Lock()
	defer o.mu.Unlock()
	_, alone := f.engine.store.(soleProcess)
	if o.users++; o.users > 1 || f.off || alone {
		o.resetPoll()
		return
	}
	stop, wake := make(chan struct{}), make(chan struct{}, 1)
	o.stop, o.wake = stop, wake
	if s, can := f.engine.store.(sharedFile); can {
		wrote := s.Changed(context.Background()) // also since a waiter entered
		go f.runWatcher(stop, func() { f.follow(s, stop, wrote) })
	} else {
		go f.runWatcher(stop, func() { f.poll(stop, wake) })
	}
}

// resetPoll resets the interval of the poll.
func (o *otherProcesses) resetPoll() {
	select {
	case o.wake <- struct{}{}:
	default:
	}
}

// runWatcher calls look until stop is closed. It restarts look after a panic, at most once a second.
func (f *feed) runWatcher(stop <-chan struct{}, look func()) {
	for {
		store.Guard(func(err error) { f.engine.reported(err) }, look)
		select {
		case <-stop:
			return
		case <-time.After(time.Second):
		}
	}
}

// follow asks the store at intervals whether another process has written. wrote reports whether one has, and
// blocked clients have not been served since.
func (f *feed) follow(s sharedFile, stop <-chan struct{}, wrote bool) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	tick := time.NewTicker(externalCheckInterval)
	defer tick.Stop()
	for {
		select {
		case <-stop:
			return
		case <-tick.C:
			if s.Changed(ctx) {
				f.tell([]Change{{}})
				f.lostTrack()
				wrote = true
			}
			if wrote && f.engine.paused.Load() == nil {
				_, err := f.serveExternalCommits(ctx)
				wrote = err != nil
			}
		}
	}
}

// poll checks for new versions of the keys that blocked clients wait for.
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
	pause := pollMinInterval
	for f.pause(pause, stop, wake) {
		if f.engine.paused.Load() != nil {
			continue
		}
		if some, err := f.serveExternalCommits(ctx); some && err == nil {
			pause = pollMinInterval
		} else {
			pause = min(pollMaxInterval, pause+pause/4)
		}
	}
}

// pause waits for d, or less if a client begins to wait in the meantime. It returns false when stop is closed.
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
			if d > pollMinInterval {
				end()
				d = pollMinInterval
				ring, end = f.engine.alarm(d)
			}
		}
	}
}

func (f *feed) unwatch() {
	o := &f.otherProcesses
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.users--; o.users == 0 && o.stop != nil {
		close(o.stop)
		o.stop = nil
	}
}
