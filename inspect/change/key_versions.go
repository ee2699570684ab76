package change

import (
	"context"
	"slices"
	"strings"

	"github.com/meowdis/meowdis/inspect/client"
	"github.com/meowdis/meowdis/redis/resp"
	"github.com/meowdis/meowdis/transfer"
)

// History is the history of keys in the journal. It must not be read while a change is made
// or undone.
type History struct {
	journal Journal
	steps   []Step
}

// History returns the history of keys in steps, which are in order.
func (j *Journal) History(steps []Step) *History { return &History{*j, slices.Clone(steps)} }

// Version holds the state of a key before a change.
type Version struct {
	Title string // of the change
	step  int
}

// Versions lists the changes of a key, the latest first. It follows a renamed key to its
// earlier names.
func (p *History) Versions(ctx context.Context, db int, key string) (found []Version, err error) {
	for i, s := range slices.Backward(p.steps) {
		name, touched := key, false
		err := p.journal.replay(s, func(_ int64, in int, calls [][][]byte) error {
			for _, call := range calls {
				if in == db && names(call, name) {
					touched = true
					key = nameAfter(call, key)
				}
			}
			return ctx.Err()
		})
		if err != nil {
			return nil, err
		}
		if touched {
			found = append(found, Version{s.Title, i})
		}
	}
	return found, nil
}

// names reports whether call affects key.
func names(call [][]byte, key string) bool {
	for _, p := range changedKeys(0, [][][]byte{call}) {
		if slices.Contains(p.keys, key) {
			return true
		}
	}
	return false
}

// isRename reports whether call renames a key.
func isRename(call [][]byte) bool {
	return string(call[0]) == "RENAME" || string(call[0]) == "RENAMENX"
}

// nameAfter returns the name of key after call, which may rename it.
func nameAfter(call [][]byte, key string) string {
	if len(call) == 3 && isRename(call) && string(call[1]) == key {
		return string(call[2])
	}
	return key
}

// Rebuild restores, in database 0 of scratch, the state of key before the change of v. It
// returns the name and the expiry that the key had then; in scratch it does not expire.
func (p *History) Rebuild(ctx context.Context, now, scratch *client.Conn, db int, key string, v Version) (name string, expires int64, err error) {
	b := rebuilding{key: key, out: newBatch(func(_ byte, calls [][][]byte) error {
		values, err := scratch.Do(ctx, 0, calls...)
		if err == nil {
			_, err = lastReply(values)
		}
		return err
	})}
	if err := b.copyCurrent(ctx, now, db); err != nil {
		return "", 0, err
	}
	for i := len(p.steps) - 1; i >= v.step; i-- {
		err := p.journal.replay(p.steps[i], func(_ int64, in int, calls [][][]byte) error {
			if in == db {
				if err := b.takeAll(calls); err != nil {
					return err
				}
			}
			return ctx.Err()
		})
		if err != nil {
			return "", 0, err
		}
	}
	return b.key, b.expires, b.out.flush()
}

func firstError(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// rebuilding tracks a key while Rebuild applies undo commands to it.
type rebuilding struct {
	key     string
	expires int64
	out     *batch
}

// copyCurrent copies the key as it is in database db of now.
func (b *rebuilding) copyCurrent(ctx context.Context, now *client.Conn, db int) error {
	name := []byte(b.key)
	for part, err := range transfer.FromKeys(ctx, now.In(db), name) {
		if err != nil || part.Err != nil {
			return firstError(err, part.Err)
		}
		b.expires = part.Key.ExpiresAt
		for call := range part.Calls(name) {
			if err := b.out.add(call); err != nil {
				return err
			}
		}
	}
	return nil
}

// takeAll calls take with each of calls.
func (b *rebuilding) takeAll(calls [][][]byte) error {
	for _, call := range calls {
		if err := b.take(call); err != nil {
			return err
		}
	}
	return nil
}

// take runs a call if it affects the key, or a temporary key. It records an expiry
// without setting it.
func (b *rebuilding) take(call [][]byte) error {
	temporary := len(call) > 1 && strings.HasPrefix(string(call[1]), transfer.TemporaryPrefix)
	if !temporary && !names(call, b.key) {
		return nil
	}
	name := string(call[0])
	switch {
	case isRename(call) && temporary && string(call[2]) != b.key:
		call = client.Command("DEL", string(call[1])) // it was another key
	case isRename(call) && !temporary && string(call[1]) != b.key:
		return nil
	case name == "PEXPIREAT":
		b.expires = client.Number(resp.MakeBulk(call[2]))
		return nil
	case name == "PERSIST":
		b.expires = 0
		return nil
	case name == "PEXPIRE":
		return nil
	case name == "RESTORE":
		b.expires = client.Number(resp.MakeBulk(call[2]))
		call = slices.Clone(call)
		call[2] = []byte("0")
	}
	key := b.key
	b.key = nameAfter(call, b.key)
	if key == b.key && name == "DEL" {
		b.expires = 0
	}
	return b.out.add(call)
}
