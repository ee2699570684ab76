package inspect

import (
	"context"
	"errors"
	"time"

	tea "github.com/charmbracelet/bubbletea"
)

// purpose is what a job is for. There is at most one job for each: starting
// another cancels the one before.
type purpose int

const (
	counting    purpose = iota // the database's number of keys
	listing                    // rows of the list
	sorting                    // some more keys, for an order that no index has
	scanning                   // the next page of a scan's keys
	describing                 // type, TTL and size of the keys on the screen
	tallying                   // the number of keys in a folder
	opening                    // a value's facts and beginning
	paging                     // another chunk of the open value
	decoding                   // a long string as a whole
	searching                  // a text in the open value
	informing                  // all about a key
	overviewing                // a part of the overview
	answering                  // a command that was typed
	weighing                   // how many keys would go
	writing                    // a change
	unlocking                  // a client that writes
	exporting                  // keys to a file
	drafting                   // a value for the editor
	surveying                  // the number of keys of every database
	watching                   // whether anybody changed the data
	purposes
)

var purposeNames = [purposes]string{
	counting: "counting", listing: "reading keys", sorting: "sorting", scanning: "scanning", describing: "describing",
	tallying: "counting", opening: "opening", paging: "loading", decoding: "decoding", searching: "searching",
	informing: "looking", overviewing: "looking", answering: "running", weighing: "counting", writing: "writing",
	unlocking: "unlocking", exporting: "exporting", drafting: "loading", surveying: "counting", watching: "watching",
}

// job is the running work for a purpose, if any.
type job struct {
	id     int
	cancel context.CancelFunc // nil: nothing runs
	since  int64
}

// finished is a job's end. A job that was cancelled or replaced ends unheard.
type finished struct {
	purpose purpose
	id      int
	result  tea.Msg
	err     error
}

// start runs work off the screen's loop and brings its result as a message.
func (m *Model) start(p purpose, work func(context.Context) (tea.Msg, error)) tea.Cmd {
	m.cancel(p)
	ctx, cancel := context.WithCancel(context.Background())
	j := &m.jobs[p]
	j.id++
	j.cancel = cancel
	j.since = m.now
	id := j.id
	run := func() tea.Msg {
		result, err := work(ctx)
		return finished{p, id, result, err}
	}
	return tea.Batch(run, m.spin())
}

func (m *Model) running(p purpose) bool { return m.jobs[p].cancel != nil }

func (m *Model) cancel(p purpose) {
	if m.running(p) {
		m.jobs[p].cancel()
		m.jobs[p].cancel = nil
	}
}

// cancelAll ends all jobs but the change that is being made, whose undo must not
// be lost.
func (m *Model) cancelAll() {
	for p := range purposes {
		if p != writing {
			m.cancel(p)
		}
	}
}

// busy is the purpose that has run for longest.
func (m *Model) busy() (purpose, bool) {
	found, any := counting, false
	for p := range purposes {
		if m.running(p) && p != watching && (!any || m.jobs[p].since < m.jobs[found].since) {
			found, any = p, true
		}
	}
	return found, any
}

// finish hands a job's result on.
func (m *Model) finish(f finished) tea.Cmd {
	if !m.running(f.purpose) || m.jobs[f.purpose].id != f.id {
		return nil
	}
	m.cancel(f.purpose)
	if f.err != nil {
		if !errors.Is(f.err, context.Canceled) {
			m.fail(f.err)
		}
		m.halt(f.purpose)
		return nil
	}
	return m.receive(f.result)
}

// halt keeps a purpose whose job failed or was cancelled from starting again by
// itself.
func (m *Model) halt(p purpose) {
	switch p {
	case listing, sorting, scanning, describing, tallying:
		m.keys.halted = true
	case opening, paging:
		m.value.halted = true
	}
}

const (
	frame      = 100 * time.Millisecond
	second     = time.Second
	settleTime = 80 * time.Millisecond
)

// spinMsg turns the spinner while jobs run.
type spinMsg struct{}

func (m *Model) spin() tea.Cmd {
	if m.spinning {
		return nil
	}
	m.spinning = true
	return m.after(frame, spinMsg{})
}

func (m *Model) spun() tea.Cmd {
	m.spinning = false
	if _, any := m.busy(); !any {
		m.frame = 0
		return nil
	}
	m.frame++
	return m.spin()
}

// later is tea.Tick with a ready message; tests have a clock of their own.
func later(d time.Duration, msg tea.Msg) tea.Cmd {
	return tea.Tick(d, func(time.Time) tea.Msg { return msg })
}
