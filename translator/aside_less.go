package translator

import (
	"bytes"
	"cmp"
	"math"
	"slices"

	"github.com/meowdis/meowdis/commands"
	"github.com/meowdis/meowdis/resp"
	"github.com/meowdis/meowdis/schema"
	"github.com/meowdis/meowdis/store"
)

// A call that removes many elements of a large key is carried out aside, too, when it is on its own: what
// stays is made a key that takes the place of the other, whose elements are left to the sweep. What the
// call replies is read before, in the snapshot that the slices are made of.

// lessNames are the commands that may be carried out so.
var lessNames = []string{
	"LTRIM", "LREM", "SREM", "SPOP", "HDEL", "ZREM", "ZPOPMIN", "ZPOPMAX", "ZREMRANGEBYRANK", "ZREMRANGEBYSCORE",
}

// AsideLess is how many elements one transaction removes at the most when it could be done aside. The result
// of a command does not depend on it. It is a variable for tests.
var AsideLess int64 = 8000

// mostStayed is how many elements may be copied for each that goes. Beyond that a call is one transaction.
const mostStayed = 16

// Lessens reports whether calls of the command that may be carried out aside remove elements.
func Lessens(cmd *commands.Command) bool { return slices.Contains(lessNames, cmd.Name) }

// mayLessen reports whether a call of a command that Lessens may remove many elements, by its arguments.
func mayLessen(cmd *commands.Command, args [][]byte) bool {
	switch cmd.Name {
	case "SREM", "HDEL", "ZREM":
		return int64(len(args)-2) > AsideLess
	case "SPOP", "ZPOPMIN", "ZPOPMAX":
		if len(args) != 3 {
			return false
		}
		n, ok := parseInt(args[2])
		return ok && n > AsideLess
	}
	return true
}

// isLess reports whether removing n of size elements is for slices: it takes long, and so does it to move those
// that stay in place, and to copy as many as the slices do is not much more.
func isLess(size, n, copies int64) bool {
	return n > AsideLess && size-n > AsideLess/4 && copies <= mostStayed*n
}

// inPlace plans the call as one transaction.
func (c *Call) inPlace() Plan {
	c.Env.Aside = false
	return translationOf(c.Command).translate(c)
}

