package translator

import (
	"github.com/meowdis/meowdis/redis/resp"
	"github.com/meowdis/meowdis/store"
	"github.com/meowdis/meowdis/store/keytype"
)

var listTranslations = translations{
	{"LPUSH", push(head)},
	{"RPUSH", push(tail)},
	{"LPUSHX", pushx(head)},
	{"RPUSHX", pushx(tail)},
	{"LPOP", pop(head)},
	{"RPOP", pop(tail)},
	{"LMPOP", lmpop},
	{"LMOVE", lmove},
	{"LMOVEM", lmovem},
	{"RPOPLPUSH", func(c *Call) Plan { return c.move(tail, head, resp.Nil) }},
	{"LLEN", llen},
	{"LINDEX", lindex},
	{"LRANGE", lrange},
	{"LPOS", lpos},
	{"LSET", lset},
	{"LINSERT", linsert},
	{"LREM", lrem},
	{"LTRIM", ltrim},
}

const listType = keytype.List

// end names an end of a list. It indexes pairs of statements.
type end int

const (
	head end = iota
	tail
)

// endAt parses LEFT or RIGHT in argument i.
func (c *Call) endAt(i int) (e end, ok bool) {
	switch {
	case c.is(i, "LEFT"):
		return head, true
	case c.is(i, "RIGHT"):
		return tail, true
	}
	return head, false
}

// Elements are stored in the order of pos, initially 2^16 apart, so that LINSERT has space between them
// (list_insert.go). Ends are cheap to read and cut. An index in the middle is reached from the nearer end, at the cost
// of its distance.
const sqlGap = `65536`

// sqlAt selects a live key as k, with the index ?4 counted from the front as k.at.
const sqlAt = `WITH k AS (SELECT id, type, count,
	iif(CAST(?4 AS INTEGER) < 0, count + CAST(?4 AS INTEGER), CAST(?4 AS INTEGER)) AS at
	FROM keys WHERE ` + live + `) `

// sqlPosAt finds the position of the element at index k.at, from the nearer end. A missing element gives NULL.
const sqlPosAt = `(SELECT CASE
	WHEN at < 0 OR at >= count THEN NULL
	WHEN at < count / 2 THEN
		(SELECT pos FROM lists WHERE key_id = (SELECT id FROM k) ORDER BY pos LIMIT 1 OFFSET (SELECT at FROM k))
	ELSE
		(SELECT pos FROM lists WHERE key_id = (SELECT id FROM k) ORDER BY pos DESC LIMIT 1 OFFSET (SELECT count - 1 - at FROM k))
	END FROM k)`

const sqlLLen = `SELECT type, count FROM keys WHERE ` + live

func llen(c *Call) Plan {
	return read(checkType(listType, resp.Zero, func(r *store.Result) resp.Value {
		return resp.MakeInt(r.Rows[0][0][1].Int())
	}), c.stmt(sqlLLen, c.Args[1]))
}

const sqlLIndex = sqlAt + `SELECT type, (SELECT value FROM lists WHERE key_id = k.id AND pos = ` + sqlPosAt + `) FROM k`

func lindex(c *Call) Plan {
	index, ok := parseInt(c.Args[2])
	if !ok {
		return c.failTyped(c.Args[1], listType, resp.Nil, notInteger)
	}
	return read(checkType(listType, resp.Nil, func(r *store.Result) resp.Value { return bulk(r.Rows[0][0][1]) }),
		c.stmt(sqlLIndex, c.Args[1], store.Digits(index)))
}

// failTyped replies with an argument error that Redis reports after looking up the key: missing for a missing key,
// WRONGTYPE for a type other than want, and otherwise err.
func (c *Call) failTyped(key []byte, want string, missing, err resp.Value) Plan {
	return read(checkType(want, missing, always(err)), c.typeOf(key))
}

// sqlLRange starts at the first element of the range and counts from there.
const sqlLRange = `WITH k AS (SELECT id, count,
	max(0, iif(CAST(?4 AS INTEGER) < 0, count + CAST(?4 AS INTEGER), CAST(?4 AS INTEGER))) AS at,
	min(count - 1, iif(CAST(?5 AS INTEGER) < 0, count + CAST(?5 AS INTEGER), CAST(?5 AS INTEGER))) AS last
	FROM keys WHERE ` + live + `)
	SELECT value FROM lists WHERE key_id = (SELECT id FROM k) AND pos >= ` + sqlPosAt + `
	ORDER BY pos LIMIT coalesce((SELECT max(0, last - at + 1) FROM k), 0)`

func lrange(c *Call) Plan {
	start, stop, ok := c.intRange(2)
	if !ok {
		return fail(errNotInteger)
	}
	stmt := c.stmt(sqlLRange, c.Args[1], store.Digits(start), store.Digits(stop))
	packed := c.pack(&stmt, 1, false)
	return c.readElements(listType, resp.EmptyArray, func(r *store.Result) resp.Value {
		if v, ok := packed.reply(resp.Array, r.Work); ok {
			return v
		}
		return bulks(r.Rows[0])
	}, c.Args[1], stmt)
}

// intRange parses two integers from argument i on.
func (c *Call) intRange(i int) (start, stop int64, ok bool) {
	start, ok1 := parseInt(c.Args[i])
	stop, ok2 := parseInt(c.Args[i+1])
	return start, stop, ok1 && ok2
}
