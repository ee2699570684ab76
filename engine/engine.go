package engine

import (
	"context"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"github.com/meowdis/meowdis/engine/metrics"
	"github.com/meowdis/meowdis/engine/pubsub"
	"github.com/meowdis/meowdis/store"
	"github.com/meowdis/meowdis/translator"
)

// Store executes batches of SQL.
type Store interface {
	// Apply runs the batches in order, each one atomic and independent, and returns one result per batch. An
	// error means that the infrastructure failed: it is then unknown which batches took effect.
	Apply(ctx context.Context, batches []store.Batch) ([]store.Result, error)
}

// Run runs one batch inside a transaction. If the batch is refused, only that batch is undone. Run is an alias,
// so that a store implements transactor without importing engine.
type Run = func(store.Batch) (store.Result, error)

// transactor is a store that can hold a transaction open between batches. Every other store gets
// compare-and-set (replay.go).
type transactor interface {
	// Transact runs fn in one transaction, which commits unless fn returns an error. Transact may call fn more
	// than once. If Run returns an error, fn must return it at once.
	Transact(ctx context.Context, readOnly bool, fn func(Run) error) error
}

// limiter is a store that can fail a call after a time limit, with store.TooLong.
type limiter interface{ SetTimeLimit(time.Duration) }

// reader describes a store that may refuse writes at times. ReadOnly returns the reason, or "" for a writable store.
type reader interface{ ReadOnly() string }

// Engine runs Redis commands over a store. It is safe for concurrent use.
type Engine struct {
	settings
	host
	staging
	pauses

	store Store

	tally *metrics.Tally // nil if metrics are off

	hub       *pubsub.Hub
	quota     memoryQuota
	scripts   scripts
	libraries libraries

	search translator.SearchState

	feed feed

	queues queues
}

// settings are set by the server.
type settings struct {
	limits        atomic.Pointer[translator.Limits]
	facts         translator.Facts // about the server; nil without one
	readOnly      func() string    // reason that the store is read-only, or ""
	awaitReplicas AwaitReplicas    // nil without replicas
	acknowledged  func(bool) int64 // translator.Env.Server.Acknowledged
	busyAfter     atomic.Int64     // ns; see SetBusyThreshold
	timeLimit     atomic.Int64     // ns; see SetTimeLimit

	unlimitedScripts atomic.Bool
	cancelsScripts   bool // see WithCancelledScripts
	errorsOnly       bool // see WithErrorsOnly
}

// host is the outside world: clock, randomness, timers.
type host struct {
	now       func() int64
	ticks     func() int64 // ns, for durations
	seed      func() uint64
	report    func(*store.Panic)                             // see SetReport
	hook      func()                                         // see WithHook
	deadline  func(time.Duration) (late func() bool)         // nil on a host whose clock stops while code runs
	interrupt func() error                                   // see WithInterrupt
	alarm     func(time.Duration) (<-chan time.Time, func()) // see WithTimer
}

// staging are staged builds.
type staging struct {
	stageFrom int64      // see WithStaging
	slicing   sync.Mutex // held while a slice is applied
}

// pauses is CLIENT PAUSE.
type pauses struct {
	pausing  sync.Mutex
	paused   atomic.Pointer[pause] // nil without a pause
	held     atomic.Int64          // number of held sessions
	lastHeld chan struct{}         // closed once the last held client has run; guarded by pausing
}

// Option configures an Engine.
type Option func(*Engine)

// WithClock sets the clock, in Unix ms.
func WithClock(now func() int64) Option {
	return func(e *Engine) { e.now, e.ticks = now, func() int64 { return now() * int64(time.Millisecond) } }
}

// WithSeed sets the source of randomness.
func WithSeed(seed func() uint64) Option { return func(e *Engine) { e.seed = seed } }

// WithInterrupt makes each running script call f at intervals. An error from f ends the script, which leaves no
// trace. Use it on hosts whose clock stops while a program runs.
func WithInterrupt(f func() error) Option { return func(e *Engine) { e.interrupt = f } }

