package engine_test

import (
	"context"
	"strings"
	"testing"

	"github.com/meowdis/meowdis/engine"
	"github.com/meowdis/meowdis/internal/test/race"
	"github.com/meowdis/meowdis/internal/test/storetest"
	"github.com/meowdis/meowdis/store"
	"github.com/meowdis/meowdis/store/sweep"
)

// meetings holds writes by another process in the middle of a removal, by the type of the key, "" for all
// types.
var meetings = map[string][]string{
	"": {
		"DEL to", "UNLINK to", "FLUSHALL", "FLUSHDB", "SWAPDB 0 1", "MOVE to 1", "RENAME to away", "COPY to away", "PEXPIREAT to 1",
		"EXPIRE to 100", "PERSIST to", "SET to string", "RENAME other to", "RENAME to away; RENAME away to", "SWAPDB 0 1; SWAPDB 0 1", "GET none",
	},
	"list": {"RPUSH to x", "LPOP to", "LSET to 5 x", "LINSERT to BEFORE e7 x", "LTRIM to 0 100", "LREM to 0 even", "LTRIM to 150 -150"},
	"set":  {"SADD to x", "SREM to m1 m2", "SMOVE to other m1", "SINTERSTORE to to to", numbered("SREM to", "m", 400, 3)},
	"zset": {"ZADD to XX 1000 m1", "ZINCRBY to 5 m3", "ZREM to m250", "ZREMRANGEBYRANK to 0 250", "ZPOPMAX to 250", "ZUNIONSTORE to 1 to WEIGHTS -1"},
	"hash": {"HSET to f1 x", "HSET to new x", "HEXPIRE to 100 FIELDS 2 f1 f2", "HPEXPIREAT to 1 FIELDS 2 f1 f2", "HINCRBY to n 1", "HDEL to f2 f3"},
}

// removals holds calls that run in several slices.
var removals = map[string][]string{
	"list": {"LTRIM to 100 -100", "LREM to -150 even"},
	"set":  {numbered("SREM to", "m", 400, 2)},
	"zset": {"ZREMRANGEBYSCORE to 100 300", "ZPOPMAX to 250", numbered("ZREM to", "m", 400, 2)},
	"hash": {numbered("HDEL to", "f", 400, 2)},
}

// filled creates the key "to" with a type.
var filled = map[string]string{
	"list": fill("RPUSH to", "even e%d", 200)[0], "set": fill("SADD to", "m%d", 400)[0], "zset": fill("ZADD to", "%d m%d", 400)[0], "hash": fill("HSET to", "f%d v%d", 400)[0],
}

// meeting is a file on which another process writes before slice 1, or before the last transaction.
type meeting struct {
	*sliced
	late func() error
}

func (s *meeting) Transact(ctx context.Context, readOnly bool, fn func(func(store.Batch) (store.Result, error)) error) error {
	if late := s.late; late != nil && !readOnly && s.slices > 0 {
		s.late = nil
		if err := late(); err != nil {
			return err
		}
	}
	return s.sliced.Transact(ctx, readOnly, fn)
}

// TestStagedRemovalConflicts lets another process write and sweep between two slices of a removal, or after the last
// one. The result is the same as if it had done so before the removal.
func TestStagedRemovalConflicts(t *testing.T) {
	race.Skip(t)
	manyGo(t, 0)
	one, e, _ := aside(t, engine.WithStaging(1<<40))
	inner, e2, clock := aside(t)
	two := &meeting{sliced: inner}
	inPlace, inSlices, other := storetest.NewClient(t, e), storetest.NewClient(t, storetest.NewEngine(two, clock, engine.WithStaging(-1))), storetest.NewClient(t, e2)
	do := func(c *storetest.Client, lines string) {
		for line := range strings.SplitSeq(lines, "; ") {
			c.Do(line)
		}
	}
	meet := func(typ, call, others string, late bool) {
		for _, c := range []*storetest.Client{inPlace, other} {
			do(c, "FLUSHALL; "+filled[typ]+"; COPY to other; EXPIRE to 500")
		}
		do(inPlace, others)
		met := false
		now := func() error {
			met = true
			do(other, others)
			_, err := sweep.Slice(t.Context(), inner.Store.Apply, clock.Now(), 100)
			return err
		}
		two.slices = 0
		if late {
			two.late = now
		} else {
			two.before = func(n int) error {
				if n == 0 {
					return nil
				}
				two.before = nil
				return now()
			}
		}
		inSlices.Want(call, inPlace.Do(call))
		if d := difference(contents(t, one), contents(t, two)); d != "" || !met {
			t.Errorf("%.60q meets %.60q, late: %v, %v: %s", call, others, late, met, d)
		}
		wantHiddenKeys(t, inner, 0)
	}
	for typ, calls := range removals {
		for _, call := range calls {
			for _, others := range meetings[""] {
				meet(typ, call, others, true)
			}
			for _, others := range append(meetings[typ], "FLUSHALL") {
				meet(typ, call, others, false)
				meet(typ, call, others, true)
			}
		}
	}
}
