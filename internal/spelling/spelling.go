package spelling

import "strings"

// maxSuggestions limits the number of suggestions.
const maxSuggestions = 3

// Nearest returns at most three words that word was probably meant to be: the ones with the
// fewest changes, ignoring case. A short word allows one change, a longer one two that leave
// its first letter. No word is near a word of one letter, and every word is near itself.
func Nearest(word string, words []string) []string {
	word = strings.ToLower(word)
	least := allowedChanges(word) + 1
	var found []string
	for _, w := range words {
		lower := strings.ToLower(w)
		d := distance(word, lower)
		switch {
		case d > 1 && (word == "" || !strings.HasPrefix(lower, word[:1])):
		case d < least:
			least, found = d, []string{w}
		case d == least && found != nil && len(found) < maxSuggestions:
			found = append(found, w)
		}
	}
	return found
}

// allowedChanges returns the number of changes that leave a word recognisable. It ignores the dashes
// of a flag, which are rarely misspelt.
func allowedChanges(word string) int {
	switch n := len(strings.TrimLeft(word, "-@:")); {
	case n < 2:
		return 0
	case n < 6:
		return 1
	}
	return 2
}

// distance returns the number of letters to change, add, remove or swap with a neighbour to
// turn a into b.
func distance(a, b string) int {
	before, last := make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := range len(a) {
		row := make([]int, len(b)+1)
		row[0] = i + 1
		for j := range len(b) {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			row[j+1] = min(last[j]+cost, last[j+1]+1, row[j]+1)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				row[j+1] = min(row[j+1], before[j-1]+1)
			}
		}
		before, last = last, row
	}
	return last[len(b)]
}

// Question returns a question that suggests words, with a leading space, or "" without words.
func Question(words []string) string {
	if len(words) == 0 {
		return ""
	}
	return " Did you mean " + strings.Join(words, " or ") + "?"
}
