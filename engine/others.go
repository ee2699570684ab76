package engine

import (
	"context"
	"sync"
	"time"
)

// shares is a store whose file other processes may write to.
type shares interface {
	// Changed reports whether they may have since it was last called, at the cost of a look into
	// memory.
	Changed(context.Context) bool
}

// others is the look at other processes, which goes on as long as anyone wants it.
type others struct {
	mu    sync.Mutex
	wants int
	stop  chan struct{}
}

// othersEvery is how often it is looked whether other processes have committed.
const othersEvery = 5 * time.Millisecond

// watch begins to look whether other processes have committed, and unwatch follows it.
func (f *feed) watch() {
	s, can := f.engine.store.(shares)
	o := &f.others
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.wants++; o.wants > 1 || !can {
		return
	}
	stop := make(chan struct{})
	o.stop = stop
	s.Changed(context.Background()) // whatever there is now, everyone sees
	go func() {
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
					wrote = f.othersWrote(ctx) != nil
				}
			}
		}
	}()
}

func (f *feed) unwatch() {
	o := &f.others
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.wants--; o.wants == 0 && o.stop != nil {
		close(o.stop)
		o.stop = nil
	}
}
