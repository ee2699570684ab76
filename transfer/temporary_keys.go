package transfer

import (
	"bytes"
	"context"

	"github.com/meowdis/meowdis/keyspace"
)

// TemporaryPrefix is the beginning of the names under which keys are made. No key of such a name
// is moved on: it is one that a move which was killed has left half done.
const TemporaryPrefix = "meowdis:moving:"

// temporaryLife is how long a name that was left lives, in ms, and temporaryIdle after which time
// without a part it is taken for left.
const (
	temporaryLife = 3_600_000
	temporaryIdle = 600_000
)

func isTemporary(name []byte) bool { return bytes.HasPrefix(name, []byte(TemporaryPrefix)) }

// sweepPages bounds how long leftovers are searched for: what is not found expires.
const (
	sweepPages = 100
	sweepCount = "1000"
)

// sweep deletes what moves that were killed have left in the session's database.
func (w *Writer) sweep(ctx context.Context) error {
	db := w.session.DB()
	if w.swept[db] {
		return nil
	}
	w.swept[db] = true
	cursor := "0"
	for range sweepPages {
		v, err := w.session.Do(ctx, words("SCAN", cursor, "MATCH", TemporaryPrefix+"*", "COUNT", sweepCount)...)
		if err != nil {
			return err
		}
		elems, next, bad := keyspace.Scanned(v)
		if bad != nil {
			return nil // who may not list keys, or cannot, leaves them to expire
		}
		if err := w.deleteLeft(ctx, texts(elems)); err != nil {
			return err
		}
		if cursor = next; next == "0" {
			return nil
		}
	}
	return nil
}

// deleteLeft deletes those of the names that belong to no move that is under way.
func (w *Writer) deleteLeft(ctx context.Context, names [][]byte) error {
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
		if ok && ms < temporaryLife-temporaryIdle || w.o.Gone != nil && w.o.Gone(string(run)) {
			left = append(left, call("DEL", name))
		}
	}
	_, err = w.pipeline(ctx, left)
	return err
}
