package translator

import (
	"math"

	"github.com/meowdis/meowdis/redis/resp"
	"github.com/meowdis/meowdis/store"
)

// A random element of a small collection has a random rank. In a big collection that would take too many steps.
// Instead, the search begins at a random hash and takes some random steps, which evens out the distances between
// hashes: elements are equally likely within a tenth. The first element follows the last one.
//
// ?4 is the random hash, and the number of steps derives from the random ?5. The second half of the statement is for
// steps beyond the last element.
const (
	sqlPickMember = `SELECT member, hash FROM (SELECT m.member, m.hash FROM keys k CROSS JOIN sets m ON m.key_id = k.id AND m.hash >= iif(k.count <= 1024, 0, ?4)
			WHERE ` + live + ` ORDER BY m.hash, m.member LIMIT 1
			OFFSET ifnull((SELECT iif(count <= 1024, ?5 % max(1, count), ?5 % 128) FROM keys WHERE ` + live + `), 0))
		UNION ALL SELECT member, hash FROM (SELECT member, hash FROM sets WHERE key_id = ` + liveID + ` ORDER BY hash, member LIMIT 1
			OFFSET ?5 % 128 - (SELECT count(*) FROM sets WHERE key_id = ` + liveID + ` AND hash >= ?4)) LIMIT 1`
	sqlPickField = `SELECT field, value FROM (SELECT h.field, h.value FROM keys CROSS JOIN hashes h ON h.key_id = keys.id AND h.hash >= iif(` + liveFields + ` <= 1024, 0, ?4)
			WHERE ` + live + ` AND ` + liveField + ` ORDER BY h.hash, h.field LIMIT 1
			OFFSET ifnull((SELECT iif(n <= 1024, ?5 % max(1, n), ?5 % 128) FROM (SELECT ` + liveFields + ` AS n FROM keys WHERE ` + live + `)), 0))
		UNION ALL SELECT field, value FROM (SELECT h.field, h.value FROM hashes h WHERE h.key_id = ` + liveID + ` AND ` + liveField + ` ORDER BY h.hash, h.field LIMIT 1
			OFFSET ?5 % 128 - (SELECT count(*) FROM hashes h WHERE h.key_id = ` + liveID + ` AND h.hash >= ?4 AND ` + liveField + `)) LIMIT 1`
)

// sampler describes a type of collection with random elements. The first cell of an element is its field or member.
type sampler struct {
	typ  string
	size string // type and number of elements
	all  string // every element, with its seq at the end
	pick string // one element
}

var (
	setSampler  = sampler{setType, sqlSetSize, sqlMembers, sqlPickMember}
	hashSampler = sampler{hashType, sqlHashSize, sqlHash, sqlPickField}
)

// maxDrawn limits a negative count. No useful reply has more elements.
const maxDrawn = 1 << 22

// parseDraws parses the count of a command that returns random elements.
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

// pickOne returns the statement that picks one element.
func (c *Call) pickOne(sql string, key []byte) store.Stmt {
	return c.stmt(sql, key, store.Int(int64(c.Random()>>12)), store.Int(int64(c.Random()>>12)))
}

// one replies with one random element, nil for a missing key.
func (l *sampler) one(c *Call) Plan {
	return c.readElements(l.typ, resp.Nil, bulkOf(0), c.Args[1], c.pickOne(l.pick, c.Args[1]))
}

// afterDraw makes the plan after random elements are read. rest holds the elements that were read but not drawn.
type afterDraw func(rows, rest []store.Row) Plan

// some reads random elements: up to count different ones or, if count is negative, -count with repetitions. For an
// empty collection it replies with none.
func (l *sampler) some(c *Call, count int64, none resp.Value, next func(size int64, rows, rest []store.Row) Plan) Plan {
	return readThen(func(r *store.Result) Plan {
		size := decodeCell(l.typ, none, integer)(r)
		switch {
		case size.Kind != resp.Int:
			return answer(size)
		case size.Int == 0 || count == 0:
			return answer(none)
		case count < -maxDrawn:
			return fail(errOutOfRange)
		}
		return l.draw(c, size.Int, count, func(rows, rest []store.Row) Plan { return next(size.Int, rows, rest) })
	}, c.stmt(l.size, c.Args[1]))
}

// draw is some for a collection of a known size. A few elements are picked one by one; for more, reading all is faster.
func (l *sampler) draw(c *Call, size, count int64, next afterDraw) Plan {
	if wanted := max(count, -count); wanted <= size/16 {
		d := drawRounds{sampler: l, call: c, wanted: int(wanted), next: next}
		if count > 0 {
			d.seen = make(map[string]bool, count)
		}
		return d.round()
	}
	return readThen(func(r *store.Result) Plan {
		rows := bySeq(r.Rows[0])
		switch {
		case !fits(r.Work.Remaining(), -count):
			return answer(r.Work.Refusal())
		case count < 0 || count >= int64(len(rows)):
			return next(c.shuffled(rows, count), nil)
		}
		return next(c.shuffled(rows, count), rows[count:])
	}, c.stmt(l.all, c.Args[1]))
}

// fits reports whether n more elements fit into the room of a request.
func fits(room, n int64) bool {
	return room == 0 || n <= room/(store.RowBytes+2*store.ValueBytes)
}

// shuffled returns count random rows, all rows if there are fewer, or -count rows with repetitions. It moves the drawn
// rows to the front.
func (c *Call) shuffled(rows []store.Row, count int64) []store.Row {
	size := int64(len(rows))
	if count >= size {
		return rows
	}
	if count < 0 {
		drawn := make([]store.Row, -count)
		for i := range drawn {
			drawn[i] = rows[c.below(size)]
		}
		return drawn
	}
	for i := range count {
		j := i + c.below(size-i)
		rows[i], rows[j] = rows[j], rows[i]
	}
	return rows[:count]
}

// below returns a random number from 0 to n-1.
func (c *Call) below(n int64) int64 { return int64(c.Random() % uint64(n)) }

// drawRounds picks a few elements out of many, in rounds, since the same element may be picked twice.
type drawRounds struct {
	*sampler
	call   *Call
	wanted int
	seen   map[string]bool // nil to allow repetitions
	rows   []store.Row
	next   afterDraw
}

const picksPerRound = 256

func (d *drawRounds) round() Plan {
	stmts := make([]store.Stmt, min(picksPerRound, d.wanted-len(d.rows)))
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
		return d.next(d.rows, nil)
	}, stmts...)
}

func (d *drawRounds) keep(rows []store.Row) {
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
