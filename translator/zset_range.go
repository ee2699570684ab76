package translator

import (
	"slices"

	"github.com/meowdis/meowdis/redis/resp"
	"github.com/meowdis/meowdis/store"
)

// A sorted set is ordered by its index: score, then the member's bytes.
const (
	ascending  = ` ORDER BY score, member`
	descending = ` ORDER BY score DESC, member DESC`
)

// A range of ranks ?4 to ?5 is reached from the nearer end: of near and far, one has a limit of 0. Near is the end that
// ranks count from.
const (
	zsetRanks = `WITH ranks(id, lo, hi, beyond) AS (SELECT id, lo, hi, count - 1 - hi FROM (SELECT id, count,
		max(iif(?4 < 0, count + CAST(?4 AS INTEGER), CAST(?4 AS INTEGER)), 0) AS lo,
		min(iif(?5 < 0, count + CAST(?5 AS INTEGER), CAST(?5 AS INTEGER)), count - 1) AS hi FROM keys WHERE ` + live + `)) `
	zsetRanked = ` FROM zsets WHERE key_id = (SELECT id FROM ranks)`
	zsetNear   = ` LIMIT ifnull((SELECT max(hi - lo + 1, 0) FROM ranks WHERE lo <= beyond), 0)
		OFFSET ifnull((SELECT lo FROM ranks), 0)`
	zsetFar = ` LIMIT ifnull((SELECT max(hi - lo + 1, 0) FROM ranks WHERE lo > beyond), 0)
		OFFSET ifnull((SELECT beyond FROM ranks), 0)`

	sqlZRankNear    = zsetRanks + `SELECT member, score` + zsetRanked + ascending + zsetNear
	sqlZRankFar     = zsetRanks + `SELECT member, score` + zsetRanked + descending + zsetFar
	sqlZRevRankNear = zsetRanks + `SELECT member, score` + zsetRanked + descending + zsetNear
	sqlZRevRankFar  = zsetRanks + `SELECT member, score` + zsetRanked + ascending + zsetFar
	sqlZRemByRank   = `DELETE FROM zsets WHERE key_id = ` + liveID + ` AND (hash, member) IN (` + zsetRanks + `
		SELECT hash, member FROM (SELECT * FROM (SELECT hash, member` + zsetRanked + ascending + zsetNear + `)
		UNION ALL SELECT * FROM (SELECT hash, member` + zsetRanked + descending + zsetFar + `)))`
)

// A range of scores ?4 to ?5.
const (
	zsetByScore       = ` FROM zsets WHERE key_id = ` + liveID + ` AND score BETWEEN ?4 AND ?5`
	sqlZRangeScore    = `SELECT member, score` + zsetByScore + ascending + ` LIMIT ?6 OFFSET ?7`
	sqlZRevRangeScore = `SELECT member, score` + zsetByScore + descending + ` LIMIT ?6 OFFSET ?7`
	sqlZCount         = `SELECT count(*)` + zsetByScore
	sqlZRemByScore    = `DELETE` + zsetByScore
)

