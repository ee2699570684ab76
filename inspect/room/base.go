package room

import (
	"context"
	"errors"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/meowdis/meowdis/inspect/job"
	"github.com/meowdis/meowdis/inspect/screen"
	"github.com/meowdis/meowdis/inspect/target"
)

// SettleTime is how long the person must rest before what they look at is asked for.
const SettleTime = 80 * time.Millisecond

// Base is what every room is handed: what is inspected, the jobs, the clock, and what
// the rooms have on the screen together. It belongs to the screen's loop.
type Base struct {
	job.Jobs
	Conn      *target.Conn
	Index     target.Index // nil: keys are found by SCAN
	Delimiter string
	Clock     func() int64 // Unix ms; a job's own clock, while now stands still
	Styles    screen.Styles

	DB      int
	Width   int    // of the screen
	Height  int    // likewise
	InValue bool   // the value has the focus, not the keys
	Dialog  Dialog // what stands above all, nil when nothing does
	Failure string // the last error, until the next key press
	Notice  string // what just happened, likewise

	// tell hands what a room has done, and another room may have to know, to whoever
	// routes it.
	Tell func(event any) tea.Cmd
	// KeyFor is the key of an action, by its name, as a person reads it.
	KeyFor func(action string) string
}

// Fail shows err until the next key press.
func (b *Base) Fail(err error) {
	switch {
	case errors.Is(err, context.Canceled):
		err = errors.New("stopped")
	case errors.Is(err, context.DeadlineExceeded):
		err = errors.New("the target did not answer in time")
	}
	b.Failure = err.Error()
	var no target.Refusal
	if errors.As(err, &no) && no.Passes() {
		b.Failure += " (press " + b.KeyFor("refresh") + " to look again)"
	}
}

// Wide reports whether keys and value stand side by side.
func (b *Base) Wide() bool { return b.Width >= 100 }
