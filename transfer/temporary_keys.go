package transfer

import (
	"bytes"
	"context"

	"github.com/meowdis/meowdis/keyspace"
	"github.com/meowdis/meowdis/redis/slot"
)

// TemporaryPrefix begins the names of temporary keys. Keys with this prefix are never copied:
// they are leftovers of a killed transfer.
const TemporaryPrefix = "meowdis:moving:"

// PositionPrefix begins the names of keys that hold the position of a target in the stream of its source. They are
// never copied.
const PositionPrefix = "meowdis:following:"

// A temporary key expires after temporaryLife, in ms. It counts as a leftover after
// temporaryIdle, in ms, without a part.
const (
	temporaryLife = 3_600_000
	temporaryIdle = 600_000
)

// TemporaryName returns the name of a temporary key that is renamed to key. name is unique for the key. In a Redis
// Cluster both are on one node.
func TemporaryName(name string, key []byte) string {
	return TemporaryPrefix + name + "{" + slot.Tag(slot.Of(key)) + "}"
}

func isTemporary(name []byte) bool { return bytes.HasPrefix(name, []byte(TemporaryPrefix)) }

// IsOwn reports whether a key belongs to meowdis, and not to the data.
func IsOwn(name []byte) bool {
	return isTemporary(name) || bytes.HasPrefix(name, []byte(PositionPrefix))
}

// sweepPages limits the search for leftovers. Leftovers that are not found expire.
const (
	sweepPages = 100
	sweepCount = "1000"
)

// sweep deletes the leftovers of killed transfers in the session's database.
func (w *Writer) sweep(ctx context.Context) error {
	db := w.session.DB()
	if w.swept[db] || w.o.KeepLeftovers {
		return nil
	}
	w.swept[db] = true
	if w.o.Transaction != nil { // SCAN would build the index that a load leaves out
		if v, err := w.session.Do(ctx, call("DBSIZE")...); err != nil || v.Int == 0 && !v.IsError() {
			return err
		}
	}
	cursor := "0"
	for range sweepPages {
		v, err := w.session.Do(ctx, words("SCAN", cursor, "MATCH", TemporaryPrefix+"*", "COUNT", sweepCount)...)
		if err != nil {
			return err
		}
		elems, next, bad := keyspace.Scanned(v)
		if bad != nil {
			return nil // listing is refused or failed: leftovers expire
		}
		if err := w.deleteLeftovers(ctx, texts(elems)); err != nil {
			return err
		}
		if cursor = next; next == "0" {
			return nil
		}
	}
	return nil
}

// deleteLeftovers deletes the named keys that belong to no running transfer.
func (w *Writer) deleteLeftovers(ctx context.Context, names [][]byte) error {
	if len(names) == 0 {
		return nil
	}
	replies, err := w.session.Pipeline(ctx, each(names, func(name []byte) [][]byte { return call("PTTL", name) }))
	if err != nil {
		return err
	}
	var left [][][]byte
	for i, name := range names {
		run, _, _ := bytes.Cut(name[len(TemporaryPrefix):], []byte(":"))
		if string(run) == w.o.Run {
			continue
		}
		ms, ok := integer(replies[i])
		if ok && ms < temporaryLife-temporaryIdle || w.o.RunEnded != nil && w.o.RunEnded(string(run)) {
			left = append(left, call("DEL", name))
		}
	}
	_, err = w.pipeline(ctx, left)
	return err
}
