package translator

import (
	"math"

	"github.com/meowdis/meowdis/resp"
	"github.com/meowdis/meowdis/store"
)

// LPOS numbers the elements from one end, among the first ?7 of them unless that
// is 0, and returns ?6 indexes of the value ?4 after skipping ?5. Numbering
// streams, so that it stops with the last match that is wanted.
var sqlLPos = [...]string{
	head: `SELECT n - 1 FROM (SELECT row_number() OVER (ORDER BY pos) AS n, value FROM lists WHERE key_id = ` + liveID + `
		AND pos <= ` + sqlLPosLastHead + `)
		WHERE value = ?4 LIMIT CAST(?6 AS INTEGER) OFFSET CAST(?5 AS INTEGER)`,
	tail: `SELECT (SELECT count FROM keys WHERE ` + live + `) - n
		FROM (SELECT row_number() OVER (ORDER BY pos DESC) AS n, value FROM lists WHERE key_id = ` + liveID + `
		AND pos >= ` + sqlLPosLastTail + `)
		WHERE value = ?4 LIMIT CAST(?6 AS INTEGER) OFFSET CAST(?5 AS INTEGER)`,
}

// The position of the ?7th element from an end, the other end when there are
// fewer or ?7 is 0.
const (
	sqlLPosShort    = `CAST(?7 AS INTEGER) BETWEEN 1 AND (SELECT count FROM keys WHERE ` + live + `)`
	sqlLPosLastHead = `coalesce((SELECT pos FROM lists WHERE key_id = ` + liveID + ` AND ` + sqlLPosShort + `
		ORDER BY pos LIMIT 1 OFFSET CAST(?7 AS INTEGER) - 1), 9223372036854775807)`
	sqlLPosLastTail = `coalesce((SELECT pos FROM lists WHERE key_id = ` + liveID + ` AND ` + sqlLPosShort + `
		ORDER BY pos DESC LIMIT 1 OFFSET CAST(?7 AS INTEGER) - 1), -9223372036854775807)`
)

// errRankZero is declared apart for its length.
const errRankZero = "ERR RANK can't be zero: use 1 to start from the first match, 2 from the second ... " +
	"or use negative to start from the end of the list"

// posOptions are LPOS's: how many matches to skip from which end, how many to
// return, and how many elements to look at (0 for all).
type posOptions struct {
	from   end
	skip   int64
	count  int64 // -1 when not given: the reply is then no array
	maxLen int64
}

// parsePos reads the options of LPOS from argument 3 on; bad is the error text.
func (c *Call) parsePos() (o posOptions, bad string) {
	rank := int64(1)
	o.count = -1
	for i := 3; i < len(c.Args); i += 2 {
		if i+1 == len(c.Args) {
			return o, errSyntax
		}
		n, ok := parseInt(c.Args[i+1])
		switch {
		case c.is(i, "RANK") && !ok:
			return o, errNotInteger
		case c.is(i, "RANK") && n == 0:
			return o, errRankZero
		case c.is(i, "RANK"):
			rank = n
		case c.is(i, "COUNT") && (!ok || n < 0):
			return o, "ERR COUNT can't be negative"
		case c.is(i, "COUNT"):
			o.count = n
		case c.is(i, "MAXLEN") && (!ok || n < 0):
			return o, "ERR MAXLEN can't be negative"
		case c.is(i, "MAXLEN"):
			o.maxLen = n
		default:
			return o, errSyntax
		}
	}
	switch {
	case rank == math.MinInt64: // overflows in Redis too, to no skip at all
		o.from = tail
	case rank < 0:
		o.from, o.skip = tail, -rank-1
	default:
		o.skip = rank - 1
	}
	return o, ""
}

func lpos(c *Call) Plan {
	o, bad := c.parsePos()
	if bad != "" {
		return fail(bad)
	}
	limit, missing, shape := o.count, resp.EmptyArray, integers
	switch o.count {
	case -1:
		limit, missing, shape = 1, resp.Nil, firstInteger
	case 0:
		limit = -1
	}
	return read(typed(listType, missing, func(r *store.Result) resp.Value { return shape(r.Rows[1]) }),
		c.typeOf(c.Args[1]),
		c.stmt(sqlLPos[o.from], c.Args[1], store.Bytes(c.Args[2]),
			store.Digits(o.skip), store.Digits(limit), store.Digits(o.maxLen)))
}

// integers is every row's first cell as an array of integers.
func integers(rows []store.Row) resp.Value {
	elems := make([]resp.Value, len(rows))
	for i, row := range rows {
		elems[i] = resp.MakeInt(row[0].Int())
	}
	return resp.Value{Kind: resp.Array, Elems: elems}
}

// firstInteger is the first row's first cell as an integer, nil without a row.
func firstInteger(rows []store.Row) resp.Value {
	if len(rows) == 0 {
		return resp.Nil
	}
	return resp.MakeInt(rows[0][0].Int())
}
