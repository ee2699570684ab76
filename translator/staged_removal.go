package translator

import (
	"bytes"
	"math"
	"slices"

	"github.com/meowdis/meowdis/redis/commands"
	"github.com/meowdis/meowdis/redis/resp"
	"github.com/meowdis/meowdis/store"
	"github.com/meowdis/meowdis/store/schema"
)

// A call that removes or changes many elements of a large key is staged, too, if it is not part of a pipeline. The
// remaining elements become a hidden key that replaces the key, and the sweep deletes the elements of the old key. The
// reply is read first, from the snapshot that the slices copy.

// stagedChangeNames lists the commands with staged removals, or with staged changes of existing elements.
var stagedChangeNames = []string{
	"LTRIM", "LREM", "LPOP", "RPOP", "LMPOP", "SREM", "SPOP", "HDEL",
	"ZREM", "ZPOPMIN", "ZPOPMAX", "ZMPOP", "ZREMRANGEBYRANK", "ZREMRANGEBYSCORE",
	"HEXPIRE", "HPEXPIRE", "HEXPIREAT", "HPEXPIREAT",
}

// MaxUnstagedChanges limits the elements that a call adds, changes or removes in one transaction if it can be staged.
// The result of a command does not depend on it. It is a variable for tests.
var MaxUnstagedChanges int64 = 8000

// maxCopiesPerChange limits the elements copied per added, changed or removed element. Beyond it, the call is one
// transaction.
const maxCopiesPerChange = 16

// mayChangeMany reports, by its arguments, whether a call of such a command may change many elements.
func mayChangeMany(cmd *commands.Command, args [][]byte) bool {
	switch cmd.Name {
	case "SREM", "HDEL", "ZREM", "SADD", "LPUSH", "RPUSH":
		return int64(len(args)-2) > MaxUnstagedChanges
	case "HSET", "HMSET", "ZADD":
		return int64(len(args)-2)/2 > MaxUnstagedChanges
	case "HEXPIRE", "HPEXPIRE", "HEXPIREAT", "HPEXPIREAT":
		return int64(len(args)-5) > MaxUnstagedChanges
	case "SPOP", "ZPOPMIN", "ZPOPMAX", "LPOP", "RPOP":
		return len(args) == 3 && countsMany(args[2])
	case "LMPOP", "ZMPOP":
		return wordIs(args[len(args)-2], "COUNT") && countsMany(args[len(args)-1])
	}
	return true
}

func countsMany(arg []byte) bool {
	n, ok := parseInt(arg)
	return ok && n > MaxUnstagedChanges
}

// firstOf plans a call about the first of the keys that exists.
func (c *Call) firstOf(keys [][]byte, missing resp.Value, next func(key []byte) Plan) Plan {
	stmts := make([]store.Stmt, len(keys))
	for i, key := range keys {
		stmts[i] = c.typeOf(key)
	}
	return readThen(func(r *store.Result) Plan {
		for i, key := range keys {
			if len(r.Rows[i]) > 0 {
				return next(key)
			}
		}
		return answer(missing)
	}, stmts...)
}

// worthStaging reports whether to stage the removal of n of size elements, at the cost of copies: n is large, enough
// elements remain that moving them would also take long, and the copies are not too many.
func worthStaging(size, n, copies int64) bool {
	return n > MaxUnstagedChanges && size-n > MaxUnstagedChanges/4 && copies <= maxCopiesPerChange*n
}

// inPlace plans the call as one transaction.
func (c *Call) inPlace() Plan {
	c.Env.MayStage = false
	return translationOf(c.Command).translate(c)
}

// planRemoval reads the key's row of sqlCopied and calls next to plan the removal. The call is one transaction if the
// key is missing or of another type, or if some of its elements expire.
func (c *Call) planRemoval(key []byte, typ string, next func(from store.Row, size int64) Plan) Plan {
	return readThen(func(r *store.Result) Plan {
		if len(r.Rows[0]) == 0 {
			return c.inPlace()
		}
		from := r.Rows[0][0]
		if string(from[copiedType].Bytes()) != typ || from[copiedVolatile].Int() > 0 {
			return c.inPlace()
		}
		return next(from, from[copiedCount].Int())
	}, c.stmt(sqlCopied, key))
}

