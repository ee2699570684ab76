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

	"github.com/meowdis/meowdis/store"
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

// Start renews the lease in the background until Stop, or until the lease is lost.
func (l *Lease) Start() {
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	l.stop = func() { cancel(); <-ended }
	go func() {
		defer close(ended)
		l.run(ctx)
	}()
}

// Stop ends the renewals.
func (l *Lease) Stop() {
	if l.stop != nil {
		l.stop()
		l.stop = nil
	}
}

func (l *Lease) run(ctx context.Context) {
	said := false
	for l.Lost() == nil && !l.isOff() {
		pause := renewEvery(max(l.ttl(), l.o.TTL))
		err := recoverLogged(l.o.Log, func() error { return l.renew(ctx) })
		if ctx.Err() != nil {
			return
		}
		if ended := l.Err(); ended != nil && !said && l.Lost() == nil {
			l.o.Log.Error("writes are refused", "place", l.place, "why", ended, "error", err)
			said = true
		} else if ended == nil && said {
			l.o.Log.Info("the lease is renewed, and writes are accepted again", "place", l.place)
			said = false
		}
		if err != nil {
			pause /= 2
		}
		if l.wait(ctx, pause) != nil {
			return
		}
	}
	if l.Lost() != nil && l.o.Lost != nil {
		l.awaitSeal(ctx)
	}
}

// renew renews the lease, or takes it if that failed at the start.
func (l *Lease) renew(ctx context.Context) error {
	if l.Held() {
		return l.change(ctx, func(r *record) { r.Renewal++ })
	}
	err := l.Acquire(ctx, nil)
	if held := (*HeldError)(nil); errors.As(err, &held) {
		l.mu.Lock()
		l.lost = held
		l.mu.Unlock()
	}
	return err
}

// awaitSeal waits until the next holder has said where its stream begins.
func (l *Lease) awaitSeal(ctx context.Context) {
	for {
		r, _, err := l.read(ctx)
		if held := l.held(&r); err == nil && held.Sealed && r.Fence > l.Fence() {
			l.o.Lost(held)
			return
		}
		if l.wait(ctx, renewEvery(l.o.TTL)) != nil {
			return
		}
	}
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

// change replaces the lease by a changed one. It also agrees to failover if a standby asks for it.
func (l *Lease) change(ctx context.Context, fn func(*record)) error {
	l.renewing.Lock()
	defer l.renewing.Unlock()
	ctx, cancel := context.WithTimeout(ctx, max(l.o.TTL/2, time.Second))
	defer cancel()
	for {
		l.mu.Lock()
		next, version, lost, off := l.record, l.version, l.lost, l.off
		l.mu.Unlock()
		if lost != nil || off {
			return lost
		}
		if next.Failover && l.o.Now().Sub(l.asked) > forgetStandby {
			next.Failover = false
		}
		next.TTL = l.ttlFor(next.Failover).Milliseconds()
		fn(&next)
		err := l.put(ctx, next, version)
		if !errors.Is(err, errExists) {
			return err
		}
		if err := l.reread(ctx); err != nil {
			return err
		}
	}
}

// reread adopts a record that a standby has changed. The lease is lost if it has another holder.
func (l *Lease) reread(ctx context.Context) error {
	r, version, err := l.place.lease(ctx)
	if err != nil {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if version == "" || r.Owner != l.owner || r.Fence != l.record.Fence {
		l.lost = l.held(&r)
		return l.lost
	}
	if r.Standby != l.record.Standby {
		l.asked = l.o.Now()
		r.Failover = true
	}
	l.record, l.version = r, version
	if r.Failover {
		l.bound = true
		return l.o.Remember(Held{l.owner, true})
	}
	return nil
}

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

// Seal ends the stream of earlier holders at a transaction, unless that is done.
func (l *Lease) Seal(ctx context.Context, after uint64) error {
	l.mu.Lock()
	n, fence := len(l.record.Seals), l.record.Fence
	done := l.off || n > 0 && l.record.Seals[n-1].Fence == fence
	l.mu.Unlock()
	if done {
		return nil
	}
	return l.change(ctx, func(r *record) {
		r.Renewal++
		r.seal(seal{after, fence})
	})
}

// forgetSeals removes the seals of transactions that were removed from the place.
func (l *Lease) forgetSeals(ctx context.Context, before uint64) error {
	l.mu.Lock()
	n := 0
	for n < len(l.record.Seals)-1 && l.record.Seals[n].Fence<<fenceShift <= before {
		n++
	}
	l.mu.Unlock()
	if n == 0 {
		return nil
	}
	return l.change(ctx, func(r *record) {
		r.Renewal++
		r.Seals = append([]seal(nil), r.Seals[n:]...)
	})
}

// Verify waits until the place says that this server still has the lease. It uses no clock.
func (l *Lease) Verify(ctx context.Context) error {
	for {
		l.mu.Lock()
		bound, lost := l.bound, l.lost
		l.mu.Unlock()
		if !bound || lost != nil {
			return lost
		}
		err := store.Caught(func() error { return l.verify(ctx) })
		if lost := l.Lost(); err == nil || lost != nil {
			return lost
		}
		if err := l.wait(ctx, min(l.o.TTL/10, time.Second)); err != nil {
			return err
		}
	}
}

func (l *Lease) verify(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, max(l.o.TTL, time.Second))
	defer cancel()
	r, version, err := l.place.lease(ctx)
	if err != nil {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if version == "" || r.Owner != l.owner || r.Fence != l.record.Fence {
		l.lost = l.held(&r)
	}
	return nil
}

// Release ends the lease, so that the next server need not wait.
func (l *Lease) Release(ctx context.Context) error {
	return l.change(ctx, func(r *record) {
		r.Renewal++
		r.Released = true
	})
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
