package smallsort

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"
)

func TestSort(t *testing.T) {
	type item struct{ key, place int }
	for n := range 200 {
		items := make([]item, n)
		for i := range items {
			items[i] = item{rand.IntN(1 + n/2), i}
		}
		want := slices.Clone(items)
		compare := func(a, b item) int { return cmp.Compare(a.key, b.key) }
		slices.SortStableFunc(want, compare)
		given := slices.Clone(items)
		if Sort(items, compare); !slices.Equal(items, want) {
			t.Fatalf("%v is sorted as %v, not %v", given, items, want)
		}
	}
}
