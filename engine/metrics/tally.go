package metrics

import (
	"bytes"
	"cmp"
	"maps"
	"math"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/meowdis/meowdis/redis/commands"
	"github.com/meowdis/meowdis/redis/resp"
)

// Tally holds a server's counters. It is safe for concurrent use.
type Tally struct {
	Slow    SlowLog
	Latency Latency

	commands     []counter // by command ID
	hits, misses atomic.Uint64
	written      atomic.Uint64 // changes, which Reset leaves alone
	errors       errorCounts
	untracked    atomic.Bool  // histograms are off
	alert        atomic.Int64 // ns from which a call may concern the slow log or LATENCY
	parent       *Tally       // see AddTo
}

// counter counts one command. It fills a cache line of the processor, so that two commands counted on different
// cores do not slow each other down.
type counter struct {
	calls, failed, rejected atomic.Uint64
	nanos                   atomic.Uint64
	times                   atomic.Pointer[histogram]
	_                       [24]byte
}

// New returns an empty tally, with the slow log at Redis's defaults and the latency monitor off.
func New() *Tally {
	t := &Tally{commands: make([]counter, len(commands.All()))}
	t.Latency.now = func() int64 { return time.Now().Unix() }
	t.SetSlow(10*time.Millisecond, 128)
	return t
}

// AddTo makes t count everything in whole, too, except for the slow log and LATENCY. Call it before t counts.
func (t *Tally) AddTo(whole *Tally) { t.parent = whole }

// countersOf returns the counters of a command. For Redis DEBUG has no subcommands, so they count as one.
func (t *Tally) countersOf(c *commands.Command) *counter {
	if c.Flags&commands.Admin != 0 && strings.HasPrefix(c.Name, "DEBUG ") {
		c = debugCommand
	}
	return &t.commands[c.ID()]
}

var debugCommand = commands.Lookup("DEBUG")

// Ran counts a call with its args, its time and its reply. It reports whether the call belongs into
// the slow log.
func (t *Tally) Ran(c *commands.Command, args [][]byte, took time.Duration, v *resp.Value) (slow bool) {
	t.add(c, 1, took)
	if v.IsError() || c.Group == "scripting" && v.HasError() {
		t.fail(c)
	}
	if v.IsError() {
		t.count(v)
	} else {
		hits, misses := countLookups(c, len(args), v)
		t.addLookups(hits, misses)
		t.changes(changed(c, args, v))
	}
	return int64(took) >= t.alert.Load() && t.recordSlow(c, took)
}

func (t *Tally) fail(c *commands.Command) {
	for ; t != nil; t = t.parent {
		t.countersOf(c).failed.Add(1)
	}
}

// count counts an error reply.
func (t *Tally) count(v *resp.Value) {
	for ; t != nil; t = t.parent {
		t.errors.add(v)
	}
}

// add counts calls that each took the same time.
func (t *Tally) add(c *commands.Command, calls uint64, took time.Duration) {
	if t.parent != nil {
		t.parent.add(c, calls, took)
	}
	n := t.countersOf(c)
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
	if times != nil { // Reset may have run in between
		times.add(took, calls)
	}
}

// Sum adds up similar calls of a pipeline, which are then counted at once. The zero Sum is empty.
type Sum struct {
	command             *commands.Command
	took                time.Duration
	calls, hits, misses uint64
	changes             uint64
}

// Sum counts a call as Ran does, but keeps it in s until the next different call or Flush. It returns false,
// and does nothing, for a call that failed or took long: the caller uses Ran.
func (t *Tally) Sum(s *Sum, c *commands.Command, args [][]byte, took time.Duration, v *resp.Value) bool {
	if v.IsError() || int64(took) >= t.alert.Load() {
		return false
	}
	if s.command != c || s.took != took {
		t.Flush(s)
		s.command, s.took = c, took
	}
	hits, misses := countLookups(c, len(args), v)
	s.calls, s.hits, s.misses = s.calls+1, s.hits+hits, s.misses+misses
	s.changes += changed(c, args, v)
	return true
}

