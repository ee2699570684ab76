package engine

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/meowdis/meowdis/engine/keyevents"
	"github.com/meowdis/meowdis/redis/commands"
	"github.com/meowdis/meowdis/redis/resp"
	"github.com/meowdis/meowdis/store"
)

// Change is a change made by one command, by the sweep, or by another process.
type Change struct {
	// Session is the session of the command, or nil. Command, Args and DB (the session's database at the time)
	// describe its call; for the sweep, DB is the database of the keys.
	Session *Session
	Command *commands.Command
	Args    [][]byte
	DB      int
	// Keys are the changed keys, in any database for the few commands with two databases; nil means any key. For
	// a command that names several keys, some may be unchanged.
	Keys [][]byte
	// Expired means that the keys reached their expiry, and Evicted that they were deleted to free memory: DB is
	// then their database.
	Expired, Evicted bool
	// Read means that nothing changed: a tracking session has read the keys at this point in the order.
	Read bool
}

// followed is a store that accepts a follower.
type followed interface{ Follow(store.Follower) }

// feed receives every write of the engine's store, in order of effect. It serves the blocked clients that wait
// for a write, and calls the listeners. All changes pass through it.
//
// A store with a follower calls the feed inside its transactions, so clients are served at the same point in
// the order as in Redis: right after the command that they waited for, with EXEC and scripts as one unit. For
// any other store the engine calls the feed after its calls have taken effect.
type feed struct {
	engine *Engine
	waits  blockedClients
	inside bool // the store calls the feed inside its transactions
	off    bool // the store holds transactions open, but accepts no follower

	otherProcesses otherProcesses
	interest       atomic.Int64 // number of blocked clients and listeners
	listing        sync.Mutex
	callbacks      atomic.Pointer[[]*func([]Change)] // the listeners
	notify         atomic.Pointer[func([]keyevents.Event)]
	replicas       atomic.Pointer[effectListener]

	current  transaction // owned by the writer's goroutine
	after    sync.Mutex  // held while serving after the store's calls
	checking sync.Mutex  // held while checking for commits of other processes
}

// transaction collects the changes of one transaction.
type transaction struct {
	notes   []note
	changes []Change
	events  []keyevents.Event
	effects Effects
	served  []*waiter
	entered []*waiter // whose calls have found nothing in the transaction
}

// note holds a set of changed keys.
type note struct {
	db   int // -1 for any
	keys [][]byte
}

func (f *feed) init(e *Engine) {
	f.engine = e
	f.waits.init(f)
	s, can := e.store.(followed)
	_, holds := e.store.(transactor)
	if f.inside, f.off = can, holds && !can; can {
		s.Follow(f)
	}
}

// Listen calls tell with the changes of each transaction until stop is called: after the commit, before any
// client gets its reply, and in commit order. When Listen returns, all transactions that began before it have
// ended. tell must neither wait nor call the engine. A change by another process is a Change of any key without
// a Command, reported as soon as it is noticed.
func (e *Engine) Listen(tell func([]Change)) (stop func()) {
	f := &e.feed
	f.listen(func(all []*func([]Change)) []*func([]Change) { return append(all, &tell) })
	leave := f.join()
	return sync.OnceFunc(func() {
		leave()
		f.listen(func(all []*func([]Change)) []*func([]Change) {
			return slices.DeleteFunc(all, func(other *func([]Change)) bool { return other == &tell })
		})
	})
}

// join makes the feed see all later transactions, and commits of other processes, until leave is called. The
// transactions before them have ended when join returns.
func (f *feed) join() (leave func()) {
	f.interest.Add(1)
	f.watch()
	if e := f.engine; f.inside && e.readOnly() == "" {
		// The error does not matter: the writer has finished the earlier transactions.
		e.store.(transactor).Transact(context.Background(), false, func(Run) error { return nil })
	}
	return func() {
		f.unwatch()
		f.interest.Add(-1)
	}
}

func (f *feed) listen(change func([]*func([]Change)) []*func([]Change)) {
	f.listing.Lock()
	defer f.listing.Unlock()
	all := change(slices.Clone(f.listeners()))
	f.callbacks.Store(&all)
}

func (f *feed) listeners() []*func([]Change) {
	if all := f.callbacks.Load(); all != nil {
		return *all
	}
	return nil
}

// Follows implements store.Follower.
func (f *feed) Follows() bool { return f.interest.Load() > 0 && !f.off }

