package change

import (
	"context"
	"errors"
	"slices"

	"github.com/meowdis/meowdis/inspect/client"
	"github.com/meowdis/meowdis/inspect/job"
	"github.com/meowdis/meowdis/transfer"
)

// KeyChange returns the transaction that changes some keys of a database.
type KeyChange func(db int, names []string) transaction

// DeleteKeys returns a transaction that deletes keys.
func DeleteKeys(db int, names []string) transaction {
	return transaction{
		db: db, places: []keysIn{{db, names}}, checks: []checksIn{{db: db, checks: newChecks(WholeKey, names), known: true}},
		calls: func(there []string) ([][][]byte, error) {
			if len(there) == 0 {
				return nil, nil
			}
			return [][][]byte{client.Command(append([]string{"DEL"}, there...)...)}, nil
		},
	}
}

// ExpireAt returns a KeyChange that sets the expiry of keys to at, in Unix ms, or removes it for 0.
func ExpireAt(at int64) KeyChange {
	return func(db int, names []string) transaction {
		return transaction{
			db: db, places: []keysIn{{db, names}}, onlyTTLs: true, checks: []checksIn{{db: db, checks: newChecks(OnlyTTL, names)}},
			calls: func(there []string) ([][][]byte, error) {
				calls := make([][][]byte, len(there))
				for i, name := range there {
					calls[i] = client.Command("PERSIST", name)
					if at != 0 {
						calls[i] = client.Command("PEXPIREAT", name, client.Decimal(at))
					}
				}
				return calls, nil
			},
		}
	}
}

// FirstCalls returns the commands for the first batch of names.
func (e KeyChange) FirstCalls(names []string) ([][][]byte, error) {
	names = names[:min(len(names), KeysAtOnce)]
	return e(0, names).calls(names)
}

// doAll changes keys in batches, and saves each batch in the journal. If the journal
// cannot be written, it undoes the finished batches.
func (c *Maker) doAll(ctx context.Context, ch Change) (*Step, error) {
	s, err := c.Journal.begin(ch.Title)
	if err != nil {
		return nil, err
	}
	var done int64
	for _, part := range ch.Scopes {
		if err = c.walk(ctx, part.DB, part.Selection, func(names []string) error {
			job.CostOf(ctx).Progress(done, ch.KeyCount)
			done += int64(len(names))
			return c.doSome(ctx, ch.Each, part.DB, names)
		}); err != nil {
			break
		}
	}
	s.to = c.Journal.end
	var no errNotSaved
	switch full := (JournalError{}); {
	case errors.As(err, &full) || errors.As(err, &no):
		if _, failed := c.applyUndo(ctx, c.Journal, s, func(string) {}); failed != nil {
			return &s, errors.Join(err, failed)
		}
		return nil, errors.Join(err, c.Journal.cut(s))
	case !c.Journal.hasRecords(s):
		return nil, errors.Join(err, c.Journal.cut(s))
	}
	return &s, err
}

func (c *Maker) doSome(ctx context.Context, each KeyChange, db int, names []string) error {
	for some := range slices.Chunk(names, c.BatchKeys()) {
		t := each(db, some)
		values, _, err := c.transact(ctx, t)
		if err == nil {
			_, err = lastReply(values)
		}
		if err == nil && t.verify != nil {
			err = t.verify(values)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// Count returns the number of keys that ch changes, and its first commands.
func (c *Maker) Count(ctx context.Context, ch Change) (keys int64, first [][][]byte, err error) {
	for _, s := range ch.Scopes {
		n, err := c.countKeys(ctx, s)
		if err != nil {
			return 0, nil, err
		}
		keys += n
		if len(first) == 0 && n > 0 {
			if first, err = c.firstOf(ctx, ch, s); err != nil {
				return 0, nil, err
			}
		}
	}
	return keys, first, nil
}

// errStopWalk stops a walk early.
var errStopWalk = errors.New("enough")

// firstOf returns the first commands of ch in a scope that has keys.
func (c *Maker) firstOf(ctx context.Context, ch Change, s Scope) (calls [][][]byte, err error) {
	err = c.walk(ctx, s.DB, s.Selection, func(names []string) error {
		if len(names) == 0 {
			return nil
		}
		if calls, err = ch.Each.FirstCalls(names); err != nil {
			return err
		}
		return errStopWalk
	})
	if errors.Is(err, errStopWalk) {
		err = nil
	}
	return calls, err
}

func (c *Maker) countKeys(ctx context.Context, s Scope) (int64, error) {
	n := int64(len(s.Names))
	if len(s.Folders) == 1 && s.Folders[0] == "" {
		return transfer.CountKeys(ctx, c.In(s.DB), []int{s.DB})
	}
	if c.Index != nil {
		for _, folder := range s.Folders {
			more, err := c.Index.Count(ctx, s.DB, folder)
			if err != nil {
				return 0, err
			}
			n += more
		}
		return n, nil
	}
	err := c.walk(ctx, s.DB, Selection{Folders: s.Folders}, func(names []string) error {
		n += int64(len(names))
		return nil
	})
	return n, err
}
