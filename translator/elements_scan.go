package translator

import (
	"slices"

	"github.com/meowdis/meowdis/redis/resp"
	"github.com/meowdis/meowdis/store"
)

// HSCAN and SSCAN follow the hash of the elements, which no change of a key alters. The cursor ?4 is the last hash of
// the previous page. A page ends with all elements of one hash, so it may have a few more than COUNT, which is ?5 + 1.
// As in Redis, a small collection is one page, whatever the cursor and COUNT.
//
// The statements return a row for each element of the page, or one row without an element: the key's type, the last
// hash of the page, the element, its seq.
const (
	sqlHashPage = `WITH page(id, type, first, last) AS MATERIALIZED (
			SELECT id, type, 0, ` + beyondHashes + ` FROM keys WHERE ` + live + ` AND count <= 128
			UNION ALL SELECT id, type, ?4, ifnull(
				(SELECT hash FROM hashes WHERE key_id = id AND hash > ?4 ORDER BY hash LIMIT 1 OFFSET CAST(?5 AS INTEGER)), ` + beyondHashes + `)
			FROM keys WHERE ` + live + ` AND count > 128)
		SELECT p.type, p.last, h.field, h.value, h.seq FROM page p
		LEFT JOIN hashes h ON h.key_id = p.id AND h.hash > p.first AND h.hash <= p.last AND ` + liveField
	sqlSetPage = `WITH page(id, type, first, last) AS MATERIALIZED (
			SELECT id, type, 0, ` + beyondHashes + ` FROM keys WHERE ` + live + ` AND count <= 512
			UNION ALL SELECT id, type, ?4, ifnull(
				(SELECT hash FROM sets WHERE key_id = id AND hash > ?4 ORDER BY hash LIMIT 1 OFFSET CAST(?5 AS INTEGER)), ` + beyondHashes + `)
			FROM keys WHERE ` + live + ` AND count > 512)
		SELECT p.type, p.last, m.member, m.seq FROM page p
		LEFT JOIN sets m ON m.key_id = p.id AND m.hash > p.first AND m.hash <= p.last`

	// beyondHashes ends the last page. It is 2^52, and hashes have 52 bits.
	beyondHashes = `4503599627370496`
	endOfScan    = 1 << 52
)

// scanElements translates "NAME key cursor …". MATCH applies to the first cell of an element. As in Redis, errors in
// the options are reported only if the key exists. compare orders the rows of a page, and show makes the reply from an
// element's cells.
func scanElements(typ, sql string, compare func(a, b store.Row) int, show func([]store.Value) []resp.Value) func(*Call) Plan {
	return func(c *Call) Plan {
		cursor, ok := parseCursor(c.Args[2])
		if !ok {
			return fail(errInvalidCursor)
		}
		o, bad, ok := c.parseScan(2)
		if !ok {
			o.count = 1
		}
		cells := []store.Value{store.Int(int64(min(cursor, endOfScan))), store.Digits(o.count - 1)}
		if typ == zsetType {
			limits := c.limits()
			cells = append(cells, limitArg(limits.ZsetMembers), limitArg(limits.ZsetBytes))
		}
		return read(checkType(typ, scanPage(0, resp.EmptyArray), func(r *store.Result) resp.Value {
			if !ok {
				return bad.Reply
			}
			slices.SortFunc(r.Rows[0], compare) // sorting large rows in SQLite would need several copies in memory
			return elementPage(r.Rows[0], o, r.Work, show)
		}), c.stmt(sql, c.Args[1], cells...))
	}
}

// asBulks returns cells, except the seq at their end, as bulk strings.
func asBulks(cells []store.Value) []resp.Value {
	all := make([]resp.Value, len(cells)-1)
	for i := range all {
		all[i] = bulk(cells[i])
	}
	return all
}

// elementPage makes the reply from the rows of a page.
func elementPage(rows []store.Row, o scanOptions, w *store.Work, show func([]store.Value) []resp.Value) resp.Value {
	next := rows[0][1].Int()
	if next == endOfScan {
		next = 0
	}
	found := resp.EmptyArray
	for _, row := range rows {
		element := row[2:]
		if element[0].IsNull() || !o.matches(element[0].Bytes(), w) {
			continue
		}
		cells := show(element)
		if o.namesOnly {
			cells = cells[:1]
		}
		found.Elems = append(found.Elems, cells...)
	}
	return o.page(next, found)
}
