package value

import (
	"strings"

	"github.com/meowdis/meowdis/inspect/client"
	"github.com/meowdis/meowdis/inspect/ui"
	"github.com/meowdis/meowdis/keyspace/display"
	"github.com/meowdis/meowdis/redis/resp"
)

// entriesOf shows the entries of a stream, a chain by ID.
var entriesOf = &source{
	sourceShape: sourceShape{full: true},
	columns:     []column{{title: "ID"}, {title: "FIELDS"}},
	decode: func(_ int64, v resp.Value) *chunk {
		c := &chunk{}
		for _, e := range v.Elems {
			if len(e.Elems) != 2 {
				continue
			}
			row, body := entryRow(e)
			c.rows, c.bodies = append(c.rows, row), append(c.bodies, body)
		}
		c.chain()
		return c
	},
}

// entryRow returns an entry as a row, and as text with one line per field.
func entryRow(e resp.Value) (record, string) {
	var line, body strings.Builder
	fields := e.Elems[1].Elems
	for i := 0; i+1 < len(fields); i += 2 {
		if i > 0 {
			line.WriteString("  ")
		}
		field, value := client.Text(fields[i]), client.Text(fields[i+1])
		line.WriteString(display.Whole(field) + "=" + display.Whole(value))
		body.WriteString(display.Whole(field) + ": " + value + "\n")
	}
	return record{client.Text(e.Elems[0]), line.String()}, body.String()
}

// idFrom returns the start of a range after the ID cursor.
func idFrom(cursor string) string {
	if cursor == "0" {
		return "-"
	}
	return "(" + cursor
}

// chain sets the cursor of the next chunk to the last ID.
func (c *chunk) chain() {
	if n := len(c.rows); n > 0 {
		c.next = c.rows[n-1][0]
	}
}

// info parses an XINFO reply: the facts of each group or consumer.
func info(v resp.Value) (all []map[string]string) {
	for _, e := range v.Elems {
		facts := map[string]string{}
		for i := 0; i+1 < len(e.Elems); i += 2 {
			facts[client.Text(e.Elems[i])] = client.Text(e.Elems[i+1])
		}
		all = append(all, facts)
	}
	return all
}

// groupsOf shows the consumer groups of a stream.
var groupsOf = &source{
	sourceShape: sourceShape{part: ui.Groups}, unit: [2]string{"group", "groups"},
	columns: []column{{title: "GROUP"}, {title: "CONSUMERS", right: true}, {title: "PENDING", right: true}, {title: "LAG", right: true}, {title: "LAST ID"}},
	fetch:   func(key string, _ int64, _ chunkRequest) [][]byte { return client.Command("XINFO", "GROUPS", key) },
	decode: func(_ int64, v resp.Value) *chunk {
		c := &chunk{}
		for _, g := range info(v) {
			c.rows = append(c.rows, record{g["name"], g["consumers"], g["pending"], g["lag"], g["last-delivered-id"]})
		}
		return c
	},
	inner: func(row record) *source { return pendingOf(row[0]) },
}

// pendingOf shows the pending entries of a group: delivered, not acknowledged. Its other side shows the
// consumers.
func pendingOf(group string) *source {
	consumers := consumersOf(group)
	consumers.other = &source{
		sourceShape: sourceShape{part: ui.Pending, group: group, other: consumers, full: true},
		unit:        [2]string{"pending entry", "pending entries"},
		columns:     []column{{title: "ID"}, {title: "IDLE", right: true}, {title: "DELIVERIES", right: true}, {title: "CONSUMER"}},
		fetch: func(key string, _ int64, from chunkRequest) [][]byte {
			return client.Command("XPENDING", key, group, idFrom(from.cursor), "+", client.Decimal(int64(from.n)))
		},
		decode: pendings,
		inner:  func(row record) *source { return entryOf(row[0]) },
	}
	return consumers.other
}

// pendings parses an XPENDING reply.
func pendings(_ int64, v resp.Value) *chunk {
	c := &chunk{}
	for _, e := range v.Elems {
		if len(e.Elems) == 4 {
			c.rows = append(c.rows, record{client.Text(e.Elems[0]), display.Remaining(client.Number(e.Elems[2])), client.Text(e.Elems[3]), client.Text(e.Elems[1])})
		}
	}
	c.chain()
	return c
}

// pendingWith shows the pending entries of one consumer.
func pendingWith(group, consumer string) *source {
	return &source{
		sourceShape: sourceShape{part: ui.Pending, group: group, full: true},
		unit:        [2]string{"pending entry", "pending entries"},
		columns:     []column{{title: "ID"}, {title: "IDLE", right: true}, {title: "DELIVERIES", right: true}, {title: "CONSUMER"}},
		fetch: func(key string, _ int64, from chunkRequest) [][]byte {
			return client.Command("XPENDING", key, group, idFrom(from.cursor), "+", client.Decimal(int64(from.n)), consumer)
		},
		decode: pendings,
		inner:  func(row record) *source { return entryOf(row[0]) },
	}
}

// entryOf shows the fields of an entry; none if it was deleted.
func entryOf(id string) *source {
	return &source{
		unit: [2]string{"field", "fields"}, sourceShape: sourceShape{full: true},
		columns: []column{{title: "FIELD", maxPercent: 40}, {title: "VALUE"}},
		fetch:   func(key string, _ int64, _ chunkRequest) [][]byte { return client.Command("XRANGE", key, id, id) },
		decode: func(_ int64, v resp.Value) *chunk {
			c := &chunk{}
			if len(v.Elems) == 1 && len(v.Elems[0].Elems) == 2 {
				for fields := v.Elems[0].Elems[1].Elems; len(fields) > 1; fields = fields[2:] {
					c.rows = append(c.rows, record{client.Text(fields[0]), client.Text(fields[1])})
				}
			}
			return c
		},
	}
}

// consumersOf shows the consumers of a group.
func consumersOf(group string) *source {
	return &source{
		sourceShape: sourceShape{part: ui.Consumers, group: group},
		inner:       func(row record) *source { return pendingWith(group, row[0]) },
		unit:        [2]string{"consumer", "consumers"},
		columns:     []column{{title: "CONSUMER"}, {title: "PENDING", right: true}, {title: "IDLE"}},
		fetch: func(key string, _ int64, _ chunkRequest) [][]byte {
			return client.Command("XINFO", "CONSUMERS", key, group)
		},
		decode: func(_ int64, v resp.Value) *chunk {
			c := &chunk{}
			for _, facts := range info(v) {
				c.rows = append(c.rows, record{facts["name"], facts["pending"], display.Remaining(client.Atoi(facts["idle"]))})
			}
			return c
		},
	}
}