// Ran implements store.Follower.
func (f *feed) Ran(b *store.Batch, r *store.Result, run func(store.Batch) (store.Result, error)) error {
	c, changed := f.note(&f.current, b, r)
	if changed {
		if err := f.record(&f.current, c, b, r, run, nil); err != nil {
			return err
		}
	}
	return f.serve(&f.current, inside{f, &f.current, run})
}

// Ended implements store.Follower.
func (f *feed) Ended(committed bool) { f.ended(&f.current, committed) }

func (f *feed) ended(t *transaction, committed bool) {
	if len(t.notes)+len(t.changes)+len(t.events)+len(t.served)+len(t.entered) == 0 && t.effects.empty() {
		return
	}
	if l := f.replicas.Load(); l != nil && committed && !t.effects.empty() {
		l.tell(t.effects)
	}
	t.effects = Effects{}
	if committed && len(t.changes) > 0 {
		f.tell(t.changes)
	}
	if tell := f.notify.Load(); tell != nil && committed && len(t.events) > 0 {
		(*tell)(t.events)
	}
	f.waits.settle(t.served, committed)
	if !committed {
		f.waits.remove(t.entered)
	}
	clear(t.served)
	clear(t.entered)
	t.entered = t.entered[:0]
	t.notes, t.changes, t.events, t.served = nil, nil, nil, t.served[:0]
}

func (f *feed) tell(changes []Change) {
	for _, tell := range f.listeners() {
		(*tell)(changes)
	}
}

// recordWrites wraps run so that the feed receives each batch that it writes. unit returns the unit of its effects.
func (f *feed) recordWrites(t *transaction, run Run, unit func() any) Run {
	if !f.Follows() {
		return run
	}
	return func(b store.Batch) (store.Result, error) {
		r, err := run(b)
		if err == nil && !b.ReadOnly && r.Refused == nil {
			if c, changed := f.note(t, &b, &r); changed {
				err = f.record(t, c, &b, &r, run, unit())
			}
		}
		return r, err
	}
}

// tryCall runs a call of a transaction with fn. A blocking call that finds nothing reports no changes, and its
// waiter becomes idle.
func (f *feed) tryCall(c planned, fn func() (resp.Value, error)) (resp.Value, error) {
	if c.waiter == nil {
		return fn()
	}
	f.waits.reclaim(c.waiter)
	notes, begun := len(f.current.notes), len(f.current.changes)
	v, err := fn()
	if err == nil && v.IsNull() {
		f.current.notes, f.current.changes = f.current.notes[:notes], f.current.changes[:begun]
		f.waits.markIdle(c.waiter)
	}
	return v, err
}

// note records the keys that a batch has changed, and returns the change. The keys of expired keys are in r.
func (f *feed) note(t *transaction, b *store.Batch, r *store.Result) (c Change, changed bool) {
	if _, fields := b.Origin.(store.ExpiredFields); fields {
		f.expired(t, b, r)
	}
	if _, expired := b.Origin.(store.Expired); expired {
		f.expired(t, b, r)
		for _, row := range slices.Concat(r.Rows...) {
			if len(row) >= store.ExpiredCells && row[1].Int() >= 0 { // hidden keys are not reported
				f.add(t, Change{DB: int(row[1].Int()), Keys: [][]byte{row[2].Bytes()}, Expired: true}, int(row[1].Int()))
			}
		}
		return c, true
	}
	p, is := b.Origin.(*planned)
	if is && p.keyStates != nil && p.keyStates.ownStmts > 0 {
		t.events = append(t.events, p.keyStates.events(p, r)...)
		r = p.keyStates.without(r)
	}
	keys, changed := changedKeys(b, r)
	c = Change{Keys: keys}
	if is {
		if c.DB, c.Evicted = p.db, p.options.has(evicts); !c.Evicted {
			c.Session, c.Command, c.Args = p.session, p.cmd, p.args
		}
		changed = changed || p.flushes()
		if len(keys) > 1 {
			c.Keys = p.written(keys)
		}
	}
	if changed {
		f.add(t, c, -1)
	}
	return c, changed
}

// flushes reports whether the call empties databases. It is reported even if there were no keys.
func (p *planned) flushes() bool {
	return p.cmd != nil && (p.cmd.Name == "FLUSHALL" || p.cmd.Name == "FLUSHDB")
}

