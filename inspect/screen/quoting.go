package screen

import (
	"errors"
	"strings"
	"unicode/utf8"

	"github.com/meowdis/meowdis/redis/resp"
)

// Typeable returns s in a form that can be typed, and the function that parses it: text unchanged,
// other bytes in double quotes with escapes.
func Typeable(s string) (text string, read func(string) (string, error)) {
	for _, r := range s {
		if !resp.Visible(r) || r == utf8.RuneError {
			return string(resp.AppendQuoted(nil, []byte(s), true)), Unquote
		}
	}
	return s, func(text string) (string, error) { return text, nil }
}

var errQuotes = errors.New(`what holds bytes that are no text stands in double quotes, as "a\x00b"`)

// Unquote parses a text in double quotes.
func Unquote(text string) (string, error) {
	words, err := resp.SplitLine(text)
	if err != nil || len(words) != 1 || !strings.HasPrefix(text, `"`) {
		return "", errQuotes
	}
	return string(words[0]), nil
}
