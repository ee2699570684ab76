package ui

import (
	"context"
	"errors"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/meowdis/meowdis/inspect/client"
	"github.com/meowdis/meowdis/inspect/job"
	"github.com/meowdis/meowdis/inspect/screen"
)

// SettleTime is how long the user must stay on a row before its value is fetched.
const SettleTime = 80 * time.Millisecond

// PaneContext is what every pane gets: the target, the jobs, the clock, and the screen state that panes
// share. Only the update loop may use it.
type PaneContext struct {
	job.Jobs
	Conn      *client.Conn
	Index     client.Index // nil: keys are found by SCAN
	Delimiter string
	Clock     func() int64 // returns Unix ms; for jobs, since Now changes only between messages
	Styles    screen.Styles

	DB      int
	Width   int    // of the screen
	Height  int    // of the screen
	InValue bool   // the value has the focus, not the list of keys
	Dialog  Dialog // the open dialog, or nil
	Failure string // the last error, until the next key press
	Notice  string // the last notice, until the next key press

	// Emit reports an event of a pane, which the model routes to the other panes.
	Emit func(event any) tea.Cmd
	// KeyFor returns the displayed key of an action.
	KeyFor func(action string) string
}

// Fail shows err until the next key press.
func (b *PaneContext) Fail(err error) {
	switch {
	case errors.Is(err, context.Canceled):
		err = errors.New("stopped")
	case errors.Is(err, context.DeadlineExceeded):
		err = errors.New("the target did not answer in time")
	}
	b.Failure = err.Error()
	var no client.Refusal
	if errors.As(err, &no) && no.Passes() {
		b.Failure += " (press " + b.KeyFor("refresh") + " to refresh)"
	}
}

// Wide reports whether the list and the value are shown side by side.
func (b *PaneContext) Wide() bool { return b.Width >= 100 }
