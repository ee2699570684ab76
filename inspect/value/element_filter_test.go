package value

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/meowdis/meowdis/store/keytype"
)

// TestSortsWithoutRoom sorts more elements than a filter keeps: it shows the true beginning of the
// order, whenever its elements were read, and how much of the whole that is.
func TestSortsWithoutRoom(t *testing.T) {
	const all, step = 20_000, 97
	random := rand.New(rand.NewPCG(1, 2))
	rows := make([]match, all)
	for i := range rows {
		rows[i].row = record{fmt.Sprintf("f%d", i), "", fmt.Sprint(random.IntN(all))}
		if i%10 == 0 {
			rows[i].row[2] = "text" + rows[i].row[2]
		}
	}
	of := newSheet("h", sourceOf(keytype.Hash), all)
	for _, most := range []limits{{1000, 1 << 30}, {all, 1 << 16}, {1, 1 << 30}, {all + 1, 1 << 30}} {
		for _, order := range []struct {
			column  int
			reverse bool
		}{{3, false}, {3, true}, {1, false}, {0, true}} {
			w := &elementFilter{base: of, column: order.column, reverse: order.reverse}
			for i := 0; i < all; i += step {
				w.collect(rows[i:min(i+step, all)], most)
				if len(w.collected) > most.elements || w.bytes > most.bytes {
					t.Fatalf("%v: %d elements of %d bytes are kept", most, len(w.collected), w.bytes)
				}
			}
			w.rows = w.collected
			w.sort()
			whole := &elementFilter{base: of, column: order.column, reverse: order.reverse, rows: slices.Clone(rows)}
			for i := range whole.rows {
				whole.rows[i].n = i
			}
			whole.sort()
			n := len(w.rows)
			if n == 0 || most.elements > all && n < all || most.elements <= 1000 && n < most.elements/2 {
				t.Errorf("%v %v: %d elements are kept", most, order, n)
			}
			for i, e := range w.rows {
				if e.row[0] != whole.rows[i].row[0] {
					t.Fatalf("%v %v: element %d is %v, want %v", most, order, i, e.row, whole.rows[i].row)
				}
			}
			if says := w.place(); strings.HasSuffix(says, "of 20,000 fields in this order") != (n < all) {
				t.Errorf("%v %v: %d of %d: %s", most, order, n, all, says)
			}
		}
	}
}
