package tenants

import (
	"context"
	"time"
)

// An open file sweeps its own expired keys. The manager sweeps closed files one after the other: all of them within
// sweepInterval, or one a second if that takes longer.
const (
	sweepInterval = 6 * time.Hour
	sweepKeys     = 100         // keys at a time
	sweepTime     = time.Second // per file and round
	maxSweepPause = time.Minute
)

// sweep sweeps closed files until the manager closes.
func (h *Manager) sweep() {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	var round []Tenant
	pause := maxSweepPause
	for {
		select {
		case <-h.quit:
			return
		case <-time.After(pause):
		}
		if len(round) == 0 {
			var err error
			if round, err = h.registry.List(ctx); err != nil {
				h.log.Error("reading the list of tenants", "error", err)
			}
			pause = min(max(sweepInterval/time.Duration(len(round)+1), time.Second), maxSweepPause)
			continue
		}
		if err := h.sweepClosed(ctx, round[0]); err != nil {
			h.log.Error("sweeping expired keys", "tenant", round[0].Name, "error", err)
		}
		round = round[1:]
	}
}

// sweeping keeps a tenant in memory until leave is called, even without clients.
func (h *Manager) sweeping(found Tenant) (t *tenant, leave func()) {
	h.mu.Lock()
	defer h.mu.Unlock()
	t, _ = h.tenantFor(found)
	t.swept = true
	return t, func() {
		h.mu.Lock()
		t.swept = false
		h.mu.Unlock()
		h.forget(t)
	}
}

// sweepClosed sweeps the file of a tenant if it is closed and no client needs the place.
func (h *Manager) sweepClosed(ctx context.Context, found Tenant) error {
	if h.files.open() >= h.config.Open {
		return nil
	}
	now, ok, err := h.registry.read(ctx, found.hash)
	if err != nil || !ok || now.ID != found.ID { // removed since the list was read
		return err
	}
	t, leave := h.sweeping(now)
	defer leave()
	if t.file.isOpen() {
		return nil
	}
	s, err := t.file.acquire(ctx)
	if err != nil {
		return err
	}
	defer t.file.releaseAndClose()
	for began := time.Now(); time.Since(began) < sweepTime; {
		if n, err := s.Sweep(ctx, sweepKeys); n == 0 || err != nil {
			return err
		}
	}
	return nil
}
