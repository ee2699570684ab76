package translator

import (
	"iter"

	"github.com/meowdis/meowdis/redis/resp"
	"github.com/meowdis/meowdis/store"
)

// LargeElement is how many bytes an element has that is no part of a list in JSON, where
// it would be in memory many times over, but is bound as it is to a statement of its own:
// one that inserts VALUES, since SQLite puts the rows of a SELECT into a table first.
// The result of a command does not depend on it. It is a variable for tests.
var LargeElement = 64 << 10

// isLarge reports whether one of the words is so large.
func isLarge(words ...[]byte) bool {
	for _, w := range words {
		if len(w) >= LargeElement {
			return true
		}
	}
	return false
}

// pieces cuts a list of elements, each width words of it, in order: a large one is a piece
// of its own, and those between two large ones are another. One that is alone has a statement
// of its own, whatever its size: it is faster than a list of one.
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

// chosen is SQL about elements that a call names: several is about those of the list ?4,
// as hashed makes it, and one about that of hash ?4 and name ?5. Further arguments are
// ?6 and on in both. What reads returns a row for each name, which ends with its place.
type chosen struct {
	several *listed
	one     string
}

// choose are the statements about the names, in order: one for each that is large, and
// one for those between two of them.
func (c *Call) choose(key []byte, names [][]byte, sql chosen, more ...store.Value) (stmts []store.Stmt) {
	for piece, large := range pieces(names, 1) {
		var s store.Stmt
		if large {
			s = store.Stmt{SQL: sql.one, Args: append(c.key(key, hashValue(piece[0]), store.Bytes(piece[0])), more...)}
		} else {
			s = sql.several.on(c, key, piece, more...)
		}
		stmts = append(stmts, s)
	}
	return stmts
}

// each puts account after each of the changes.
func each(changes []store.Stmt, account store.Stmt) []store.Stmt {
	out := make([]store.Stmt, 0, 2*len(changes))
	for _, change := range changes {
		out = append(out, change, account)
	}
	return out
}

// chosenRows are the rows that the n statements of choose from first on have read, in
// the order of the names. SQLite would have each row in memory several times to sort it.
func chosenRows(r *store.Result, first, n int) (rows []store.Row) {
	for _, piece := range r.Rows[first : first+n] {
		rows = append(rows, bySeq(piece)...)
	}
	return rows
}

// changedEach answers how many rows every second statement changed, from first on and
// before end.
func changedEach(first, end int) func(*store.Result) resp.Value {
	return func(r *store.Result) resp.Value {
		n := int64(0)
		for i := first; i < end; i += 2 {
			n += r.Changes[i]
		}
		return resp.MakeInt(n)
	}
}
