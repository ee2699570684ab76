package translator

import (
	"iter"

	"github.com/meowdis/meowdis/resp"
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
// of its own, and those between two large ones are another.
func pieces(list [][]byte, width int) iter.Seq2[[][]byte, bool] {
	return func(yield func(piece [][]byte, large bool) bool) {
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

// sumOf answers the sum of what every second statement returned, from first on and
// before end.
func sumOf(first, end int) func(*store.Result) resp.Value {
	return func(r *store.Result) resp.Value {
		n := int64(0)
		for i := first; i < end; i += 2 {
			n += firstInt(r, i)
		}
		return resp.MakeInt(n)
	}
}
