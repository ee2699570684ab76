package change

import (
	"context"

	"github.com/meowdis/meowdis/inspect/target"
)

// ExpireField gives a field the end back that HSET takes away.
func ExpireField(key, field, until string) [][]byte {
	return target.Command("HPEXPIREAT", key, until, "FIELDS", "1", field)
}

// withFieldTTL is the calls that save a field, with the time to live that it has now, when
// its key is watched: what was read before may be old.
func (c *Maker) withFieldTTL(ctx context.Context, db int, calls [][][]byte, field string) ([][][]byte, error) {
	if field == "" || c.Refusals.Has("HPEXPIRETIME") {
		return calls, nil
	}
	key := string(calls[0][1])
	ask := target.Command("HPEXPIRETIME", key, "FIELDS", "1", field)
	v, err := c.One(ctx, db, ask)
	if c.Refusals.Has("HPEXPIRETIME") {
		return calls, nil
	}
	if err != nil {
		return nil, err
	}
	calls = calls[:1:1]
	if len(v.Elems) == 1 && target.Number(v.Elems[0]) > 0 {
		calls = append(calls, ExpireField(key, field, target.Text(v.Elems[0])))
	}
	return calls, nil
}

// UndoFieldTTL is what gives a field the time to live back that it has.
func UndoFieldTTL(key, field string) undoBuilder {
	return func(ctx context.Context, c *target.Conn, db int) ([][][]byte, error) {
		v, err := c.One(ctx, db, target.Command("HPEXPIRETIME", key, "FIELDS", "1", field))
		switch {
		case err != nil:
			return nil, err
		case len(v.Elems) == 1 && target.Number(v.Elems[0]) > 0:
			return [][][]byte{ExpireField(key, field, target.Text(v.Elems[0]))}, nil
		}
		return [][][]byte{target.Command("HPERSIST", key, "FIELDS", "1", field)}, nil
	}
}
