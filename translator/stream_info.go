package translator

import (
	"github.com/meowdis/meowdis/redis/commands"
	"github.com/meowdis/meowdis/redis/resp"
	"github.com/meowdis/meowdis/store"
)

const (
	sqlEntryFirst = `SELECT id, fields FROM stream_entries WHERE key_id = ` + liveID + ` ORDER BY id LIMIT 1`
	sqlEntryLast  = `SELECT id, fields FROM stream_entries WHERE key_id = ` + liveID + ` ORDER BY id DESC LIMIT 1`

	sqlGroups = `SELECT name, last_id, CAST(entries_read AS TEXT),
		(SELECT count(*) FROM stream_consumers c WHERE c.key_id = g.key_id AND c.group_name = g.name),
		(SELECT count(*) FROM stream_pending p WHERE p.key_id = g.key_id AND p.group_name = g.name),
		(SELECT count(*) FROM stream_pending p WHERE p.key_id = g.key_id AND p.group_name = g.name AND p.consumer IS NULL)
		FROM stream_groups g WHERE key_id = ` + liveID + ` ORDER BY name`
	sqlConsumers = `SELECT c.group_name, c.name, c.seen_at,
		(SELECT count(*) FROM stream_pending p WHERE p.key_id = c.key_id AND p.group_name = c.group_name AND p.consumer = c.name), c.active_at
		FROM stream_consumers c WHERE key_id = ` + liveID + ` ORDER BY group_name, name`
	sqlPendingAll = `SELECT group_name, id, consumer, max(0, delivered_at), CAST(deliveries AS TEXT) FROM stream_pending
		WHERE key_id = ` + liveID + ` ORDER BY group_name, id`
)

func label(s string) resp.Value { return resp.MakeString(s) }

// countOrNil returns the number of entries that a group has read, nil if unknown.
func countOrNil(n int64) resp.Value {
	if n == readUnknown {
		return resp.Nil
	}
	return resp.MakeInt(n)
}

// activeOr returns shown of the time of the last delivery, or -1 for a consumer without one.
func activeOr(active store.Value, shown func(at int64) int64) resp.Value {
	if active.IsNull() {
		return resp.MakeInt(-1)
	}
	return resp.MakeInt(shown(active.Int()))
}

// describe plans a read of a stream; decode receives the rows after its meta.
func (c *Call) describe(decode func(m streamMeta, rows [][]store.Row, w *store.Work) resp.Value, stmts ...store.Stmt) Plan {
	return read(func(r *store.Result) resp.Value {
		m, bad := metaOf(r.Rows[0])
		switch {
		case bad.IsError():
			return bad
		case !m.exists:
			return noSuchKey
		}
		return decode(m, r.Rows[1:], r.Work)
	}, append([]store.Stmt{c.streamMeta(c.Args[2])}, stmts...)...)
}

func xinfoGroups(c *Call) Plan {
	return c.describe(func(m streamMeta, rows [][]store.Row, w *store.Work) resp.Value {
		v := resp.Value{Kind: resp.Array}
		for _, row := range rows[0] {
			g := groupRow(row)
			v.Elems = append(v.Elems, resp.MakeMap(
				label("name"), resp.MakeBulk(g.name),
				label("consumers"), resp.MakeInt(row[3].Int()),
				label("pending"), resp.MakeInt(row[4].Int()),
				label("last-delivered-id"), g.last.reply(),
				label("entries-read"), countOrNil(g.read),
				label("lag"), g.lag(m)))
		}
		return v
	}, c.stmt(sqlGroups, c.Args[2]))
}

func xinfoConsumers(c *Call) Plan {
	key, name := c.Args[2], c.Args[3]
	return c.describe(func(_ streamMeta, rows [][]store.Row, _ *store.Work) resp.Value {
		if _, exists := groupOf(rows[0]); !exists {
			return noGroup(key, name)
		}
		v := resp.Value{Kind: resp.Array}
		for _, row := range rows[1] {
			if string(row[0].Bytes()) == string(name) {
				v.Elems = append(v.Elems, resp.MakeMap(
					label("name"), bulk(row[1]),
					label("pending"), resp.MakeInt(row[3].Int()),
					label("idle"), resp.MakeInt(max(0, c.Env.Now-row[2].Int())),
					label("inactive"), activeOr(row[4], func(at int64) int64 { return max(0, c.Env.Now-at) })))
			}
		}
		return v
	}, c.readGroup(key, name), c.stmt(sqlConsumers, key))
}

// head returns the first lines of both forms of XINFO STREAM. A meowdis stream has no radix tree: the numbers belong to
// the tree that Redis would build by appending small entries.
func (m streamMeta) head(idmp []store.Row) []resp.Value {
	nodes := (m.length + DefaultLimits.NodeEntries - 1) / DefaultLimits.NodeEntries
	return append([]resp.Value{
		label("length"), resp.MakeInt(m.length),
		label("radix-tree-keys"), resp.MakeInt(nodes),
		label("radix-tree-nodes"), resp.MakeInt(nodes + 1),
		label("last-generated-id"), m.last.reply(),
		label("max-deleted-entry-id"), m.deleted.reply(),
		label("entries-added"), resp.MakeInt(m.added),
		label("recorded-first-entry-id"), m.first.reply(),
	}, idmpInfo(idmp)...)
}

