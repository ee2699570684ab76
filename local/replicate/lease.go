package replicate

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"time"
)

// Lease is the right to write to a place, and to acknowledge writes. One server has it at a time: the holder renews
// it, and another server takes it only after the record has not changed for its TTL (docs/design/failover.md).
type Lease struct {
	o     LeaseOptions
	place *Place
	owner string

	renewing sync.Mutex // held while the record is replaced
	asked    time.Time  // when a standby last asked for failover

	mu      sync.Mutex
	record  record
	version string
	until   time.Time // the end for the holder, earlier than for other servers
	bound   bool      // writes are acknowledged only before until
	lost    error     // set once another server has the lease
	off     bool      // the place cannot hold a lease

	stop func()                                           // ends the renewals
	wait func(ctx context.Context, d time.Duration) error // tests replace it
}

// LeaseOptions configures a Lease.
type LeaseOptions struct {
	TTL      time.Duration // how long the lease lasts unless it is renewed; 0 means ten seconds
	Previous string        // the owner whose process has ended for certain, so its lease may be taken at once
	Remember func(Held) error
	// Alone means that no standby can have taken over from this file's last server, so that writes are accepted while
	// the place cannot be reached at the start.
	Alone bool
	// Lost, if not nil, is called once after another server has taken the lease and said where its stream begins.
	Lost func(*HeldError)
	Now  func() time.Time
	Log  *slog.Logger
}

// Held describes a lease for the holder's next process.
type Held struct {
	Owner    string
	Failover bool // a standby may take the lease
}

// LeaseStatus is the state of a lease.
type LeaseStatus struct {
	Fence    uint64
	Holder   string        // "" while no server is known to have it
	Left     time.Duration // until the lease ends; negative afterwards
	Failover bool          // a standby takes the lease when it ends
	Err      string        // the reason why writes are refused, or ""
}

const (
	defaultTTL = 10 * time.Second
	// loneTTL multiplies the TTL without a standby: renewing is rarer then, since a bucket charges for
	// each request.
	loneTTL = 3
	// forgetStandby ends failover when no standby has asked for it for that long.
	forgetStandby = 10 * time.Minute
	// askEvery separates two requests of a standby for failover.
	askEvery = time.Minute
)

// margin returns how much earlier the lease ends for its holder than for other servers. It covers clocks of different
// speed.
func margin(ttl time.Duration) time.Duration { return ttl / 4 }

// renewEvery returns the interval of renewals.
func renewEvery(ttl time.Duration) time.Duration { return ttl / 5 }

