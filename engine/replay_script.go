package engine

import (
	"context"
	"errors"

	"github.com/meowdis/meowdis/redis/resp"
	"github.com/meowdis/meowdis/store"
	"github.com/meowdis/meowdis/translator"
)

// On a store without transactions a script runs while its batch is built. Each command is a dry run: the batch
// so far, with the command at its end, which returns the command's reply. Guards hold the keys of each command
// at the versions from before the transaction. So the script sees its own writes, and its decisions are still
// valid when the batch commits; otherwise the script runs again.

// errRebuild ends a script if one of its keys has changed.
var errRebuild = errors.New("a key has changed")

// script runs the script of call i, and adds its statements to the batch.
func (d *draft) script(ctx context.Context, i int) (progress, error) {
	c := d.calls[i]
	env := d.env
	env.Seed += uint64(i) << 32
	env.InScript = true
	guarded := map[string]bool{}
	stop := rebuild
	reply, err := c.eval.execute(c.db, env.Seed, d.work, func(p planned) (resp.Value, error) {
		env.Seed += scriptSeeds
		p.noteRead()
		keys := unguarded(guarded, p.db, p.keys())
		if p.db == c.db { // also guard the script's declared keys, which it will probably use
			keys = append(keys, unguarded(guarded, p.db, c.eval.keys)...)
		}
		plan, err := p.plan(env, 0)
		if err != nil {
			return resp.Value{}, err
		}
		if d.onlyGuards() && readsOnce(&plan) {
			return d.read(ctx, plan, p.db, keys)
		}
		if err := d.guardReads(ctx, p.db, keys); err != nil {
			return resp.Value{}, err
		}
		v, how, err := d.dryRun(ctx, i, plan, p.db)
		if err == nil && how != done {
			stop, err = how, errRebuild
		}
		return v, err
	})
	if errors.Is(err, errRebuild) {
		return stop, nil
	}
	var stmts []store.Stmt
	for at, owner := range d.owner {
		if owner == i {
			stmts = append(stmts, d.stmts[at])
		}
	}
	d.replies[i] = reply
	d.plans[i] = translator.Plan{
		Batch:  store.Batch{Stmts: stmts},
		Decode: func(*store.Result) resp.Value { return reply },
	}
	return done, err
}

// unguarded returns the keys of a database without a guard, and marks them as guarded.
func unguarded(guarded map[string]bool, db int, keys [][]byte) (others [][]byte) {
	for _, key := range keys {
		if id := string(rune(db)) + string(key); !guarded[id] {
			guarded[id] = true
			others = append(others, key)
		}
	}
	return others
}

// readsOnce reports whether a command only reads, in a single batch.
func readsOnce(p *translator.Plan) bool {
	return p.Batch.ReadOnly && len(p.Batch.Stmts) > 0 && p.Then == nil && len(p.Reads) == 0
}

// read runs a command of a script that has written nothing yet, together with a read of the versions of keys.
// In the end their guards check that the rows were current.
func (d *draft) read(ctx context.Context, p translator.Plan, db int, keys [][]byte) (resp.Value, error) {
	env := d.env
	env.DB = db
	b := store.Batch{ReadOnly: true}
	if len(keys) > 0 {
		b.Stmts = append(b.Stmts, translator.ReadVersions(env, keys))
	}
	n := len(b.Stmts)
	b.Stmts = append(b.Stmts, unconditional(p.Batch.Stmts)...)
	r, err := d.apply(ctx, b)
	if err != nil {
		return resp.Value{}, err
	}
	if r.Refused != nil {
		return refusal(b.Stmts[r.Refused.At], r.Refused)
	}
	if n > 0 {
		d.guard(db, keys, r.Rows[0][0][0])
	}
	result := store.Result{Rows: r.Rows[n:]}
	return d.engine.decode(&p, &result, d.work)
}

// dryRun runs a command of a script after the batch so far, and adds its statements to the batch unless the
// command was refused.
func (d *draft) dryRun(ctx context.Context, i int, p translator.Plan, db int) (resp.Value, progress, error) {
	for {
		if len(p.Batch.Stmts) == 0 {
			return p.Reply, done, nil
		}
		if err := d.guardReads(ctx, db, p.Reads); err != nil {
			return resp.Value{}, done, err
		}
		n := len(d.stmts)
		stmts := append(append(d.stmts[:n:n], unconditional(p.Batch.Stmts)...), translator.Abort())
		r, err := d.apply(ctx, store.Batch{Stmts: stmts})
		switch {
		case err != nil:
			return resp.Value{}, done, err
		case r.Refused == nil:
			return resp.Value{}, done, errors.New("the store committed a dry run")
		case r.Refused.At < n:
			how, err := d.handleRefusal(r.Refused)
			return resp.Value{}, how, err
		case r.Refused.At < len(stmts)-1:
			v, err := refusal(stmts[r.Refused.At], r.Refused)
			return v, done, err
		}
		end := n + len(p.Batch.Stmts)
		result := store.Result{Rows: r.Rows[n:end], Changes: r.Changes[n:end]}
		if p.Then != nil {
			if p, err = d.engine.nextPlan(&p, &result, d.work); err != nil {
				return resp.Value{}, done, err
			}
			continue
		}
		if !p.Batch.ReadOnly {
			d.add(i, p.Batch.Stmts)
		}
		v, err := d.engine.decode(&p, &result, d.work)
		return v, done, err
	}
}
