package translator

import (
	"math"
	"strconv"
	"strings"

	"github.com/meowdis/meowdis/redis/glob"
	"github.com/meowdis/meowdis/redis/resp"
	"github.com/meowdis/meowdis/store"
)

// KEYS reads only the part of the index (db, key) with the literal prefix of its pattern.
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
	packed := c.pack(&stmt, 1, false)
	return read(func(r *store.Result) resp.Value {
		if v, ok := packed.reply(resp.Array, r.Work); ok {
			v.Packed.Filter(func(key []byte) bool {
				r.Work.Step(8 + len(key))
				return glob.MatchKeyCounted(pattern, key, r.Work.Step)
			})
			return v
		}
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

// A scan follows the hash of the keys, which depends only on the name. So it returns every key that exists from start
// to end, whatever other keys are renamed, deleted or created. The cursor ?2 is the last hash of the previous page. A
// page examines COUNT keys, and all other keys with the last one's hash. They are filtered in Go, so the page may
// return fewer keys. One more row (?4 is COUNT, counted from 0) shows whether a next page exists.
const sqlScan = `SELECT hash, key, type, dies_at IS NULL OR dies_at > ?3 FROM keys
	WHERE db = ?1 AND hash > ?2 AND hash <= ifnull(
		(SELECT hash FROM keys WHERE db = ?1 AND hash > ?2 ORDER BY hash LIMIT 1 OFFSET CAST(?4 AS INTEGER)), ` + beyondHashes + `)
	ORDER BY hash`

type scanOptions struct {
	cursor     uint64
	match, typ []byte // nil for any
	count      int64
	namesOnly  bool // HSCAN's NOVALUES
	withTypes  bool // SCAN's WITHTYPE, an option of Upstash
}

// maxScan limits COUNT, to prevent overflows.
const maxScan = math.MaxInt32

// parseScan parses "cursor [MATCH pattern] [COUNT count]" from argument from on, and the options that only SCAN and
// HSCAN have; ok is false if the plan bad replies with an error.
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

// parseCursor parses a cursor as Redis's string2ull does: like C's strtoul, up to a NUL, with leading space and a sign,
// but no plain negative number.
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

// matches reports whether an element matches the options.
func (o scanOptions) matches(element []byte, w *store.Work) bool {
	w.Step(8)
	return o.match == nil || glob.MatchKeyCounted(o.match, element, w.Step)
}

// wants reports whether the type of a key matches the options.
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

// cutPage returns the first count rows, the rows after them with the same hash, and the cursor of the next page, 0 if
// none.
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

// page returns the reply for a page. It fails if the cursor does not advance, since a scan of a damaged index might
// never end.
func (o scanOptions) page(next int64, found resp.Value) resp.Value {
	if next != 0 && uint64(next) <= o.cursor {
		return resp.MakeError(errIndexOrder)
	}
	return scanPage(next, found)
}

// scanPage returns a reply of the SCAN family.
func scanPage(cursor int64, found resp.Value) resp.Value {
	return resp.MakeArray(resp.MakeString(strconv.FormatInt(cursor, 10)), found)
}

// The search for a random key begins at a random hash and takes some random steps, which evens out the distances
// between hashes; the first key follows the last one. In a database of up to 256 keys all keys are equally likely, in a
// bigger one within a tenth. ?2 holds a few hashes to try one after the other, since they may find expired keys, and
// the number of steps derives from the random ?4. If all find expired keys, the database is almost empty, and a walk
// finds a live one.
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
