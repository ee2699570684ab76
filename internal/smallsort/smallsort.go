// Package smallsort sorts lists of structs with little code for each type.
package smallsort

import (
	"cmp"
	"slices"
)

// Sort sorts items as slices.SortStableFunc does. The compiler copies the functions of slices for each type of
// struct, 8 to 20 KB of the binary, but 1 KB of Sort. Sort is for lists that are short or rarely sorted: it
// allocates their order.
func Sort[T any](items []T, compare func(a, b T) int) {
	Permute(items, stableOrder(len(items), func(i, j int) int { return compare(items[i], items[j]) }))
}

// stableOrder returns the indexes of n items, in the order of the items.
func stableOrder(n int, compare func(i, j int) int) []int {
	order := make([]int, n)
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(i, j int) int { return cmp.Or(compare(i, j), i-j) })
	return order
}

// Permute moves the item at order[i] to i, for each i. It uses up order.
func Permute[T any](items []T, order []int) {
	for start := range order {
		first, to := items[start], start
		for from := order[to]; from != start; from = order[to] {
			items[to], order[to] = items[from], to
			to = from
		}
		items[to], order[to] = first, to
	}
}
