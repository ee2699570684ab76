// Package partialsort sorts a part of a list and orders equal items as Redis does.
package partialsort

import "github.com/meowdis/meowdis/internal/smallsort"

// Sort sorts the items partially: the items from first up to last end up as a full sort would
// leave them.
//
// Redis's pages leave open which of several equal items come first, but its algorithms decide
// it: all items are sorted by the C library's qsort, which is stable on most servers, and a
// part of them by the quicksort of Bentley and McIlroy ("Engineering a Sort Function", 1993),
// which skips partitions outside the part.
func Sort[T any](items []T, first, last int, compare func(a, b T) int) {
	if first <= 0 && last >= len(items) {
		smallsort.Sort(items, compare)
		return
	}
	order := make([]int, len(items))
	for i := range order {
		order[i] = i
	}
	quicksort(order, first, last, func(i, j int) int { return compare(items[i], items[j]) })
	smallsort.Permute(items, order)
}

func quicksort(items []int, first, last int, compare func(a, b int) int) {
	for first < len(items) && last > 0 {
		if len(items) < 7 {
			insertionSort(items, compare)
			return
		}
		smaller, larger := partition(items, compare)
		quicksort(items[:smaller], first, last, compare)
		items, first, last = items[larger:], first-larger, last-larger
	}
}

func insertionSort(items []int, compare func(a, b int) int) {
	for i := range items {
		for ; i > 0 && compare(items[i-1], items[i]) > 0; i-- {
			swap(items, i-1, i)
		}
	}
}

// partition moves items smaller than a pivot to the front and larger ones to the end. It
// returns the end of the smaller items and the start of the larger ones.
func partition(items []int, compare func(a, b int) int) (smaller, larger int) {
	n := len(items)
	swap(items, 0, pivot(items, compare))

	// Items equal to the pivot collect at both ends: [0, low) and (high, n).
	low, left, right, high := 1, 1, n-1, n-1
	for {
		for ; left <= right; left++ {
			order := compare(items[left], items[0])
			if order > 0 {
				break
			}
			if order == 0 {
				swap(items, low, left)
				low++
			}
		}
		for ; left <= right; right-- {
			order := compare(items[right], items[0])
			if order < 0 {
				break
			}
			if order == 0 {
				swap(items, right, high)
				high--
			}
		}
		if left > right {
			break
		}
		swap(items, left, right)
		left++
		right--
	}

	smaller, larger = left-low, n-(high-right)
	exchange(items, 0, left, min(low, smaller))
	exchange(items, left, n, min(high-right, n-1-high))
	return smaller, larger
}

// exchange swaps the first n items of items[from:to] with the last n.
func exchange(items []int, from, to, n int) {
	for i := range n {
		swap(items, from+i, to-n+i)
	}
}

func swap(items []int, i, j int) { items[i], items[j] = items[j], items[i] }

// pivot returns the index of the middle item, or of a median of three, or of a median of three
// medians.
func pivot(items []int, compare func(a, b int) int) int {
	n := len(items)
	less := func(i, j int) bool { return compare(items[i], items[j]) < 0 }
	median := func(a, b, c int) int {
		switch {
		case less(a, b) && less(b, c), !less(a, b) && less(c, b):
			return b
		case less(a, b) == less(a, c):
			return c
		}
		return a
	}
	low, middle, high := 0, n/2, n-1
	if n == 7 {
		return middle
	}
	if n > 40 {
		d := n / 8
		low = median(low, low+d, low+2*d)
		middle = median(middle-d, middle, middle+d)
		high = median(high-2*d, high-d, high)
	}
	return median(low, middle, high)
}
