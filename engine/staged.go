package engine

import (
	"context"
	"errors"
	"time"

	"github.com/meowdis/meowdis/redis/commands"
	"github.com/meowdis/meowdis/redis/resp"
	"github.com/meowdis/meowdis/store"
	"github.com/meowdis/meowdis/translator"
)

// A call that makes a large key, on its own, is carried out aside (translator.Aside), so that others
// write meanwhile: a reader reads what it is made of and at which versions that is, slices make the
// key under a hidden name, each in a transaction of its own, and the last transaction publishes it if nothing
// of that has changed. Otherwise it begins again, a few times, and then is one transaction. So are calls
// in MULTI and in scripts, and small ones, for which this costs one look at the sizes of their keys. A time
// limit is for each of the transactions, as it is there for those that wait.

const (
	stagedElements = 2000 // of the keys that a call is made of, together, make it a large one
	asideBytes     = 32   // of an argument are as much as an element, for a call that is made of that alone
	asideTries     = 3

	// The first slice is of about so many rows. The next one is of more or of fewer, until each takes about
	// asideTime with its commit and with what waits before it.
	asideRows     = 128
	asideMostRows = 2048
	asideTime     = 6 * time.Millisecond
)

// throttler is a store that knows when who writes in slices should let others write. Ease waits, after a slice
// that took so long.
type throttler interface{ Throttle(took time.Duration) }

var (
	// errLarge ends the transaction of a call that is to be carried out aside. It has only read.
	errLarge = errors.New("the call is a large one")
	// errStale ends slices that are in vain: what the key is made of has changed, or the key is gone.
	errStale = errors.New("the slices are in vain")
	// errTooMuchMemory ends a removal aside whose reads take more memory than a client may use: it is done in one transaction,
	// which mostly has to read nothing.
	errTooMuchMemory = errors.New("the call reads too much")
)

// WithStaging sets above how many elements keys are large, so that what is made of them is made in slices:
// below 0 that is all calls that may be. Their results do not depend on it.
func WithStaging(elements int64) Option { return func(e *Engine) { e.stageFrom = elements } }

// lessFrom is how many times larger a key must be for a call that removes elements of it to be carried out aside.
const lessFrom = 10

// beside is a store that may have readers beside its writer.
type beside interface{ Beside() bool }

// mayStage reports whether the call is to be carried out aside if its keys are large. One that removes elements
// is not unless it is alone in its pipeline (of is 1): mostly it is short.
func (e *Engine) mayStage(cmd *commands.Command, args [][]byte, of int) bool {
	if !translator.MayBeAside(cmd) || of > 1 && translator.RemovesMany(cmd) {
		return false
	}
	_, holds := e.store.(transactor)
	b, can := e.store.(beside)
	if !holds || !can || !b.Beside() {
		return false
	}
	keys, longest := translator.AsideSources(cmd, args)
	return len(keys) > 0 || int64(longest/asideBytes) > e.stageFrom
}

// notLarge returns errLarge for a call that is to be carried out aside.
func (e *Engine) notLarge(run Run, c *planned) error {
	if !c.mayStage {
		return nil
	}
	keys, longest := translator.AsideSources(c.cmd, c.args)
	if len(keys) == 0 && int64(longest/asideBytes) > e.stageFrom {
		return errLarge
	}
	r, err := run(store.Batch{ReadOnly: true, Stmts: []store.Stmt{translator.ReadSizes(e.env(c.db, nil), keys)}})
	from := e.stageFrom
	if translator.RemovesMany(c.cmd) {
		from *= lessFrom
	}
	if err != nil || r.Rows[0][0][0].Int() <= from {
		return err
	}
	if translator.RemovesMany(c.cmd) {
		if room, err := e.roomTwice(run); !room {
			return err
		}
	}
	return errLarge
}

// making is a call on its way that is carried out aside.
type making struct {
	engine  *Engine
	store   transactor
	call    planned
	work    *store.Work
	used    int64
	plan    translator.Plan // the last of its steps
	sources []translator.Versions
	worked  time.Duration
}

