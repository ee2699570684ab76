package replicate

import (
	"context"
	"errors"
	"time"

	"github.com/meowdis/meowdis/store"
)

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
	r, version, err := l.check(ctx)
	if err != nil {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
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

// Release ends the lease, so that the next server need not wait.
func (l *Lease) Release(ctx context.Context) error {
	return l.change(ctx, func(r *record) {
		r.Renewal++
		r.Released = true
	})
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

// Verify waits until the place says that this server still has the lease. It uses no clock. It also asks without a
// standby: a server that starts with --replicate takes the lease of a holder that hangs.
func (l *Lease) Verify(ctx context.Context) error {
	for {
		if lost := l.Lost(); lost != nil || l.isOff() {
			return lost
		}
		err := store.Caught(func() error {
			ctx, cancel := context.WithTimeout(ctx, max(l.o.TTL, time.Second))
			defer cancel()
			_, _, err := l.check(ctx)
			return err
		})
		if lost := l.Lost(); err == nil || lost != nil {
			return lost
		}
		if err := l.wait(ctx, min(l.o.TTL/10, time.Second)); err != nil {
			return err
		}
	}
}

// check reads the record. The lease is lost if it has another holder.
func (l *Lease) check(ctx context.Context) (record, string, error) {
	r, version, err := l.place.lease(ctx)
	if err != nil {
		return r, version, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if version == "" || r.Owner != l.owner || r.Fence != l.record.Fence {
		l.lost = l.held(&r)
		return r, version, l.lost
	}
	return r, version, nil
}
