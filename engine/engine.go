package engine

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/meowdis/meowdis/engine/metrics"
	"github.com/meowdis/meowdis/engine/pubsub"
	"github.com/meowdis/meowdis/redis/commands"
	"github.com/meowdis/meowdis/redis/resp"
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

// reader is a store that may be read-only. ReadOnly returns the reason, or "" for a writable store.
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

	feed feed

	queues queues
}

// settings are set by the server.
type settings struct {
	limits    atomic.Pointer[translator.Limits]
	facts     translator.Facts // about the server; nil without one
	readOnly  string           // reason that the store is read-only, or ""
	busyAfter atomic.Int64     // ns; see SetBusyThreshold
	timeLimit atomic.Int64     // ns; see SetTimeLimit
}

// host is the outside world: clock, randomness, timers.
type host struct {
	now       func() int64
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
func WithClock(now func() int64) Option { return func(e *Engine) { e.now = now } }

// WithSeed sets the source of randomness.
func WithSeed(seed func() uint64) Option { return func(e *Engine) { e.seed = seed } }

// WithInterrupt makes each running script call f at intervals. An error from f ends the script, which leaves no
// trace. Use it on hosts whose clock stops while a program runs.
func WithInterrupt(f func() error) Option { return func(e *Engine) { e.interrupt = f } }

// WithHook calls hook before each translation, step and decoder. Tests use it to panic there.
func WithHook(hook func()) Option { return func(e *Engine) { e.hook = hook } }

// WithTimer sets the engine's timer: a function that returns a channel, which receives once the duration has
// passed, and a function that stops the timer.
func WithTimer(timer func(time.Duration) (<-chan time.Time, func())) Option {
	return func(e *Engine) { e.alarm = timer }
}

// New returns an engine over s. It uses the system clock unless an option changes that. Over a read-only store
// the engine refuses commands that write.
func New(s Store, options ...Option) *Engine {
	e := &Engine{store: s, hub: pubsub.New(), host: host{now: func() int64 { return time.Now().UnixMilli() }, seed: rand.Uint64, alarm: after}, staging: staging{stageFrom: stagedElements}}
	if r, ok := s.(reader); ok {
		e.readOnly = r.ReadOnly()
	}
	e.SetBusyThreshold(DefaultBusyThreshold)
	for _, o := range options {
		o(e)
	}
	if e.interrupt == nil {
		e.deadline = deadline
	}
	e.feed.init(e)
	return e
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

// SetFacts sets the source of INFO's facts about the server. Call it before the first session starts.
func (e *Engine) SetFacts(facts translator.Facts) { e.facts = facts }

func (e *Engine) env(db int, work *store.Work) translator.Env {
	return translator.Env{Now: e.now(), Seed: e.seed(), DB: db, Limits: e.limits.Load(), Work: work, Deadline: e.deadline}
}

// call is a command ready to be planned.
type call struct {
	cmd  *commands.Command
	args [][]byte
}

// apply runs single-batch plans in order and returns their replies, or only the first replies once they fill
// the budget.
func (e *Engine) apply(ctx context.Context, plans []translator.Plan, work *store.Work) ([]resp.Value, []store.Result, error) {
	batches := make([]store.Batch, len(plans))
	for i := range plans {
		batches[i] = batchOf(&plans[i], work.Budget)
	}
	used := work.Budget.Used()
	release := e.lockKeys(plans)
	results, err := e.store.Apply(ctx, batches)
	release()
	if v, is := limited(err); is {
		return slices.Repeat([]resp.Value{v}, len(plans)), make([]store.Result, len(plans)), nil
	}
	if err != nil {
		return nil, nil, err
	}
	e.feed.afterApply(ctx, func(t *transaction) {
		for i := range results {
			if !batches[i].ReadOnly && results[i].Refused == nil {
				e.feed.note(t, &batches[i], &results[i])
			}
		}
	})
	replies := make([]resp.Value, len(results))
	return replies, results, e.decodeAll(replies, plans, results, work, used, false)
}

// lockKeys locks the keys of the writing plans, on a store without transactions.
func (e *Engine) lockKeys(plans []translator.Plan) (release func()) {
	if _, can := e.store.(transactor); can {
		return func() {}
	}
	var keys []string
	for i := range plans {
		if p := &plans[i]; !p.Batch.ReadOnly {
			for _, key := range p.Keys {
				keys = append(keys, queueName(key))
			}
		}
	}
	return e.queues.lock(keys, false)
}

// decodeAll decodes the results into the replies of the first plans. used is the budget's count before the rows
// were read; decodeAll replaces the rows with the replies in that count. A time limit is an error if the calls
// may run again. Otherwise decodeAll finishes the replies to committed writes, however long that takes.
func (e *Engine) decodeAll(replies []resp.Value, plans []translator.Plan, results []store.Result, work *store.Work, used int64, again bool) (err error) {
	weight, budget, check := int64(0), work.Budget, work.Check
	defer func() { work.Check = check }()
	for i := range results {
		work.Begin()
		if work.Check = check; !again && !plans[i].Batch.ReadOnly {
			work.Check = nil
		}
		if replies[i], err = e.reply(&plans[i], &results[i], work); err != nil {
			late, is := limited(err)
			if !is {
				return err
			}
			replies[i] = late
		}
		if budget != nil {
			weight += store.Weight(&replies[i])
		}
	}
	budget.Rewind(used)
	budget.Charge(weight)
	return nil
}

// batchOf returns the batch of a plan, ready for a store.
func batchOf(p *translator.Plan, budget *store.Budget) store.Batch {
	b := p.Batch
	b.Budget = budget
	if !b.ReadOnly {
		b.Keys = p.Keys
	}
	return b
}

// reply decodes the result of a plan's batch.
func (e *Engine) reply(p *translator.Plan, r *store.Result, work *store.Work) (resp.Value, error) {
	if r.Refused != nil {
		return refusal(p.Batch.Stmts[r.Refused.At], r.Refused)
	}
	return e.decode(p, r, work)
}

// tooLong returns the reply to a command that exceeded the store's time limit, if err is that error.
func tooLong(err error) (v resp.Value, is bool) {
	var late *store.TooLong
	if is = errors.As(err, &late); is {
		v = resp.MakeError("ERR " + late.Error())
	}
	return v, is
}

func refusal(s store.Stmt, r *store.Refusal) (resp.Value, error) {
	switch {
	case r.TooLong != nil:
		v, _ := tooLong(r.TooLong)
		return v, nil
	case r.Reply != nil:
		return *r.Reply, nil
	case s.Refused == nil:
		return resp.Value{}, fmt.Errorf("running %q: %s", s.SQL, r.Reason)
	}
	return *s.Refused, nil
}

// steps runs a plan to its end inside a transaction. The budget counts the rows of all steps until the reply
// replaces them.
func (e *Engine) steps(run Run, p translator.Plan, work *store.Work) (v resp.Value, err error) {
	budget := work.Budget
	used := budget.Used()
	if v, err = e.rawSteps(run, p, work); err == nil && budget != nil {
		budget.Rewind(used)
		budget.Charge(store.Weight(&v))
	}
	return v, err
}

func (e *Engine) rawSteps(run Run, p translator.Plan, work *store.Work) (resp.Value, error) {
	for {
		if len(p.Batch.Stmts) == 0 {
			return p.Reply, nil
		}
		r, err := run(batchOf(&p, work.Budget))
		if err != nil {
			return resp.Value{}, err
		}
		if p.Then == nil {
			return e.reply(&p, &r, work)
		}
		if r.Refused != nil {
			return refusal(p.Batch.Stmts[r.Refused.At], r.Refused)
		}
		if p, err = e.nextPlan(&p, &r, work); err != nil {
			return resp.Value{}, err
		}
	}
}

// transaction runs calls as one transaction and returns their replies. If a watched key has changed, it runs
// none of them and ok is false.
func (e *Engine) transaction(ctx context.Context, watched []translator.Version, calls []planned, work *store.Work) (replies []resp.Value, ok bool, err error) {
	t, can := e.store.(transactor)
	if !can {
		for _, c := range calls {
			c.noteRead()
		}
		return e.replay(ctx, watched, calls, work)
	}
	reads, used := readOnly(calls), work.Budget.Used()
	replies, ok, err = e.transact(ctx, t, reads, watched, calls, work)
	if reads && errors.Is(err, errWrites) {
		work.Budget.Rewind(used)
		return e.transact(ctx, t, false, watched, calls, work)
	}
	return replies, ok, err
}

// transact makes one attempt at a transaction. A read-only attempt that turns out to write returns errWrites.
func (e *Engine) transact(ctx context.Context, t transactor, reads bool, watched []translator.Version, calls []planned, work *store.Work) (replies []resp.Value, ok bool, err error) {
	env := e.env(0, work)
	used := work.Budget.Used()
	fn := func(run Run) error {
		work.Budget.Rewind(used)
		work.Begin()
		replies, ok, err = make([]resp.Value, len(calls)), false, nil
		unread(calls)
		if same, err := unchanged(run, env, watched); err != nil || !same {
			return err
		}
		for i, c := range calls {
			began := time.Now()
			switch {
			case c.eval != nil:
				c.eval.reading = reads
				replies[i], err = c.eval.within(run, env, i, c.db, work)
			case c.cmd == nil:
				replies[i] = c.answer
			default:
				replies[i], err = e.feed.tryCall(c, func() (resp.Value, error) {
					return e.planAndRun(run, env, i, c, reads, work)
				})
			}
			if err != nil {
				return err
			}
			calls[i].took = time.Since(began)
		}
		ok = true
		return nil
	}
	if !reads {
		fn = e.feed.recordAndServe(fn)
	}
	err = t.Transact(ctx, reads, panicsAsErrors(fn))
	return replies, ok, err
}

// planAndRun plans call i of a transaction, and runs its plan.
func (e *Engine) planAndRun(run Run, env translator.Env, i int, c planned, reads bool, work *store.Work) (resp.Value, error) {
	if err := e.checkLarge(run, &c); err != nil {
		return resp.Value{}, err
	}
	e.reads(c, reads)
	p, err := c.plan(env, i)
	if err != nil {
		return resp.Value{}, err
	}
	return e.steps(run, p, work)
}

// unchanged reports whether the watched keys still have their versions. It only reads, so it works in a
// read-only transaction.
func unchanged(run Run, env translator.Env, watched []translator.Version) (bool, error) {
	if len(watched) == 0 {
		return true, nil
	}
	batch := store.Batch{ReadOnly: true}
	for _, v := range watched {
		env.DB = v.DB
		batch.Stmts = append(batch.Stmts, translator.ReadVersion(env, v.Key))
	}
	r, err := run(batch)
	if err != nil {
		return false, err
	}
	for i, v := range watched {
		now := versionOf(v.DB, v.Key, r.Rows[i])
		if now.At.IsNull() != v.At.IsNull() || now.At.Int() != v.At.Int() {
			return false, nil
		}
	}
	return true, nil
}

// planned is a call of a transaction, with its database, or with the reply that it already has.
type planned struct {
	planOptions

	call
	db        int
	fieldsets map[string][][]byte
	facts     translator.Facts
	answer    resp.Value
	took      time.Duration // set after the call has run
	running   *translator.Running
	session   *Session   // that sent the call
	keyStates *keyStates // for keyspace events; nil without them
	waiter    *waiter    // set on the first attempt of a blocking call, by its session
}

// planOptions says how a call is planned, beyond its arguments.
type planOptions struct {
	eval       *evaluation                          // runs instead of a command
	enginePlan translator.Plan                      // the engine's own plan, which runs instead of a command
	evicts     bool                                 // an eviction, which no client sent
	mayStage   bool                                 // errLarge may end its transaction if the call is large
	staged     bool                                 // plan a staged build
	override   func(translator.Env) translator.Plan // replaces the translation; nil for most calls
}

// keys returns the keys that the call names.
func (p planned) keys() (keys [][]byte) {
	if p.cmd == nil {
		return nil
	}
	for _, ref := range p.cmd.KeysOf(p.args) {
		keys = append(keys, p.args[ref.Pos])
	}
	return keys
}

// plan translates the i-th call of a transaction. Each call draws its own random numbers.
func (p planned) plan(env translator.Env, i int) (plan translator.Plan, err error) {
	defer catchLimit(&plan.Reply, &err)
	if p.cmd == nil {
		return p.enginePlan, nil
	}
	if p.session != nil && p.session.engine.hook != nil {
		p.session.engine.hook()
	}
	var made translator.Plan
	env.DB, env.Fieldsets, env.Facts, env.Running = p.db, p.fieldsets, p.facts, p.running
	env.Seed += uint64(i) << 32
	switch {
	case p.override != nil:
		made = p.override(env)
		made.Keys = p.cmd.KeyNames(p.args)
	case p.staged:
		env.MayStage = true
		return translator.Translate(p.cmd, p.args, env), nil
	default:
		made = translator.Translate(p.cmd, p.args, env)
	}
	if p.session != nil && p.session.engine.feed.Follows() {
		of := p // a copy on the heap, so p stays on the stack
		if made.Batch.Stmts != nil && of.wantsEvents() {
			made = of.withKeyStates(made, env)
		}
		made.Batch.Origin = &of
	}
	return made, nil
}

func readOnly(calls []planned) bool {
	for _, c := range calls {
		if c.cmd != nil && c.cmd.Flags&commands.Write != 0 || c.waiter != nil && c.waiter.session.engine.readOnly == "" || c.eval != nil && !c.eval.mayRead() {
			return false
		}
	}
	return true
}
