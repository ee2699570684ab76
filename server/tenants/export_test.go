package tenants

import (
	"context"
	"sync"
	"time"

	"github.com/meowdis/meowdis/local"
	"github.com/meowdis/meowdis/store"
)

// Rest closes the idle files.
func (h *Manager) Rest() { h.files.closeIdle(time.Now().Add(time.Hour)) }

// OpenFiles returns the number of open files.
func (h *Manager) OpenFiles() int { return h.files.open() }

// Live returns the number of tenants in memory.
func (h *Manager) Live() int { return len(h.all()) }

// SetPatience sets the longest wait for a slot.
func (h *Manager) SetPatience(d time.Duration) { h.files.slotTimeout = d }

// Keeps holds the file of a tenant open until the returned func is called.
func (h *Manager) Keeps(ctx context.Context, token string) (func(), error) {
	found, _, err := h.registry.Find(ctx, token)
	if err != nil {
		return nil, err
	}
	t, _ := h.admit(found)
	if _, err := t.file.acquire(ctx); err != nil {
		return nil, err
	}
	return func() {
		t.file.release()
		h.leave(t)
	}, nil
}

// Writes runs a transaction of a tenant until a statement fails, and sends its error. It returns when the transaction
// has begun.
func (h *Manager) Writes(ctx context.Context, token string) (<-chan error, error) {
	found, _, err := h.registry.Find(ctx, token)
	if err != nil {
		return nil, err
	}
	t, _ := h.admit(found)
	began, ended := make(chan struct{}), make(chan error, 1)
	go func() {
		defer h.leave(t)
		begin := sync.OnceFunc(func() { close(began) })
		ended <- t.file.Transact(ctx, false, func(run func(store.Batch) (store.Result, error)) error {
			for {
				if _, err := run(store.Batch{Stmts: []store.Stmt{{SQL: "SELECT 1"}}}); err != nil {
					return err
				}
				begin()
			}
		})
		begin()
	}()
	<-began
	return ended, nil
}

// RunJob runs a job of the manager.
func (h *Manager) RunJob(job func()) { go h.forever(job) }

// WhenOpened calls f whenever a file of a tenant is about to be opened.
func (h *Manager) WhenOpened(f func()) {
	open := h.files.opener
	h.files.opener = func(path string) (*local.Store, error) {
		f()
		return open(path)
	}
}

// SweepClosed sweeps the file of the named tenant.
func (h *Manager) SweepClosed(ctx context.Context, name string) error {
	hash, err := h.registry.hashByName(ctx, name)
	if err != nil {
		return err
	}
	found, _, err := h.registry.read(ctx, hash)
	if err != nil {
		return err
	}
	return h.sweepClosed(ctx, found)
}
