package replicate

import (
	"context"
	"errors"
	"sync"
	"time"
)

// Standby takes the lease of a place when its holder no longer renews it.
type Standby struct {
	lease *Lease
	after time.Duration
	seen  observed
	asked time.Time
	said  bool
	now   func() time.Time

	mu     sync.Mutex
	status LeaseStatus
	ends   time.Time // by this server's clock; zero while unknown
}

// NewStandby returns a standby that takes the lease once it was not renewed for its TTL, and at least for after.
func NewStandby(lease *Lease, after time.Duration) *Standby {
	return &Standby{lease: lease, after: after, now: lease.o.Now}
}

// reset makes the standby wait for the end of another lease.
func (s *Standby) reset() { s.lease, s.seen, s.asked = s.lease.again(), observed{}, time.Time{} }

// Status returns the state of the lease when it was last read.
func (s *Standby) Status() LeaseStatus {
	s.mu.Lock()
	defer s.mu.Unlock()
	status := s.status
	if !s.ends.IsZero() {
		status.Left = s.ends.Sub(s.now())
	}
	return status
}

// look reads the lease, and takes it if its holder has not renewed it in time. Until the holder has agreed to failover,
// look only asks for it.
func (s *Standby) look(ctx context.Context) (took bool, err error) {
	l := s.lease
	ctx, cancel := context.WithTimeout(ctx, max(l.o.TTL, time.Second))
	defer cancel()
	r, version, err := l.place.lease(ctx)
	if err != nil || version == "" {
		return false, err
	}
	now := l.o.Now()
	silence := max(s.after, r.ttl())
	if r.Released { // its holder has stopped
		silence = s.after
	}
	left := s.seen.left(&r, silence, now)
	s.mu.Lock()
	s.status, s.ends = LeaseStatus{Fence: r.Fence, Holder: r.Server, Failover: r.Failover}, now.Add(left)
	s.mu.Unlock()
	switch {
	case r.Failover && left <= 0:
		l.o.Log.Warn("the lease was not renewed: taking over", "place", l.place, "from", r.Server, "after", silence)
		if err = l.take(ctx, r, version); errors.Is(err, errExists) {
			return false, nil // another standby was faster
		}
		return err == nil && l.Fence() > 0, err
	case s.asked.IsZero() || now.Sub(s.asked) >= askEvery:
		r.Standby++
		if _, err = l.place.swap(ctx, &r, version); err == nil {
			s.asked = now
		} else if errors.Is(err, errExists) {
			err = nil // the holder was faster: ask again
		}
	}
	if !r.Failover && left <= 0 && !s.said {
		s.said = true
		l.o.Log.Warn("the lease is not renewed, and its holder has never agreed to failover: to take over, end it, and serve this file with --replicate", "place", l.place, "holder", r.Server)
	}
	return false, err
}

// takeOver brings the copy up to date after the lease was taken, and seals the stream there. It fails if the lease is
// lost again.
func (f *Follower) takeOver(ctx context.Context, lease *Lease) error {
	for {
		before := f.at
		f.looked = time.Time{} // list all levels
		if f.copy.Changed() {
			f.reset()
		}
		err := f.Follow(ctx)
		if err == nil && f.at > 0 && f.at == before {
			if err = lease.Seal(ctx, uint64(f.at)); err == nil {
				return nil
			}
		}
		if lost := lease.Lost(); lost != nil {
			return lost
		}
		if err == nil {
			continue
		}
		if err := lease.wait(ctx, f.o.Every); err != nil {
			return err
		}
	}
}