// NewLease returns a lease that is not held yet.
func NewLease(place *Place, o LeaseOptions) *Lease {
	if o.TTL == 0 {
		o.TTL = defaultTTL
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Remember == nil {
		o.Remember = func(Held) error { return nil }
	}
	return &Lease{o: o, place: place, owner: rand.Text(), wait: wait}
}

// wait waits for d, or returns the error of ctx.
func wait(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}

// again returns a lease with the same options that is not held.
func (l *Lease) again() *Lease { return NewLease(l.place, l.o) }

// HeldError reports that another server holds the lease.
type HeldError struct {
	Place  string
	Server string
	Fence  uint64
	After  uint64 // the last transaction in the place before that server's
	Sealed bool   // After is known
}

func (e *HeldError) Error() string {
	return fmt.Sprintf("%s writes to %s now (fencing number %d): send writes to it", e.Server, e.Place, e.Fence)
}

// held returns the error for a lease that another server has.
func (l *Lease) held(r *record) *HeldError {
	e := &HeldError{Place: l.place.String(), Server: r.Server, Fence: r.Fence}
	if n := len(r.Seals); n > 0 {
		e.After, e.Sealed = r.Seals[n-1].After, r.Seals[n-1].Fence == r.Fence
	}
	return e
}

// Acquire takes the lease. If another server has it, Acquire waits until its TTL has passed without a renewal, or
// returns a HeldError once it is renewed. waiting, if not nil, is called before a wait.
func (l *Lease) Acquire(ctx context.Context, waiting func(server string, atMost time.Duration)) error {
	var seen observed
	for {
		r, version, err := l.read(ctx)
		if err != nil {
			return err
		}
		before := seen.renewal
		left := seen.left(&r, r.ttl(), l.o.Now())
		switch {
		case version == "" || r.Released || r.Owner == l.owner || r.Owner == l.o.Previous || left <= 0:
			if err := l.take(ctx, r, version); !errors.Is(err, errExists) {
				return err
			}
			continue
		case before != "" && before != seen.renewal:
			return l.held(&r)
		case before == "" && waiting != nil:
			waiting(r.Server, left)
		}
		if err := l.wait(ctx, min(left, renewEvery(r.ttl()), time.Second)); err != nil {
			return err
		}
	}
}

// read reads the lease within a limited time.
func (l *Lease) read(ctx context.Context) (record, string, error) {
	ctx, cancel := context.WithTimeout(ctx, max(l.o.TTL/2, time.Second))
	defer cancel()
	return l.place.lease(ctx)
}

// observed records the renewal that another server sees, and since when. Only the time between two moments of this process
// counts, so the clocks of the servers need not agree.
type observed struct {
	renewal string
	since   time.Time
}

// left returns how long until the renewal is d old.
func (o *observed) left(r *record, d time.Duration, now time.Time) time.Duration {
	if renewal := fmt.Sprint(r.Fence, r.Owner, r.Renewal); renewal != o.renewal {
		o.renewal, o.since = renewal, now
	}
	return d - now.Sub(o.since)
}

// take replaces the lease r. errExists means that another server was faster.
func (l *Lease) take(ctx context.Context, r record, version string) error {
	l.renewing.Lock()
	defer l.renewing.Unlock()
	newest, err := l.place.newestFence(ctx)
	if err != nil {
		return err
	}
	next := record{
		Fence: max(r.Fence, newest) + 1, Owner: l.owner, Server: serverName(),
		TTL: r.TTL, Failover: r.Failover, Standby: r.Standby, Seals: r.Seals,
	}
	next.TTL = l.ttlFor(next.Failover).Milliseconds()
	l.asked = l.o.Now()
	if err := l.o.Remember(Held{l.owner, next.Failover}); err != nil {
		return err
	}
	if err := l.put(ctx, next, version); err != nil {
		return err
	}
	if err := l.place.checkLease(ctx); !errors.Is(err, errNoConditions) {
		return err
	}
	l.o.Log.Warn("the place cannot hold a lease: no standby can take over, and a second server is noticed late", "place", l.place, "why", errNoConditions)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.off = true
	return nil
}

func (l *Lease) ttlFor(failover bool) time.Duration {
	if failover {
		return l.o.TTL
	}
	return loneTTL * l.o.TTL
}

// put replaces the lease by next. If the reply is lost, it reads the lease to find out what happened. errExists means
// that the lease is now another one.
func (l *Lease) put(ctx context.Context, next record, version string) error {
	sent := l.o.Now()
	until := sent.Add(next.ttl() - margin(next.ttl()))
	if next.Failover { // from now on, even if the reply is lost
		l.mu.Lock()
		l.bound = true
		if until.Before(l.until) {
			l.until = until
		}
		l.mu.Unlock()
	}
	got, err := l.place.swap(ctx, &next, version)
	if err != nil {
		now, at, unread := l.place.lease(ctx)
		if unread != nil {
			return err
		}
		if now.Owner != l.owner || now.Renewal != next.Renewal || now.Fence != next.Fence || now.Standby != next.Standby {
			return errExists
		}
		next, got = now, at
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.record, l.version, l.until = next, got, until
	if l.bound && !next.Failover {
		l.bound = false
		return l.o.Remember(Held{l.owner, false})
	}
	return nil
}

// serverName describes this process in a lease.
func serverName() string {
	host, err := os.Hostname()
	if err != nil {
		host = "a server"
	}
	return fmt.Sprintf("%s (process %d)", host, os.Getpid())
}

// newestFence returns the highest fencing number of a file in the place.
func (p *Place) newestFence(ctx context.Context) (newest uint64, err error) {
	all, err := p.listAll(ctx)
	for _, f := range all {
		newest = max(newest, fenceOf(f.MaxTXID))
	}
	return newest, err
}