// run holds a range of rows that remain, after a position.
type run struct {
	*walk
	rows int64
	tableWalk
}

// remainder builds a hidden key of the remaining elements: it copies runs, and then runs groups of statements on the
// copy.
type remainder struct {
	hidden  *Call
	name    []byte
	version store.Value // of the hidden key
	from    store.Row
	runs    []run
	groups  [][]store.Stmt
	last    int // index of the statement in a slice that reads the next position
}

// next returns the statements of the next slice, none at the end.
func (l *remainder) next(before *store.Result, rows int) (stmts []store.Stmt) {
	switch {
	case before == nil:
		args := append(l.hidden.key(l.name)[:2], l.from[copiedID], store.Int(l.hidden.Env.Now), l.version, hashValue(l.name))
		stmts = append(stmts, store.Stmt{SQL: sqlHideCopy, Args: args})
	case len(l.runs) > 0 && (!l.runs[0].advance(before.Rows[l.last]) || l.runs[0].rows == 0):
		l.runs = l.runs[1:]
	}
	if len(l.runs) > 0 {
		r := &l.runs[0]
		n := min(int64(rows), r.rows)
		r.rows -= n
		args := r.args(l.hidden, l.name, int(n))
		l.last = len(stmts) + 2
		return append(stmts, store.Stmt{SQL: r.copy, Args: args}, store.Stmt{SQL: sqlCounted, Args: args[:2]}, store.Stmt{SQL: r.tableWalk.last, Args: args})
	}
	n := min(max(1, rows/stagedRound), len(l.groups))
	stmts = append(stmts, slices.Concat(l.groups[:n]...)...)
	l.groups = l.groups[n:]
	return stmts
}

const (
	// The hidden key takes over the key's other properties, such as its expiry, and then its name.
	sqlInheritRow = `UPDATE keys SET (version, created_at, updated_at, expires_at) = (SELECT version + 1, created_at, ?3, expires_at FROM keys WHERE ` + live + `)
		WHERE db = ` + schema.Hidden + ` AND key = ?4`
	sqlRenameHidden = `UPDATE keys SET db = ?1, key = ?2, hash = ?4 WHERE db = ` + schema.Hidden + ` AND key = ?5`
)

// swapIn returns the statements that replace the key with its changed copy.
func (c *Call) swapIn(key, hidden []byte) []store.Stmt {
	return []store.Stmt{c.stmt(sqlInheritRow, key, store.Bytes(hidden)), c.drop(key), c.stmt(sqlRenameHidden, key, hashValue(key), store.Bytes(hidden))}
}

// stageRemoval plans a staged removal: it copies runs of rows, then runs groups, unless nil, on the copy.
func (c *Call) stageRemoval(key []byte, from store.Row, reply resp.Value, runs []run, groups func(hidden *Call, name []byte) [][]store.Stmt) Plan {
	runs = slices.DeleteFunc(runs, func(r run) bool { return r.rows == 0 })
	return Plan{Staged: c.stage(
		func(c *Call, hidden []byte) Plan { return write(always(reply), c.swapIn(key, hidden)...) },
		func(hidden *Call, name []byte) func(*store.Result, int) []store.Stmt {
			l := &remainder{hidden: hidden, name: name, version: hidden.newVersion(), from: from, runs: runs}
			if groups != nil {
				l.groups = groups(hidden, name)
			}
			return l.next
		})}
}

// allRows returns a run over all elements of a key.
func allRows(from store.Row) []run {
	t := tableWalks()[string(from[copiedType].Bytes())][0]
	return []run{{newWalk(from[copiedID], t.columns), math.MaxInt64, t}}
}

// rowOrderFactor multiplies MaxUnstagedChanges for elements in the order of their rows, which are faster to remove.
const rowOrderFactor = 4