// runStaged carries a call out aside, and says how long it kept the store busy.
func (e *Engine) runStaged(ctx context.Context, c planned, work *store.Work) (v resp.Value, worked time.Duration, err error) {
	c.mayStage = false
	m := &making{engine: e, store: e.store.(transactor), call: c, work: work, used: work.Budget.Used()}
	defer func() {
		if late, is := limited(err); is {
			v, err = late, nil
		}
		worked = m.worked
	}()
	for range asideTries {
		v, done, err := m.try(ctx)
		if errors.Is(err, errTooMuchMemory) {
			break
		}
		if done || err != nil {
			return v, 0, err
		}
	}
	work.Budget.Back(m.used)
	one := []planned{c}
	replies, _, err := e.transaction(ctx, nil, one, work)
	m.worked += one[0].took
	if err != nil {
		return resp.Value{}, 0, err
	}
	return replies[0], 0, nil
}

// try reports whether the call is done: nothing of what it is made of has changed meanwhile.
func (m *making) try(ctx context.Context) (v resp.Value, done bool, err error) {
	m.work.Budget.Back(m.used)
	if v, done, err = m.read(ctx); done || err != nil {
		return v, done, err
	}
	a := m.plan.Staged
	switch {
	case a == nil && len(m.sources) == 0:
		return v, false, nil // one transaction is all that it takes
	case a == nil:
		return m.publish(ctx)
	}
	if err = m.slices(ctx, a); err == nil {
		v, done, err = m.publish(ctx)
	}
	m.drop(ctx, a) // which is nothing once it is published
	if errors.Is(err, errStale) {
		err = nil
	}
	return v, done, err
}

// read follows the steps of the call to the last one, in a snapshot. It is done when that answers.
func (m *making) read(ctx context.Context) (v resp.Value, done bool, err error) {
	began := time.Now()
	defer func() { m.worked += time.Since(began) }()
	err = m.store.Transact(ctx, true, guarded(func(run Run) error {
		m.work.Budget.Back(m.used)
		m.work.Begin()
		m.sources = nil
		env := m.engine.env(m.call.db, m.work)
		keys, _ := translator.AsideSources(m.call.cmd, m.call.args)
		if err := m.note(run, env, keys); err != nil {
			return err
		}
		p := m.call
		p.staged = true
		var err error
		for m.plan, err = p.plan(env, 0); err == nil && m.plan.Then != nil; {
			if err := m.note(run, env, m.plan.Reads); err != nil {
				return err
			}
			r, err := run(batchOf(&m.plan, m.work.Budget))
			if err != nil {
				return err
			}
			switch {
			case r.Refused != nil && r.Refused.Reply != nil && translator.RemovesMany(m.call.cmd):
				return errTooMuchMemory
			case r.Refused != nil:
				v, err = refusal(m.plan.Batch.Stmts[r.Refused.At], r.Refused)
				done = true
				return err
			}
			m.plan, err = m.engine.following(&m.plan, &r, m.work)
			if err != nil {
				return err
			}
		}
		return err
	}))
	if err == nil && !done && m.plan.Staged == nil && len(m.plan.Batch.Stmts) == 0 {
		v, done = m.plan.Reply, true
	}
	return v, done, err
}

// note notes at which versions keys are.
func (m *making) note(run Run, env translator.Env, keys [][]byte) error {
	if len(keys) == 0 {
		return nil
	}
	r, err := run(store.Batch{ReadOnly: true, Stmts: []store.Stmt{translator.ReadVersions(env, keys)}})
	if err == nil {
		m.sources = append(m.sources, translator.Versions{DB: env.DB, Keys: keys, At: r.Rows[0][0][0]})
	}
	return err
}

// hiddenKeys is what a slice changes as far as anybody can see.
var hiddenKeys = [][]byte{}

