package engine

import (
	"slices"
	"sync"
)

// queues prevents contention between the calls of one process, on a store without transactions. A call that
// reads before it writes locks its keys exclusively; writes of a single batch share their keys. So a call is
// rebuilt only if another process was faster.
type queues struct {
	mu sync.Mutex
	of map[string]*queue // by key name, for all databases together
}

// queueName returns the name of a key's queue. Scripts that name no key use noKeyQueue.
func queueName(key []byte) string { return "=" + string(key) }

const noKeyQueue = ""

type queue struct {
	sync.RWMutex
	users int // holders and waiters
}

// lock locks the keys, exclusively with alone, shared without, and returns the function that unlocks them. The
// caller must not hold any other keys.
func (q *queues) lock(keys []string, alone bool) (release func()) {
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
	for _, one := range all { // always in the same order, so no deadlock
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

// keysOf returns the keys of the calls and the watched keys. alone reports whether any call reads before it
// writes.
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
			keys = append(keys, queueName(p.args[ref.Pos]))
		}
		if c.eval != nil && len(refs) == 0 {
			keys = append(keys, noKeyQueue)
		}
	}
	for _, v := range d.watched {
		keys = append(keys, queueName(v.Key))
	}
	return keys, alone || d.guardAll
}
