package translator

import (
	"math"
	"strconv"
	"strings"

	"github.com/meowdis/meowdis/redis/glob"
	"github.com/meowdis/meowdis/redis/resp"
	"github.com/meowdis/meowdis/store"
)

// KEYS reads no more of the index (db, key) than its pattern's literal beginning
// asks for.
const (
	sqlKeysFrom  = `SELECT key FROM keys WHERE db = ?1 AND key >= ?2 AND (dies_at IS NULL OR dies_at > ?3)`
	sqlKeysRange = sqlKeysFrom + ` AND key < ?4`
)

func keys(c *Call) Plan {
	pattern := c.Args[1]
	from, to := glob.Range(pattern)
	stmt := c.stmt(sqlKeysFrom, from)
	if to != nil {
		stmt = c.stmt(sqlKeysRange, from, store.Bytes(to))
	}
	return read(func(r *store.Result) resp.Value {
		reply := resp.EmptyArray
		for _, row := range r.Rows[0] {
			r.Work.Step(8 + len(row[0].Bytes()))
			if glob.MatchKeyCounted(pattern, row[0].Bytes(), r.Work.Step) {
				reply.Elems = append(reply.Elems, bulk(row[0]))
			}
		}
		return reply
	}, stmt)
}

// A scan goes by the hash of the keys, which belongs to the name: a key that is
// there from start to end is met, whatever is renamed, deleted or made meanwhile.
// The cursor ?2 is the last hash of the page before. A page looks at COUNT keys,
// and at all of the last one's hash; it filters them here, and so may return
// fewer. One more row (?4 is COUNT, the first one being 0) reports whether there is
// a next page.
const sqlScan = `SELECT hash, key, type, dies_at IS NULL OR dies_at > ?3 FROM keys
	WHERE db = ?1 AND hash > ?2 AND hash <= ifnull(
		(SELECT hash FROM keys WHERE db = ?1 AND hash > ?2 ORDER BY hash LIMIT 1 OFFSET CAST(?4 AS INTEGER)), ` + beyondHashes + `)
	ORDER BY hash`

type scanOptions struct {
	cursor     uint64
	match, typ []byte // nil: any
	count      int64
	namesOnly  bool // HSCAN's NOVALUES
	withTypes  bool // SCAN's WITHTYPE, which is Upstash's
}

// maxScan keeps the number of rows of a page from overflowing anything.
const maxScan = math.MaxInt32

// parseScan reads "cursor [MATCH pattern] [COUNT count]" from argument from on,
// and what only SCAN and HSCAN have; ok is false when the plan holds the error to
// answer.
func (c *Call) parseScan(from int) (o scanOptions, bad Plan, ok bool) {
	if o.cursor, ok = parseCursor(c.Args[from]); !ok {
		return o, fail(errInvalidCursor), false
	}
	o.count = 10
	for i := from + 1; i < len(c.Args); i += 2 {
		last := i == len(c.Args)-1
		switch {
		case c.is(i, "NOVALUES"):
			if c.Command.Name != "HSCAN" {
				return o, fail("ERR NOVALUES option can only be used in HSCAN"), false
			}
			o.namesOnly = true
			i--
		case c.is(i, "WITHTYPE") && c.Command.Name == "SCAN":
			o.withTypes = true
			i--
		case c.is(i, "COUNT") && !last:
			if o.count, ok = parseInt(c.Args[i+1]); !ok {
				return o, fail(errNotInteger), false
			}
			if o.count < 1 {
				return o, fail(errSyntax), false
			}
			o.count = min(o.count, maxScan)
		case c.is(i, "MATCH") && !last:
			o.match = c.Args[i+1]
		case c.is(i, "TYPE") && c.Command.Name == "SCAN" && !last:
			o.typ = c.Args[i+1]
		default:
			return o, fail(errSyntax), false
		}
	}
	return o, Plan{}, true
}

// parseCursor reads a cursor as Redis's string2ull: as C's strtoul does, up to a NUL if
// there is one, with space and a sign before it, but no plain negative number.
func parseCursor(b []byte) (uint64, bool) {
	b = cString(b)
	if n, ok := parseInt(b); ok && n < 0 {
		return 0, false
	}
	s := strings.TrimLeft(string(b), " \t\n\v\f\r")
	negative := strings.HasPrefix(s, "-")
	if negative || strings.HasPrefix(s, "+") {
		s = s[1:]
	}
	n, err := strconv.ParseUint(s, 10, 64)
	if negative {
		n = -n
	}
	return n, err == nil
}

