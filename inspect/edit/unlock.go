package edit

import (
	"cmp"
	"context"
	"fmt"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/meowdis/meowdis/inspect/job"
	"github.com/meowdis/meowdis/keyspace"
)

const (
	lockedNotice   = "The inspector is read-only. Press %s to unlock writing."
	readOnlyNotice = "This target is read-only."
)

// mayWrite reports whether a change can start, and says why not.
func (r *Pane) mayWrite() bool {
	switch {
	case r.OpenWriter == nil:
		r.Notice = cmp.Or(r.ReadOnlyReason, readOnlyNotice)
	case r.access != unlocked:
		r.Notice = fmt.Sprintf(lockedNotice, r.KeyFor("unlock"))
	case r.Running(job.Writing):
		r.Notice = "A change is still running; esc stops it."
	default:
		return true
	}
	return false
}

// Unlock toggles between read-only and writing.
func (r *Pane) Unlock() tea.Cmd {
	switch {
	case r.access == unlocked:
		r.access = locked
		r.Notice = "Read-only again."
		return nil
	case r.OpenWriter == nil:
		r.Notice = cmp.Or(r.ReadOnlyReason, readOnlyNotice)
		return nil
	case r.clientWrites:
		r.access = unlocked
		r.Notice = "Writing is unlocked. Press " + r.KeyFor("unlock") + " to lock it."
		if n := len(r.steps); n > 0 {
			r.Notice = "Writing is unlocked. Press " + r.KeyFor("undo") + " to undo: " + r.steps[n-1].Title + "."
		}
		return nil
	}
	unlock := r.OpenWriter
	return r.Start(job.Unlocking, func(ctx context.Context) (tea.Msg, error) {
		c, err := unlock(ctx)
		if err != nil {
			return nil, fmt.Errorf("unlocking: %w", err)
		}
		return unlockedMsg{c}, nil
	})
}

// unlockedMsg carries a client that can write.
type unlockedMsg struct{ client keyspace.Client }

func (r *Pane) onUnlocked(u unlockedMsg) {
	r.Conn.Use(u.client)
	r.clientWrites = true
	r.Unlock()
}
