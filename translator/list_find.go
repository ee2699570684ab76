package translator

import (
	"math"

	"github.com/meowdis/meowdis/redis/resp"
	"github.com/meowdis/meowdis/store"
)

// sqlLPos finds up to ?6 occurrences of the value ?4 from one end, after skipping ?5 of them, among the first ?7
// elements unless ?7 is 0. Each row is the number of elements from the previous match, or from the end, to this match.
var sqlLPos = [...]string{
	head: `SELECT (SELECT count(*) FROM lists WHERE key_id = ` + liveID + ` AND pos > m.since AND pos <= m.pos)
		FROM (SELECT pos, lag(pos, 1, ` + sqlFirstPos + `) OVER (ORDER BY pos) AS since FROM (
			SELECT pos FROM lists WHERE key_id = ` + liveID + ` AND value = ?4 AND pos <= coalesce((
				SELECT pos FROM lists WHERE key_id = ` + liveID + `
				ORDER BY pos LIMIT ` + sqlLPosShort + ` OFFSET CAST(?7 AS INTEGER) - 1), ` + sqlLastPos + `)
			ORDER BY pos LIMIT CAST(?6 AS INTEGER) OFFSET CAST(?5 AS INTEGER))) m ORDER BY m.pos`,
	tail: `SELECT (SELECT count(*) FROM lists WHERE key_id = ` + liveID + ` AND pos < m.since AND pos >= m.pos)
		FROM (SELECT pos, lag(pos, 1, ` + sqlLastPos + `) OVER (ORDER BY pos DESC) AS since FROM (
			SELECT pos FROM lists WHERE key_id = ` + liveID + ` AND value = ?4 AND pos >= coalesce((
				SELECT pos FROM lists WHERE key_id = ` + liveID + `
				ORDER BY pos DESC LIMIT ` + sqlLPosShort + ` OFFSET CAST(?7 AS INTEGER) - 1), ` + sqlFirstPos + `)
			ORDER BY pos DESC LIMIT CAST(?6 AS INTEGER) OFFSET CAST(?5 AS INTEGER))) m ORDER BY m.pos DESC`,
}

const (
	// 1 if ?7 limits the search, otherwise 0.
	sqlLPosShort = `coalesce((SELECT CAST(?7 AS INTEGER) BETWEEN 1 AND count FROM keys WHERE ` + live + `), 0)`
	sqlFirstPos  = `-9223372036854775807` // less than the position of any element
	sqlLastPos   = `9223372036854775807`  // greater than the position of any element
)

// errRankZero is declared here because of its length.
const errRankZero = "ERR RANK can't be zero: use 1 to start from the first match, 2 from the second ... " +
	"or use negative to start from the end of the list"

// posOptions holds LPOS's options: the end to search from, the number of matches to skip, the number of matches to
// return, and the number of elements to examine (0 for all).
type posOptions struct {
	from   end
	skip   int64
	count  int64 // -1 if not given: the reply is then not an array
	maxLen int64
}

// parsePos parses the options of LPOS from argument 3 on; bad is the error text.
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
		case c.is(i, "RANK") && n == math.MinInt64:
			return o, errNoNegation
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
	if o.skip = rank - 1; rank < 0 {
		o.from, o.skip = tail, -rank-1
	}
	return o, ""
}

func lpos(c *Call) Plan {
	o, bad := c.parsePos()
	if bad != "" {
		return fail(bad)
	}
	limit, missing := o.count, resp.EmptyArray
	switch o.count {
	case -1:
		limit, missing = 1, resp.Nil
	case 0:
		limit = -1
	}
	return read(checkType(listType, missing, o.decode), c.stmt(sqlLLen, c.Args[1]),
		c.stmt(sqlLPos[o.from], c.Args[1], store.Bytes(c.Args[2]),
			store.Digits(o.skip), store.Digits(limit), store.Digits(o.maxLen)))
}

// decode computes indexes from the length of the list and the rows of sqlLPos.
func (o posOptions) decode(r *store.Result) resp.Value {
	length, steps := r.Rows[0][0][1].Int(), int64(0)
	indexes := make([]resp.Value, len(r.Rows[1]))
	for i, row := range r.Rows[1] {
		steps += row[0].Int()
		index := steps - 1
		if o.from == tail {
			index = length - steps
		}
		indexes[i] = resp.MakeInt(index)
	}
	switch {
	case o.count >= 0:
		return resp.MakeArray(indexes...)
	case len(indexes) == 0:
		return resp.Nil
	}
	return indexes[0]
}