// Flush counts the calls in s, and empties it.
func (t *Tally) Flush(s *Sum) {
	if s.calls > 0 {
		t.add(s.command, s.calls, s.took)
		t.addLookups(s.hits, s.misses)
		t.changes(s.changes)
	}
	*s = Sum{}
}

// Passed uncounts an error that a script passed on: it was already counted for the command of the script.
func (t *Tally) Passed(v *resp.Value) {
	for ; t != nil; t = t.parent {
		t.errors.uncount(v)
	}
}

// Rejected counts a call that did not run. c is nil for an unknown command.
func (t *Tally) Rejected(c *commands.Command, v *resp.Value) {
	if t.parent != nil {
		t.parent.Rejected(c, v)
	}
	if c != nil {
		t.countersOf(c).rejected.Add(1)
	}
	t.errors.add(v)
}

// recordSlow handles a call that reaches the threshold of the slow log or of the latency monitor.
func (t *Tally) recordSlow(c *commands.Command, took time.Duration) (slow bool) {
	event := "command"
	if c.Flags&commands.Fast != 0 {
		event = "fast-command"
	}
	t.Latency.Add(event, took)
	return c.Flags&commands.SkipSlowlog == 0 && t.Slow.wants(took)
}

// SetSlow sets the time from which the slow log keeps a command, below 0 for never, and the number of entries.
func (t *Tally) SetSlow(from time.Duration, most int64) {
	t.Slow.set(from, most)
	t.setAlert()
}

// SetLatency sets the threshold of the latency monitor; 0 turns it off.
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

// Track turns the histograms of the commands on or off.
func (t *Tally) Track(on bool) { t.untracked.Store(!on) }

// Reset sets all counters to 0. It keeps the slow log and LATENCY.
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

// Stat holds the counters of one command.
type Stat struct {
	Command                 *commands.Command
	Calls, Failed, Rejected uint64
	Took                    time.Duration
	times                   *histogram
}

// Stats returns the counters of all commands that were called, in the order of the command table.
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

// Calls returns the number of commands that have run.
func (t *Tally) Calls() (n uint64) {
	for i := range t.commands {
		n += t.commands[i].calls.Load()
	}
	return n
}

// Took returns the total time of all commands.
func (t *Tally) Took() (d time.Duration) {
	for i := range t.commands {
		d += time.Duration(t.commands[i].nanos.Load())
	}
	return d
}

// errorCounts counts error replies by their first word.
type errorCounts struct {
	mu    sync.Mutex
	kinds map[string]uint64
	total uint64
}

// maxErrorKinds limits the number of distinct first words, so that arbitrary error replies, such as those of
// scripts, do not fill the memory. Redis stops counting, too.
const maxErrorKinds = 128

// errorKind returns the first word of an error reply. As in Redis it is ERR if it ends after 32 bytes, or the text has
// no other word.
func errorKind(v *resp.Value) []byte {
	if end := bytes.IndexByte(v.Str[:min(len(v.Str), 32)], ' '); end >= 0 {
		return v.Str[:end]
	}
	return []byte("ERR")
}

func (e *errorCounts) add(v *resp.Value) {
	kind := errorKind(v)
	e.mu.Lock()
	defer e.mu.Unlock()
	e.total++
	if _, known := e.kinds[string(kind)]; !known && len(e.kinds) >= maxErrorKinds {
		return
	}
	if e.kinds == nil {
		e.kinds = map[string]uint64{}
	}
	e.kinds[string(kind)]++
}

func (e *errorCounts) uncount(v *resp.Value) {
	kind := errorKind(v)
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

// ErrorCount is the number of error replies that began with a word.
type ErrorCount struct {
	Kind  string
	Count uint64
}

// Errors returns the kinds of error replies, sorted by name, and the total number of error replies.
func (t *Tally) Errors() (kinds []ErrorCount, total uint64) {
	t.errors.mu.Lock()
	defer t.errors.mu.Unlock()
	for _, kind := range slices.SortedFunc(maps.Keys(t.errors.kinds), cmp.Compare[string]) {
		kinds = append(kinds, ErrorCount{kind, t.errors.kinds[kind]})
	}
	return kinds, t.errors.total
}
