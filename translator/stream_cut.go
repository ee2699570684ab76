package translator

import (
	"strings"
	"sync"

	"github.com/meowdis/meowdis/redis/resp"
	"github.com/meowdis/meowdis/store"
	"github.com/meowdis/meowdis/store/keytype"
)

// A long stream with few remaining entries is not trimmed entry by entry. The remaining nodes are copied to another id,
// with the other rows of the stream, and the old entries become a pending delete (a row in pending_deletes). The first remaining
// node is then trimmed as usual. k selects the stream and the first ID of that node.
const (
	cutAtLength = `WITH k AS (SELECT id, count, ifnull((SELECT max(first_id) FROM stream_nodes WHERE key_id = keys.id AND first_id <= (
			SELECT id FROM stream_entries WHERE key_id = keys.id ORDER BY id DESC LIMIT 1 OFFSET CAST(?4 AS INTEGER) - 1)), x'') AS cut
		FROM keys WHERE ` + live + ` AND type = 'stream' AND CAST(?4 AS INTEGER) <= count / 4) `
	cutAtID = `WITH k AS (SELECT id, count, ifnull((SELECT max(first_id) FROM stream_nodes WHERE key_id = keys.id AND first_id <= ?4), x'') AS cut
		FROM keys WHERE ` + live + ` AND type = 'stream') `

	deleteStreamLater = `INSERT INTO pending_deletes(id, type) SELECT id, 'stream' FROM k WHERE count > ?5
		AND (SELECT count(*) FROM (SELECT 1 FROM stream_entries e WHERE e.key_id = k.id AND e.id >= cut LIMIT ifnull((SELECT count / 4 + 1 FROM k), 0))) <= count / 4`
)

// The first statement of a cut makes the row in pending_deletes, the others copy, and the last one copies the entries.
var (
	cutAtLengthStmts = sync.OnceValue(func() []string { return cutStmts(cutAtLength) })
	cutAtIDStmts     = sync.OnceValue(func() []string { return cutStmts(cutAtID) })
)

func cutStmts(cut string) []string {
	leave, entries := cut+deleteStreamLater, ""
	copies := []string{""}
	for _, t := range keytype.Of(keytype.Stream).Tables {
		columns := strings.Join(t.Columns[1:], ", ")
		sql := cut + insertAll + t.Name + `(key_id, ` + columns + `) SELECT ` + anotherID + `, ` + columns +
			` FROM ` + t.Name + ` WHERE key_id = (` + deletedLater + `)`
		switch {
		case t.Name == "stream_entries":
			entries = sql + ` AND id >= (SELECT cut FROM k)`
			continue
		case t.Name == "stream_nodes":
			sql += ` AND first_id >= (SELECT cut FROM k)`
		case !t.SingleRow():
			leave += ` AND NOT EXISTS (SELECT 1 FROM ` + t.Name + ` t WHERE t.key_id = k.id LIMIT 1 OFFSET 256)`
		}
		copies = append(copies, sql)
	}
	copies[0] = leave
	return append(copies, entries)
}

// cutEntries returns the statements that remove most of a long stream in this way, or none if the options do not
// allow it. The last but one copies the remaining entries, and the last one moves the key to them.
func (c *Call) cutEntries(key []byte, o addOptions) (stmts []store.Stmt) {
	if o.refs > keepRefs || o.approx && o.limit > 0 {
		return nil
	}
	all, cut := cutAtLengthStmts(), store.Digits(o.maxLen)
	if o.trim == 'i' {
		all, cut = cutAtIDStmts(), o.minID.value()
	}
	args := c.key(key, cut, store.Int(LongList))
	for i, sql := range all {
		s := store.Stmt{SQL: sql, Args: args}
		if i > 0 {
			s.Args = args[:4]
		}
		stmts = append(stmts, s)
	}
	return append(stmts, c.stmt(sqlSwitchID, key, c.newVersion()))
}

func xtrim(c *Call) Plan {
	key := c.Args[1]
	o, _, bad := c.parseAdd(false)
	if bad != "" {
		return fail(bad)
	}
	stmts := append(make([]store.Stmt, 0, 16), c.readKey(key), c.guardType(key, streamType))
	leave, long := c.cutEntries(key, o), LongList
	for _, s := range leave {
		s.SkipIf = func(before store.Result) bool { return !isLongerThan(before, long) }
		stmts = append(stmts, s)
	}
	left := len(stmts)
	trim, counts := c.trimStmts(key, o)
	return write(func(r *store.Result) resp.Value {
		gone := r.Changes[left+counts]
		if len(leave) > 0 && r.Changes[left-1] > 0 {
			gone += liveRow(r.Rows)[rowCount].Int() - r.Changes[left-2]
		}
		return resp.MakeInt(gone)
	}, append(stmts, trim...)...)
}
