package tenants

import (
	"context"
	"time"

	"github.com/meowdis/meowdis/local"
)

// Rest closes the files that no call uses.
func (h *Manager) Rest() { h.files.closeIdle(time.Now().Add(time.Hour)) }

// OpenFiles is how many files are open.
func (h *Manager) OpenFiles() int { return h.files.open() }

// Live is how many tenants are in memory.
func (h *Manager) Live() int { return len(h.all()) }

// SetPatience is how long a call waits for a file that may be opened.
func (h *Manager) SetPatience(d time.Duration) { h.files.patience = d }

// Keeps uses the file of a tenant until the function that it returns is called.
func (h *Manager) Keeps(ctx context.Context, token string) (func(), error) {
	found, _, err := h.book.Find(ctx, token)
	if err != nil {
		return nil, err
	}
	t, _ := h.visit(found)
	if _, err := t.file.lend(ctx); err != nil {
		return nil, err
	}
	return func() {
		t.file.back()
		h.leave(t)
	}, nil
}

// WhenOpened calls f whenever a file of a tenant is about to be opened.
func (h *Manager) WhenOpened(f func()) {
	open := h.files.opener
	h.files.opener = func(path string) (*local.Store, error) {
		f()
		return open(path)
	}
}

// SweepClosed sweeps the file of the tenant with the name.
func (h *Manager) SweepClosed(ctx context.Context, name string) error {
	hash, err := h.book.named(ctx, name)
	if err != nil {
		return err
	}
	found, _, err := h.book.read(ctx, hash)
	if err != nil {
		return err
	}
	return h.sweepClosed(ctx, found)
}