// lessAside has next plan a call that removes elements of a key of the type, by its row of sqlCopied. It is
// planned in place when there is none, or when some of its elements expire.
func (c *Call) lessAside(key []byte, typ string, next func(from store.Row, size int64) Plan) Plan {
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

// run is a number of rows that stay, from a place on.
type run struct {
	*walk
	rows int64
	tableWalk
}

// lessened is how what stays of a key is made aside: runs are copied, and groups are what is done then.
type lessened struct {
	hidden *Call
	name   []byte
	from   store.Row
	runs   []run
	groups [][]store.Stmt
	last   int // which statement of a slice reads the place after it
}

// next is the next slice.
func (l *lessened) next(before *store.Result, rows int) (stmts []store.Stmt) {
	switch {
	case before == nil:
		args := append(l.hidden.key(l.name)[:2], l.from[copiedID], store.Int(l.hidden.Env.Now), l.hidden.newVersion(), hashValue(l.name))
		stmts = append(stmts, store.Stmt{SQL: sqlHideCopy, Args: args})
	case len(l.runs) > 0 && (!l.runs[0].on(before.Rows[l.last]) || l.runs[0].rows == 0):
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
	n := min(max(1, rows/asideRound), len(l.groups))
	stmts = append(stmts, slices.Concat(l.groups[:n]...)...)
	l.groups = l.groups[n:]
	return stmts
}

const (
	// What the key is beside its elements goes over to what stays of it, and then its place.
	sqlLessened = `UPDATE keys SET (version, created_at, updated_at, seq, expires_at) = (SELECT version + 1, created_at, ?3, seq, expires_at FROM keys WHERE ` + live + `)
		WHERE db = ` + schema.Hidden + ` AND key = ?4`
	sqlReplace = `UPDATE keys SET db = ?1, key = ?2, hash = ?4 WHERE db = ` + schema.Hidden + ` AND key = ?5`
)

// less is the plan that makes what stays of a key aside.
func (c *Call) less(key []byte, from store.Row, reply resp.Value, runs []run, groups func(hidden *Call, name []byte) [][]store.Stmt) Plan {
	runs = slices.DeleteFunc(runs, func(r run) bool { return r.rows == 0 })
	return Plan{Aside: c.aside(
		func(c *Call, hidden []byte) Plan {
			return write(always(reply), c.stmt(sqlLessened, key, store.Bytes(hidden)),
				c.drop(key), c.stmt(sqlReplace, key, hashValue(key), store.Bytes(hidden)))
		},
		func(hidden *Call, name []byte) func(*store.Result, int) []store.Stmt {
			l := &lessened{hidden: hidden, name: name, from: from, runs: runs}
			if groups != nil {
				l.groups = groups(hidden, name)
			}
			return l.next
		})}
}

// allRows is the run over all elements of a key.
func allRows(from store.Row) []run {
	t := tableWalks()[string(from[copiedType].Bytes())][0]
	return []run{{walkOver(from[copiedID], t.columns), math.MaxInt64, t}}
}

// inRowOrder is how many times as many elements are removed in place when they are in the order of their rows.
const inRowOrder = 4

// erased is the plan that removes the elements gone, which are there and in the order of their rows, by
// statements about some of them.
func erased[T any](c *Call, key []byte, from store.Row, gone []T, reply resp.Value, erase func(c *Call, key []byte, some []T) []store.Stmt) Plan {
	size, n := from[copiedCount].Int(), int64(len(gone))
	groups := func(c *Call, key []byte) (groups [][]store.Stmt) {
		for some := range slices.Chunk(gone, asideRound) {
			groups = append(groups, erase(c, key, some))
		}
		return groups
	}
	switch {
	case n == 0:
		return answer(reply)
	case n == size:
		return write(always(reply), c.drop(key))
	case n <= AsideLess*inRowOrder || !isLess(size, n, size):
		return write(always(reply), slices.Concat(groups(c, key)...)...)
	}
	return c.less(key, from, reply, allRows(from), groups)
}

// namedRows is what to do about elements that are named: read those of the list that are there, and delete them.
type namedRows struct {
	typ         string
	there, gone chosen
}

// thereBy is namedRows.there of a table.
func thereBy(table, name string) chosen {
	return chosen{
		several: newListed(1, `SELECT j.key FROM json_each(?4) j CROSS JOIN `+table+` x ON x.key_id = `+liveID+` AND x.hash = `+itemHash+` AND x.`+name+` = `+itemName),
		one:     `SELECT 0 FROM ` + table + ` WHERE key_id = ` + liveID + ` AND hash = ?4 AND ` + name + ` = ?5`,
	}
}

var (
	memberRow = namedRows{setType, thereBy("sets", "member"), sqlRemoveMembers}
	scoredRow = namedRows{zsetType, thereBy("zsets", "member"), sqlZRem}
	fieldRow  = namedRows{hashType, thereBy("hashes", "field"), sqlRemoveFields}
)

// byHash are the names once each, in the order of their rows.
func byHash(names [][]byte) [][]byte {
	type hashedName struct {
		hash int64
		name []byte
	}
	all := make([]hashedName, len(names))
	for i, name := range names {
		all[i] = hashedName{HashOf(name), name}
	}
	slices.SortFunc(all, func(a, b hashedName) int {
		if c := cmp.Compare(a.hash, b.hash); c != 0 {
			return c
		}
		return bytes.Compare(a.name, b.name)
	})
	sorted := make([][]byte, 0, len(names))
	for _, one := range all {
		if n := len(sorted); n == 0 || !bytes.Equal(sorted[n-1], one.name) {
			sorted = append(sorted, one.name)
		}
	}
	return sorted
}

// namedRound is how many names a statement looks for.
const namedRound = 1000

// eraseAside is SREM, HDEL and ZREM of many names.
func (c *Call) eraseAside(key []byte, names [][]byte, rows namedRows) Plan {
	names = byHash(names)
	return c.lessAside(key, rows.typ, func(from store.Row, _ int64) Plan {
		var stmts []store.Stmt
		var pieces [][][]byte // the names of each of them
		for chunk := range slices.Chunk(names, namedRound) {
			for piece := range piecesOf(chunk) {
				stmts, pieces = append(stmts, c.choose(key, piece, rows.there)...), append(pieces, piece)
			}
		}
		return readThen(func(r *store.Result) Plan {
			var gone [][]byte
			for i, piece := range pieces {
				for _, row := range r.Rows[i] {
					gone = append(gone, piece[row[0].Int()])
				}
			}
			return erased(c, key, from, gone, resp.MakeInt(int64(len(gone))), rows.erase)
		}, stmts...)
	})
}

// piecesOf are the pieces of a list by which choose makes statements.
func piecesOf(list [][]byte) func(func([][]byte) bool) {
	return func(yield func([][]byte) bool) {
		for piece := range pieces(list, 1) {
			if !yield(piece) {
				return
			}
		}
	}
}

// erase are the statements that remove elements that are there.
func (rows namedRows) erase(c *Call, key []byte, names [][]byte) []store.Stmt {
	return each(c.choose(key, names, rows.gone), c.shrunk(key))
}
