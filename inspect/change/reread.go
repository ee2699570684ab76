package change

import (
	"context"
	"slices"

	"github.com/meowdis/meowdis/inspect/client"
	"github.com/meowdis/meowdis/redis/resp"
	"github.com/meowdis/meowdis/redis/xxh3"
)

// If keys cannot be watched, as over REST, another client may write between the saving of
// a key and its change. So the transaction that changes the keys reads them again, and the
// journal gets the values that differ from the saved ones.

// maxRereadBytes limits the bytes of dumped keys that a transaction reads again.
const maxRereadBytes = 4 << 20

// savedKey holds the command that restores a key, without the value.
type savedKey struct {
	restore [][]byte // RESTORE, the key and its expiry; nil for a missing key
	key     string
	sum     uint64 // hash of the dump
}

// rereadSet holds the saved keys that a transaction reads again.
type rereadSet struct {
	keys  []savedKey
	bytes int
}

// add adds the keys that calls restore.
func (r *rereadSet) add(calls [][][]byte) {
	for _, call := range calls {
		if string(call[0]) != "RESTORE" || r.bytes+len(call[3]) > maxRereadBytes {
			continue
		}
		r.bytes += len(call[3])
		r.keys = append(r.keys, savedKey{restore: call[:3], key: string(call[1]), sum: xxh3.Hash(call[3])})
	}
}

// addAbsent adds missing keys.
func (r *rereadSet) addAbsent(keys []string) {
	for _, key := range keys {
		r.keys = append(r.keys, savedKey{key: key})
	}
}

// calls returns the commands that read the keys.
func (r *rereadSet) calls() [][][]byte {
	calls := make([][][]byte, len(r.keys))
	for i, k := range r.keys {
		calls[i] = client.Command("DUMP", k.key)
	}
	return calls
}

// changedSince returns the commands that restore what other clients wrote after the keys
// were saved. It skips keys that could not be read.
func (r *rereadSet) changedSince(dumps []resp.Value) (calls [][][]byte) {
	for i, k := range r.keys {
		switch v := dumps[i]; {
		case v.IsError():
		case v.IsNull() && k.restore != nil:
			calls = append(calls, client.Command("DEL", k.key))
		case v.IsNull():
		case k.restore == nil:
			calls = append(calls, keyState{key: k.key}.restore(v.Str))
		case xxh3.Hash(v.Str) != k.sum:
			calls = append(calls, append(slices.Clone(k.restore), v.Str, []byte("REPLACE"), []byte("ABSTTL")))
		}
	}
	return calls
}

// commitWithReread runs calls after the reads of r in one transaction, and adds newer values
// to the journal. Without transactions it only runs calls.
func (c *Maker) commitWithReread(ctx context.Context, db int, r rereadSet, calls [][][]byte) ([]resp.Value, error) {
	if len(r.keys) == 0 || c.Refusals.Has("DUMP") || !c.hasMulti(ctx, db) {
		return c.Do(ctx, db, calls...)
	}
	reads := r.calls()
	values, err := c.commit(ctx, db, true, slices.Concat(reads, calls))
	switch {
	case err != nil:
		return nil, err
	case len(values) < len(reads)+len(calls): // the transaction was refused, and nothing was done
		return c.Do(ctx, db, calls...)
	}
	if newer := r.changedSince(values); len(newer) > 0 {
		if err = c.Journal.add(db, newer); err == nil {
			err = c.Journal.sync()
		}
	}
	return values[len(reads):], err
}

// hasMulti reports whether the target supports transactions.
func (c *Maker) hasMulti(ctx context.Context, db int) bool {
	if c.Refusals.Has("MULTI") {
		return false
	}
	values, err := c.Do(ctx, db, client.Command("MULTI"), client.Command("DISCARD"))
	if err != nil {
		return false
	}
	if values[0].IsError() {
		c.Refusals.Add("MULTI")
	}
	return !values[0].IsError()
}
