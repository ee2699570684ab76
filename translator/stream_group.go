package translator

import (
	"github.com/meowdis/meowdis/redis/commands"
	"github.com/meowdis/meowdis/redis/resp"
	"github.com/meowdis/meowdis/store"
)

// readUnknown marks an unknown streamGroup.read.
const readUnknown = -1

// streamGroup is a consumer group. As in Redis, other negative values of read are counts that overflowed.
type streamGroup struct {
	name []byte
	last streamID
	read int64 // number of entries read, or readUnknown
}

const (
	sqlGroup = `SELECT name, last_id, CAST(entries_read AS TEXT) FROM stream_groups WHERE key_id = ` + liveID + ` AND name = ?4`

	sqlGroupAdd = `INSERT INTO stream_groups(key_id, name, last_id, entries_read) SELECT id, ?4, ?5, CAST(?6 AS INTEGER) FROM keys WHERE ` + live
	sqlGroupSet = `UPDATE stream_groups SET last_id = ?5, entries_read = CAST(?6 AS INTEGER) WHERE key_id = ` + liveID + ` AND name = ?4`
	sqlGroupDel = `DELETE FROM stream_groups WHERE key_id = ` + liveID + ` AND name = ?4`

	sqlConsumer    = `SELECT name FROM stream_consumers WHERE key_id = ` + liveID + ` AND group_name = ?4 AND name = ?5`
	sqlConsumerAdd = `INSERT INTO stream_consumers(key_id, group_name, name, seen_at) SELECT id, ?4, ?5, ?3 FROM keys WHERE ` + live + `
		ON CONFLICT(key_id, group_name, name) DO UPDATE SET seen_at = ?3`
	sqlConsumerActive = `INSERT INTO stream_consumers(key_id, group_name, name, seen_at, active_at) SELECT id, ?4, ?5, ?3, ?3 FROM keys WHERE ` + live + `
		ON CONFLICT(key_id, group_name, name) DO UPDATE SET seen_at = ?3, active_at = ?3`
	sqlConsumerDel = `DELETE FROM stream_consumers WHERE key_id = ` + liveID + ` AND group_name = ?4 AND name = ?5`

	pendingOfGroup = ` FROM stream_pending WHERE key_id = ` + liveID + ` AND group_name = ?4`
	sqlPendingOne  = `SELECT count(*)` + pendingOfGroup + ` AND consumer = ?5`
	sqlPendingAck  = `DELETE` + pendingOfGroup + ` AND id IN (SELECT unhex(value) FROM json_each(?5)) RETURNING 1`
)

func (c *Call) readGroup(key, name []byte) store.Stmt {
	return c.stmt(sqlGroup, key, store.Bytes(name))
}

// groupOf decodes the rows of sqlGroup.
func groupOf(rows []store.Row) (g streamGroup, exists bool) {
	if len(rows) == 0 {
		return g, false
	}
	return groupRow(rows[0]), true
}

func groupRow(row store.Row) streamGroup {
	g := streamGroup{name: row[0].Bytes(), last: streamIDOf(row[1]), read: readUnknown}
	if !row[2].IsNull() {
		g.read = row[2].Int()
	}
	return g
}

// saveGroup writes g with sqlGroupAdd or sqlGroupSet.
func (c *Call) saveGroup(sql string, key []byte, g streamGroup) store.Stmt {
	read := store.Value{}
	if g.read != readUnknown {
		read = store.Digits(g.read)
	}
	return c.stmt(sql, key, store.Bytes(g.name), g.last.value(), read)
}

// distance returns the number of entries ever added up to and including id, or readUnknown after some deletions. Redis
// calls it the estimated distance from the first ever entry.
func (m streamMeta) distance(id streamID) int64 {
	switch {
	case m.added == 0:
		return 0
	case m.length == 0 && id.compare(m.last) < 1:
		return m.added
	case id == m.last:
		return m.added
	case id.compare(m.last) > 0:
		return readUnknown
	case !id.isZero() && id.compare(m.deleted) < 0:
		return readUnknown
	}
	if m.deleted.isZero() || m.deleted.compare(m.first) < 0 {
		switch first := id.compare(m.first); {
		case first < 0:
			return m.added - m.length
		case first == 0:
			return m.added - m.length + 1
		}
	}
	return readUnknown
}

