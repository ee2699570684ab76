package translator

import (
	"math"
	"strconv"

	"github.com/meowdis/meowdis/redis/resp"
	"github.com/meowdis/meowdis/store"
)

// Elements are passed as JSON [[hash, "hex of the member", score], …] in ?4. A score has 17 significant digits, so that
// every engine reads the same double. Infinities are numbers too large for a double.
const (
	zsetElements = `SELECT CAST(value ->> '$[0]' AS INTEGER) AS hash, unhex(value ->> '$[1]') AS member,
		CAST(value ->> '$[2]' AS REAL) AS score FROM json_each(?4)`

	// Existing members get their scores first, then new members are inserted. A statement after each change accounts
	// for it. ?5 is 1 for GT, -1 for LT, else 0. The sum of opposite infinities is NULL, which a constraint rejects.
	zsetMove = ` FROM (` + zsetElements + `) AS e CROSS JOIN zsets z
		ON z.key_id = ` + liveID + ` AND z.hash = e.hash AND z.member = e.member WHERE `
	zsetOverwrite = ` ON CONFLICT(key_id, hash, member) DO UPDATE SET score = excluded.score`
	sqlZSetMove   = `INSERT INTO zsets(key_id, hash, member, score) SELECT z.key_id, z.hash, z.member, e.score` + zsetMove + `
		e.score <> z.score AND (?5 = 0 OR (e.score > z.score) = (?5 > 0))` + zsetOverwrite
	sqlZSetIncr = `INSERT INTO zsets(key_id, hash, member, score) SELECT z.key_id, z.hash, z.member, z.score + e.score` + zsetMove + `
		(z.score + e.score) IS NOT z.score
		AND (?5 = 0 OR (z.score + e.score) IS NULL OR (z.score + e.score > z.score) = (?5 > 0))` + zsetOverwrite
	sqlZSetInsert = `INSERT INTO zsets(key_id, hash, member, score)
		SELECT k.id, e.hash, e.member, e.score FROM (` + zsetElements + `) AS e CROSS JOIN keys k
		WHERE k.db = ?1 AND k.key = ?2 AND (k.dies_at IS NULL OR k.dies_at > ?3)
		ON CONFLICT(key_id, hash, member) DO NOTHING`

	// The same for one large member ?5, whose score is ?6; the sign is ?7.
	zsetOne        = ` WHERE key_id = ` + liveID + ` AND hash = ?4 AND member = ?5 AND `
	sqlZSetMoveOne = `UPDATE zsets SET score = ?6` + zsetOne + `?6 <> score AND (?7 = 0 OR (?6 > score) = (?7 > 0))`
	sqlZSetIncrOne = `UPDATE zsets SET score = score + ?6` + zsetOne + `
		(score + ?6) IS NOT score AND (?7 = 0 OR (score + ?6) IS NULL OR (score + ?6 > score) = (?7 > 0))`
	sqlZSetInsertOne = `INSERT INTO zsets(key_id, hash, member, score) VALUES(` + liveID + `, ?4, ?5, ?6)
		ON CONFLICT(key_id, hash, member) DO NOTHING`

	sqlReadKeyScore = keyColumns + `, z.score FROM keys k LEFT JOIN zsets z ON z.key_id = k.id AND z.hash = ?4 AND z.member = ?5` + whereKey
)

var scoreNaN = resp.MakeError("ERR resulting score is not a number (NaN)")

// element holds a member and its score.
type element struct {
	member []byte
	score  float64
}

// zsetJSON returns the JSON argument of elements.
func zsetJSON(elems []element) store.Value {
	n := 2
	for _, e := range elems {
		n += 2*len(e.member) + 48
	}
	out := append(make([]byte, 0, n), '[')
	for i, e := range elems {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(out, '[')
		out = strconv.AppendInt(out, HashOf(e.member), 10)
		out = appendHex(append(out, ','), e.member)
		out = appendScore(append(out, ','), e.score)
		out = append(out, ']')
	}
	return store.TextBytes(append(out, ']'))
}

// appendScore appends a score as a JSON number that parses back exactly.
func appendScore(out []byte, score float64) []byte {
	switch {
	case math.IsInf(score, 1):
		return append(out, "9e999"...)
	case math.IsInf(score, -1):
		return append(out, "-9e999"...)
	}
	return strconv.AppendFloat(out, score, 'g', 17, 64)
}

// A round is the list for one statement. Long lists are split, since engines limit the size of an argument.
const (
	zsetRoundSize  = 1000
	zsetRoundBytes = 256 << 10
)

// round returns the number of elements in a round.
func (c *Call) round() int {
	if c.Env.MayStage {
		return stagedRound
	}
	return zsetRoundSize
}

