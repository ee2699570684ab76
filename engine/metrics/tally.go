package metrics

import (
	"bytes"
	"cmp"
	"maps"
	"math"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/meowdis/meowdis/redis/commands"
	"github.com/meowdis/meowdis/redis/resp"
)

// Tally is what a server has counted. It is safe for concurrent use.
type Tally struct {
	Slow    SlowLog
	Latency Latency

	commands     []counter // by their ID
	hits, misses atomic.Uint64
	errors       errorCounts
	untracked    atomic.Bool  // no histograms are kept
	alert        atomic.Int64 // what takes as many ns is looked at by the slow log and LATENCY
	whole        *Tally       // AddTo's
}

// counter is of one command. It fills a line of the processor's cache, so that two that are counted
// on different cores do not slow each other down.
type counter struct {
	calls, failed, rejected atomic.Uint64
	nanos                   atomic.Uint64
	times                   atomic.Pointer[histogram]
	_                       [24]byte
}

// New makes a tally with nothing counted, a slow log as Redis's by default, and no latency monitor.
func New() *Tally {
	t := &Tally{commands: make([]counter, len(commands.All()))}
	t.Latency.now = func() int64 { return time.Now().Unix() }
	t.SetSlow(10*time.Millisecond, 128)
	return t
}

// AddTo has what t counts counted in whole, too, but for the slow log and LATENCY. It is for the time
// before t counts.
func (t *Tally) AddTo(whole *Tally) { t.whole = whole }

// Ran counts a call of so many words that took so long and got a reply. It reports whether the slow
// log is to have it.
func (t *Tally) Ran(c *commands.Command, words int, took time.Duration, v *resp.Value) (slow bool) {
	t.add(c, 1, took)
	if v.IsError() || c.Group == "scripting" && v.HasError() {
		t.fail(c)
	}
	if v.IsError() {
		t.count(v)
	} else {
		hits, misses := looked(c, words, v)
		t.looks(hits, misses)
	}
	return int64(took) >= t.alert.Load() && t.long(c, took)
}

func (t *Tally) fail(c *commands.Command) {
	for ; t != nil; t = t.whole {
		t.commands[c.ID()].failed.Add(1)
	}
}

// count counts an error reply.
func (t *Tally) count(v *resp.Value) {
	for ; t != nil; t = t.whole {
		t.errors.add(v)
	}
}

// add counts calls that took the same time.
func (t *Tally) add(c *commands.Command, calls uint64, took time.Duration) {
	if t.whole != nil {
		t.whole.add(c, calls, took)
	}
	n := &t.commands[c.ID()]
	n.calls.Add(calls)
	n.nanos.Add(calls * uint64(took))
	if t.untracked.Load() {
		return
	}
	times := n.times.Load()
	if times == nil {
		n.times.CompareAndSwap(nil, new(histogram))
		times = n.times.Load()
	}
	if times != nil { // Reset may have come in between
		times.add(took, calls)
	}
}

// Sum adds calls of a pipeline up that are alike, so that they are counted at once. The zero Sum is
// empty.
type Sum struct {
	command             *commands.Command
	took                time.Duration
	calls, hits, misses uint64
}

// Sum counts a call as Ran does, in s until the next one that is different or Flush. It reports false,
// and does nothing, for one that is more than counted: which failed, or took long.
func (t *Tally) Sum(s *Sum, c *commands.Command, words int, took time.Duration, v *resp.Value) bool {
	if v.IsError() || int64(took) >= t.alert.Load() {
		return false
	}
	if s.command != c || s.took != took {
		t.Flush(s)
		s.command, s.took = c, took
	}
	hits, misses := looked(c, words, v)
	s.calls, s.hits, s.misses = s.calls+1, s.hits+hits, s.misses+misses
	return true
}

// Flush counts what s has added up, and empties it.
func (t *Tally) Flush(s *Sum) {
	if s.calls > 0 {
		t.add(s.command, s.calls, s.took)
		t.looks(s.hits, s.misses)
	}
	*s = Sum{}
}

// Passed takes back the count of an error that a script passed on: it was counted when the command of
// the script failed.
func (t *Tally) Passed(v *resp.Value) {
	for ; t != nil; t = t.whole {
		t.errors.take(v)
	}
}

// Rejected counts a call that did not run. A nil command is an unknown one.
func (t *Tally) Rejected(c *commands.Command, v *resp.Value) {
	if t.whole != nil {
		t.whole.Rejected(c, v)
	}
	if c != nil {
		t.commands[c.ID()].rejected.Add(1)
	}
	t.errors.add(v)
}

