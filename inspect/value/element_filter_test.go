package value

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/meowdis/meowdis/store/keytype"
)

// TestSortsWithoutRoom sorts more elements than a filter keeps: it shows the true beginning of the
// order, whenever its elements were read, and how much of the whole that is.
func TestSortsWithoutRoom(t *testing.T) {
	const all, step = 20_000, 97
	random := rand.New(rand.NewPCG(1, 2))
	rows := make([]record, all)
	for i := range rows {
		rows[i] = record{fmt.Sprintf("f%d", i), "", fmt.Sprint(random.IntN(all))}
		switch i % 10 {
		case 0:
			rows[i][2] = "text" + rows[i][2]
		case 1:
			rows[i][2] = "a long text " + rows[i][2]
		case 2:
			rows[i][2] = []string{"", "a", "a\x00", "nan", "-inf", "-0", "0", "0.0", "-1.5", "-2", "1e3", "\xff"}[i/10%12]
		}
	}
	of := newSheet("h", sourceOf(keytype.Hash), all)
	for _, most := range []limits{{1000, 1 << 30}, {all, 1 << 16}, {1, 1 << 30}, {all + 1, 1 << 30}} {
		for _, order := range []elementOrder{{3, false}, {3, true}, {1, false}, {0, true}} {
			w := &elementFilter{base: of, elementOrder: order}
			for i := 0; i < all; i += step {
				m := filteredMsg{}
				m.add(&chunk{rows: rows[i:min(i+step, all)]}, i)
				m.finish(order)
				w.collect(&m.found, most)
				if len(w.collected.refs) > most.elements || w.collected.bytes > most.bytes {
					t.Fatalf("%v: %d elements of %d bytes are kept", most, len(w.collected.refs), w.collected.bytes)
				}
				if l := &w.collected; l.held > 2*l.bytes+2*blockBytes {
					t.Fatalf("%v: %d bytes are held for %d", most, l.held, l.bytes)
				}
			}
			w.rows = w.collected
			w.rows.sort(order)
			whole := slices.Clone(rows)
			slices.SortStableFunc(whole, order.naive)
			if order.reverse {
				slices.Reverse(whole)
			}
			n := len(w.rows.refs)
			if n == 0 || most.elements > all && n < all || most.elements <= 1000 && n < most.elements/2 {
				t.Errorf("%v %v: %d elements are kept", most, order, n)
			}
			for i, r := range w.rows.refs {
				if row, _ := w.rows.element(r, nil); !slices.Equal(row, whole[i]) {
					t.Fatalf("%v %v: element %d is %v, want %v", most, order, i, row, whole[i])
				}
			}
			if says := w.place(); strings.HasSuffix(says, "of 20,000 fields in this order") != (n < all) {
				t.Errorf("%v %v: %d of %d: %s", most, order, n, all, says)
			}
		}
	}
}

// naive compares two rows, ignoring reverse.
func (o elementOrder) naive(a, b record) int {
	if o.column == 0 {
		return 0
	}
	x, notX := strconv.ParseFloat(a[o.column-1], 64)
	y, notY := strconv.ParseFloat(b[o.column-1], 64)
	switch {
	case notX == nil && notY == nil:
		return cmp.Or(cmp.Compare(x, y), strings.Compare(a[o.column-1], b[o.column-1]))
	case notX == nil:
		return -1
	case notY == nil:
		return 1
	}
	return strings.Compare(a[o.column-1], b[o.column-1])
}
