package engine

import (
	"context"
	"errors"

	"github.com/meowdis/meowdis/resp"
	"github.com/meowdis/meowdis/store"
	"github.com/meowdis/meowdis/translator"
)

// On a store that cannot hold a transaction open, a transaction is built up as
// one batch. A read-modify-write call needs to see what the calls before it did:
// a dry run executes the batch so far with the read behind it and then aborts,
// which brings the rows back and leaves no trace. The final batch begins with a
// guard for the version of every key that such a call read; when one has changed
// meanwhile, everything is built again.

// errContention is what remains after too many rebuilds.
var errContention = errors.New("the keys kept changing while a transaction was being built")

const maxRebuilds = 1000

// draft is a transaction under construction.
type draft struct {
	engine  *Engine
	env     translator.Env
	calls   []planned
	replies []resp.Value
	settled []bool // the call has its reply: it was refused, or needs no store

	watched int // guards of the caller's own, at the head of stmts
	stmts   []store.Stmt
	owner   []int // the call that each of stmts belongs to, -1 for a guard
	plans   []translator.Plan
	start   []int
}

func (e *Engine) replay(ctx context.Context, watched []translator.Version, calls []planned) ([]resp.Value, bool, error) {
	e.replaying.Lock()
	defer e.replaying.Unlock()
	d := &draft{
		engine: e, calls: calls, watched: len(watched),
		replies: make([]resp.Value, len(calls)), settled: make([]bool, len(calls)),
	}
	for range maxRebuilds {
		d.env = e.env(0)
		committed, aborted, err := d.build(ctx, watched)
		if err != nil || committed || aborted {
			return d.replies, committed, err
		}
	}
	return nil, false, errContention
}

// build makes the batch once and runs it. Neither committed nor aborted means
// that it must be built again.
func (d *draft) build(ctx context.Context, watched []translator.Version) (committed, aborted bool, err error) {
	guarded, err := d.versions(ctx)
	if err != nil {
		return false, false, err
	}
	n := len(d.calls)
	d.plans, d.start = make([]translator.Plan, n), make([]int, n)
	d.stmts = guards(d.env, append(watched[:len(watched):len(watched)], guarded...)).Stmts
	d.owner = make([]int, len(d.stmts))
	for i := range d.owner {
		d.owner[i] = -1
	}
	for i, c := range d.calls {
		switch {
		case d.settled[i]:
			continue
		case c.cmd == nil:
			d.replies[i], d.settled[i] = c.answer, true
			continue
		}
		p, again, aborted, err := d.plan(ctx, i)
		if err != nil || again || aborted {
			return false, aborted, err
		}
		if len(p.Batch.Stmts) == 0 {
			d.replies[i] = p.Reply
			continue
		}
		d.plans[i], d.start[i] = p, len(d.stmts)
		d.add(i, p.Batch.Stmts)
	}
	return d.commit(ctx)
}

func (d *draft) add(owner int, stmts []store.Stmt) {
	for _, s := range stmts {
		d.stmts, d.owner = append(d.stmts, s), append(d.owner, owner)
	}
}

// versions reads the versions of the keys that read-modify-write calls name.
func (d *draft) versions(ctx context.Context) ([]translator.Version, error) {
	var vs []translator.Version
	batch := store.Batch{ReadOnly: true}
	for i, c := range d.calls {
		if c.cmd == nil || d.settled[i] || c.plan(d.env, i).Then == nil {
			continue
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
	results, err := d.engine.store.Apply(ctx, []store.Batch{batch})
	if err != nil {
		return nil, err
	}
	for i := range vs {
		vs[i] = versionOf(vs[i].DB, vs[i].Key, results[0].Rows[i])
	}
	return vs, nil
}

// plan follows call i's steps to the one that ends it, by dry runs.
func (d *draft) plan(ctx context.Context, i int) (p translator.Plan, again, aborted bool, err error) {
	p = d.calls[i].plan(d.env, i)
	for p.Then != nil {
		n := len(d.stmts)
		stmts := append(append(d.stmts[:n:n], p.Batch.Stmts...), translator.Abort())
		results, err := d.engine.store.Apply(ctx, []store.Batch{{Stmts: stmts}})
		if err != nil {
			return p, false, false, err
		}
		r := results[0]
		switch {
		case r.Refused == nil:
			return p, false, false, errors.New("the store committed a dry run")
		case r.Refused.At == len(stmts)-1:
			p = p.Then(&store.Result{Rows: r.Rows[n : n+len(p.Batch.Stmts)]})
		case r.Refused.At >= n:
			d.settled[i] = true
			d.replies[i], err = refusal(stmts[r.Refused.At], r.Refused)
			return p, true, false, err
		default:
			again, aborted, err = d.refused(r.Refused)
			return p, again, aborted, err
		}
	}
	return p, false, false, nil
}

// refused settles what stopped the batch: the caller's watch aborts, a guard of
// our own asks for a rebuild, a call's refusal is its reply and the rest is
// built again without it.
func (d *draft) refused(r *store.Refusal) (again, aborted bool, err error) {
	i := d.owner[r.At]
	switch {
	case i < 0 && r.At < d.watched:
		return false, true, nil
	case i < 0:
		return true, false, nil
	}
	d.settled[i] = true
	d.replies[i], err = refusal(d.stmts[r.At], r)
	return true, false, err
}

func (d *draft) commit(ctx context.Context) (committed, aborted bool, err error) {
	if len(d.stmts) == 0 {
		return true, false, nil
	}
	results, err := d.engine.store.Apply(ctx, []store.Batch{{Stmts: d.stmts}})
	if err != nil {
		return false, false, err
	}
	r := results[0]
	if r.Refused != nil {
		_, aborted, err = d.refused(r.Refused)
		return false, aborted, err
	}
	for i, p := range d.plans {
		if p.Decode == nil {
			continue
		}
		n := len(p.Batch.Stmts)
		d.replies[i] = p.Decode(&store.Result{Rows: r.Rows[d.start[i] : d.start[i]+n]})
	}
	return true, false, nil
}

// guards refuse the batch when a key is no longer at its version.
func guards(env translator.Env, watched []translator.Version) store.Batch {
	var b store.Batch
	for _, v := range watched {
		s := v.Guard(env)
		s.Refused = &resp.NilArray
		b.Stmts = append(b.Stmts, s)
	}
	return b
}