func xinfoStream(c *Call) Plan {
	if len(c.Args) > 3 {
		return xinfoFull(c)
	}
	key := c.Args[2]
	return c.describe(func(m streamMeta, rows [][]store.Row, w *store.Work) resp.Value {
		one := func(rows []store.Row) resp.Value {
			if len(rows) == 0 {
				return resp.Nil
			}
			return entryReply(rows[0], w)
		}
		return resp.MakeMap(append(m.head(rows[3]),
			label("groups"), resp.MakeInt(int64(len(rows[2]))),
			label("first-entry"), one(rows[0]),
			label("last-entry"), one(rows[1]))...)
	}, c.stmt(sqlEntryFirst, key), c.stmt(sqlEntryLast, key), c.stmt(sqlGroups, key), c.stmt(sqlIDMP, key))
}

func xinfoFull(c *Call) Plan {
	limit, bad := c.parseFull()
	all := limit
	if limit == 0 {
		all = -1
	}
	key := c.Args[2]
	return c.describe(func(m streamMeta, rows [][]store.Row, w *store.Work) resp.Value {
		if bad != "" {
			return resp.MakeError(bad)
		}
		groups := resp.Value{Kind: resp.Array}
		for _, row := range rows[1] {
			groups.Elems = append(groups.Elems, fullGroup(m, row, rows[2], rows[3], limit, w))
		}
		return resp.MakeMap(append(m.head(rows[4]), label("entries"), entryReplies(rows[0], w), label("groups"), groups)...)
	}, c.stmt(sqlStreamRange, key, streamID{}.value(), lastStreamID.value(), store.Int(min(all, maxCount))),
		c.stmt(sqlGroups, key), c.stmt(sqlConsumers, key), c.stmt(sqlPendingAll, key), c.stmt(sqlIDMP, key))
}

// parseFull parses "FULL [COUNT count]" from argument 3 on. Errors of the key precede its error.
func (c *Call) parseFull() (limit int64, bad string) {
	n := len(c.Args)
	if !c.is(3, "FULL") || n > 6 || n == 5 || n == 6 && !c.is(4, "COUNT") {
		return 0, string(commands.SubcommandSyntax(c.Args).Str)
	}
	limit = 10
	if n == 6 {
		var ok bool
		if limit, ok = parseInt(c.Args[5]); !ok {
			return 0, errNotInteger
		}
		if limit < 0 {
			limit = 10
		}
	}
	return limit, ""
}

// fullGroup returns a group with its pending entries and consumers, and at most limit entries in each list (0 for all).
func fullGroup(m streamMeta, row store.Row, consumers, pending []store.Row, limit int64, w *store.Work) resp.Value {
	g := groupRow(row)
	pel := pendingRows(pending, g.name, limit, w, func(store.Row) bool { return true }, func(p store.Row) resp.Value {
		return resp.MakeArray(streamIDOf(p[1]).reply(), owner(p[2]), resp.MakeInt(p[3].Int()), resp.MakeInt(p[4].Int()))
	})
	members := resp.Value{Kind: resp.Array}
	for _, co := range consumers {
		w.Step(stepsPerField)
		if string(co[0].Bytes()) != string(g.name) {
			continue
		}
		mine := func(p store.Row) bool { return !p[2].IsNull() && string(p[2].Bytes()) == string(co[1].Bytes()) }
		own := pendingRows(pending, g.name, limit, w, mine, func(p store.Row) resp.Value {
			return resp.MakeArray(streamIDOf(p[1]).reply(), resp.MakeInt(p[3].Int()), resp.MakeInt(p[4].Int()))
		})
		members.Elems = append(members.Elems, resp.MakeMap(
			label("name"), bulk(co[1]),
			label("seen-time"), resp.MakeInt(co[2].Int()),
			label("active-time"), activeOr(co[4], func(at int64) int64 { return at }),
			label("pel-count"), resp.MakeInt(co[3].Int()),
			label("pending"), own))
	}
	full := resp.MakeMap(
		label("name"), resp.MakeBulk(g.name),
		label("last-delivered-id"), g.last.reply(),
		label("entries-read"), countOrNil(g.read),
		label("lag"), g.lag(m),
		label("pel-count"), resp.MakeInt(row[4].Int()))
	if row[5].Int() > 0 {
		full.Elems = append(full.Elems, label("nacked-count"), resp.MakeInt(row[5].Int()))
	}
	full.Elems = append(full.Elems, label("pending"), pel, label("consumers"), members)
	return full
}

// owner returns the name of the consumer of a pending entry, "" for none.
func owner(v store.Value) resp.Value { return resp.MakeBulk(v.Bytes()) }

// pendingRows returns the first pending entries of a group that satisfy interest.
func pendingRows(rows []store.Row, group []byte, limit int64, w *store.Work, interest func(store.Row) bool, show func(store.Row) resp.Value) resp.Value {
	v := resp.Value{Kind: resp.Array}
	for _, row := range rows {
		w.Step(stepsPerField)
		if string(row[0].Bytes()) != string(group) || !interest(row) {
			continue
		}
		if limit > 0 && int64(len(v.Elems)) == limit {
			break
		}
		v.Elems = append(v.Elems, show(row))
	}
	return v
}
