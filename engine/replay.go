package engine

import (
	"context"
	"errors"
	"slices"

	"github.com/meowdis/meowdis/redis/resp"
	"github.com/meowdis/meowdis/store"
	"github.com/meowdis/meowdis/translator"
)

// On a store that cannot hold a transaction open, a transaction is built as one batch. A read-modify-write call
// must see the writes of the calls before it, so the engine makes a dry run: the batch so far, the read, and an
// abort, which returns the rows and leaves no trace. A refused call gets its reply, and its statements are
// removed from the batch.
//
// Both decisions are valid only while the keys are unchanged. So the batch begins with a guard for the version
// of each key; if a key has changed, the whole batch is built again. A transaction without read-modify-write
// starts without guards, because most are not refused.

// errContention reports too many rebuilds.
var errContention = errors.New("the keys kept changing while a transaction was being built")

const maxRebuilds = 1000

// draft is a transaction under construction.
type draft struct {
	engine   *Engine
	watched  []translator.Version
	calls    []planned
	work     *store.Work
	replies  []resp.Value
	guardAll bool // guard the keys of all calls, because one was refused

	// Reset for every build.
	env     translator.Env
	first   *store.Result     // rows of the first step of the first call
	plans   []translator.Plan // has no statements for a call with a reply
	stmts   []store.Stmt      // watched keys' guards, other guards, then the calls' statements
	changes [][]int64         // row counts of each call's statements, after the commit
	owner   []int             // index of the call of each statement, -1 for a guard
}

// progress holds the outcome of one step of a build.
type progress int

const (
	done    progress = iota
	again            // run the batch again: a call was taken out of it
	rebuild          // a key has changed
	aborted          // a watched key has changed
)

func (e *Engine) replay(ctx context.Context, watched []translator.Version, calls []planned, work *store.Work) ([]resp.Value, bool, error) {
	d, ok, err := e.buildAndApply(ctx, watched, calls, work)
	if err != nil {
		return nil, ok, err
	}
	if ok && (calls == nil || len(calls) != 1 || calls[0].waiter == nil || !d.replies[0].IsNull()) {
		e.feed.afterApply(ctx, d.notifyFeed)
	}
	return d.replies, ok, nil
}

// buildAndApply does the same as replay, but does not notify the feed.
func (e *Engine) buildAndApply(ctx context.Context, watched []translator.Version, calls []planned, work *store.Work) (*draft, bool, error) {
	d := &draft{engine: e, watched: watched, calls: calls, work: work, replies: make([]resp.Value, len(calls))}
	for range maxRebuilds {
		p, err := d.attempt(ctx)
		if err != nil || p != rebuild {
			return d, p == done, err
		}
	}
	return nil, false, errContention
}

// attempt builds under the same locks until the batch commits, or until the keys need other locks.
func (d *draft) attempt(ctx context.Context) (progress, error) {
	careful := d.guardAll
	defer d.engine.queues.lock(d.keysOf())()
	for range maxRebuilds {
		p, err := d.build(ctx)
		if err != nil || p != rebuild || d.guardAll != careful {
			return p, err
		}
	}
	return done, errContention
}

// notifyFeed reports the committed changes of the calls to the feed.
func (d *draft) notifyFeed(t *transaction) {
	for i := range d.plans {
		p := &d.plans[i]
		if len(d.changes[i]) > 0 {
			b := batchOf(p, nil)
			d.engine.feed.note(t, &b, &store.Result{Changes: d.changes[i]})
		}
	}
}

// build builds the batch once and runs it.
func (d *draft) build(ctx context.Context) (progress, error) {
	d.work.Begin()
	d.env, d.first = d.engine.env(0, d.work), nil
	guarded, err := d.versions(ctx)
	if err != nil {
		return done, err
	}
	d.stmts, d.owner, d.plans = nil, nil, make([]translator.Plan, len(d.calls))
	d.changes = make([][]int64, len(d.calls))
	d.add(-1, guards(d.env, d.watched))
	d.add(-1, guards(d.env, guarded))
	for i, c := range d.calls {
		if c.eval != nil {
			if p, err := d.script(ctx, i); err != nil || p != done {
				return p, err
			}
			continue
		}
		if c.cmd == nil {
			d.replies[i] = c.answer
			continue
		}
		p, err := d.plan(ctx, i)
		if err != nil || p != done {
			return p, err
		}
		d.add(i, d.plans[i].Batch.Stmts)
	}
	return d.commit(ctx)
}

