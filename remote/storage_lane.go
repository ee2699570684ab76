package remote

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"github.com/meowdis/meowdis/remote/lane"
	"github.com/meowdis/meowdis/store"
)

const (
	// maxRequests bounds the requests of a lane in progress. Calls that arrive while all are in use wait, and
	// share the next request.
	maxRequests = 4

	maxShared      = 256     // calls per request
	maxSharedBytes = 1 << 20 // of a request that several calls share
)

// setLane sets up the lane of the calls that read, or of the calls that write, so that a read does not wait for a
// commit. A write that was sent is waited for.
func (s *Storage) setLane(l *lane.Lane[*sending], reads bool) {
	l.Width, l.MaxCalls, l.MaxBytes, l.FinishSent = maxRequests, maxShared, maxSharedBytes, !reads
	l.Serve = func(group []*sending) { s.share(group, reads) }
	l.Join = func(first, c *sending) bool { return first.max == c.max }
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
				c.End(err)
			}
			return
		}
		var others []*sending
		for _, c := range group {
			n := min(c.left(), len(results))
			if over := c.take(results[:n]); over {
				c.End(c.err)
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
