package change

import (
	"context"
	"errors"
	"slices"

	"github.com/meowdis/meowdis/inspect/job"
	"github.com/meowdis/meowdis/inspect/target"
	"github.com/meowdis/meowdis/transfer"
)

// deleteAll deletes keys, some at a time, each kept in the journal as it goes. When
// the journal cannot go on, what was deleted comes back.
func (c *Maker) deleteAll(ctx context.Context, ch Change) (*Step, error) {
	s, err := c.Journal.begin(ch.Title)
	if err != nil {
		return nil, err
	}
	var done int64
	for _, part := range ch.Gone {
		if err = c.visit(ctx, part.DB, part.Selection, func(names []string) error {
			job.CostOf(ctx).Progress(done, ch.Many)
			done += int64(len(names))
			return c.deleteNames(ctx, part.DB, names)
		}); err != nil {
			break
		}
	}
	s.to = c.Journal.end
	var no errNoImage
	switch full := (NotKept{}); {
	case errors.As(err, &full) || errors.As(err, &no):
		if _, failed := c.takeBack(ctx, c.Journal, s); failed != nil {
			return &s, errors.Join(err, failed)
		}
		return nil, errors.Join(err, c.Journal.cut(s))
	case !c.Journal.keeps(s):
		return nil, errors.Join(err, c.Journal.cut(s))
	}
	return &s, err
}

func (c *Maker) deleteNames(ctx context.Context, db int, names []string) error {
	for some := range slices.Chunk(names, KeysAtOnce) {
		values, _, err := c.transact(ctx, transaction{
			db: db, places: []keysIn{{db, some}}, checks: []checksIn{{db: db, checks: asked(WholeKey, some), known: true}},
			calls: func(there []string) ([][][]byte, error) {
				if len(there) == 0 {
					return nil, nil
				}
				return [][][]byte{target.Command(append([]string{"DEL"}, there...)...)}, nil
			},
		})
		if err == nil {
			_, err = settled(values)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// Count is how many keys some scopes have, and the first command that deletes some of
// them.
func (c *Maker) Count(ctx context.Context, scopes []Scope) (keys int64, first [][][]byte, err error) {
	for _, s := range scopes {
		n, err := c.weight(ctx, s)
		if err != nil {
			return 0, nil, err
		}
		keys += n
		if len(first) == 0 && n > 0 {
			if first, err = c.firstDelete(ctx, s); err != nil {
				return 0, nil, err
			}
		}
	}
	return keys, first, nil
}

// errEnough ends a visit.
var errEnough = errors.New("enough")

// firstDelete is the first command that deletes keys of s.
func (c *Maker) firstDelete(ctx context.Context, s Scope) (calls [][][]byte, err error) {
	err = c.visit(ctx, s.DB, s.Selection, func(names []string) error {
		if len(names) == 0 {
			return nil
		}
		calls = [][][]byte{target.Command(append([]string{"DEL"}, names[:min(len(names), KeysAtOnce)]...)...)}
		return errEnough
	})
	if errors.Is(err, errEnough) {
		err = nil
	}
	return calls, err
}

func (c *Maker) weight(ctx context.Context, s Scope) (int64, error) {
	n := int64(len(s.Names))
	if len(s.Folders) == 1 && s.Folders[0] == "" {
		return transfer.CountKeys(ctx, c.In(s.DB), []int{s.DB})
	}
	if c.Index != nil {
		for _, folder := range s.Folders {
			more, err := c.Index.Tally(ctx, s.DB, folder)
			if err != nil {
				return 0, err
			}
			n += more
		}
		return n, nil
	}
	err := c.visit(ctx, s.DB, Selection{Folders: s.Folders}, func(names []string) error {
		n += int64(len(names))
		return nil
	})
	return n, err
}
