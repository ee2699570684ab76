package text

import (
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
func Distance(a, b string, most int) int {
	d, ok := distances(a, b, most)
	if !ok {
		return most + 1
	}
	return min(most+1, d[len(d)-1])
}

// PrefixDistance returns the least Levenshtein distance between a text and a beginning of another, and most+1 if it is
// more than most.
func PrefixDistance(a, b string, most int) int {
	short := []rune(b)
	if n := utf8.RuneCountInString(a) + most; len(short) > n {
		short = short[:n]
	}
	d, ok := distances(a, string(short), most)
	if !ok {
		return most + 1
	}
	best := most + 1
	for _, v := range d {
		best = min(best, v)
	}
	return best
}

// distances returns the last row of the Levenshtein table: the distance of a to each beginning of b. ok is false if all
// are more than most.
func distances(a, b string, most int) (row []int, ok bool) {
	left, right := []rune(a), []rune(b)
	row = make([]int, len(right)+1)
	for j := range row {
		row[j] = j
	}
	for i, ca := range left {
		diagonal, least := row[0], i+1
		row[0] = i + 1
		for j, cb := range right {
			cost := diagonal
			if ca != cb {
				cost = 1 + min(diagonal, row[j], row[j+1])
			}
			diagonal, row[j+1] = row[j+1], cost
			least = min(least, cost)
		}
		if least > most {
			return nil, false
		}
	}
	return row, true
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
