package engine

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/meowdis/meowdis/redis/resp"
	"github.com/meowdis/meowdis/store"
	"github.com/meowdis/meowdis/translator"
)

// maxBlockTime limits how long independent calls, or a script, block other writers. After it the remaining calls
// run in another transaction.
const maxBlockTime = time.Second

// errUndone rolls back a transaction that must leave no trace.
var errUndone = errors.New("undone")

// transaction runs calls as one transaction and returns their replies. If a watched key has changed, it runs
// none of them and ok is false.
func (e *Engine) transaction(ctx context.Context, watched []translator.Version, calls []planned, work *store.Work) (replies []resp.Value, ok bool, err error) {
	t, can := e.store.(transactor)
	if !can {
		for i := range calls {
			calls[i].noteRead()
		}
		return e.replay(ctx, watched, calls, work)
	}
	o, used := options(0), work.Budget.Used()
	if onlyRead(calls) {
		o = reading
	}
	still := func(run Run, env translator.Env) (bool, error) { return unchanged(run, env, watched) }
	replies, ok, err = e.transact(ctx, t, o, still, calls, work)
	if o.has(reading) && errors.Is(err, errWrites) {
		work.Budget.Rewind(used)
		return e.transact(ctx, t, 0, still, calls, work)
	}
	return replies, ok, err
}

// inTurn runs independent calls in order, in one transaction. It returns the replies of all calls, or only the
// first replies if the calls take long, fill the budget, or fail with untilError. The error may be errLarge for
// the first call.
func (e *Engine) inTurn(ctx context.Context, t transactor, o options, calls []planned, work *store.Work) ([]resp.Value, error) {
	o |= apart
	if onlyRead(calls) {
		o |= reading
	}
	used := work.Budget.Used()
	for {
		replies, _, err := e.transact(ctx, t, o, nil, calls, work)
		late, is := limited(err)
		if !is {
			return replies, err
		}
		work.Budget.Rewind(used)
		if len(replies) == 0 {
			return []resp.Value{late}, nil
		}
		calls = calls[:len(replies)] // these succeeded, and run again without the call that failed
	}
}

// transact makes one attempt at a transaction. Calls run only if still returns true; a nil still always does. A
// reading attempt that turns out to write returns errWrites. With an error no call took effect, and the error
// belongs to the call after the last reply.
func (e *Engine) transact(ctx context.Context, t transactor, o options, still func(Run, translator.Env) (bool, error), calls []planned, work *store.Work) (replies []resp.Value, ok bool, err error) {
	used := work.Budget.Used()
	err = t.Transact(ctx, o.has(reading), panicsAsErrors(func(run Run) error {
		work.Budget.Rewind(used)
		work.Begin()
		a := attempt{engine: e, options: o, calls: calls, work: work, env: e.env(0, work), run: run, recorded: run}
		if !o.has(reading) {
			a.recorded = e.feed.recordWrites(&e.feed.current, run, a.unit)
		}
		replies, ok = make([]resp.Value, 0, len(calls)), false
		unread(calls)
		if still != nil {
			if same, err := still(run, a.env); err != nil || !same {
				return err
			}
		}
		ok = true
		return a.runAll(ctx, &replies)
	}))
	return replies, ok && err == nil, err
}

// attempt is one attempt to run calls in a transaction.
type attempt struct {
	engine   *Engine
	options  options
	calls    []planned
	work     *store.Work
	env      translator.Env // one point in time for all calls, unless they are apart
	run      Run
	recorded Run // run, with the writes recorded for the change feed
	began    time.Time
	ran      time.Duration // end of the last call
	at       int           // the current call

	// Of a bulk.
	chunks <-chan plannedCalls
	chunk  plannedCalls
	adding addStreak
}

// unit returns the unit of the current call's effects: the transaction, or the call if calls are apart.
func (a *attempt) unit() any {
	if a.options.has(apart) {
		return &a.calls[a.at]
	}
	return a
}

// runAll runs the calls and appends their replies.
func (a *attempt) runAll(ctx context.Context, replies *[]resp.Value) error {
	a.began = time.Now()
	next, end := a.plans(ctx)
	defer end()
	for i := 0; i < len(a.calls); i = len(*replies) {
		if i > 0 && a.full(ctx, &(*replies)[i-1]) {
			break
		}
		if err := ctx.Err(); a.options.has(reading) && err != nil {
			return err
		}
		if added, err := a.addTogether(i, replies); added || err != nil {
			if err != nil {
				return err
			}
			continue
		}
		v, err := a.runCall(i, next)
		switch {
		case i > 0 && a.options.has(apart) && errors.Is(err, errLarge):
			return nil // it runs first in the next transaction
		case err == nil && a.options.has(apart):
			err = a.serve()
		}
		if err != nil {
			return err
		}
		a.spent(i, 1)
		*replies = append(*replies, v)
	}
	switch {
	case a.options.has(rollBack):
		return errUndone
	case a.options.has(apart):
		return nil
	}
	return a.serve()
}

// spent divides the time since the last call among the n calls from i on.
func (a *attempt) spent(i, n int) {
	now := time.Since(a.began)
	for j := range n {
		a.calls[i+j].took = (now - a.ran) / time.Duration(n)
	}
	a.ran = now
}

// full reports whether the remaining calls need another transaction, or must not run after the reply last.
func (a *attempt) full(ctx context.Context, last *resp.Value) bool {
	return a.options.has(apart) && (a.ran > maxBlockTime || a.work.Budget.Full()) ||
		a.options.has(untilError) && (last.HasError() || ctx.Err() != nil)
}

// serve serves the clients that wait for a write of the calls so far.
func (a *attempt) serve() error {
	if a.options.has(reading) {
		return nil
	}
	f := &a.engine.feed
	return f.serve(&f.current, inside{f, &f.current, a.run})
}

// runCall runs call i. next returns the plan of the next call.
func (a *attempt) runCall(i int, next func(int) (translator.Plan, error)) (resp.Value, error) {
	a.at = i
	e, c := a.engine, &a.calls[i]
	switch {
	case c.eval != nil:
		c.eval.reading = a.options.has(reading)
		return c.eval.within(a.recorded, a.env, i, c.db, a.work)
	case c.cmd == nil:
		return c.answer, nil
	}
	return e.feed.tryCall(*c, func() (resp.Value, error) {
		if err := e.checkLarge(a.recorded, c); err != nil {
			return resp.Value{}, err
		}
		e.reads(*c, a.options.has(reading))
		p, err := next(i)
		if err != nil {
			return resp.Value{}, err
		}
		return e.steps(a.recorded, p, a.work)
	})
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