// removeRows plans the removal of the elements gone. The key must have them, in the order of their rows. erase returns
// the statements that remove some of them.
func removeRows[T any](c *Call, key []byte, from store.Row, gone []T, reply resp.Value, erase func(c *Call, key []byte, some []T) []store.Stmt) Plan {
	size, n := from[copiedCount].Int(), int64(len(gone))
	groups := func(c *Call, key []byte) (groups [][]store.Stmt) {
		for some := range slices.Chunk(gone, stagedRound) {
			groups = append(groups, erase(c, key, some))
		}
		return groups
	}
	switch {
	case n == 0:
		return answer(reply)
	case n == size:
		return write(always(reply), c.drop(key))
	case n <= MaxUnstagedChanges*rowOrderFactor || !worthStaging(size, n, size):
		return write(always(reply), slices.Concat(groups(c, key)...)...)
	}
	return c.stageRemoval(key, from, reply, allRows(from), groups)
}

// namedRows holds the statements that find named elements of a key and delete them.
type namedRows struct {
	typ          string
	find, remove nameSQL
}

// findBy returns namedRows.there for a table.
func findBy(table, name string) nameSQL {
	return nameSQL{
		several: newListSQL(1, `SELECT j.key FROM json_each(?4) j CROSS JOIN `+table+` x ON x.key_id = `+liveID+` AND x.hash = `+itemHash+` AND x.`+name+` = `+itemName),
		one:     `SELECT 0 FROM ` + table + ` WHERE key_id = ` + liveID + ` AND hash = ?4 AND ` + name + ` = ?5`,
	}
}

var (
	memberRow = namedRows{setType, findBy("sets", "member"), sqlRemoveMembers}
	scoredRow = namedRows{zsetType, findBy("zsets", "member"), sqlZRem}
	fieldRow  = namedRows{hashType, findBy("hashes", "field"), sqlRemoveFields}
)

// byHash returns each of the names once, in the order of their rows.
func byHash(names [][]byte) [][]byte {
	sorted := make([][]byte, 0, len(names))
	for _, i := range hashOrder(len(names), func(i int) []byte { return names[i] }) {
		if n := len(sorted); n == 0 || !bytes.Equal(sorted[n-1], names[i]) {
			sorted = append(sorted, names[i])
		}
	}
	return sorted
}

// namedRound limits the names that one statement finds.
const namedRound = 1000

// stageNamedRemoval plans SREM, HDEL and ZREM of many names.
func (c *Call) stageNamedRemoval(key []byte, names [][]byte, rows namedRows) Plan {
	names = byHash(names)
	return c.planRemoval(key, rows.typ, func(from store.Row, _ int64) Plan {
		var stmts []store.Stmt
		var pieces [][][]byte // the names that each of stmts finds
		for chunk := range slices.Chunk(names, namedRound) {
			for piece := range piecesOf(chunk) {
				stmts, pieces = append(stmts, c.stmtsForNames(key, piece, rows.find)...), append(pieces, piece)
			}
		}
		return readThen(func(r *store.Result) Plan {
			var gone [][]byte
			for i, piece := range pieces {
				for _, row := range r.Rows[i] {
					gone = append(gone, piece[row[0].Int()])
				}
			}
			return removeRows(c, key, from, gone, resp.MakeInt(int64(len(gone))), rows.removeStmts)
		}, stmts...)
	})
}

// piecesOf yields the pieces of a list; stmtsForNames makes one statement for each.
func piecesOf(list [][]byte) func(func([][]byte) bool) {
	return func(yield func([][]byte) bool) {
		for piece := range pieces(list, 1) {
			if !yield(piece) {
				return
			}
		}
	}
}

// removeStmts returns the statements that remove elements of the key.
func (rows namedRows) removeStmts(c *Call, key []byte, names [][]byte) []store.Stmt {
	return each(c.stmtsForNames(key, names, rows.remove), c.countRemoved(key))
}
