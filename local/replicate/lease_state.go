package replicate

import (
	"errors"
	"time"
)

// errLeaseUnknown is why writes are refused before the lease is taken.
var errLeaseUnknown = errors.New("this server has not reached its place yet, and another one may write to it; writes are accepted once it has the lease")

// errLeaseEnded is why writes are refused while the lease cannot be renewed.
var errLeaseEnded = errors.New("this server cannot renew its lease, so another one may take over; writes are accepted again once it reaches the place")

// Err returns nil while this server may acknowledge a write.
func (l *Lease) Err() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.err()
}

func (l *Lease) err() error {
	switch {
	case l.off:
		return nil
	case l.lost != nil:
		return l.lost
	case l.version == "" && !l.o.Alone:
		return errLeaseUnknown
	case l.bound && l.left() <= 0:
		return errLeaseEnded
	}
	return nil
}

// left returns the time until the lease ends for its holder. The monotonic clock of some systems stops while they are
// suspended, and the other clock may be set back, so the one that says less counts.
func (l *Lease) left() time.Duration {
	now := l.o.Now()
	return min(l.until.Sub(now), l.until.Round(0).Sub(now.Round(0)))
}

// Lost returns the reason why the lease will not come back, or nil.
func (l *Lease) Lost() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.lost
}

// Fence returns the fencing number; 0 if the place cannot hold a lease.
func (l *Lease) Fence() uint64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.off {
		return 0
	}
	return l.record.Fence
}

// Status returns the state of the lease.
func (l *Lease) Status() LeaseStatus {
	l.mu.Lock()
	defer l.mu.Unlock()
	s := LeaseStatus{Fence: l.record.Fence, Holder: l.record.Server, Failover: l.bound}
	if l.version != "" {
		s.Left = l.left()
	}
	if err := l.err(); err != nil {
		s.Err = err.Error()
	}
	var held *HeldError
	if errors.As(l.lost, &held) {
		s.Fence, s.Holder, s.Left = held.Fence, held.Server, 0
	}
	return s
}

// Held reports whether the lease was taken, and not lost.
func (l *Lease) Held() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.off || l.version != "" && l.lost == nil
}

func (l *Lease) isOff() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.off
}

func (l *Lease) ttl() time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.record.ttl()
}
