package translator

import (
	"math"
	"strconv"

	"github.com/meowdis/meowdis/resp"
	"github.com/meowdis/meowdis/store"
)

// A random element of a small collection is the one of a random rank. In a big
// one it would take too long to walk there: it is found from a random hash on,
// and some random steps further, which evens out how far apart the hashes lie;
// then one is as likely as another, give or take a tenth. Behind the last element
// comes the first.
//
// ?4 is the random hash and ?5 a random number to make the steps from.
const (
	smallCollection = 1024 // the statements say it again

	sqlPickMember = `WITH place(id, start, steps) AS MATERIALIZED (
			SELECT id, 0, ?5 % max(1, count) FROM keys WHERE ` + live + ` AND count <= 1024
			UNION ALL SELECT id, ?4, ?5 % 128 FROM keys WHERE ` + live + ` AND count > 1024)
		SELECT member, hash FROM (SELECT member, hash FROM sets
			WHERE key_id = (SELECT id FROM place) AND hash >= (SELECT start FROM place)
			ORDER BY hash, member LIMIT 1 OFFSET ifnull((SELECT steps FROM place), 0))
		UNION ALL SELECT member, hash FROM (SELECT member, hash FROM sets
			WHERE key_id = (SELECT id FROM place)
			ORDER BY hash, member LIMIT 1 OFFSET ifnull((SELECT steps FROM place), 0))
		LIMIT 1`
	sqlPickField = `WITH place(id, start, steps) AS MATERIALIZED (
			SELECT id, 0, ?5 % max(1, ` + liveFields + `) FROM keys WHERE ` + live + ` AND ` + liveFields + ` <= 1024
			UNION ALL SELECT id, ?4, ?5 % 128 FROM keys WHERE ` + live + ` AND ` + liveFields + ` > 1024)
		SELECT field, value FROM (SELECT h.field, h.value FROM hashes h
			WHERE h.key_id = (SELECT id FROM place) AND h.hash >= (SELECT start FROM place) AND ` + liveField + `
			ORDER BY h.hash, h.field LIMIT 1 OFFSET ifnull((SELECT steps FROM place), 0))
		UNION ALL SELECT field, value FROM (SELECT h.field, h.value FROM hashes h
			WHERE h.key_id = (SELECT id FROM place) AND ` + liveField + `
			ORDER BY h.hash, h.field LIMIT 1 OFFSET ifnull((SELECT steps FROM place), 0))
		LIMIT 1`
)

// The elements of the ranks in ?4, with their rank behind.
const (
	sqlMembersByRank = `SELECT member, rank FROM (
			SELECT member, row_number() OVER (ORDER BY hash, member) - 1 AS rank FROM sets WHERE key_id = ` + liveID + `)
		WHERE rank IN (SELECT value FROM json_each(?4))`
	sqlFieldsByRank = `SELECT field, value, rank FROM (
			SELECT h.field, h.value, row_number() OVER (ORDER BY h.hash, h.field) - 1 AS rank
			FROM hashes h WHERE h.key_id = ` + liveID + ` AND ` + liveField + `)
		WHERE rank IN (SELECT value FROM json_each(?4))`
)

// lottery is a type of collection that random elements are drawn from. The first
// cell of an element is its field or member.
type lottery struct {
	typ    string
	size   string // type and number of elements
	all    string // every element
	pick   string // one element, for a call of once
	ranked string // elements by rank
}

var (
	setLottery  = lottery{setType, sqlSetSize, sqlMembers, sqlPickMember, sqlMembersByRank}
	hashLottery = lottery{hashType, sqlHashSize, sqlHash, sqlPickField, sqlFieldsByRank}
)

// maxDrawn bounds what a negative count asks for: a reply of that many elements
// is all that a client could want.
const maxDrawn = 1 << 20

// parseDraws reads the count of a command that returns random elements.
func parseDraws(b []byte) (n int64, bad Plan, ok bool) {
	n, ok = parseInt(b)
	switch {
	case !ok:
		return 0, fail(errNotInteger), false
	case n == math.MinInt64:
		return 0, fail("ERR value is out of range, value must between -9223372036854775807 and 9223372036854775807"), false
	}
	return n, Plan{}, true
}

// pickOne is the statement that picks one element.
func (c *Call) pickOne(sql string, key []byte) store.Stmt {
	return c.stmt(sql, key, store.Int(int64(c.Random()>>12)), store.Int(int64(c.Random()>>12)))
}

