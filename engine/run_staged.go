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

// Staged calls: a call that builds a large key, outside MULTI and scripts, is built in steps
// (translator.Staged), so that other clients can write in the meantime. A reader reads the sources and their
// versions. Slices then build the key under a hidden name, each in its own transaction. The last transaction
// publishes the key if no source has changed. Otherwise the call starts again, up to stagedTries times, and
// then runs as one transaction.
//
// Calls in MULTI and in scripts, and small calls, always run as one transaction; for a small call, staging
// costs one read of the sizes of its keys. A time limit applies to each transaction separately, because it
// protects the clients that wait.

const (
	stagedElements = 2000 // minimum number of elements of a large call's keys, together
	stagedArgBytes = 32   // bytes of an argument that count as one element, for a call without source keys
	stagedTries    = 3

	// The first slice has sliceRows rows. The size of the next slices adapts until each takes about sliceTime,
	// including its commit and the waiting before it.
	sliceRows    = 128
	sliceMaxRows = 2048
	sliceTime    = 6 * time.Millisecond
)

// throttler is a store that decides when a writer of slices should let other clients write. Throttle waits
// after a slice that took the given time.
type throttler interface{ Throttle(took time.Duration) }

var (
	// errLarge ends the transaction of a call that should be staged. The transaction has not written.
	errLarge = errors.New("the call is large")
	// errStale ends slices whose result is useless: a source key has changed, or the hidden key is gone.
	errStale = errors.New("the slices are stale")
	// errTooMuchMemory ends a staged change whose reads exceed the client's memory limit. The call then runs in
	// one transaction, which usually reads nothing.
	errTooMuchMemory = errors.New("the call reads more than the memory limit")
)

// WithStaging sets the number of elements above which keys are large, so that calls build their results in
// slices. A value below 0 stages every call that can be staged. It does not change any result.
func WithStaging(elements int64) Option { return func(e *Engine) { e.stageFrom = elements } }

// changeFactor multiplies stageFrom for a call that changes elements.
const changeFactor = 10

// concurrentReads is a store that may have readers next to its writer.
type concurrentReads interface{ ReadsDuringWrites() bool }

// canStage reports whether the call should be staged if its keys are large. of is the number of calls in the
// pipeline: a call that changes elements is staged only if it is the only one, because most changes are short.
func (e *Engine) canStage(cmd *commands.Command, args [][]byte, of int) bool {
	if !translator.MayStage(cmd) || of > 1 && translator.ChangesMany(cmd) {
		return false
	}
	_, holds := e.store.(transactor)
	b, can := e.store.(concurrentReads)
	if !holds || !can || !b.ReadsDuringWrites() {
		return false
	}
	keys, longest := translator.StagedSources(cmd, args)
	return len(keys) > 0 || int64(longest/stagedArgBytes) > e.stageFrom
}

// checkLarge returns errLarge for a call that should be staged.
func (e *Engine) checkLarge(run Run, c *planned) error {
	if !c.options.has(mayStage) {
		return nil
	}
	keys, longest := translator.StagedSources(c.cmd, c.args)
	if len(keys) == 0 && int64(longest/stagedArgBytes) > e.stageFrom {
		return errLarge
	}
	size, from := int64(len(c.args)), e.stageFrom
	if !translator.AddsMany(c.cmd) {
		r, err := run(store.Batch{ReadOnly: true, Stmts: []store.Stmt{translator.ReadSizes(e.env(c.db, nil), keys)}})
		if err != nil {
			return err
		}
		if size = r.Rows[0][0][0].Int(); translator.ChangesMany(c.cmd) {
			from *= changeFactor
		}
	}
	if size <= from {
		return nil
	}
	if translator.ChangesMany(c.cmd) {
		if room, err := e.fitsTwice(run); !room {
			return err
		}
	}
	return errLarge
}

// stagedCall holds the state of a staged call.
type stagedCall struct {
	engine  *Engine
	store   transactor
	call    planned
	work    *store.Work
	used    int64
	plan    translator.Plan // its last step
	sources []translator.Versions
	worked  time.Duration
}

// runStaged runs a staged call. worked is how long the call kept the store busy.
func (e *Engine) runStaged(ctx context.Context, c planned, work *store.Work) (v resp.Value, worked time.Duration, err error) {
	c.options &^= mayStage
	m := &stagedCall{engine: e, store: e.store.(transactor), call: c, work: work, used: work.Budget.Used()}
	defer func() {
		if late, is := limited(err); is {
			v, err = late, nil
		}
		worked = m.worked
	}()
	for range stagedTries {
		v, done, err := m.try(ctx)
		if errors.Is(err, errTooMuchMemory) {
			break
		}
		if done || err != nil {
			return v, 0, err
		}
	}
	work.Budget.Rewind(m.used)
	one := []planned{c}
	replies, _, err := e.transaction(ctx, nil, one, work)
	m.worked += one[0].took
	if err != nil {
		return resp.Value{}, 0, err
	}
	return replies[0], 0, nil
}