// zsetRounds splits elems, in order, so that no member is repeated within a round, and a large member has its own
// round.
func (c *Call) zsetRounds(elems []element) [][]element {
	var rounds [][]element
	seen := make(map[string]bool, min(len(elems), c.round()))
	start, size := 0, 0
	for i, e := range elems {
		large := isLarge(e.member)
		if i > start && (large || seen[string(e.member)] || i-start == c.round() || size > zsetRoundBytes) {
			rounds = append(rounds, elems[start:i])
			start, size = i, 0
			clear(seen)
		}
		if large {
			size = zsetRoundBytes + 1
			continue
		}
		seen[string(e.member)] = true
		size += len(e.member)
	}
	return append(rounds, elems[start:])
}

type zaddOptions struct {
	nx, xx, gt, lt, ch, incr bool
}

// sign returns ?5 of the updates.
func (o zaddOptions) sign() store.Value {
	switch {
	case o.gt:
		return store.Int(1)
	case o.lt:
		return store.Int(-1)
	}
	return store.Int(0)
}

// flag returns the option named word, nil for another word.
func (o *zaddOptions) flag(word []byte) *bool {
	switch {
	case wordIs(word, "NX"):
		return &o.nx
	case wordIs(word, "XX"):
		return &o.xx
	case wordIs(word, "GT"):
		return &o.gt
	case wordIs(word, "LT"):
		return &o.lt
	case wordIs(word, "CH"):
		return &o.ch
	case wordIs(word, "INCR"):
		return &o.incr
	}
	return nil
}

func zadd(c *Call) Plan    { return c.zadd(zaddOptions{}) }
func zincrby(c *Call) Plan { return c.zadd(zaddOptions{incr: true}) }

// zadd translates ZADD and ZINCRBY, which Redis parses alike: ZINCRBY accepts the options, too, as far as its arity
// allows.
func (c *Call) zadd(o zaddOptions) Plan {
	args := c.Args[2:]
	for len(args) > 0 {
		flag := o.flag(args[0])
		if flag == nil {
			break
		}
		*flag, args = true, args[1:]
	}
	if bad := o.conflict(args); bad != "" {
		return fail(bad)
	}
	elems := make([]element, len(args)/2)
	for i := range elems {
		score, ok := parseFloat(args[2*i])
		if !ok {
			return fail(errNotFloat)
		}
		elems[i] = element{member: args[2*i+1], score: score}
	}
	if o.incr {
		return c.zaddIncr(c.Args[1], elems[0], o)
	}
	if c.Env.MayStage && len(elems) > 1 && !o.xx && !o.ch {
		return c.stageAddition(c.Args[1], zsetAddition(elems, o))
	}
	c.Env.MayStage = false
	w := c.zaddWrite(c.Args[1], elems, o)
	return write(func(r *store.Result) resp.Value {
		n := total(r, w.added)
		if o.ch {
			n += total(r, w.moved)
		}
		return resp.MakeInt(n)
	}, w.stmts...)
}

// conflict returns the error of options that exclude each other, or do not suit the scores and members, or "".
func (o zaddOptions) conflict(pairs [][]byte) string {
	switch {
	case len(pairs) == 0 || len(pairs)%2 != 0:
		return errSyntax
	case o.nx && o.xx:
		return "ERR XX and NX options at the same time are not compatible"
	case o.gt && o.nx || o.lt && o.nx || o.gt && o.lt:
		return "ERR GT, LT, and/or NX options at the same time are not compatible"
	case o.incr && len(pairs) > 2:
		return "ERR INCR option supports a single increment-element pair"
	}
	return ""
}

// zaddIncr replies with the new score, nil if an option prevented the change.
func (c *Call) zaddIncr(key []byte, elem element, o zaddOptions) Plan {
	w := c.zaddWrite(key, []element{elem}, o)
	conditional := o.nx || o.gt || o.lt
	return write(func(r *store.Result) resp.Value {
		old := oldScore(r.Rows)
		switch {
		case total(r, w.added) > 0: // also for -0, which a row does not keep
			return resp.MakeDouble(elem.score)
		case old.IsNull(), conditional && total(r, w.moved) == 0:
			return resp.Nil
		}
		return resp.MakeDouble(old.Float() + elem.score)
	}, w.stmts...)
}

// oldScore returns the score that the first statement read, NULL for a missing member.
func oldScore(rows [][]store.Row) (v store.Value) {
	if row := liveRow(rows); isType(row, zsetType) {
		v = row[rowExtra]
	}
	return v
}

func hasScore(before store.Result) bool { return !oldScore(before.Rows).IsNull() }

var (
	hasScoreOrTried   = orTrySucceeded(hasScore)
	wasCreatedOrTried = orTrySucceeded(wasCreated)
)

func hasNoScore(before store.Result) bool { return !hasScore(before) }

// zsetWrite holds statements, and the indexes of the statements that add and move elements.
type zsetWrite struct {
	stmts        []store.Stmt
	added, moved []int
}

func (w *zsetWrite) add(counts *[]int, change, account store.Stmt) {
	*counts = append(*counts, len(w.stmts))
	w.stmts = append(w.stmts, change, account)
}

// total returns the number of rows changed by the statements at the given indexes.
func total(r *store.Result, at []int) int64 {
	var n int64
	for _, i := range at {
		n += r.Changes[i]
	}
	return n
}

