package job

import (
	"context"
	"strconv"
	"sync/atomic"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/meowdis/meowdis/display"
)

// Purpose is what a job is for. There is at most one job for each: starting
// another cancels the one before.
type Purpose int

const (
	Counting    Purpose = iota // the database's number of keys
	Listing                    // rows of the list
	Sorting                    // some more keys, for an order that no index has
	Scanning                   // the next page of a scan's keys
	Describing                 // type, TTL and size of the keys on the screen
	Tallying                   // the number of keys in a folder
	Sizing                     // the bytes of a folder
	Opening                    // a value's facts and beginning
	Paging                     // another chunk of the open value
	Decoding                   // a long string as a whole
	Searching                  // a text in the open value
	Sifting                    // the elements of the open value that hold a text, or their order
	Informing                  // all about a key
	Overviewing                // a part of the overview
	Answering                  // a command that was typed
	Weighing                   // how many keys would go
	Writing                    // a change
	Unlocking                  // a client that writes
	Marking                    // names that are marked
	Exporting                  // keys to a file
	Drafting                   // a value for the editor
	CountingDBs                // the number of keys of every database
	Comparing                  // two keys
	Serving                    // what a server does
	Completing                 // what can complete a command
	Recalling                  // keys that are remembered
	Watching                   // whether anybody changed the data
	Purposes
)

var purposeNames = [Purposes]string{
	Counting: "counting", Listing: "reading keys", Sorting: "sorting", Scanning: "scanning", Describing: "describing",
	Tallying: "counting", Sizing: "adding up", Opening: "opening", Paging: "loading", Decoding: "decoding",
	Searching: "searching", Sifting: "looking", Informing: "looking", Overviewing: "looking", Answering: "running", Weighing: "counting",
	Writing: "writing", Unlocking: "unlocking", Marking: "marking", Exporting: "exporting", Drafting: "loading", CountingDBs: "counting",
	Comparing: "comparing", Serving: "looking", Completing: "looking", Recalling: "looking", Watching: "watching",
}

// String is what the screen says of a job for p.
func (p Purpose) String() string { return purposeNames[p] }

// job is the running work for a purpose, if any.
type job struct {
	id      int
	cancel  context.CancelFunc // nil: nothing runs
	started int64
	ended   int64 // when the one before ended
	cost    *Cost
	outcome chan Finished // gets its end, too
}

// Cost is what a job has cost so far, and how far it is.
type Cost struct{ Commands, Bytes, done, total atomic.Int64 }

type costKey struct{}

// CostOf is the cost of the job that ctx belongs to; one that nobody looks at
// where there is none.
func CostOf(ctx context.Context) *Cost {
	if c, ok := ctx.Value(costKey{}).(*Cost); ok {
		return c
	}
	return &Cost{}
}

// Progress says how far a job is; of is not positive where that cannot be told.
func (c *Cost) Progress(done, of int64) {
	c.done.Store(done)
	c.total.Store(of)
}

// Finished is a job's end. A job that was cancelled or replaced ends unheard.
type Finished struct {
	Purpose Purpose
	id      int
	Result  tea.Msg
	Err     error
}

// Jobs is the work of all rooms, and the spinner that turns while there is any. It
// belongs to the screen's loop.
type Jobs struct {
	Now   int64                                      // Unix ms, as of the last message
	After func(d time.Duration, msg tea.Msg) tea.Cmd // brings a message later
	Mark  func(tea.Msg) tea.Msg                      // says whose the end of a job is; nil: there is one only

	all      [Purposes]job
	Frame    int // of the spinner
	spinning bool
}

// Start runs work off the screen's loop and brings its result as a message. The work
// uses what it is handed, and nothing that the screen's loop changes meanwhile.
func (js *Jobs) Start(p Purpose, work func(context.Context) (tea.Msg, error)) tea.Cmd {
	js.Cancel(p)
	j := &js.all[p]
	if j.cost == nil || j.ended != js.Now { // else it goes on with what it began
		j.cost, j.started = &Cost{}, js.Now
	}
	ctx, cancel := context.WithCancel(context.WithValue(context.Background(), costKey{}, j.cost))
	j.id++
	j.cancel, j.outcome = cancel, make(chan Finished, 1)
	id, outcome, mark := j.id, j.outcome, js.Mark
	run := func() tea.Msg {
		result, err := work(ctx)
		f := Finished{p, id, result, err}
		outcome <- f
		if mark != nil {
			return mark(f)
		}
		return f
	}
	return tea.Batch(run, js.spin())
}

