package transfer

import (
	"context"
	"errors"
	"fmt"

	"github.com/meowdis/meowdis/resp"
)

var (
	// ErrGone is the Part.Err of a key that was deleted or expired while it was
	// read.
	ErrGone = errors.New("it was deleted while it was read")

	errRestless = errors.New("it had another type each time one looked; try again when less is being written")
)

const (
	batchKeys  = 512     // keys that are read together
	wholeBytes = 8 << 20 // a longer string is read in pieces
	attempts   = 3       // to read a key that is being changed
)

// page yields the keys of a page: the values that came with them, and those of the
// other small ones, which are read in batches. Those that have changed since are
// looked at again.
func (r *reader) page(ctx context.Context, db int, keys []Listed, yield func(Part) bool) error {
	for range attempts {
		names, err := r.values(ctx, keys, yield)
		if err != nil || len(names) == 0 {
			return err
		}
		if keys, err = r.look(ctx, db, names); err != nil {
			return err
		}
	}
	for _, k := range keys {
		if k.Err == nil {
			k.Err = errRestless
		}
		if !yield(k.part()) {
			return errStopped
		}
	}
	return nil
}

// look finds out what the keys are. Those that are not there are left out.
func (r *reader) look(ctx context.Context, db int, names [][]byte) ([]Listed, error) {
	described, err := r.lister.Describe(ctx, names)
	if err != nil {
		return nil, err
	}
	keys := make([]Listed, len(described))
	for i, d := range described {
		keys[i] = Listed{Key: &Key{DB: db, Name: d.Name, Type: Type(d.Type), ExpiresAt: d.ExpiresAt, Count: max(d.Count, 0)}, Err: d.Err}
		if _, known := values[Type(d.Type)]; d.Err == nil && !known {
			keys[i].Err = fmt.Errorf("it has the type %s, which cannot be moved", d.Type)
		} else if keys[i].Key.length() == "" {
			keys[i].Count = 1
		}
	}
	return keys, nil
}

// values yields the values of keys, and returns the names of those that were
// something else when they were read.
func (r *reader) values(ctx context.Context, keys []Listed, yield func(Part) bool) (again [][]byte, err error) {
	var batch []*Key
	elements, bytes := int64(0), int64(0)
	flush := func() error {
		changed, err := r.whole(ctx, batch, yield)
		again = append(again, changed...)
		batch, elements, bytes = batch[:0], 0, 0
		return err
	}
	for _, k := range keys {
		if k.Err != nil || k.Value != nil {
			if !yield(k.part()) {
				return nil, errStopped
			}
			continue
		}
		n, b := k.Count, int64(0)
		if k.Type == StringType {
			n, b = 0, k.Count
		}
		if k.Type == VectorSetType {
			if err := r.vectorSet(ctx, k.Key, yield); err != nil {
				return nil, err
			}
			continue
		}
		most := r.pace.elements()
		if n > most || b > wholeBytes {
			if err := r.large(ctx, k.Key, yield); err != nil {
				return nil, err
			}
			continue
		}
		if len(batch) == batchKeys || elements+n > most || bytes+b > wholeBytes {
			if err := flush(); err != nil {
				return nil, err
			}
		}
		batch = append(batch, k.Key)
		elements, bytes = elements+n, bytes+b
	}
	return again, flush()
}

// whole yields keys that are read in one go, and returns the names of those that
// were something else by then.
func (r *reader) whole(ctx context.Context, keys []*Key, yield func(Part) bool) (again [][]byte, err error) {
	if len(keys) == 0 {
		return nil, nil
	}
	calls := make([][][]byte, len(keys))
	for i, k := range keys {
		calls[i] = k.readAll()
	}
	replies, err := r.session.Pipeline(ctx, calls)
	if err != nil {
		return nil, err
	}
	values, bad := make([]Value, len(keys)), make([]error, len(keys))
	elements, bytes := 0, 0
	for i, k := range keys {
		values[i], bad[i] = k.decode(replies[i])
		if values[i] != nil && k.Type != StringType {
			elements, bytes = elements+values[i].Len(), bytes+sizeOf(replies[i])
		}
	}
	r.pace.took(elements, bytes)
	refusals, err := r.complete(ctx, keys, values)
	if err != nil {
		return nil, err
	}
	for i, k := range keys {
		bad[i] = errors.Join(bad[i], refusals[i])
		part := Part{Key: k, First: true, Last: true, Err: bad[i]}
		switch {
		case bad[i] == nil && values[i] == nil:
			again = append(again, k.Name)
			continue
		case bad[i] == nil:
			part = Whole(k, values[i])
		}
		if !yield(part) {
			return nil, errStopped
		}
	}
	return again, nil
}

// sizeOf is the number of bytes in a reply.
func sizeOf(v resp.Value) int {
	n := len(v.Str) + perElement
	for i := range v.Elems {
		n += sizeOf(v.Elems[i])
	}
	return n
}