// slices makes the hidden key.
func (m *making) slices(ctx context.Context, a *translator.Staged) error {
	var before *store.Result
	for rows := asideRows; ; {
		if err := ctx.Err(); err != nil {
			return err
		}
		stmts, err := m.slice(a, before, rows)
		if err != nil || len(stmts) == 0 {
			return err
		}
		began := time.Now()
		r, err := m.apply(ctx, store.Batch{Stmts: stmts, Keys: hiddenKeys})
		switch {
		case err != nil:
			return err
		case r.Refused != nil && r.Refused.TooLong != nil:
			return r.Refused.TooLong
		case r.Refused != nil:
			return errStale
		}
		took := time.Since(began)
		m.worked += r.Took
		before, rows = &r, fitting(rows, took)
		if s, can := m.engine.store.(throttler); can {
			s.Throttle(took)
		}
	}
}

// fitting is how many rows the next slice should be of, after one that took so long.
func fitting(rows int, took time.Duration) int {
	switch {
	case took < asideTime/2:
		return min(rows*2, asideMostRows)
	case took > asideTime*2:
		return max(rows/2, 1)
	}
	return rows
}

// slice returns the statements of the next slice. A panic ends the call.
func (m *making) slice(a *translator.Staged, before *store.Result, rows int) (stmts []store.Stmt, err error) {
	defer store.Catch(&err)
	m.work.Begin()
	return a.Slice(m.engine.env(m.call.db, m.work), m.sources, before, rows), nil
}

// apply applies a slice. Those of several calls take turns, so that nobody waits for more than one.
func (m *making) apply(ctx context.Context, b store.Batch) (store.Result, error) {
	m.engine.slicing.Lock()
	defer m.engine.slicing.Unlock()
	results, err := m.engine.store.Apply(ctx, []store.Batch{b})
	if err != nil {
		return store.Result{}, err
	}
	return results[0], nil
}

// drop deletes the hidden key. When that fails, it expires.
func (m *making) drop(ctx context.Context, a *translator.Staged) {
	m.apply(context.WithoutCancel(ctx), store.Batch{Stmts: []store.Stmt{a.Drop()}, Keys: hiddenKeys})
}

// publish runs the last step, if nothing has changed.
func (m *making) publish(ctx context.Context) (v resp.Value, done bool, err error) {
	e, c := m.engine, m.call
	c.override = func(env translator.Env) translator.Plan {
		if m.plan.Staged != nil {
			return m.plan.Staged.Publish(env)
		}
		return m.plan
	}
	err = m.store.Transact(ctx, false, guarded(e.feed.telling(func(run Run) error {
		began := time.Now()
		m.work.Budget.Back(m.used)
		m.work.Begin()
		var err error
		env := e.env(c.db, m.work) // of one moment: what is there in the one is there in the other
		if done, err = m.unchanged(run, env); err != nil || !done {
			return err
		}
		p, err := c.plan(env, 0)
		if err != nil {
			return err
		}
		v, err = e.steps(run, p, m.work)
		m.worked += time.Since(began)
		return err
	})))
	return v, done && err == nil, err
}

// unchanged reports whether what the call is made of is as it was, and the hidden key is there.
func (m *making) unchanged(run Run, env translator.Env) (bool, error) {
	var stmts []store.Stmt
	for _, v := range m.sources {
		env.DB = v.DB
		stmts = append(stmts, translator.ReadVersions(env, v.Keys))
	}
	if m.plan.Staged != nil {
		stmts = append(stmts, m.plan.Staged.There(env))
	}
	r, err := run(store.Batch{ReadOnly: true, Stmts: stmts})
	if err != nil {
		return false, err
	}
	for i, v := range m.sources {
		if string(r.Rows[i][0][0].Bytes()) != string(v.At.Bytes()) {
			return false, nil
		}
	}
	return m.plan.Staged == nil || len(r.Rows[len(stmts)-1]) > 0, nil
}