// matches reports whether the options let an element through.
func (o scanOptions) matches(element []byte, w *store.Work) bool {
	w.Step(8)
	return o.match == nil || glob.MatchKeyCounted(o.match, element, w.Step)
}

// wants reports whether the options let a key of the type through.
func (o scanOptions) wants(typ []byte) bool {
	return o.typ == nil || wordIs(o.typ, strings.ToUpper(string(typ)))
}

func scan(c *Call) Plan {
	o, bad, ok := c.parseScan(1)
	if !ok {
		return bad
	}
	args := []store.Value{store.Int(int64(c.Env.DB)), store.Int(int64(min(o.cursor, endOfScan))), store.Int(c.Env.Now), store.Int(o.count)}
	return read(func(r *store.Result) resp.Value {
		page, next := cutPage(r.Rows[0], o.count)
		found := resp.EmptyArray
		for _, row := range page {
			if live := row[3].Int() != 0; live && o.matches(row[1].Bytes(), r.Work) && o.wants(row[2].Bytes()) {
				found.Elems = append(found.Elems, bulk(row[1]))
				if o.withTypes {
					found.Elems = append(found.Elems, bulk(row[2]))
				}
			}
		}
		return o.page(next, found)
	}, store.Stmt{SQL: sqlScan, Args: args})
}

// cutPage is the first count of the rows, with those after them that have the
// same hash, and the cursor of what comes next, 0 for nothing.
func cutPage(rows []store.Row, count int64) (page []store.Row, next int64) {
	if int64(len(rows)) <= count {
		return rows, 0
	}
	next = rows[count-1][0].Int()
	for count < int64(len(rows)) && rows[count][0].Int() == next {
		count++
	}
	return rows[:count], next
}

// page is the reply for a page. A damaged index may have the rows in any order, and a
// cursor that goes back would never end.
func (o scanOptions) page(next int64, found resp.Value) resp.Value {
	if next != 0 && uint64(next) <= o.cursor {
		return resp.MakeError(errDisorder)
	}
	return scanPage(next, found)
}

// scanPage is the reply of the SCAN family.
func scanPage(cursor int64, found resp.Value) resp.Value {
	return resp.MakeArray(resp.MakeString(strconv.FormatInt(cursor, 10)), found)
}

// A random key is found from a random hash on, some random steps further, which
// evens out how far apart the hashes lie; after the last key comes the first. In
// a database of up to 256 keys one is as likely as another, in a bigger one give
// or take a tenth. ?2 are a few hashes to try, one after the other, since they may
// hit expired keys, and ?4 is a random number to make the steps from. Only where
// all hit expired keys, in a database that is nearly dead, a walk finds a live one.
const sqlRandomKey = `SELECT key FROM (
	SELECT k.key FROM json_each(?2) j CROSS JOIN keys k ON k.id = (
			SELECT id FROM (SELECT id FROM keys WHERE db = ?1 AND hash >= j.value
				UNION ALL SELECT id FROM keys WHERE db = ?1 AND hash < j.value)
			LIMIT 1 OFFSET CAST(?4 AS INTEGER) % max(1, min(256, ifnull((SELECT keys FROM dbs WHERE db = ?1), 0))))
		WHERE k.dies_at IS NULL OR k.dies_at > ?3
	UNION ALL
	SELECT key FROM keys WHERE db = ?1 AND (dies_at IS NULL OR dies_at > ?3))
	LIMIT 1`

const randomProbes = 16

func randomKey(c *Call) Plan {
	probes := []byte{'['}
	for i := range randomProbes {
		if i > 0 {
			probes = append(probes, ',')
		}
		probes = strconv.AppendUint(probes, c.Random()>>12, 10)
	}
	args := []store.Value{store.Int(int64(c.Env.DB)), store.TextBytes(append(probes, ']')), store.Int(c.Env.Now), store.Int(int64(c.Random() >> 12))}
	return read(bulkOf(0), store.Stmt{SQL: sqlRandomKey, Args: args})
}
