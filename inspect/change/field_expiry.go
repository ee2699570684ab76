package change

import (
	"context"

	"github.com/meowdis/meowdis/inspect/client"
)

// ExpireField returns the command that restores a field's expiry, which HSET removes.
func ExpireField(key, field, until string) [][]byte {
	return client.Command("HPEXPIREAT", key, until, "FIELDS", "1", field)
}

// withFieldTTL returns the calls that save a field and then restore its current TTL. It
// reads the TTL while the key is watched: an earlier reading may be stale.
func (c *Maker) withFieldTTL(ctx context.Context, db int, calls [][][]byte, field string) ([][][]byte, error) {
	if field == "" || c.Refusals.Has("HPEXPIRETIME") {
		return calls, nil
	}
	key := string(calls[0][1])
	ask := client.Command("HPEXPIRETIME", key, "FIELDS", "1", field)
	v, err := c.One(ctx, db, ask)
	if c.Refusals.Has("HPEXPIRETIME") {
		return calls, nil
	}
	if err != nil {
		return nil, err
	}
	calls = calls[:1:1]
	if len(v.Elems) == 1 && client.Number(v.Elems[0]) > 0 {
		calls = append(calls, ExpireField(key, field, client.Text(v.Elems[0])))
	}
	return calls, nil
}

// UndoFieldTTL returns a function that builds the command to restore a field's current TTL.
func UndoFieldTTL(key, field string) undoBuilder {
	return func(ctx context.Context, c *client.Conn, db int) ([][][]byte, error) {
		v, err := c.One(ctx, db, client.Command("HPEXPIRETIME", key, "FIELDS", "1", field))
		switch {
		case err != nil:
			return nil, err
		case len(v.Elems) == 1 && client.Number(v.Elems[0]) > 0:
			return [][][]byte{ExpireField(key, field, client.Text(v.Elems[0]))}, nil
		}
		return [][][]byte{client.Command("HPERSIST", key, "FIELDS", "1", field)}, nil
	}
}