func (d *draft) add(owner int, stmts []store.Stmt) {
	for _, s := range unconditional(stmts) {
		d.stmts, d.owner = append(d.stmts, s), append(d.owner, owner)
	}
}

// remove removes the statements of a call from the batch.
func (d *draft) remove(owner int) {
	n := 0
	for i := range d.stmts {
		if d.owner[i] != owner {
			d.stmts[n], d.owner[n] = d.stmts[i], d.owner[i]
			n++
		}
	}
	d.stmts, d.owner = d.stmts[:n], d.owner[:n]
}

// versions reads the versions of the keys that need a guard and, in the same snapshot, the rows for the first
// step of the first call.
func (d *draft) versions(ctx context.Context) ([]translator.Version, error) {
	var vs []translator.Version
	batch := store.Batch{ReadOnly: true}
	var step []store.Stmt
	for i, c := range d.calls {
		if c.cmd == nil {
			continue
		}
		p, err := c.plan(d.env, i)
		if err != nil {
			return nil, err
		}
		if !d.guardAll && p.Then == nil {
			continue
		}
		if i == 0 && p.Then != nil && len(p.Reads) == 0 {
			step = p.Batch.Stmts
		}
		env := d.env
		env.DB = c.db
		for _, ref := range c.cmd.KeysOf(c.args) {
			vs = append(vs, translator.Version{DB: c.db, Key: c.args[ref.Pos]})
			batch.Stmts = append(batch.Stmts, translator.ReadVersion(env, c.args[ref.Pos]))
		}
	}
	if len(vs) == 0 {
		return nil, nil
	}
	batch.Stmts = append(batch.Stmts, unconditional(step)...)
	r, err := d.apply(ctx, batch)
	if err != nil {
		return nil, err
	}
	for i := range vs {
		vs[i] = versionOf(vs[i].DB, vs[i].Key, r.Rows[i])
	}
	if len(step) > 0 {
		d.first = &store.Result{Rows: r.Rows[len(vs):]}
	}
	return vs, nil
}

// unconditional returns statements without SkipIf, because in a larger batch they get the results of other statements.
func unconditional(stmts []store.Stmt) []store.Stmt {
	stmts = slices.Clone(stmts)
	for i := range stmts {
		stmts[i].SkipIf = nil
	}
	return stmts
}

func (d *draft) apply(ctx context.Context, b store.Batch) (store.Result, error) {
	results, err := d.engine.store.Apply(ctx, []store.Batch{b})
	if err != nil {
		return store.Result{}, err
	}
	if no := results[0].Refused; no != nil && no.TooLong != nil {
		return store.Result{}, no.TooLong
	}
	return results[0], nil
}

// plan runs call i's steps up to the last one, as dry runs.
func (d *draft) plan(ctx context.Context, i int) (progress, error) {
	p, err := d.calls[i].plan(d.env, i)
	for err == nil && p.Then != nil {
		if i == 0 && d.first != nil {
			p, err = d.engine.nextPlan(&p, d.first, d.work)
			d.first = nil
			continue
		}
		if err := d.guardReads(ctx, d.calls[i].db, p.Reads); err != nil {
			return done, err
		}
		n := len(d.stmts)
		stmts := append(append(d.stmts[:n:n], unconditional(p.Batch.Stmts)...), translator.Abort())
		r, err := d.apply(ctx, store.Batch{Stmts: stmts})
		switch {
		case err != nil:
			return done, err
		case r.Refused == nil:
			return done, errors.New("the store committed a dry run")
		case r.Refused.At == len(stmts)-1:
			p, err = d.engine.nextPlan(&p, &store.Result{Rows: r.Rows[n : n+len(p.Batch.Stmts)]}, d.work)
			if err != nil {
				return done, err
			}
		case r.Refused.At >= n:
			d.replies[i], err = refusal(stmts[r.Refused.At], r.Refused)
			return done, err
		default:
			if p, err := d.handleRefusal(r.Refused); err != nil || p != again {
				return p, err
			}
		}
	}
	d.plans[i] = p
	if len(p.Batch.Stmts) == 0 {
		d.replies[i] = p.Reply
	}
	return done, err
}

