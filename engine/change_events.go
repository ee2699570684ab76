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

// Change is what one command changed, or the sweep, or another process.
type Change struct {
	// Session is whose command it was, nil for none. Command, Args and DB, the session's
	// database then, are those of its call; for the sweep DB is that of the keys.
	Session *Session
	Command *commands.Command
	Args    [][]byte
	DB      int
	// Keys are those that changed, in any database for the few commands that know two; nil
	// stands for any. Where a command names several it may be fewer that did.
	Keys [][]byte
	// Expired says that the keys are gone since their time has come, and Evicted that they had to
	// go for others: DB is theirs.
	Expired, Evicted bool
	// Read says that nothing has changed: a session that tracks has read the keys, at this place in
	// the order.
	Read bool
}

// followed is a store that can have a follower.
type followed interface{ Follow(store.Follower) }

// feed hears of all that the engine's store writes, in the order in which it takes effect, serves
// the clients that wait for it, and tells listeners. It is the one place that knows of all changes.
//
// A store with a follower calls it inside its transactions, so that clients are served at the place
// in the order where Redis serves them: right after the command that they waited for, and EXEC and
// scripts as a whole. After any other store the engine calls it, once its calls have taken effect.
type feed struct {
	engine *Engine
	waits  waits
	inside bool // the store calls it
	off    bool // the store holds transactions open, and calls no one

	otherProcesses otherProcesses
	interest       atomic.Int64 // waiting clients and listeners
	listing        sync.Mutex
	told           atomic.Pointer[[]*func([]Change)] // the listeners
	notify         atomic.Pointer[func([]keyevents.Event)]

	current transaction // the writer's goroutine's own
	after   sync.Mutex  // held by who serves after the store's calls
	looking sync.Mutex  // held by who looks at what other processes have changed
}

// transaction is what has been heard of one, so far.
type transaction struct {
	notes  []note
	begun  []Change
	events []keyevents.Event
	served []*waiter
}

// note is that keys have changed.
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

// Listen has tell called with what each transaction changed, until stop is called: after it is
// committed, before any client has a reply of it, in the order of the transactions. When Listen
// returns, those are over that began before it. tell must neither wait nor call the engine. What
// other processes change is a Change of any key without a Command, told as soon as it is noticed.
func (e *Engine) Listen(tell func([]Change)) (stop func()) {
	f := &e.feed
	f.listen(func(all []*func([]Change)) []*func([]Change) { return append(all, &tell) })
	f.interest.Add(1)
	f.watch()
	if f.inside && e.readOnly == "" {
		// Its error does not matter: the writer has come to it, after what was before.
		e.store.(transactor).Transact(context.Background(), false, func(Run) error { return nil })
	}
	return sync.OnceFunc(func() {
		f.unwatch()
		f.interest.Add(-1)
		f.listen(func(all []*func([]Change)) []*func([]Change) {
			return slices.DeleteFunc(all, func(other *func([]Change)) bool { return other == &tell })
		})
	})
}

func (f *feed) listen(change func([]*func([]Change)) []*func([]Change)) {
	f.listing.Lock()
	defer f.listing.Unlock()
	all := change(slices.Clone(f.listeners()))
	f.told.Store(&all)
}

func (f *feed) listeners() []*func([]Change) {
	if all := f.told.Load(); all != nil {
		return *all
	}
	return nil
}

// Follows implements store.Follower.
func (f *feed) Follows() bool { return f.interest.Load() > 0 && !f.off }

// Ran implements store.Follower.
func (f *feed) Ran(b *store.Batch, r *store.Result, run func(store.Batch) (store.Result, error)) error {
	f.note(&f.current, b, r)
	return f.serve(&f.current, inside{f, &f.current, run})
}

// Ended implements store.Follower.
func (f *feed) Ended(committed bool) { f.ended(&f.current, committed) }

func (f *feed) ended(t *transaction, committed bool) {
	if len(t.notes)+len(t.begun)+len(t.events)+len(t.served) == 0 {
		return
	}
	if committed && len(t.begun) > 0 {
		f.tell(t.begun)
	}
	if tell := f.notify.Load(); tell != nil && committed && len(t.events) > 0 {
		(*tell)(t.events)
	}
	f.waits.settle(t.served, committed)
	clear(t.served)
	t.notes, t.begun, t.events, t.served = nil, nil, nil, t.served[:0]
}

func (f *feed) tell(changes []Change) {
	for _, tell := range f.listeners() {
		(*tell)(changes)
	}
}

// spied is run for one who tells the feed itself: of what it changes from now on.
func (f *feed) spied(t *transaction, run Run) Run {
	if !f.Follows() {
		return run
	}
	return func(b store.Batch) (store.Result, error) {
		r, err := run(b)
		if err == nil && !b.ReadOnly && r.Refused == nil {
			f.note(t, &b, &r)
		}
		return r, err
	}
}

// telling is fn, what a transaction does that writes: the feed hears of all that, and serves at its
// end.
func (f *feed) telling(fn func(Run) error) func(Run) error {
	return func(run Run) error {
		if err := fn(f.spied(&f.current, run)); err != nil {
			return err
		}
		return f.serve(&f.current, inside{f, &f.current, run})
	}
}

