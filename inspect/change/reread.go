package change

import (
	"context"
	"slices"

	"github.com/meowdis/meowdis/inspect/target"
	"github.com/meowdis/meowdis/resp"
	"github.com/meowdis/meowdis/xxh3"
)

// Where no key can be watched, as over REST, somebody may write between the keeping of a
// key and its change. So the transaction that changes keys reads them once more, and what
// it finds goes to the journal, too, where it is not what was kept.

// maxRereadBytes is how many bytes of serialized keys a transaction reads once more.
const maxRereadBytes = 4 << 20

// savedKey is what was kept of a key: the command that brings it back, without the value.
type savedKey struct {
	restore [][]byte // RESTORE, its key and when it ends; nil for a key that was not there
	key     string
	sum     uint64 // the hash of the serialized value
}

// rereadSet is what a transaction kept that it can read once more.
type rereadSet struct {
	keys  []savedKey
	bytes int
}

// add takes in commands that bring keys back.
func (r *rereadSet) add(calls [][][]byte) {
	for _, call := range calls {
		if string(call[0]) != "RESTORE" || r.bytes+len(call[3]) > maxRereadBytes {
			continue
		}
		r.bytes += len(call[3])
		r.keys = append(r.keys, savedKey{restore: call[:3], key: string(call[1]), sum: xxh3.Hash(call[3])})
	}
}

// addAbsent takes in keys that were not there.
func (r *rereadSet) addAbsent(keys []string) {
	for _, key := range keys {
		r.keys = append(r.keys, savedKey{key: key})
	}
}

// calls are the commands that read the keys.
func (r *rereadSet) calls() [][][]byte {
	calls := make([][][]byte, len(r.keys))
	for i, k := range r.keys {
		calls[i] = target.Command("DUMP", k.key)
	}
	return calls
}

// changedSince are the commands that bring back what others wrote since the keys were kept; of a
// key that nobody can tell about there are none.
func (r *rereadSet) changedSince(dumps []resp.Value) (calls [][][]byte) {
	for i, k := range r.keys {
		switch v := dumps[i]; {
		case v.IsError():
		case v.IsNull() && k.restore != nil:
			calls = append(calls, target.Command("DEL", k.key))
		case v.IsNull():
		case k.restore == nil:
			calls = append(calls, keyState{key: k.key}.restore(v))
		case xxh3.Hash(v.Str) != k.sum:
			calls = append(calls, append(slices.Clone(k.restore), v.Str, []byte("REPLACE"), []byte("ABSTTL")))
		}
	}
	return calls
}

// commitWithReread runs commands after the reads of r in one transaction, and adds to the
// journal what those find. Without transactions it just runs them.
func (c *Maker) commitWithReread(ctx context.Context, db int, r rereadSet, calls [][][]byte) ([]resp.Value, error) {
	if len(r.keys) == 0 || c.Refusals.Has("DUMP") || !c.hasMulti(ctx, db) {
		return c.Do(ctx, db, calls...)
	}
	reads := r.calls()
	values, err := c.commit(ctx, db, true, slices.Concat(reads, calls))
	switch {
	case err != nil:
		return nil, err
	case len(values) < len(reads)+len(calls): // it was refused as a whole, and nothing was done
		return c.Do(ctx, db, calls...)
	}
	if newer := r.changedSince(values); len(newer) > 0 {
		if err = c.Journal.add(db, newer); err == nil {
			err = c.Journal.sync()
		}
	}
	return values[len(reads):], err
}

// hasMulti reports whether the target runs transactions.
func (c *Maker) hasMulti(ctx context.Context, db int) bool {
	if c.Refusals.Has("MULTI") {
		return false
	}
	values, err := c.Do(ctx, db, target.Command("MULTI"), target.Command("DISCARD"))
	if err != nil {
		return false
	}
	if values[0].IsError() {
		c.Refusals.Add("MULTI")
	}
	return !values[0].IsError()
}
