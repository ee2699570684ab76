package engine

import (
	"context"
	"errors"

	"github.com/meowdis/meowdis/redis/resp"
	"github.com/meowdis/meowdis/store"
	"github.com/meowdis/meowdis/translator"
)

// A script on a store without transactions runs while the batch is built: each of its
// commands is a dry run of the batch so far with the command at its end, which brings
// its reply, and the keys of each are guarded by the versions that they had before the
// transaction. So the script sees its own writes, and what it has decided holds when
// the batch is committed; otherwise it runs again.

// errRebuild ends a script whose keys have changed.
var errRebuild = errors.New("a key has changed")

// script runs the script that is call i, and adds what it does to the batch.
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
		if p.db == c.db { // those that the script names, too: it is likely to use them
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
		v, how, err := d.dry(ctx, i, plan, p.db)
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

// unguarded are those of the keys of a database that were not guarded, and are from now on.
func unguarded(guarded map[string]bool, db int, keys [][]byte) (others [][]byte) {
	for _, key := range keys {
		if id := string(rune(db)) + string(key); !guarded[id] {
			guarded[id] = true
			others = append(others, key)
		}
	}
	return others
}

// readsOnce reports whether a command reads, and by one batch.
func readsOnce(p *translator.Plan) bool {
	return p.Batch.ReadOnly && len(p.Batch.Stmts) > 0 && p.Then == nil && len(p.Reads) == 0
}

// read runs a command of a script that has written nothing, together with the look at the versions of
// keys. Its guards decide in the end whether what it has read was so.
func (d *draft) read(ctx context.Context, p translator.Plan, db int, keys [][]byte) (resp.Value, error) {
	env := d.env
	env.DB = db
	b := store.Batch{ReadOnly: true}
	if len(keys) > 0 {
		b.Stmts = append(b.Stmts, translator.ReadVersions(env, keys))
	}
	n := len(b.Stmts)
	b.Stmts = append(b.Stmts, whole(p.Batch.Stmts)...)
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

// dry runs a command of a script after the batch so far. The batch has its statements
// from then on, unless it was refused.
func (d *draft) dry(ctx context.Context, i int, p translator.Plan, db int) (resp.Value, progress, error) {
	for {
		if len(p.Batch.Stmts) == 0 {
			return p.Reply, done, nil
		}
		if err := d.guardReads(ctx, db, p.Reads); err != nil {
			return resp.Value{}, done, err
		}
		n := len(d.stmts)
		stmts := append(append(d.stmts[:n:n], whole(p.Batch.Stmts)...), translator.Abort())
		r, err := d.apply(ctx, store.Batch{Stmts: stmts})
		switch {
		case err != nil:
			return resp.Value{}, done, err
		case r.Refused == nil:
			return resp.Value{}, done, errors.New("the store committed a dry run")
		case r.Refused.At < n:
			how, err := d.refused(r.Refused)
			return resp.Value{}, how, err
		case r.Refused.At < len(stmts)-1:
			v, err := refusal(stmts[r.Refused.At], r.Refused)
			return v, done, err
		}
		end := n + len(p.Batch.Stmts)
		result := store.Result{Rows: r.Rows[n:end], Changes: r.Changes[n:end]}
		if p.Then != nil {
			if p, err = d.engine.following(&p, &result, d.work); err != nil {
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
