package translator

import (
	"iter"

	"github.com/meowdis/meowdis/redis/resp"
	"github.com/meowdis/meowdis/store"
)

// An element of LargeElement bytes or more is not part of a JSON list, where it would be in memory several times. It is
// bound to a statement of its own. That statement inserts VALUES, since SQLite copies the rows of a SELECT into a table
// first. The result of a command does not depend on LargeElement. It is a variable for tests.
var LargeElement = 64 << 10

// isLarge reports whether any of the words has LargeElement bytes or more.
func isLarge(words ...[]byte) bool {
	for _, w := range words {
		if len(w) >= LargeElement {
			return true
		}
	}
	return false
}

// pieces splits a list of elements, each of width words, in order. A large element is a piece of its own, and the
// elements between two large ones are another piece. alone reports that the piece is bound to a statement of its own. A
// single element always is, because that is faster than a list of one.
func pieces(list [][]byte, width int) iter.Seq2[[][]byte, bool] {
	return func(yield func(piece [][]byte, alone bool) bool) {
		if len(list) == width {
			yield(list, true)
			return
		}
		start := 0
		for i := 0; i < len(list); i += width {
			if !isLarge(list[i : i+width]...) {
				continue
			}
			if i > start && !yield(list[start:i], false) || !yield(list[i:i+width], true) {
				return
			}
			start = i + width
		}
		if start < len(list) {
			yield(list[start:], false)
		}
	}
}

// nameSQL holds a pair of statements about named elements: several uses the list ?4, as hashedJSON makes it, and one
// uses the hash ?4 and the name ?5. More arguments begin at ?6 in both. A statement that reads returns a row per name,
// which ends with the index of the name.
type nameSQL struct {
	several *listSQL
	one     string
}

// stmtsForNames returns the statements about the names, in order: one per large name, and one for the names between two
// large ones.
func (c *Call) stmtsForNames(key []byte, names [][]byte, sql nameSQL, more ...store.Value) (stmts []store.Stmt) {
	for piece, large := range pieces(names, 1) {
		var s store.Stmt
		if large {
			s = store.Stmt{SQL: sql.one, Args: append(c.key(key, hashValue(piece[0]), store.Bytes(piece[0])), more...)}
		} else {
			s = sql.several.stmt(c, key, piece, more...)
		}
		stmts = append(stmts, s)
	}
	return stmts
}

// each inserts account after each of the changes.
func each(changes []store.Stmt, account store.Stmt) []store.Stmt {
	out := make([]store.Stmt, 0, 2*len(changes))
	for _, change := range changes {
		out = append(out, change, account)
	}
	return out
}

// nameRows returns the rows of the n statements of stmtsForNames from first on, in the order of the names. Sorting in
// SQLite would need several copies of each row in memory.
func nameRows(r *store.Result, first, n int) (rows []store.Row) {
	for _, piece := range r.Rows[first : first+n] {
		rows = append(rows, bySeq(piece)...)
	}
	return rows
}

// changedEach decodes the number of rows that every second statement changed, from first on and before end.
func changedEach(first, end int) func(*store.Result) resp.Value {
	return func(r *store.Result) resp.Value {
		n := int64(0)
		for i := first; i < end; i += 2 {
			n += r.Changes[i]
		}
		return resp.MakeInt(n)
	}
}
