package inspect

import (
	"strings"

	"github.com/meowdis/meowdis/resp"
)

// entriesOf shows the entries of a stream, which form a chain by their ids.
var entriesOf = &source{
	full:    true,
	columns: []column{{title: "ID"}, {title: "FIELDS"}},
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

// entryRow is an entry in a line, and as a text of a line a field.
func entryRow(e resp.Value) (record, string) {
	var line, body strings.Builder
	fields := e.Elems[1].Elems
	for i := 0; i+1 < len(fields); i += 2 {
		if i > 0 {
			line.WriteString("  ")
		}
		field, value := text(fields[i]), text(fields[i+1])
		line.WriteString(whole(field) + "=" + whole(value))
		body.WriteString(whole(field) + ": " + value + "\n")
	}
	return record{text(e.Elems[0]), line.String()}, body.String()
}

// idFrom is the beginning of a range behind an id.
func idFrom(cursor string) string {
	if cursor == "0" {
		return "-"
	}
	return "(" + cursor
}

// chain makes the last id the cursor of what follows.
func (c *chunk) chain() {
	if n := len(c.rows); n > 0 {
		c.next = c.rows[n-1][0]
	}
}

// info reads a reply of XINFO: the facts of each group or consumer.
func info(v resp.Value) (all []map[string]string) {
	for _, e := range v.Elems {
		facts := map[string]string{}
		for i := 0; i+1 < len(e.Elems); i += 2 {
			facts[text(e.Elems[i])] = text(e.Elems[i+1])
		}
		all = append(all, facts)
	}
	return all
}

// groupsOf shows the consumer groups of a stream.
var groupsOf = &source{
	unit:    [2]string{"group", "groups"},
	columns: []column{{title: "GROUP"}, {title: "CONSUMERS", right: true}, {title: "PENDING", right: true}, {title: "LAG", right: true}, {title: "LAST ID"}},
	fetch:   func(key string, _ int64, _ link) [][]byte { return command("XINFO", "GROUPS", key) },
	decode: func(_ int64, v resp.Value) *chunk {
		c := &chunk{}
		for _, g := range info(v) {
			c.rows = append(c.rows, record{g["name"], g["consumers"], g["pending"], g["lag"], g["last-delivered-id"]})
		}
		return c
	},
	inner: func(row record) *source { return pendingOf(row[0]) },
}

// pendingOf shows what a group has delivered and not acknowledged, and on its other
// side the consumers.
func pendingOf(group string) *source {
	consumers := consumersOf(group)
	consumers.other = &source{
		other: consumers,
		unit:  [2]string{"pending entry", "pending entries"}, full: true,
		columns: []column{{title: "ID"}, {title: "IDLE", right: true}, {title: "DELIVERIES", right: true}, {title: "CONSUMER"}},
		fetch: func(key string, _ int64, from link) [][]byte {
			return command("XPENDING", key, group, idFrom(from.cursor), "+", decimal(int64(from.n)))
		},
		decode: func(_ int64, v resp.Value) *chunk {
			c := &chunk{}
			for _, e := range v.Elems {
				if len(e.Elems) == 4 {
					c.rows = append(c.rows, record{text(e.Elems[0]), remaining(number(e.Elems[2])), text(e.Elems[3]), text(e.Elems[1])})
				}
			}
			c.chain()
			return c
		},
	}
	return consumers.other
}

// consumersOf shows the consumers of a group.
func consumersOf(group string) *source {
	return &source{
		unit:    [2]string{"consumer", "consumers"},
		columns: []column{{title: "CONSUMER"}, {title: "PENDING", right: true}, {title: "IDLE"}},
		fetch: func(key string, _ int64, _ link) [][]byte {
			return command("XINFO", "CONSUMERS", key, group)
		},
		decode: func(_ int64, v resp.Value) *chunk {
			c := &chunk{}
			for _, facts := range info(v) {
				c.rows = append(c.rows, record{facts["name"], facts["pending"], remaining(atoi64(facts["idle"]))})
			}
			return c
		},
	}
}