// hasGapAfter reports whether XDEL has deleted an entry from id on that came after the present first one.
func (m streamMeta) hasGapAfter(id streamID) bool {
	return m.length > 0 && !m.deleted.isZero() && m.first.compare(m.deleted) <= 0 && id.compare(m.deleted) <= 0
}

// advance moves the group past the entry id.
func (g *streamGroup) advance(m streamMeta, id streamID) {
	if id.compare(g.last) <= 0 {
		return
	}
	if g.read != readUnknown && g.last.compare(m.first) >= 0 && !m.hasGapAfter(g.last) {
		g.read++
	} else if m.added > 0 {
		g.read = m.distance(id)
	}
	g.last = id
}

// lag returns the number of unread entries of the group, nil if unknown.
func (g streamGroup) lag(m streamMeta) resp.Value {
	switch {
	case m.added == 0 || m.length == 0:
		return resp.Zero
	case g.last.compare(m.first) < 0 && m.deleted.compare(m.first) < 0:
		return resp.MakeInt(m.length)
	case g.read != readUnknown && !m.hasGapAfter(g.last):
		return resp.MakeInt(m.added - g.read)
	}
	if read := m.distance(g.last); read != readUnknown {
		return resp.MakeInt(m.added - read)
	}
	return resp.Nil
}

const errGroupKey = "ERR The XGROUP subcommand requires the key to exist. Note that for CREATE you may want to use the MKSTREAM option to create an empty stream automatically."

func noGroup(key, group []byte) resp.Value {
	return resp.MakeError(commands.OneLine("NOGROUP No such consumer group '" + string(cString(group)) + "' for key name '" + string(cString(key)) + "'"))
}

func noKeyOrGroup(key, group []byte, more string) resp.Value {
	return resp.MakeError(commands.OneLine("NOGROUP No such key '" + string(cString(key)) + "' or consumer group '" + string(cString(group)) + "'" + more))
}

// parseGroup parses "<id|$> [MKSTREAM] [ENTRIESREAD n]" from argument 4 on, except for the id, which depends on the
// stream.
func (c *Call) parseGroup(create bool) (read int64, mkstream bool, bad string) {
	read = readUnknown
	for i := 5; i < len(c.Args); i++ {
		switch {
		case create && c.is(i, "MKSTREAM"):
			mkstream = true
		case c.is(i, "ENTRIESREAD") && i+1 < len(c.Args):
			i++
			var ok bool
			if read, ok = parseInt(c.Args[i]); !ok {
				return 0, false, errNotInteger
			}
			if read < readUnknown {
				return 0, false, "ERR value for ENTRIESREAD must be positive or -1"
			}
		default:
			return 0, false, string(commands.SubcommandSyntax(c.Args).Str)
		}
	}
	return read, mkstream, ""
}

// groupID returns the id for "<id|$>". parse handles all but $: XGROUP SETID also accepts - and +.
func (c *Call) groupID(m streamMeta, parse func([]byte, uint64) (streamID, bool)) (streamID, bool) {
	if string(c.Args[4]) == "$" {
		return m.last, true
	}
	return parse(c.Args[4], 0)
}

func xgroupCreate(c *Call) Plan {
	key, name := c.Args[2], c.Args[3]
	read, mkstream, bad := c.parseGroup(true)
	if bad != "" {
		return fail(bad)
	}
	return readThen(func(r *store.Result) Plan {
		m, bad := metaOf(r.Rows[0])
		switch {
		case bad.IsError():
			return answer(bad)
		case !m.exists && !mkstream:
			return fail(errGroupKey)
		case len(c.Args) > 8: // repeated options
			return answer(commands.SubcommandSyntax(c.Args))
		}
		id, ok := c.groupID(m, parseStreamID)
		if !ok {
			return fail(errStreamID)
		}
		if _, exists := groupOf(r.Rows[1]); exists {
			return fail("BUSYGROUP Consumer Group name already exists")
		}
		stmts := append(c.makeStream(key), c.saveStream(key, m),
			c.saveGroup(sqlGroupAdd, key, streamGroup{name, id, read}), c.touch(key))
		return write(decodeOK, stmts...)
	}, c.streamMeta(key), c.readGroup(key, name))
}

