package inspect

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/meowdis/meowdis/resp"
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
	sizing                     // the bytes of a folder
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
	tallying: "counting", sizing: "adding up", opening: "opening", paging: "loading", decoding: "decoding",
	searching: "searching", informing: "looking", overviewing: "looking", answering: "running", weighing: "counting",
	writing: "writing", unlocking: "unlocking", exporting: "exporting", drafting: "loading", surveying: "counting",
	watching: "watching",
}

// job is the running work for a purpose, if any.
type job struct {
	id      int
	cancel  context.CancelFunc // nil: nothing runs
	since   int64
	ended   int64 // when the one before ended
	cost    *cost
	outcome chan finished // gets its end, too
}

// cost is what a job has cost so far, and how far it is.
type cost struct{ commands, bytes, done, of atomic.Int64 }

type costKey struct{}

// costOf is the cost of the job that ctx belongs to; one that nobody looks at
// where there is none.
func costOf(ctx context.Context) *cost {
	if c, ok := ctx.Value(costKey{}).(*cost); ok {
		return c
	}
	return &cost{}
}

// far says how far a job is; of is not positive where that cannot be told.
func (c *cost) far(done, of int64) {
	c.done.Store(done)
	c.of.Store(of)
}

// size is about how many bytes a reply is.
func size(v resp.Value) int64 {
	n := int64(len(v.Str)) + 4
	for _, e := range v.Elems {
		n += size(e)
	}
	return n
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
	j := &m.jobs[p]
	if j.cost == nil || j.ended != m.now { // else it goes on with what it began
		j.cost, j.since = &cost{}, m.now
	}
	ctx, cancel := context.WithCancel(context.WithValue(context.Background(), costKey{}, j.cost))
	j.id++
	j.cancel, j.outcome = cancel, make(chan finished, 1)
	id, outcome := j.id, j.outcome
	run := func() tea.Msg {
		result, err := work(ctx)
		f := finished{p, id, result, err}
		outcome <- f
		return f
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

// fillsIn reports whether nothing runs that a person waits for: only what completes
// the rows on the screen.
func (m *Model) fillsIn() bool {
	for p := range purposes {
		switch p {
		case counting, describing, tallying, sizing, opening, paging, decoding, watching:
		default:
			if m.running(p) {
				return false
			}
		}
	}
	return true
}

// spent is how far the job for p is, and what all that runs has cost so far.
func (m *Model) spent(p purpose) (parts []string) {
	if c := m.jobs[p].cost; c.of.Load() > 0 {
		parts = append(parts, decimal(min(100*c.done.Load()/c.of.Load(), 100))+"%")
	}
	var commands, bytes int64
	for p := range purposes {
		if m.running(p) {
			commands += m.jobs[p].cost.commands.Load()
			bytes += m.jobs[p].cost.bytes.Load()
		}
	}
	if commands > 0 {
		parts = append(parts, counted(commands, "command", "commands"))
	}
	if bytes > 0 {
		parts = append(parts, bytesize(bytes))
	}
	return parts
}

// finish hands a job's result on.
func (m *Model) finish(f finished) tea.Cmd {
	if !m.running(f.purpose) || m.jobs[f.purpose].id != f.id {
		return nil
	}
	m.cancel(f.purpose)
	m.jobs[f.purpose].ended = m.now
	if f.err != nil {
		m.forgetAhead()
		if !errors.Is(f.err, context.Canceled) {
			m.fail(f.err)
		}
		m.halt(f.purpose)
		if f.purpose == writing {
			return m.leaves(true)
		}
		return nil
	}
	before := m.overlay
	cmd := m.receive(f.result)
	if m.overlay != before {
		m.ahead = nil // it was typed to something else
	}
	if f.purpose == writing {
		return tea.Batch(cmd, m.leaves(m.failure != ""))
	}
	return cmd
}

// halt keeps a purpose whose job failed or was cancelled from starting again by
// itself.
func (m *Model) halt(p purpose) {
	switch p {
	case listing, sorting, scanning, describing, tallying, sizing:
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