func (c *Call) zaddWrite(key []byte, elems []element, o zaddOptions) zsetWrite {
	if len(elems) == 1 {
		return c.zaddOne(key, elems[0], o)
	}
	w := zsetWrite{stmts: c.zaddFirstStmts(c.readKey(key), key, o)}
	w.addRounds(c, key, elems, o)
	return w
}

// addRounds appends the statements that add and move elements of the open key.
func (w *zsetWrite) addRounds(c *Call, key []byte, elems []element, o zaddOptions) {
	for _, round := range c.zsetRounds(elems) {
		sql, args := c.zsetRound(key, round)
		if !o.nx {
			change := store.Stmt{SQL: sql.move, Args: append(args[:len(args):len(args)], o.sign())}
			if o.incr {
				change.SQL, change.Refused = sql.incr, &scoreNaN
			}
			w.add(&w.moved, change, c.touchIfChanged(key))
		}
		if !o.xx {
			w.add(&w.added, store.Stmt{SQL: sql.insert, Args: args}, c.countAdded(key))
		}
	}
}

func (c *Call) zaddFirstStmts(keyRead store.Stmt, key []byte, o zaddOptions) []store.Stmt {
	if o.xx {
		return c.openExisting(keyRead, key, zsetType)
	}
	return c.openOrCreate(keyRead, key, zsetType)
}

// zaddOne is zaddWrite for one element. Most elements already have a score and get another one: the first UPDATE is
// then enough, and the other statements are skipped. Otherwise the read of the key includes the score.
func (c *Call) zaddOne(key []byte, elem element, o zaddOptions) zsetWrite {
	args := c.key(key, hashValue(elem.member), store.Bytes(elem.member), store.Float(elem.score), o.sign())
	keyRead := store.Stmt{SQL: sqlReadKeyScore, Args: args[:5]}
	if !o.nx && !o.incr && !o.xx {
		stmts := c.tryFirst(store.Stmt{SQL: sqlZSetMoveOne, Args: args}, c.touchIfChanged(key), keyRead, key, zsetType)
		return zsetWrite{append(stmts, store.Stmt{SQL: sqlZSetInsertOne, Args: args[:6], SkipIf: hasScoreOrTried},
			c.countAddedOne(stmts[tryFirstStmts-1], wasCreatedOrTried)), addedAfterTry, movedByTry}
	}
	w := zsetWrite{stmts: c.zaddFirstStmts(keyRead, key, o)}
	if !o.nx {
		change := store.Stmt{SQL: sqlZSetMoveOne, Args: args, SkipIf: hasNoScore}
		if o.incr {
			change.SQL, change.Refused = sqlZSetIncrOne, &scoreNaN
		}
		w.add(&w.moved, change, c.touchIfChanged(key))
	}
	if !o.xx {
		w.add(&w.added, store.Stmt{SQL: sqlZSetInsertOne, Args: args[:6], SkipIf: hasScore}, c.countAdded(key))
	}
	return w
}

// addedAfterTry and movedByTry are the indexes of the statements that add and move an element after tryFirst.
var addedAfterTry, movedByTry = []int{tryFirstStmts}, []int{0}

// zsetSQL holds the statements about a round.
type zsetSQL struct{ move, incr, insert string }

// zsetRound returns the statements about a round, and their arguments except for the sign.
func (c *Call) zsetRound(key []byte, round []element) (zsetSQL, []store.Value) {
	if m := round[0]; len(round) == 1 {
		return zsetSQL{sqlZSetMoveOne, sqlZSetIncrOne, sqlZSetInsertOne},
			c.key(key, hashValue(m.member), store.Bytes(m.member), store.Float(m.score))
	}
	return zsetSQL{sqlZSetMove, sqlZSetIncr, sqlZSetInsert}, c.key(key, zsetJSON(round))
}

// zsetStore plans the last step of the STORE commands: it replaces key with the zset of elems and replies with their
// number. Without elements it deletes the key.
func (c *Call) zsetStore(key []byte, elems []element) Plan {
	return c.create(creation{
		key: key, reply: resp.MakeInt(int64(len(elems))), few: MaxUnstagedStmts,
		first: func(c *Call) []store.Stmt { return []store.Stmt{c.drop(key)} },
		value: func(c *Call, key []byte) []store.Stmt {
			if len(elems) == 0 {
				return nil
			}
			return c.makeZSet(key, elems)
		},
		elements: func() addition { return zsetAddition(elems, zaddOptions{nx: true}) },
	})
}

// makeZSet creates the zset of elems at a key that does not exist yet.
func (c *Call) makeZSet(key []byte, elems []element) []store.Stmt {
	stmts := []store.Stmt{c.ensure(key, zsetType)}
	for _, round := range c.zsetRounds(elems) {
		sql, args := c.zsetRound(key, round)
		stmts = append(stmts, store.Stmt{SQL: sql.insert, Args: args}, c.countAdded(key))
	}
	return stmts
}
