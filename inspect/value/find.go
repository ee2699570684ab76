package value

import (
	"encoding/hex"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/meowdis/meowdis/inspect/screen"
	"github.com/meowdis/meowdis/keyspace/decode"
)

// needleOf parses a search: text, bytes "in quotes" with escapes, or in a hex dump pairs of hex digits.
func needleOf(typed string, form shape) string {
	if strings.HasPrefix(typed, `"`) {
		if raw, err := screen.Unquote(typed); err == nil && raw != "" {
			return raw
		}
	}
	if digits, is := strings.CutPrefix(typed, "0x"); form == asHex && (is || strings.Contains(typed, " ")) {
		if raw, err := hex.DecodeString(strings.ReplaceAll(digits, " ", "")); err == nil && len(raw) > 0 {
			return string(raw)
		}
	}
	return typed
}

// find returns the first match of needle, text[at:end]; at is -1 without a match. A lower-case needle
// also matches capitals.
func find(text, needle string) (at, end int) {
	if !folds(needle) {
		at = strings.Index(text, needle)
		return at, at + len(needle)
	}
	if needle == "" {
		return -1, -1
	}
	first := needle[0]
	for i := range len(text) {
		if c := text[i]; c != first && c|0x20 != first && c < utf8.RuneSelf {
			continue
		}
		if n := foldedPrefixLen(text[i:], needle); n > 0 {
			return i, i + n
		}
	}
	return -1, -1
}

// findLast returns the last match of needle, as find does.
func findLast(text, needle string) (at, end int) {
	if !folds(needle) {
		at = strings.LastIndex(text, needle)
		return at, at + len(needle)
	}
	for i := len(text) - 1; i >= 0; i-- {
		if n := foldedPrefixLen(text[i:], needle); n > 0 {
			return i, i + n
		}
	}
	return -1, -1
}

// folds reports whether needle also matches capitals: it is text without capitals.
func folds(needle string) bool { return utf8.ValidString(needle) && needle == strings.ToLower(needle) }

// foldedPrefixLen returns the length of the prefix of text that matches needle in any case, or 0.
func foldedPrefixLen(text, needle string) int {
	n := 0
	for len(needle) > 0 && n < len(text) {
		if c := text[n]; c < utf8.RuneSelf && needle[0] < utf8.RuneSelf {
			if c != needle[0] && (c < 'A' || c > 'Z' || c|0x20 != needle[0]) {
				return 0
			}
			n, needle = n+1, needle[1:]
			continue
		}
		a, size := utf8.DecodeRuneInString(text[n:])
		b, wanted := utf8.DecodeRuneInString(needle)
		if a == utf8.RuneError && size == 1 || a != b && unicode.ToLower(a) != b {
			return 0
		}
		n, needle = n+size, needle[wanted:]
	}
	if len(needle) > 0 {
		return 0
	}
	return n
}

// rowContains reports whether a cell of a row contains needle. Positions are not part of a value.
func (s *source) rowContains(row record, needle string) bool {
	if s.columns[0].title == "#" {
		row = row[1:]
	}
	return slices.ContainsFunc(row, func(cell string) bool { return cellContains(cell, needle) })
}

// cellContains reports whether a table cell contains needle, as stored or decoded.
func cellContains(cell, needle string) bool {
	if at, _ := find(cell, needle); at >= 0 {
		return true
	}
	if len(cell) < shortestCoded || len(cell) > decodeLimit || strings.ContainsAny(cell, " ,.:{}[]\"") && screen.IsText([]byte(cell)) || decode.IsWord([]byte(cell)) {
		return false
	}
	shown := decode.Value([]byte(cell), decode.Options{})
	if len(shown.Layers) == 1 && shown.Layers[0].Name == "binary" {
		return false
	}
	at, _ := find(shown.Text, needle)
	return at >= 0
}

// shortestCoded sets the minimum length of a cell worth decoding.
const shortestCoded = 8
