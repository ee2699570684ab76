package engine

import (
	"context"
	"errors"

	"github.com/meowdis/meowdis/resp"
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
	guarded := map[string]bool{}
	stop := rebuild
	reply, err := c.eval.execute(c.db, env.Seed, func(p planned) (resp.Value, error) {
		env.Seed += scriptSeeds
		p.noteRead()
		for _, key := range p.keys() {
			if id := string(rune(p.db)) + string(key); !guarded[id] {
				guarded[id] = true
				if err := d.guardReads(ctx, p.db, [][]byte{key}); err != nil {
					return resp.Value{}, err
				}
			}
		}
		v, how, err := d.dry(ctx, i, p.plan(env, 0), p.db)
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
		stmts := append(append(d.stmts[:n:n], p.Batch.Stmts...), translator.Abort())
		for i := range stmts {
			stmts[i].Moot = nil // as in add
		}
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
			p = following(&p, &result)
			continue
		}
		if !p.Batch.ReadOnly {
			d.add(i, p.Batch.Stmts)
		}
		return decode(&p, &result), done, nil
	}
}