// written returns keys without the keys that the call only reads.
func (p *planned) written(keys [][]byte) [][]byte {
	if p.cmd == nil || len(keys) > manyKeys {
		return keys
	}
	reads := func(key []byte) (reads bool) {
		for _, ref := range p.cmd.KeysOf(p.args) {
			if string(p.args[ref.Pos]) == string(key) {
				if reads = ref.Access.OnlyReads(); !reads {
					return false
				}
			}
		}
		return reads
	}
	return slices.DeleteFunc(slices.Clone(keys), reads)
}

func (f *feed) add(t *transaction, c Change, db int) {
	if c.Command == nil || c.Command.Name != "XGROUP SETID" { // XGROUP SETID wakes no client in Redis, either
		t.notes = append(t.notes, note{db, c.Keys})
	}
	if len(f.listeners()) > 0 {
		t.changes = append(t.changes, c)
	}
}

// manyKeys limits the search for the changed keys of a batch. In a batch with more keys, all keys count as
// changed.
const manyKeys = 16

// changedKeys returns the keys that a batch has changed, as far as its statements show, and whether it has
// changed any.
func changedKeys(b *store.Batch, r *store.Result) (keys [][]byte, changed bool) {
	of := make([]bool, len(b.Keys))
	all := len(b.Keys) < 2 || len(b.Keys) > manyKeys
	for i, n := range r.Changes {
		if n == 0 {
			continue
		}
		if changed = true; all {
			break
		}
		all = all || !markNamed(b, i, of)
	}
	if all {
		return b.Keys, changed
	}
	keys = [][]byte{}
	for i, key := range b.Keys {
		if of[i] {
			keys = append(keys, key)
		}
	}
	return keys, changed
}

// markNamed sets of for the keys that statement i of a batch names, and reports whether it names any.
func markNamed(b *store.Batch, i int, of []bool) (some bool) {
	for _, arg := range b.Stmts[i].Args {
		for k, key := range b.Keys {
			if arg.Kind() == store.Blob && string(arg.Bytes()) == string(key) {
				of[k], some = true, true
			}
		}
	}
	return some
}

// afterApply serves blocked clients and calls listeners, for a store without a follower.
func (f *feed) afterApply(ctx context.Context, tell func(*transaction)) {
	if f.inside || !f.Follows() {
		return
	}
	f.after.Lock()
	defer f.after.Unlock()
	t := &transaction{}
	tell(t)
	f.serve(t, outside{f, t, context.WithoutCancel(ctx)}) // each served client gets its own error
	f.ended(t, true)
}

// server serves blocked clients.
type server interface {
	// look runs a read-only batch.
	look(store.Batch) (store.Result, error)
	// try runs the call of a waiter. It records the changes unless the call found nothing.
	try(*waiter) (resp.Value, error)
	// failed handles a waiter whose call has failed. An error from it ends the serving.
	failed(*waiter, error) error
}

// inside serves clients in the transaction of run.
type inside struct {
	feed *feed
	t    *transaction
	run  Run
}

func (s inside) look(b store.Batch) (store.Result, error) { return s.run(b) }

func (s inside) try(w *waiter) (resp.Value, error) {
	before := len(s.t.notes)
	begun := len(s.t.changes)
	p, err := w.call.plan(s.feed.engine.env(0, &w.work), 0)
	if err != nil {
		return resp.Value{}, err
	}
	v, err := s.feed.engine.steps(s.feed.recordWrites(s.t, s.run, func() any { return w }), p, &w.work)
	if v.IsNull() {
		s.t.notes, s.t.changes = s.t.notes[:before], s.t.changes[:begun]
	}
	return v, err
}

func (s inside) failed(w *waiter, err error) error {
	s.t.served = append(s.t.served, w) // to make it idle again if the transaction is undone
	return &store.JobError{Err: err, Drop: func(err error) { s.feed.waits.finish(w, nilReply, err) }}
}

// outside serves clients with calls of the store.
type outside struct {
	feed *feed
	t    *transaction
	ctx  context.Context
}

func (s outside) look(b store.Batch) (store.Result, error) {
	results, err := s.feed.engine.store.Apply(s.ctx, []store.Batch{b})
	if err != nil {
		return store.Result{}, err
	}
	return results[0], nil
}

func (s outside) try(w *waiter) (resp.Value, error) {
	d, ok, err := s.feed.engine.buildAndApply(s.ctx, nil, []planned{w.call}, &w.work)
	if err != nil || !ok {
		return resp.Value{}, err
	}
	if !d.replies[0].IsNull() {
		d.notifyFeed(s.t)
	}
	return d.replies[0], nil
}

func (s outside) failed(w *waiter, err error) error {
	s.feed.waits.fail(w, err)
	return nil
}