// A range of members ?4 to ?5 (NULL for no end), without ?6. Redis defines it for members with equal scores; level
// finds that range by a seek. Members with different scores are walked as Redis walks a small set: from the first
// member that is not before the range to the next one after it; if the last member is before the range, nothing is
// found. Level and mixed are both run, and the one that does not apply reads the members of no key.
const (
	zsetLowest  = `(SELECT score FROM zsets WHERE key_id = ` + liveID + ascending + ` LIMIT 1)`
	zsetHighest = `(SELECT score FROM zsets WHERE key_id = ` + liveID + descending + ` LIMIT 1)`
	zsetFirst   = `(SELECT member FROM zsets WHERE key_id = ` + liveID + ascending + ` LIMIT 1)`
	zsetLast    = `(SELECT member FROM zsets WHERE key_id = ` + liveID + descending + ` LIMIT 1)`
	zsetLevel   = ` FROM zsets WHERE key_id = iif(` + zsetLowest + ` = ` + zsetHighest + `, ` + liveID + `, NULL)
		AND score = ` + zsetLowest + ` AND member >= ?4 AND member <= ifnull(?5, ` + zsetLast + `) AND member IS NOT ?6`

	zsetWalk  = ` FROM zsets WHERE key_id = iif(` + zsetLowest + ` <> ` + zsetHighest + `, ` + liveID + `, NULL) WINDOW walk AS (`
	zsetMixed = ` FROM (SELECT hash, member, score, max(member >= ?4) OVER walk AS begun,
			max((?5 IS NOT NULL AND member > ?5) OR member IS ?6) OVER walk AS ended` + zsetWalk + ascending + `))
		WHERE begun AND NOT ended AND ` + zsetLast + ` >= ?4`
	zsetRevMixed = ` FROM (SELECT member, score, max((?5 IS NULL OR member <= ?5) AND member IS NOT ?6) OVER walk AS begun,
			max(member < ?4) OVER walk AS ended` + zsetWalk + descending + `))
		WHERE begun AND NOT ended AND (?5 IS NULL OR ` + zsetFirst + ` <= ?5) AND ` + zsetFirst + ` IS NOT ?6`

	sqlZRangeLevel    = `SELECT member, score` + zsetLevel + ascending + ` LIMIT ?7 OFFSET ?8`
	sqlZRangeMixed    = `SELECT member, score` + zsetMixed + ascending + ` LIMIT ?7 OFFSET ?8`
	sqlZRevRangeLevel = `SELECT member, score` + zsetLevel + descending + ` LIMIT ?7 OFFSET ?8`
	sqlZRevRangeMixed = `SELECT member, score` + zsetRevMixed + descending + ` LIMIT ?7 OFFSET ?8`
	sqlZLexCount      = `SELECT (SELECT count(*)` + zsetLevel + `) + (SELECT count(*)` + zsetMixed + `)`
	sqlZRemLevel      = `DELETE` + zsetLevel
	sqlZRemMixed      = `DELETE FROM zsets WHERE key_id = ` + liveID + ` AND (hash, member) IN (SELECT hash, member` + zsetMixed + `)`
)

// direction selects the order of a reply.
type direction byte

const (
	dirAny direction = iota // selected by options
	forward
	backward
)

// rangeForm describes a command of the ZRANGE family. Options select by and dir if they are zero.
type rangeForm struct {
	by    rangeBy
	dir   direction
	store bool // ZRANGESTORE
}

// rangeQuery holds a range with all its options.
type rangeQuery struct {
	zsetSpan
	rev           bool
	scores        bool
	offset, limit int64
}

// parseRange parses "min max [options]"; bad is the error text.
func (f rangeForm) parseRange(args [][]byte) (q rangeQuery, bad string) {
	q.limit = -1
	for i := 2; i < len(args); i++ {
		switch word := args[i]; {
		case !f.store && wordIs(word, "WITHSCORES"):
			q.scores = true
		case wordIs(word, "LIMIT") && i+2 < len(args):
			var ok1, ok2 bool
			q.offset, ok1 = parseInt(args[i+1])
			q.limit, ok2 = parseInt(args[i+2])
			if !ok1 || !ok2 {
				return q, errNotInteger
			}
			i += 2
		case f.dir == dirAny && wordIs(word, "REV"):
			f.dir = backward
		case f.by == byAny && wordIs(word, "BYLEX"):
			f.by = byLex
		case f.by == byAny && wordIs(word, "BYSCORE"):
			f.by = byScore
		default:
			return q, errSyntax
		}
	}
	if f.by == byAny {
		f.by = byRank
	}
	switch {
	case q.limit != -1 && f.by == byRank:
		return q, "ERR syntax error, LIMIT is only supported in combination with either BYSCORE or BYLEX"
	case q.scores && f.by == byLex:
		return q, "ERR syntax error, WITHSCORES not supported in combination with BYLEX"
	}
	q.rev = f.dir == backward
	if q.rev && f.by != byRank {
		q.zsetSpan, bad = parseSpan(f.by, args[1], args[0])
	} else {
		q.zsetSpan, bad = parseSpan(f.by, args[0], args[1])
	}
	return q, bad
}

