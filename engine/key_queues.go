package engine

import (
	"slices"
	"sync"
)

// queues keep a process from contending with itself on a store without transactions. Calls that read
// before they write have their keys for themselves, one after the other, and writes of one batch share
// theirs: so a call is built again only when another process was faster.
type queues struct {
	mu sync.Mutex
	of map[string]*queue // by the name of the key, in whichever database
}

// named is the name of a key's queue, and unnamed that of scripts which name no key.
func named(key []byte) string { return "=" + string(key) }

const unnamed = ""

type queue struct {
	sync.RWMutex
	users int // who hold it or wait
}

// hold waits until the keys are the caller's, alone or with others that share them, and returns what
// gives them back. Nothing else may be held by then.
func (q *queues) hold(keys []string, alone bool) (release func()) {
	slices.Sort(keys)
	keys = slices.Compact(keys)
	all := make([]*queue, len(keys))
	q.mu.Lock()
	for i, k := range keys {
		if q.of[k] == nil {
			if q.of == nil {
				q.of = map[string]*queue{}
			}
			q.of[k] = &queue{}
		}
		all[i] = q.of[k]
		all[i].users++
	}
	q.mu.Unlock()
	for _, one := range all { // in one order for everybody
		if alone {
			one.Lock()
		} else {
			one.RLock()
		}
	}
	return func() {
		for _, one := range all {
			if alone {
				one.Unlock()
			} else {
				one.RUnlock()
			}
		}
		q.mu.Lock()
		defer q.mu.Unlock()
		for i, k := range keys {
			if all[i].users--; all[i].users == 0 {
				delete(q.of, k)
			}
		}
	}
}

// keysOf are the keys of calls and of what is watched for them. alone reports whether any of the calls
// reads before it writes.
func (d *draft) keysOf() (keys []string, alone bool) {
	env := d.engine.env(0, d.work)
	for i, c := range d.calls {
		p := c.call
		switch {
		case c.eval != nil:
			p, alone = c.eval.call, true
		case c.cmd == nil:
			continue
		default:
			plan, err := c.plan(env, i)
			alone = alone || err != nil || plan.Then != nil
		}
		refs := p.cmd.KeysOf(p.args)
		for _, ref := range refs {
			keys = append(keys, named(p.args[ref.Pos]))
		}
		if c.eval != nil && len(refs) == 0 {
			keys = append(keys, unnamed)
		}
	}
	for _, v := range d.watched {
		keys = append(keys, named(v.Key))
	}
	return keys, alone || d.careful
}
