package score

// Within reports whether the terms of lists of ascending positions, one for each term, occur within a slop: a number of
// other words among them; a negative slop is any. In order, the terms follow each other as the lists do, and the slop is
// the number of words between them. An exact phrase has slop 0 and is in order. It takes linear time unordered.
func Within(lists [][]int, slop int, inOrder bool) bool {
	for _, list := range lists {
		if len(list) == 0 {
			return false
		}
	}
	if len(lists) < 2 {
		return true
	}
	if inOrder {
		return ordered(lists, slop)
	}
	return slop < 0 || unordered(lists, slop)
}

// ordered tries each position of the first term as the start; for a start, the earliest positions that follow are best.
func ordered(lists [][]int, slop int) bool {
	at := make([]int, len(lists))
	for _, first := range lists[0] {
		last, gap := first, 0
		for i := 1; i < len(lists); i++ {
			for at[i] < len(lists[i]) && lists[i][at[i]] < last {
				at[i]++
			}
			if at[i] == len(lists[i]) {
				return false
			}
			next := lists[i][at[i]]
			gap += next - last - 1
			last = next
		}
		if slop < 0 || gap <= slop {
			return true
		}
	}
	return false
}

// unordered moves the least position on until the window is small enough.
func unordered(lists [][]int, slop int) bool {
	at := make([]int, len(lists))
	for {
		least, most := 0, lists[0][at[0]]
		for i := range lists {
			p := lists[i][at[i]]
			if p < lists[least][at[least]] {
				least = i
			}
			most = max(most, p)
		}
		if most-lists[least][at[least]]-(len(lists)-1) <= slop {
			return true
		}
		if at[least]++; at[least] == len(lists[least]) {
			return false
		}
	}
}