// try makes one attempt. It reports whether the call is done, so no source has changed in the meantime.
func (m *stagedCall) try(ctx context.Context) (v resp.Value, done bool, err error) {
	m.work.Budget.Rewind(m.used)
	if v, done, err = m.read(ctx); done || err != nil {
		return v, done, err
	}
	a := m.plan.Staged
	switch {
	case a == nil && len(m.sources) == 0:
		return v, false, nil // one transaction is enough
	case a == nil:
		return m.publish(ctx)
	}
	if err = m.slices(ctx, a); err == nil {
		v, done, err = m.publish(ctx)
	}
	m.drop(ctx, a) // does nothing after publish
	if errors.Is(err, errStale) {
		err = nil
	}
	return v, done, err
}

// read runs the steps of the call up to the last one, in a snapshot. done is true if a step has already
// answered the call.
func (m *stagedCall) read(ctx context.Context) (v resp.Value, done bool, err error) {
	began := time.Now()
	defer func() { m.worked += time.Since(began) }()
	err = m.store.Transact(ctx, true, panicsAsErrors(func(run Run) error {
		m.work.Budget.Rewind(m.used)
		m.work.Begin()
		m.sources = nil
		env := m.engine.env(m.call.db, m.work)
		keys, _ := translator.StagedSources(m.call.cmd, m.call.args)
		if err := m.note(run, env, keys); err != nil {
			return err
		}
		p := m.call
		p.options |= staged
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
			case r.Refused != nil && r.Refused.Reply != nil && translator.ChangesMany(m.call.cmd):
				return errTooMuchMemory
			case r.Refused != nil:
				v, err = refusal(m.plan.Batch.Stmts[r.Refused.At], r.Refused)
				done = true
				return err
			}
			m.plan, err = m.engine.nextPlan(&m.plan, &r, m.work)
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

// note records the versions of keys.
func (m *stagedCall) note(run Run, env translator.Env, keys [][]byte) error {
	if len(keys) == 0 {
		return nil
	}
	r, err := run(store.Batch{ReadOnly: true, Stmts: []store.Stmt{translator.ReadVersions(env, keys)}})
	if err == nil {
		m.sources = append(m.sources, translator.Versions{DB: env.DB, Keys: keys, At: r.Rows[0][0][0]})
	}
	return err
}

// noVisibleKeys lists the visible keys that a slice changes: none.
var noVisibleKeys = [][]byte{}

// slices builds the hidden key.
func (m *stagedCall) slices(ctx context.Context, a *translator.Staged) error {
	var before *store.Result
	for rows := sliceRows; ; {
		if err := ctx.Err(); err != nil {
			return err
		}
		stmts, err := m.slice(a, before, rows)
		if err != nil || len(stmts) == 0 {
			return err
		}
		began := time.Now()
		r, err := m.apply(ctx, store.Batch{Stmts: stmts, Keys: noVisibleKeys})
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
		before, rows = &r, nextSliceRows(rows, took)
		if s, can := m.engine.store.(throttler); can {
			s.Throttle(took)
		}
	}
}

// nextSliceRows returns the number of rows for the next slice, given the time of the last one.
func nextSliceRows(rows int, took time.Duration) int {
	switch {
	case took < sliceTime/2:
		return min(rows*2, sliceMaxRows)
	case took > sliceTime*2:
		return max(rows/2, 1)
	}
	return rows
}

// slice returns the statements of the next slice. A panic ends the call with an error.
func (m *stagedCall) slice(a *translator.Staged, before *store.Result, rows int) (stmts []store.Stmt, err error) {
	defer store.Catch(&err)
	m.work.Begin()
	return a.Slice(m.engine.env(m.call.db, m.work), m.sources, before, rows), nil
}

// apply applies a slice. Slices of different calls alternate, so that a client waits for at most one slice.
func (m *stagedCall) apply(ctx context.Context, b store.Batch) (store.Result, error) {
	m.engine.slicing.Lock()
	defer m.engine.slicing.Unlock()
	results, err := m.engine.store.Apply(ctx, []store.Batch{b})
	if err != nil {
		return store.Result{}, err
	}
	return results[0], nil
}

// drop deletes the hidden key. If that fails, the key expires.
func (m *stagedCall) drop(ctx context.Context, a *translator.Staged) {
	m.apply(context.WithoutCancel(ctx), store.Batch{Stmts: []store.Stmt{a.Drop()}, Keys: noVisibleKeys})
}

// publish runs the last step if no source has changed.
func (m *stagedCall) publish(ctx context.Context) (v resp.Value, done bool, err error) {
	last := m.call
	last.make = func(env translator.Env) translator.Plan {
		if m.plan.Staged != nil {
			return m.plan.Staged.Publish(env)
		}
		return m.plan
	}
	m.work.Budget.Rewind(m.used)
	one := []planned{last}
	replies, done, err := m.engine.transact(ctx, m.store, 0, m.unchanged, one, m.work)
	m.worked += one[0].took
	if !done {
		return resp.Value{}, false, err
	}
	return replies[0], true, nil
}

// unchanged reports whether the sources still have their versions and the hidden key still exists.
func (m *stagedCall) unchanged(run Run, env translator.Env) (bool, error) {
	var stmts []store.Stmt
	for _, v := range m.sources {
		env.DB = v.DB
		stmts = append(stmts, translator.ReadVersions(env, v.Keys))
	}
	if m.plan.Staged != nil {
		stmts = append(stmts, m.plan.Staged.Exists(env))
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