// withGroup plans a subcommand of XGROUP that needs the key and, unless optional, the group.
func (c *Call) withGroup(optional bool, more []store.Stmt, then func(m streamMeta, g streamGroup, exists bool, rest [][]store.Row) Plan) Plan {
	key, name := c.Args[2], c.Args[3]
	return readThen(func(r *store.Result) Plan {
		m, bad := metaOf(r.Rows[0])
		switch {
		case bad.IsError():
			return answer(bad)
		case !m.exists:
			return fail(errGroupKey)
		}
		g, exists := groupOf(r.Rows[1])
		if !exists && !optional {
			return answer(noGroup(key, name))
		}
		return then(m, g, exists, r.Rows[2:])
	}, append([]store.Stmt{c.streamMeta(key), c.readGroup(key, name)}, more...)...)
}

func xgroupSetID(c *Call) Plan {
	read, _, bad := c.parseGroup(false)
	if bad != "" {
		return fail(bad)
	}
	return c.withGroup(false, nil, func(m streamMeta, g streamGroup, _ bool, _ [][]store.Row) Plan {
		if len(c.Args) > 7 { // a repeated option
			return answer(commands.SubcommandSyntax(c.Args))
		}
		id, ok := c.groupID(m, parseRangeID)
		if !ok {
			return fail(errStreamID)
		}
		g.last, g.read = id, read
		return write(decodeOK, c.saveGroup(sqlGroupSet, c.Args[2], g), c.touch(c.Args[2]))
	})
}

func xgroupDestroy(c *Call) Plan {
	return c.withGroup(true, nil, func(_ streamMeta, _ streamGroup, exists bool, _ [][]store.Row) Plan {
		if !exists {
			return answer(resp.Zero)
		}
		return write(always(resp.One), c.stmt(sqlGroupDel, c.Args[2], store.Bytes(c.Args[3])), c.touch(c.Args[2]))
	})
}

func xgroupCreateConsumer(c *Call) Plan {
	args := []store.Value{store.Bytes(c.Args[3]), store.Bytes(c.Args[4])}
	return c.withGroup(false, []store.Stmt{c.stmt(sqlConsumer, c.Args[2], args...)}, func(_ streamMeta, _ streamGroup, _ bool, rest [][]store.Row) Plan {
		if len(rest[0]) > 0 {
			return answer(resp.Zero)
		}
		return write(always(resp.One), c.stmt(sqlConsumerAdd, c.Args[2], args...), c.touch(c.Args[2]))
	})
}

func xgroupDelConsumer(c *Call) Plan {
	args := []store.Value{store.Bytes(c.Args[3]), store.Bytes(c.Args[4])}
	return c.withGroup(false, []store.Stmt{c.stmt(sqlPendingOne, c.Args[2], args...), c.stmt(sqlConsumer, c.Args[2], args...)},
		func(_ streamMeta, _ streamGroup, _ bool, rest [][]store.Row) Plan {
			if len(rest[1]) == 0 {
				return answer(resp.Zero)
			}
			pending := resp.MakeInt(rest[0][0][0].Int())
			return write(always(pending), c.stmt(sqlConsumerDel, c.Args[2], args...), c.touch(c.Args[2]))
		})
}

func xack(c *Call) Plan {
	key, name := c.Args[1], c.Args[2]
	return readThen(func(r *store.Result) Plan {
		m, bad := metaOf(r.Rows[0])
		if bad.IsError() {
			return answer(bad)
		}
		if _, exists := groupOf(r.Rows[1]); !m.exists || !exists {
			return answer(resp.Zero)
		}
		ids, ok := parseStreamIDs(c.Args[3:])
		if !ok {
			return fail(errStreamID)
		}
		return write(countRows, c.stmt(sqlPendingAck, key, store.Bytes(name), streamIDs(ids)), c.touch(key))
	}, c.streamMeta(key), c.readGroup(key, name))
}