// one answers one random element, nil without a key.
func (l *lottery) one(c *Call) Plan {
	return read(typed(l.typ, resp.Nil, bulkOf(1)), c.typeOf(c.Args[1]), c.pickOne(l.pick, c.Args[1]))
}

// some reads random elements: count different ones or fewer, or, when count is
// negative, as many as that says, with repetitions. It answers none without any.
func (l *lottery) some(c *Call, count int64, none resp.Value, next func(size int64, rows []store.Row) Plan) Plan {
	return readThen(func(r *store.Result) Plan {
		size := cellOf(l.typ, none, integer)(r)
		switch {
		case size.Kind != resp.Int:
			return answer(size)
		case size.Int == 0 || count == 0:
			return answer(none)
		case count < -maxDrawn:
			return fail(errOutOfRange)
		}
		return l.draw(c, size.Int, count, func(rows []store.Row) Plan { return next(size.Int, rows) })
	}, c.stmt(l.size, c.Args[1]))
}

// draw is some for a collection of that size. A big part of a collection is
// quicker to find by rank than one by one.
func (l *lottery) draw(c *Call, size, count int64, next func([]store.Row) Plan) Plan {
	rest := func(r *store.Result) Plan { return next(r.Rows[0]) }
	switch {
	case count >= size:
		return readThen(rest, c.stmt(l.all, c.Args[1]))
	case size <= smallCollection || max(count, -count) > size/16:
		ranks := c.ranks(size, count)
		return readThen(func(r *store.Result) Plan { return next(atRanks(r.Rows[0], ranks)) },
			c.stmt(l.ranked, c.Args[1], numbers(ranks)))
	}
	d := drawing{lottery: l, call: c, wanted: int(max(count, -count)), next: next}
	if count > 0 {
		d.seen = make(map[string]bool, count)
	}
	return d.round()
}

// ranks are count random numbers below size: different ones, or any when count
// is negative.
func (c *Call) ranks(size, count int64) []int64 {
	ranks := make([]int64, 0, max(count, -count))
	for range -count {
		ranks = append(ranks, c.below(size))
	}
	// Floyd's way: every subset of that many is as likely.
	seen := make(map[int64]bool, max(0, count))
	for last := size - max(0, count); last < size; last++ {
		n := c.below(last + 1)
		if seen[n] {
			n = last
		}
		seen[n] = true
		ranks = append(ranks, n)
	}
	return ranks
}

// numbers is the JSON argument of a list of numbers.
func numbers(list []int64) store.Value {
	out := []byte{'['}
	for i, n := range list {
		if i > 0 {
			out = append(out, ',')
		}
		out = strconv.AppendInt(out, n, 10)
	}
	return store.TextBytes(append(out, ']'))
}

// atRanks puts rows that end with their rank into the order of ranks.
func atRanks(rows []store.Row, ranks []int64) []store.Row {
	byRank := make(map[int64]store.Row, len(rows))
	for _, row := range rows {
		byRank[row[len(row)-1].Int()] = row
	}
	ordered := make([]store.Row, len(ranks))
	for i, rank := range ranks {
		ordered[i] = byRank[rank]
	}
	return ordered
}

// below is a random number from 0 up to but without n.
func (c *Call) below(n int64) int64 { return int64(c.Random() % uint64(n)) }

// drawing is the collection of a few elements out of many, in rounds, since the
// same one may be picked twice.
type drawing struct {
	*lottery
	call   *Call
	wanted int
	seen   map[string]bool // nil when repetitions are welcome
	rows   []store.Row
	next   func([]store.Row) Plan
}

const maxRound = 256

func (d *drawing) round() Plan {
	stmts := make([]store.Stmt, min(maxRound, d.wanted-len(d.rows)))
	for i := range stmts {
		stmts[i] = d.call.pickOne(d.pick, d.call.Args[1])
	}
	return readThen(func(r *store.Result) Plan {
		for _, rows := range r.Rows {
			d.keep(rows)
		}
		if len(d.rows) < d.wanted {
			return d.round()
		}
		return d.next(d.rows)
	}, stmts...)
}

func (d *drawing) keep(rows []store.Row) {
	for _, row := range rows {
		name := string(row[0].Bytes())
		if d.seen[name] {
			continue
		}
		if d.seen != nil {
			d.seen[name] = true
		}
		d.rows = append(d.rows, row)
	}
}
