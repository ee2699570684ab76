package change

import (
	"context"

	"github.com/meowdis/meowdis/inspect/client"
	"github.com/meowdis/meowdis/redis/resp"
)

// PendingEntry returns the command that reads a pending entry of a group.
func PendingEntry(key, group, id string) [][]byte {
	return client.Command("XPENDING", key, group, id, id, "1")
}

// UndoPending returns a function that builds the command to make an entry pending again
// with its current consumer, delivery count and time.
func UndoPending(key, group, id string) undoBuilder {
	return func(ctx context.Context, c *client.Conn, db int) ([][][]byte, error) {
		values, err := c.Do(ctx, db, PendingEntry(key, group, id), client.Command("TIME"))
		if err == nil {
			_, err = lastReply(values)
		}
		if err != nil {
			return nil, err
		}
		entry, now := values[0].Elems, values[1].Elems
		if len(entry) != 1 || len(entry[0].Elems) != 4 || len(now) != 2 {
			return [][][]byte{client.Command("XACK", key, group, id)}, nil
		}
		e := entry[0].Elems
		at := client.Atoi(client.Text(now[0]))*1000 + client.Atoi(client.Text(now[1]))/1000 - client.Number(e[2])
		return [][][]byte{client.Command("XCLAIM", key, group, client.Text(e[1]), "0", id,
			"TIME", client.Decimal(at), "RETRYCOUNT", client.Text(e[3]), "FORCE", "JUSTID")}, nil
	}
}

// pendingAnswer returns a reply of XPENDING without the idle times.
func pendingAnswer(v resp.Value) resp.Value {
	out := resp.Value{Kind: resp.Array}
	for _, e := range v.Elems {
		if len(e.Elems) == 4 {
			out.Elems = append(out.Elems, e.Elems[1], e.Elems[3])
		}
	}
	return out
}