// WithCancelledScripts ends a script with its context even after it has written; it leaves no trace. Without the
// option such a script continues, as in Redis.
func WithCancelledScripts() Option { return func(e *Engine) { e.cancelsScripts = true } }

// WithErrorsOnly lets every reply that is not an error be wrong, for a caller that reads only errors: some statements are
// then left out. Replies inside scripts stay exact.
func WithErrorsOnly() Option { return func(e *Engine) { e.errorsOnly = true } }

// WithHook calls hook before each translation, step and decoder. Tests use it to panic there.
func WithHook(hook func()) Option { return func(e *Engine) { e.hook = hook } }

// WithDeadline sets the function that limits the loading of a library: late reports whether d has passed since.
func WithDeadline(deadline func(d time.Duration) (late func() bool)) Option {
	return func(e *Engine) { e.deadline = deadline }
}

// WithTimer sets the engine's timer: a function that returns a channel, which receives once the duration has
// passed, and a function that stops the timer.
func WithTimer(timer func(time.Duration) (<-chan time.Time, func())) Option {
	return func(e *Engine) { e.alarm = timer }
}

// monotonic returns a clock that counts from now on.
func monotonic() func() int64 {
	began := time.Now()
	return func() int64 { return int64(time.Since(began)) }
}

// New returns an engine over s. It uses the system clock unless an option changes that. While the store is
// read-only, the engine refuses commands that write.
func New(s Store, options ...Option) *Engine {
	e := &Engine{store: s, hub: pubsub.New(), host: host{now: func() int64 { return time.Now().UnixMilli() }, ticks: monotonic(), seed: rand.Uint64, alarm: after}, staging: staging{stageFrom: stagedElements}}
	e.readOnly = func() string { return "" }
	if r, ok := s.(reader); ok {
		e.readOnly = r.ReadOnly
	}
	e.SetBusyThreshold(DefaultBusyThreshold)
	for _, o := range options {
		o(e)
	}
	if e.interrupt == nil && e.deadline == nil {
		e.deadline = deadline
	}
	e.feed.init(e)
	e.search.Extend = e.applyLater
	return e
}

// applyLater applies a batch that no client waits for, unless the store is read-only. If it fails, the next one may
// succeed.
func (e *Engine) applyLater(b store.Batch) {
	if e.readOnly() != "" {
		return
	}
	go store.Guard(func(err error) { e.reported(err) }, func() { e.store.Apply(context.Background(), []store.Batch{b}) })
}

// SetLimits sets how large a value must be for OBJECT ENCODING to report it as large.
func (e *Engine) SetLimits(l translator.Limits) { e.limits.Store(&l) }

// SetTimeLimit limits the time of one command or one EXEC; after it the call fails and leaves no trace. 0 means
// no limit. On a store without time limits it limits scripts only.
func (e *Engine) SetTimeLimit(d time.Duration) {
	e.timeLimit.Store(int64(d))
	if l, can := e.store.(limiter); can {
		l.SetTimeLimit(d)
	}
}

// SetUnlimitedScripts exempts scripts, functions and transactions with them from the time limit, as in Redis.
func (e *Engine) SetUnlimitedScripts(on bool) { e.unlimitedScripts.Store(on) }

// SetFacts sets the source of INFO's facts about the server. Call it before the first session starts.
func (e *Engine) SetFacts(facts translator.Facts) { e.facts = facts }

func (e *Engine) env(db int, work *store.Work) translator.Env {
	return translator.Env{Now: e.now(), Seed: e.seed(), DB: db, Limits: e.limits.Load(), Work: work, Search: &e.search,
		Timer:  translator.Timer{Deadline: e.deadline, Clock: e.ticks},
		Server: translator.ServerState{Acknowledged: e.acknowledged},
		Reply:  translator.ReplyForm{ErrorsOnly: e.errorsOnly}}
}
