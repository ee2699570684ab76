package text

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// MatchWildcard reports whether a text has a pattern: ? is one character, * any run, and a backslash keeps the next
// character. It takes time proportional to the product of the lengths at worst.
func MatchWildcard(pattern, s string) bool {
	p, i := 0, 0
	star, mark := -1, 0
	for i < len(s) {
		if p < len(pattern) {
			switch c := pattern[p]; {
			case c == '*':
				star, mark = p, i
				p++
				continue
			case c == '?':
				_, n := utf8.DecodeRuneInString(s[i:])
				p, i = p+1, i+n
				continue
			default:
				width := 1
				if c == '\\' && p+1 < len(pattern) {
					c, width = pattern[p+1], 2
				}
				if c == s[i] {
					p, i = p+width, i+1
					continue
				}
			}
		}
		if star < 0 {
			return false
		}
		mark++
		p, i = star+1, mark
	}
	for p < len(pattern) && pattern[p] == '*' {
		p++
	}
	return p == len(pattern)
}

// Distance returns the Levenshtein distance of two texts in characters, and most+1 if it is more than most.
func Distance(a, b string, most int) int { return Edits(a, b, most, false, false) }

// PrefixDistance returns the least Levenshtein distance between a text and a beginning of another, and most+1 if it is
// more than most.
func PrefixDistance(a, b string, most int) int { return Edits(a, b, most, false, true) }

// Edits returns how many characters must be inserted, removed or replaced to make a text of another, and most+1 if more
// than most. With swaps, two neighbours may change places as one edit; with prefix, a beginning of b is enough.
func Edits(a, b string, most int, swaps, prefix bool) int {
	left, right := []rune(a), []rune(b)
	if prefix {
		right = right[:min(len(right), len(left)+most)]
	} else if n := len(left) - len(right); n > most || -n > most {
		return most + 1
	}
	before, row, next := make([]int, len(right)+1), make([]int, len(right)+1), make([]int, len(right)+1)
	for j := range row {
		row[j] = j
	}
	for i, ca := range left {
		next[0] = i + 1
		least := next[0]
		for j, cb := range right {
			cost := row[j]
			if ca != cb {
				cost = 1 + min(cost, row[j+1], next[j])
				if swaps && i > 0 && j > 0 && ca == right[j-1] && left[i-1] == cb {
					cost = min(cost, before[j-1]+1)
				}
			}
			next[j+1] = cost
			least = min(least, cost)
		}
		if least > most+1 { // a swap may yet come from the row before
			return most + 1
		}
		before, row, next = row, next, before
	}
	if prefix {
		return min(most+1, slices.Min(row))
	}
	return min(most+1, row[len(right)])
}

// SplitTags returns the values of a TAG field: trimmed, cut at 4096 bytes, in lower case unless caseSensitive. Empty
// values are left out unless indexEmpty. separator 0 means that the text is one value.
func SplitTags(s string, separator byte, caseSensitive, indexEmpty bool) []string {
	parts := []string{s}
	if separator != 0 {
		parts = strings.Split(s, string(rune(separator)))
		if separator >= 0x80 {
			parts = strings.Split(s, string([]byte{separator}))
		}
	}
	var out []string
	for _, part := range parts {
		part = strings.TrimFunc(part, isBlank)
		if len(part) > 4096 {
			part = part[:4096]
		}
		if !caseSensitive {
			part = Fold(part)
		}
		if part != "" || indexEmpty {
			out = append(out, part)
		}
	}
	return out
}

func isBlank(r rune) bool { return r == ' ' || r >= '\t' && r <= '\r' }
