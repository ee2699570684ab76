package ui

import (
	"slices"
	"strings"
	"unicode"
)

// match reports whether an item matches all words of text, and its penalty: lower is better. A word
// matches if it is in the label or in Also, or if the label contains its letters in order. runes are
// the positions in the label.
func match(it Item, text string) (score int, runes []int, ok bool) {
	label := []rune(it.Label)
	for word := range strings.FieldsSeq(text) {
		if it.Value == word {
			score--
		}
		if slices.Contains(strings.Fields(it.Also), word) {
			score-- // a key, a name or another word for it
			continue
		}
		at, bad := find(label, []rune(word))
		switch {
		case at != nil:
			score, runes = score+bad, append(runes, at...)
		case strings.Contains(it.Also, word):
			score += scatteredPenalty
		default:
			return 0, nil, false
		}
	}
	return score, runes, true
}

// Penalties of a match. A label word that starts with the typed word has none; a match inside a word or
// of initials has withinPenalty, scattered letters have scatteredPenalty.
const (
	withinPenalty    = 1000
	scatteredPenalty = 2000
)

// find returns the positions of word in text, and their penalty.
func find(text, word []rune) (at []int, bad int) {
	best := -1
	for i := 0; i+len(word) <= len(text); i++ {
		if !slices.EqualFunc(text[i:i+len(word)], word, sameLetter) {
			continue
		}
		if i == 0 || !unicode.IsLetter(text[i-1]) {
			best, bad = i, i
			break
		}
		if best < 0 {
			best, bad = i, withinPenalty+i
		}
	}
	if best >= 0 {
		for i := range word {
			at = append(at, best+i)
		}
		return at, bad
	}
	if at := initials(text, word); at != nil {
		return at, withinPenalty + at[len(at)-1] - at[0]
	}
	next := 0
	for _, letter := range word {
		i := slices.IndexFunc(text[next:], func(r rune) bool { return sameLetter(r, letter) })
		if i < 0 {
			return nil, 0
		}
		at = append(at, next+i)
		next += i + 1
	}
	return at, scatteredPenalty + at[len(at)-1] - at[0]
}

// initials returns the positions of the words of text that start with the letters of word, one word per
// letter, in order.
func initials(text, word []rune) (at []int) {
	for i, r := range text {
		begins := i == 0 || !unicode.IsLetter(text[i-1])
		if len(at) < len(word) && begins && sameLetter(r, word[len(at)]) {
			at = append(at, i)
		}
	}
	if len(at) < len(word) {
		return nil
	}
	return at
}

// sameLetter reports whether r matches a typed letter. A lower-case letter also matches its capital.
func sameLetter(r, typed rune) bool { return r == typed || unicode.ToLower(r) == typed }