// Running reports whether there is a job for p.
func (js *Jobs) Running(p Purpose) bool { return js.all[p].cancel != nil }

// Cancel ends the job for p unheard, if there is one.
func (js *Jobs) Cancel(p Purpose) {
	if js.Running(p) {
		js.all[p].cancel()
		js.all[p].cancel = nil
	}
}

// CancelAll ends all jobs but the change that is being made, whose undo must not
// be lost.
func (js *Jobs) CancelAll() {
	for p := range Purposes {
		if p != Writing {
			js.Cancel(p)
		}
	}
}

// Longest is the purpose that has run for longest.
func (js *Jobs) Longest() (Purpose, bool) {
	found, any := Counting, false
	for p := range Purposes {
		if js.Running(p) && p != Watching && (!any || js.all[p].started < js.all[found].started) {
			found, any = p, true
		}
	}
	return found, any
}

// OnlyFillsIn reports whether nothing runs that a person waits for: only what completes
// the rows on the screen.
func (js *Jobs) OnlyFillsIn() bool {
	for p := range Purposes {
		switch p {
		case Counting, Describing, Tallying, Sizing, Opening, Paging, Decoding, Watching:
		default:
			if js.Running(p) {
				return false
			}
		}
	}
	return true
}

// Spent is how far the job for p is, and what all that runs has cost so far.
func (js *Jobs) Spent(p Purpose) (parts []string) {
	if c := js.all[p].cost; c.total.Load() > 0 {
		parts = append(parts, strconv.FormatInt(min(100*c.done.Load()/c.total.Load(), 100), 10)+"%")
	}
	var commands, bytes int64
	for p := range Purposes {
		if js.Running(p) {
			commands += js.all[p].cost.Commands.Load()
			bytes += js.all[p].cost.Bytes.Load()
		}
	}
	if commands > 0 {
		parts = append(parts, display.Counted(commands, "command", "commands"))
	}
	if bytes > 0 {
		parts = append(parts, display.Bytes(bytes))
	}
	return parts
}

// Takes reports whether f is the end of the job that runs for its purpose, which is
// then over.
func (js *Jobs) Takes(f Finished) bool {
	if !js.Running(f.Purpose) || js.all[f.Purpose].id != f.id {
		return false
	}
	js.Cancel(f.Purpose)
	js.all[f.Purpose].ended = js.Now
	return true
}

// Interrupt asks the job for p to end, and lets it say what it did.
func (js *Jobs) Interrupt(p Purpose) {
	if js.Running(p) {
		js.all[p].cancel()
	}
}

// Conclude stops the job for p and returns its end, if that comes soon enough.
func (js *Jobs) Conclude(p Purpose, most time.Duration) (f Finished, ended bool) {
	js.Interrupt(p)
	select {
	case f := <-js.all[p].outcome:
		return f, true
	case <-time.After(most):
		return f, false
	}
}

// Took is for how long the job for p has run, in ms.
func (js *Jobs) Took(p Purpose) int64 { return js.Now - js.all[p].started }

const (
	FrameTime = 100 * time.Millisecond
)

// SpinMsg turns the spinner while jobs run.
type SpinMsg struct{}

func (js *Jobs) spin() tea.Cmd {
	if js.spinning {
		return nil
	}
	js.spinning = true
	return js.After(FrameTime, SpinMsg{})
}

// Spun turns the spinner on while there are jobs.
func (js *Jobs) Spun() tea.Cmd {
	js.spinning = false
	if _, any := js.Longest(); !any {
		js.Frame = 0
		return nil
	}
	js.Frame++
	return js.spin()
}

// Later is tea.Tick with a ready message; tests have a clock of their own.
func Later(d time.Duration, msg tea.Msg) tea.Cmd {
	return tea.Tick(d, func(time.Time) tea.Msg { return msg })
}
