package server

import (
	"runtime"
	"sync/atomic"
	"testing"
	"time"
)

// TestNothingIsLeftUnread sends a client's next bytes just when the client is released. The loop must read them in
// either order of events.
func TestNothingIsLeftUnread(t *testing.T) {
	l, c := &loop{}, &client{}
	var unread atomic.Int32
	var over atomic.Bool
	gone := make(chan struct{})
	go func() {
		defer close(gone)
		for !over.Load() {
			l.mu.Lock()
			mine := len(l.pending) > 0
			l.pending = l.pending[:0]
			l.mu.Unlock()
			if !mine {
				runtime.Gosched()
				continue
			}
			unread.Store(0)
			l.release(c)
		}
	}()
	defer func() {
		over.Store(true)
		<-gone
	}()
	for range 300_000 {
		unread.Store(1)
		l.kick(c)
		if unread.Load() == 0 {
			continue
		}
		for began := time.Now(); unread.Load() != 0; runtime.Gosched() {
			if time.Since(began) > time.Minute {
				t.Fatal("nobody reads what has come")
			}
		}
	}
}