// tried runs a call of a transaction with fn. A waiter's that finds nothing has changed nothing that
// anyone is told of, and is idle from then on.
func (f *feed) tried(c planned, fn func() (resp.Value, error)) (resp.Value, error) {
	if c.waiter == nil {
		return fn()
	}
	f.waits.wake(c.waiter)
	notes, begun := len(f.current.notes), len(f.current.begun)
	v, err := fn()
	if err == nil && v.IsNull() {
		f.current.notes, f.current.begun = f.current.notes[:notes], f.current.begun[:begun]
		f.waits.rest(c.waiter)
	}
	return v, err
}

// note notes what a batch has changed.
func (f *feed) note(t *transaction, b *store.Batch, r *store.Result) {
	if _, fields := b.Of.(store.ExpiredFields); fields {
		f.expired(t, b, r)
	}
	if _, expired := b.Of.(store.Expired); expired {
		f.expired(t, b, r)
		for _, row := range slices.Concat(r.Rows...) {
			if len(row) >= store.ExpiredCells && row[1].Int() >= 0 { // a hidden key is for no one
				f.add(t, Change{DB: int(row[1].Int()), Keys: [][]byte{row[2].Bytes()}, Expired: true}, int(row[1].Int()))
			}
		}
		return
	}
	p, is := b.Of.(*planned)
	if is && p.noting != nil && p.noting.own > 0 {
		t.events = append(t.events, p.noting.events(p, r)...)
		r = p.noting.without(r)
	}
	keys, changed := changedKeys(b, r)
	c := Change{Keys: keys}
	if is {
		if c.DB, c.Evicted = p.db, p.evicts; !p.evicts {
			c.Session, c.Command, c.Args = p.session, p.cmd, p.args
		}
		changed = changed || p.flushes()
		if len(keys) > 1 {
			c.Keys = p.written(keys)
		}
	}
	if !changed {
		return
	}
	f.add(t, c, -1)
}

// flushes reports whether a call empties databases: that is told also of one that has no keys.
func (p *planned) flushes() bool {
	return p.cmd != nil && (p.cmd.Name == "FLUSHALL" || p.cmd.Name == "FLUSHDB")
}

// written is keys without those that the call only reads.
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
	if c.Command == nil || c.Command.Name != "XGROUP SETID" { // which wakes no client of Redis, either
		t.notes = append(t.notes, note{db, c.Keys})
	}
	if len(f.listeners()) > 0 {
		t.begun = append(t.begun, c)
	}
}

// manyKeys is above how many keys it is not asked which of them have changed.
const manyKeys = 16

// changedKeys is the keys that a batch has changed, as far as its rows say so, and whether it has
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
		some := false
		for _, arg := range b.Stmts[i].Args { // the keys of a statement on few of them
			for k, key := range b.Keys {
				if arg.Kind() == store.Blob && string(arg.Bytes()) == string(key) {
					of[k], some = true, true
				}
			}
		}
		all = all || !some
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

// afterwards serves and tells after calls to a store that has no follower.
func (f *feed) afterwards(ctx context.Context, tell func(*transaction)) {
	if f.inside || !f.Follows() {
		return
	}
	f.after.Lock()
	defer f.after.Unlock()
	t := &transaction{}
	tell(t)
	f.serve(t, outside{f, t, context.WithoutCancel(ctx)}) // its errors are those of the served
	f.ended(t, true)
}

// server is how waiting clients are served.
type server interface {
	// look runs a batch that only reads.
	look(store.Batch) (store.Result, error)
	// try tries the call of a waiter, and notes what it has changed unless it has found nothing.
	try(*waiter) (resp.Value, error)
	// failed is for a waiter whose call has failed; its error ends the serving.
	failed(*waiter, error) error
}

// inside serves in the transaction that run is of.
type inside struct {
	feed *feed
	t    *transaction
	run  Run
}

func (s inside) look(b store.Batch) (store.Result, error) { return s.run(b) }

func (s inside) try(w *waiter) (resp.Value, error) {
	before := len(s.t.notes)
	begun := len(s.t.begun)
	p, err := w.call.plan(s.feed.engine.env(0, &w.work), 0)
	if err != nil {
		return resp.Value{}, err
	}
	v, err := s.feed.engine.steps(s.feed.spied(s.t, s.run), p, &w.work)
	if v.IsNull() {
		s.t.notes, s.t.begun = s.t.notes[:before], s.t.begun[:begun]
	}
	return v, err
}

func (s inside) failed(w *waiter, err error) error {
	s.t.served = append(s.t.served, w) // so that it is idle again when the transaction is undone
	return &store.JobError{Err: err, Drop: func(err error) { s.feed.waits.give(w, nothing, err) }}
}

// outside serves by calls of the store.
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
	d, ok, err := s.feed.engine.drafted(s.ctx, nil, []planned{w.call}, &w.work)
	if err != nil || !ok {
		return resp.Value{}, err
	}
	if !d.replies[0].IsNull() {
		d.tell(s.t)
	}
	return d.replies[0], nil
}

func (s outside) failed(w *waiter, err error) error {
	s.feed.waits.fail(w, err)
	return nil
}