// rangeStmts returns the statements that read the members and scores of the range in key. If there are two, only one
// returns rows.
func (c *Call) rangeStmts(key []byte, q rangeQuery) (stmts []store.Stmt) {
	args := q.args()
	if q.by != byRank {
		limit := clampLength(q.limit)
		if q.empty || q.offset < 0 {
			limit = 0
		}
		args = append(args, store.Int(limit), store.Int(clampLength(q.offset)))
	}
	for _, sql := range q.texts() {
		s := c.stmt(sql, key, args...)
		s.SkipIf = hasRows
		stmts = append(stmts, s)
	}
	return stmts
}

func (q rangeQuery) texts() []string {
	switch {
	case q.by == byScore && q.rev:
		return []string{sqlZRevRangeScore}
	case q.by == byScore:
		return []string{sqlZRangeScore}
	case q.by == byLex && q.rev:
		return []string{sqlZRevRangeLevel, sqlZRevRangeMixed}
	case q.by == byLex:
		return []string{sqlZRangeLevel, sqlZRangeMixed}
	case q.rev:
		return []string{sqlZRevRankNear, sqlZRevRankFar}
	}
	return []string{sqlZRankNear, sqlZRankFar}
}

// rows returns the rows of rangeStmts, in the order of the reply. The last statement must be one about the key's type.
func (q rangeQuery) rows(r *store.Result) []store.Row {
	last := r.Rows[len(r.Rows)-2]
	if first := r.Rows[0]; len(first) > 0 {
		return first
	}
	if q.by == byRank {
		last = slices.Clone(last) // the reply may be decoded again
		slices.Reverse(last)
	}
	return last
}

// zrange translates ZRANGE and its older forms.
func zrange(f rangeForm) func(*Call) Plan {
	return func(c *Call) Plan {
		q, bad := f.parseRange(c.Args[2:])
		if bad != "" {
			return fail(bad)
		}
		stmts, packed := c.rangeStmts(c.Args[1], q), [2]*packing{}
		width := 1
		if q.scores {
			width = 2
		}
		for i := range stmts {
			packed[i] = c.pack(&stmts[i], width, false)
		}
		decode := func(r *store.Result) resp.Value { return q.reply(r, packed) }
		return c.readElements(zsetType, resp.EmptyArray, decode, c.Args[1], stmts...)
	}
}

// reply replies with the elements of a packing, or of the rows if the statements were not packed.
func (q rangeQuery) reply(r *store.Result, packed [2]*packing) resp.Value {
	kind, decode := resp.Array, bulks
	if q.scores {
		kind, decode = resp.Scored, scored
	}
	for i, p := range packed {
		if v, ok := p.reply(kind, r.Work); ok {
			if i > 0 && q.by == byRank {
				p.reverse(r.Work)
			}
			return v
		}
	}
	return decode(q.rows(r))
}

func zrangestore(c *Call) Plan {
	q, bad := rangeForm{store: true}.parseRange(c.Args[3:])
	if bad != "" {
		return fail(bad)
	}
	return readThen(func(r *store.Result) Plan {
		if typ := r.Rows[len(r.Rows)-1]; len(typ) > 0 && string(typ[0][0].Bytes()) != zsetType {
			return answer(wrongType)
		}
		rows := q.rows(r)
		elems := make([]element, len(rows))
		for i, row := range rows {
			elems[i] = element{member: row[0].Bytes(), score: row[1].Float()}
		}
		return c.zsetStore(c.Args[1], elems)
	}, append(c.rangeStmts(c.Args[2], q), c.typeOf(c.Args[2]))...)
}

// zcount translates ZCOUNT and ZLEXCOUNT.
func zcount(by rangeBy) func(*Call) Plan {
	sql := sqlZCount
	if by == byLex {
		sql = sqlZLexCount
	}
	return func(c *Call) Plan {
		s, bad := parseSpan(by, c.Args[2], c.Args[3])
		switch {
		case bad != "":
			return fail(bad)
		case s.empty:
			return read(checkType(zsetType, resp.Zero, always(resp.Zero)), c.typeOf(c.Args[1]))
		}
		count := c.stmt(sql, c.Args[1], s.args()...)
		return read(checkType(zsetType, resp.Zero, intOf(1)), c.typeOf(c.Args[1]), count)
	}
}
