package engine

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/meowdis/meowdis/redis/commands"
	"github.com/meowdis/meowdis/redis/resp"
	"github.com/meowdis/meowdis/redis/script"
	"github.com/meowdis/meowdis/store"
	"github.com/meowdis/meowdis/translator"
)

// memoryQuota holds the memory quota of the data. The store is measured when a command that may need memory asks; if
// memory is left, the result is valid for roomLasts.
type memoryQuota struct {
	limit   atomic.Int64 // bytes of the file; 0 for no limit
	until   atomic.Int64 // when the measurement expires, in ns of the monotonic clock; until then memory is left
	evicted atomic.Int64

	policy  atomic.Pointer[string]
	looking sync.Mutex // held while the store is measured and keys are evicted
}

var outOfMemory = resp.MakeError("OOM command not allowed when used memory > 'maxmemory'.")

const (
	quotaValidFor = 20 * time.Millisecond
	evictBatch    = 16 // keys evicted between two measurements
)

// evictFor limits how long one command evicts keys, once it has evicted at least one. It is a variable for
// tests.
var evictFor = 10 * time.Millisecond

var started = time.Now()

// SetMaxMemory limits the bytes of the file that data takes; 0 means no limit. policy is one of translator's
// eviction policies: if it evicts no key, commands that may need memory are refused.
func (e *Engine) SetMaxMemory(limit int64, policy string) {
	e.quota.policy.Store(&policy)
	e.quota.limit.Store(limit)
	e.quota.until.Store(0)
}

// Evicted returns the number of evicted keys.
func (e *Engine) Evicted() int64 { return e.quota.evicted.Load() }

// ResetEvicted resets the counters of Evicted and EvictedScripts.
func (e *Engine) ResetEvicted() {
	e.quota.evicted.Store(0)
	e.scripts.cache.evicted.Store(0)
}

// skipsQuota reports whether a call may run without a call of full.
func (e *Engine) skipsQuota(c call) bool {
	return e.quota.limit.Load() == 0 || !e.deniesOOM(c) || int64(time.Since(started)) < e.quota.until.Load()
}

// deniesOOM reports whether a call may need memory.
func (e *Engine) deniesOOM(c call) bool {
	if flags, declared := e.declared(c); declared {
		return mayNeedMemory(flags)
	}
	return c.cmd.Flags&commands.DenyOOM != 0
}

// mayNeedMemory reports whether a script or function that declares these flags may need memory.
func mayNeedMemory(flags script.Flags) bool { return flags&(script.AllowOOM|script.NoWrites) == 0 }

// full reports whether a call needs memory, none is left, and none can be freed by eviction.
func (e *Engine) full(ctx context.Context, c call) bool {
	if e.skipsQuota(c) {
		return false
	}
	r := &e.quota
	r.looking.Lock()
	defer r.looking.Unlock()
	if e.skipsQuota(c) { // another call has measured it in the meantime
		return false
	}
	policy := *r.policy.Load()
	for began := time.Now(); ; {
		used, dying, err := e.Used(ctx)
		switch {
		case err != nil:
			return false // the command meets the same error
		case used <= r.limit.Load():
			r.until.Store(int64(time.Since(started) + quotaValidFor))
			return false
		case policy == translator.NoEviction:
			return true
		case dying:
			return false // the sweep will free memory
		}
		n, err := e.evict(ctx, policy)
		if err != nil || n == 0 {
			return true
		}
		r.evicted.Add(n)
		if time.Since(began) > evictFor {
			return false // the next command continues
		}
	}
}

// Used returns the bytes of the file that data takes. dying reports whether expired keys or deleted elements
// still take some of them.
func (e *Engine) Used(ctx context.Context) (bytes int64, dying bool, err error) {
	results, err := e.store.Apply(ctx, []store.Batch{{ReadOnly: true, Stmts: []store.Stmt{translator.UsedBytes()}}})
	if err != nil || results[0].Refused != nil || len(results[0].Rows[0]) == 0 {
		return 0, false, err
	}
	row := results[0].Rows[0][0]
	return row[0].Int(), row[1].Int() != 0, nil
}

// fitsTwice reports whether twice the used memory fits into the limit. A staged removal copies the elements
// that stay; that copy must not cause refused clients or evicted keys.
func (e *Engine) fitsTwice(run Run) (bool, error) {
	limit := e.quota.limit.Load()
	if limit == 0 {
		return true, nil
	}
	r, err := run(store.Batch{ReadOnly: true, Stmts: []store.Stmt{translator.UsedBytes()}})
	return err == nil && r.Rows[0][0][0].Int() <= limit/2, err
}

// evict deletes a few keys and returns their number.
func (e *Engine) evict(ctx context.Context, policy string) (n int64, err error) {
	env := e.env(0, nil)
	results, err := e.store.Apply(ctx, []store.Batch{{ReadOnly: true, Stmts: translator.EvictionCandidates(env, policy, evictBatch)}})
	if err != nil {
		return 0, err
	}
	keys := map[int64][][]byte{}
	for _, rows := range results[0].Rows {
		for _, row := range rows {
			keys[row[0].Int()] = append(keys[row[0].Int()], row[1].Bytes())
		}
	}
	var calls []planned
	for db, names := range keys {
		calls = append(calls, planned{call: call{delCommand, append([][]byte{[]byte("DEL")}, names...)}, db: int(db), session: e.Session(), options: evicts})
	}
	replies, _, err := e.transaction(ctx, nil, calls, &store.Work{})
	for _, v := range replies {
		n += v.Int
	}
	return n, err
}

var (
	delCommand = commands.Lookup("DEL")
	anyGrowing = call{cmd: commands.Lookup("SET")} // any command that may need memory
)

// overQuota reports whether a call needs more memory than is left. EXEC needs as much as its queued calls.
func (s *Session) overQuota(ctx context.Context, c call) bool {
	if c.cmd.Name == "EXEC" {
		for _, q := range s.queue {
			if !s.engine.skipsQuota(q) {
				c = q
			}
		}
	}
	return s.engine.full(ctx, c)
}