// guardReads guards keys that a step is about to read and that the call does not name. From then on the batch,
// and so the step's own dry run, is refused if one of them changes. The guard comes before all calls, because
// it is about the keys from before the transaction.
func (d *draft) guardReads(ctx context.Context, db int, keys [][]byte) error {
	if len(keys) == 0 {
		return nil
	}
	env := d.env
	env.DB = db
	r, err := d.apply(ctx, store.Batch{ReadOnly: true, Stmts: []store.Stmt{translator.ReadVersions(env, keys)}})
	if err != nil {
		return err
	}
	d.guard(db, keys, r.Rows[0][0][0])
	return nil
}

// guard adds a guard for keys with the versions that translator.ReadVersions returned.
func (d *draft) guard(db int, keys [][]byte, versions store.Value) {
	guard := translator.Versions{DB: db, Keys: keys, At: versions}.Guard(d.env)
	at := len(d.watched)
	d.stmts, d.owner = slices.Insert(d.stmts, at, guard), slices.Insert(d.owner, at, -1)
}

// onlyGuards reports whether no call has statements yet.
func (d *draft) onlyGuards() bool {
	return !slices.ContainsFunc(d.owner, func(owner int) bool { return owner >= 0 })
}

// handleRefusal handles a refused statement of the batch.
func (d *draft) handleRefusal(r *store.Refusal) (progress, error) {
	i := d.owner[r.At]
	switch {
	case r.At < len(d.watched):
		return aborted, nil
	case i < 0 || d.calls[i].eval != nil:
		return rebuild, nil
	case !d.guardAll:
		d.guardAll = true
		return rebuild, nil
	}
	var err error
	d.replies[i], err = refusal(d.stmts[r.At], r)
	d.plans[i] = translator.Plan{}
	d.remove(i)
	return again, err
}

// commit runs the batch and decodes the replies.
func (d *draft) commit(ctx context.Context) (progress, error) {
	for len(d.stmts) > 0 {
		r, err := d.apply(ctx, store.Batch{Stmts: d.stmts})
		if err != nil {
			return done, err
		}
		if r.Refused != nil {
			if p, err := d.handleRefusal(r.Refused); err != nil || p != again {
				return p, err
			}
			continue
		}
		return done, d.decode(r)
	}
	return done, nil
}

// decode decodes the replies. By now all writes are committed.
func (d *draft) decode(r store.Result) (err error) {
	check := d.work.Check
	defer func() { d.work.Check = check }()
	for at := 0; at < len(d.stmts); {
		i, n := d.owner[at], 1
		if i >= 0 {
			n = len(d.plans[i].Batch.Stmts)
			if d.work.Check = check; !onlyRead(d.calls) {
				d.work.Check = nil
			}
			d.changes[i] = r.Changes[at : at+n]
			d.replies[i], err = d.engine.decode(&d.plans[i], &store.Result{Rows: r.Rows[at : at+n], Changes: d.changes[i]}, d.work)
			if late, is := limited(err); is {
				d.replies[i] = late
			} else if err != nil {
				return err
			}
		}
		at += n
	}
	return nil
}

// guards returns statements that refuse the batch if a key is no longer at its version.
func guards(env translator.Env, versions []translator.Version) []store.Stmt {
	stmts := make([]store.Stmt, len(versions))
	for i, v := range versions {
		stmts[i] = v.Guard(env)
	}
	return stmts
}
