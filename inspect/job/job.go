package job

import (
	"context"
	"strconv"
	"sync/atomic"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/meowdis/meowdis/keyspace/display"
)

// Purpose is the kind of work a job does. Starting a job cancels the running job with the
// same purpose.
type Purpose int

const (
	Counting         Purpose = iota // the number of keys in the database
	Listing                         // rows of the list
	Sorting                         // more keys, for an order without an index
	Scanning                        // the next page of SCAN
	Describing                      // type, TTL and size of the visible keys
	CountingFolder                  // the number of keys in a folder
	MeasuringFolder                 // the bytes of a folder
	Opening                         // the metadata and first elements of a value
	Paging                          // another chunk of the open value
	Decoding                        // a long string as a whole
	Searching                       // a text in the open value
	Filtering                       // the elements of the open value that contain a text, or their order
	LoadingInfo                     // the details of a key
	Summarizing                     // a part of the overview
	RunningCommand                  // a typed command
	CountingAffected                // the keys that a change affects
	Writing                         // a change
	Unlocking                       // a client that can write
	Marking                         // names to mark
	Exporting                       // keys to a file
	Drafting                        // a value for the editor
	CountingDBs                     // the keys of every database
	CountingTypes                   // the keys of every type
	ReadingIndexes                  // the search indexes
	Comparing                       // two keys
	QueryingServer                  // the views of a server
	Completing                      // candidates for a command
	LoadingRecents                  // recent keys and bookmarks
	Watching                        // writes of other clients
	Purposes
)

var purposeNames = [Purposes]string{
	Counting: "counting", Listing: "reading keys", Sorting: "sorting", Scanning: "scanning", Describing: "describing",
	CountingFolder: "counting", MeasuringFolder: "calculating sizes", Opening: "opening", Paging: "loading", Decoding: "decoding",
	Searching: "searching", Filtering: "filtering", LoadingInfo: "loading", Summarizing: "calculating", RunningCommand: "running", CountingAffected: "counting",
	Writing: "writing", Unlocking: "unlocking", Marking: "marking", Exporting: "exporting", Drafting: "loading", CountingDBs: "counting", CountingTypes: "counting", ReadingIndexes: "reading indexes",
	Comparing: "comparing", QueryingServer: "loading", Completing: "completing", LoadingRecents: "loading", Watching: "watching",
}

// String returns the text that the screen shows for a job.
func (p Purpose) String() string { return purposeNames[p] }

// job holds the running work for a purpose, if any.
type job struct {
	id      int
	cancel  context.CancelFunc // nil: nothing runs
	started int64
	ended   int64 // when the previous job ended
	cost    *Cost
	outcome chan Finished // also receives the job's result
}

// Cost is the cost of a job so far, and its progress.
type Cost struct{ Commands, Bytes, done, total atomic.Int64 }

type costKey struct{}

// CostOf returns ctx's job cost, or a discarded one.
func CostOf(ctx context.Context) *Cost {
	if c, ok := ctx.Value(costKey{}).(*Cost); ok {
		return c
	}
	return &Cost{}
}

// Progress sets a job's progress; of is 0 or less if the total is unknown.
func (c *Cost) Progress(done, of int64) {
	c.done.Store(done)
	c.total.Store(of)
}

// Finished holds the result of a job. The results of cancelled and replaced jobs are ignored.
type Finished struct {
	Purpose Purpose
	id      int
	Result  tea.Msg
	Err     error
}

// Jobs is the running jobs of all panes, and their spinner. It must be used only by the
// screen's loop.
type Jobs struct {
	Now   int64                                      // Unix ms, as of the last message
	After func(d time.Duration, msg tea.Msg) tea.Cmd // delivers a message after d
	Mark  func(tea.Msg) tea.Msg                      // wraps a job's result for the model that started it; nil: there is only one model

	all      [Purposes]job
	Frame    int // of the spinner
	spinning bool
}

// Start runs work off the screen's loop and delivers its result as a message. work must
// use only its own copies, and nothing that the screen's loop may change.
func (js *Jobs) Start(p Purpose, work func(context.Context) (tea.Msg, error)) tea.Cmd {
	js.Cancel(p)
	j := &js.all[p]
	if j.cost == nil || j.ended != js.Now { // else it continues the work of the previous job
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

// Cancel cancels the job for p, if any, and drops its result.
func (js *Jobs) Cancel(p Purpose) {
	if js.Running(p) {
		js.all[p].cancel()
		js.all[p].cancel = nil
	}
}

// CancelAll cancels all jobs except a change, whose undo must not be lost.
func (js *Jobs) CancelAll() {
	for p := range Purposes {
		if p != Writing {
			js.Cancel(p)
		}
	}
}

// Longest returns the purpose of the longest running job.
func (js *Jobs) Longest() (Purpose, bool) {
	found, any := Counting, false
	for p := range Purposes {
		if js.Running(p) && p != Watching && (!any || js.all[p].started < js.all[found].started) {
			found, any = p, true
		}
	}
	return found, any
}

// OnlyNumbers reports whether no job runs that the person waits for, but only jobs that
// complete the visible rows.
func (js *Jobs) OnlyNumbers() bool {
	for p := range Purposes {
		switch p {
		case Counting, Describing, CountingFolder, MeasuringFolder, Opening, Paging, Decoding, Watching:
		default:
			if js.Running(p) {
				return false
			}
		}
	}
	return true
}

// Costs returns the progress of the job for p and the cost of all running jobs, as text.
func (js *Jobs) Costs(p Purpose) (parts []string) {
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

// IsCurrent reports whether f is the result of the current job for its purpose, and ends that
// job.
func (js *Jobs) IsCurrent(f Finished) bool {
	if !js.Running(f.Purpose) || js.all[f.Purpose].id != f.id {
		return false
	}
	js.Cancel(f.Purpose)
	js.all[f.Purpose].ended = js.Now
	return true
}

// Interrupt cancels the job for p, but still accepts its result.
func (js *Jobs) Interrupt(p Purpose) {
	if js.Running(p) {
		js.all[p].cancel()
	}
}

// Conclude cancels the job for p, and returns its result if it comes within most.
func (js *Jobs) Conclude(p Purpose, most time.Duration) (f Finished, ended bool) {
	js.Interrupt(p)
	select {
	case f := <-js.all[p].outcome:
		return f, true
	case <-time.After(most):
		return f, false
	}
}

// Elapsed returns how long the job for p has run, in ms.
func (js *Jobs) Elapsed(p Purpose) int64 { return js.Now - js.all[p].started }

const (
	FrameTime = 100 * time.Millisecond
)

// SpinMsg advances the spinner while jobs run.
type SpinMsg struct{}

func (js *Jobs) spin() tea.Cmd {
	if js.spinning {
		return nil
	}
	js.spinning = true
	return js.After(FrameTime, SpinMsg{})
}

// Spin advances the spinner, or stops it if no job runs.
func (js *Jobs) Spin() tea.Cmd {
	js.spinning = false
	if _, any := js.Longest(); !any {
		js.Frame = 0
		return nil
	}
	js.Frame++
	return js.spin()
}

// Later is tea.Tick with a fixed message; tests use their own clock.
func Later(d time.Duration, msg tea.Msg) tea.Cmd {
	return tea.Tick(d, func(time.Time) tea.Msg { return msg })
}