// long is for what takes as long as the slow log or the latency monitor asks for.
func (t *Tally) long(c *commands.Command, took time.Duration) (slow bool) {
	event := "command"
	if c.Flags&commands.Fast != 0 {
		event = "fast-command"
	}
	t.Latency.Add(event, took)
	return c.Flags&commands.SkipSlowlog == 0 && t.Slow.wants(took)
}

// SetSlow changes from where on a command is slow, never for less than 0, and how many the log
// keeps.
func (t *Tally) SetSlow(from time.Duration, most int64) {
	t.Slow.set(from, most)
	t.setAlert()
}

// SetLatency changes what the latency monitor takes a sample of; 0 is of nothing.
func (t *Tally) SetLatency(from time.Duration) {
	t.Latency.threshold.Store(int64(from))
	t.setAlert()
}

func (t *Tally) setAlert() {
	alert := int64(math.MaxInt64)
	if slow := t.Slow.from.Load(); slow >= 0 {
		alert = slow
	}
	if from := t.Latency.threshold.Load(); from > 0 {
		alert = min(alert, from)
	}
	t.alert.Store(alert)
}

// Track says whether the times of each command are kept from now on.
func (t *Tally) Track(on bool) { t.untracked.Store(!on) }

// Reset begins to count anew; the slow log and LATENCY stay.
func (t *Tally) Reset() {
	for i := range t.commands {
		c := &t.commands[i]
		c.calls.Store(0)
		c.failed.Store(0)
		c.rejected.Store(0)
		c.nanos.Store(0)
		c.times.Store(nil)
	}
	t.hits.Store(0)
	t.misses.Store(0)
	t.errors.reset()
}

// Stat is what was counted of a command.
type Stat struct {
	Command                 *commands.Command
	Calls, Failed, Rejected uint64
	Took                    time.Duration
	times                   *histogram
}

// Stats are those of the commands that came at all, in the order of the table.
func (t *Tally) Stats() []Stat {
	var all []Stat
	for i, c := range commands.All() {
		n := &t.commands[i]
		s := Stat{c, n.calls.Load(), n.failed.Load(), n.rejected.Load(), time.Duration(n.nanos.Load()), n.times.Load()}
		if s.Calls+s.Rejected > 0 {
			all = append(all, s)
		}
	}
	return all
}

// Calls is how many commands have run.
func (t *Tally) Calls() (n uint64) {
	for i := range t.commands {
		n += t.commands[i].calls.Load()
	}
	return n
}

// Took is how long commands have taken, all together.
func (t *Tally) Took() (d time.Duration) {
	for i := range t.commands {
		d += time.Duration(t.commands[i].nanos.Load())
	}
	return d
}

// errorCounts are errors by the first word of their replies.
type errorCounts struct {
	mu    sync.Mutex
	kinds map[string]uint64
	total uint64
}

// maxErrorKinds is how many first words there may be, so that replies with anything in them, such
// as those of scripts, do not fill the memory. Redis stops counting, too.
const maxErrorKinds = 128

func (e *errorCounts) add(v *resp.Value) {
	kind, _, _ := bytes.Cut(v.Str, []byte(" "))
	e.mu.Lock()
	defer e.mu.Unlock()
	e.total++
	if _, known := e.kinds[string(kind)]; !known && len(e.kinds) >= maxErrorKinds || len(kind) > 64 {
		return
	}
	if e.kinds == nil {
		e.kinds = map[string]uint64{}
	}
	e.kinds[string(kind)]++
}

func (e *errorCounts) take(v *resp.Value) {
	kind, _, _ := bytes.Cut(v.Str, []byte(" "))
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.kinds[string(kind)] > 0 {
		e.kinds[string(kind)]--
		e.total--
	}
}

func (e *errorCounts) reset() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.kinds, e.total = nil, 0
}

// ErrorCount is how often replies began with the word.
type ErrorCount struct {
	Kind  string
	Count uint64
}

// Errors are the kinds of error replies by name, and how many there were in all.
func (t *Tally) Errors() (kinds []ErrorCount, total uint64) {
	t.errors.mu.Lock()
	defer t.errors.mu.Unlock()
	for _, kind := range slices.SortedFunc(maps.Keys(t.errors.kinds), cmp.Compare[string]) {
		kinds = append(kinds, ErrorCount{kind, t.errors.kinds[kind]})
	}
	return kinds, t.errors.total
}
