package upstash

import (
	"math"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/meowdis/meowdis/redis/search/text"
)

// maxToken bounds the bytes of an indexed token.
const maxToken = 40

// Tokens returns the tokens of a TEXT field: runs of letters and digits in lower case, stemmed unless the field is NOSTEM.
// The value of a field with NOTOKENIZE is one token as it is.
func Tokens(value string, f Field, language string) []text.Token {
	if f.NoTokenize {
		return []text.Token{{Term: value, Start: 0, End: len(value), Position: 1}}
	}
	var out []text.Token
	start, position := -1, 0
	flush := func(end int) {
		if start < 0 {
			return
		}
		position++
		if term := text.Fold(value[start:end]); len(term) <= maxToken {
			if !f.NoStem {
				term = text.Stem(language, term)
			}
			out = append(out, text.Token{Term: term, Start: start, End: end, Position: position})
		}
		start = -1
	}
	for i, r := range value {
		if r != utf8.RuneError && (unicode.IsLetter(r) || unicode.IsDigit(r)) {
			if start < 0 {
				start = i
			}
			continue
		}
		flush(i)
	}
	flush(len(value))
	return out
}

// ParseDate returns the Unix time in ms of a date by RFC 3339, whose time may be missing.
func ParseDate(s string) (ms float64, ok bool) {
	for _, layout := range []string{time.RFC3339Nano, time.DateOnly} {
		if t, err := time.Parse(layout, s); err == nil {
			return float64(t.UnixMilli()), true
		}
	}
	return 0, false
}

// FormatDate returns a Unix time in ms by RFC 3339.
func FormatDate(ms float64) string {
	return time.UnixMilli(int64(ms)).UTC().Format("2006-01-02T15:04:05.999Z07:00")
}

// Value returns the value of a field from its text; ok is false if it does not suit the type, and the document then lacks
// the field.
func (f Field) Value(s string) (v Value, ok bool) {
	switch {
	case f.Type.IsNumeric():
		n, ok := Number(f.Type, s)
		return Value{Num: n}, ok
	case f.Type == Bool:
		ok = s == "true" || s == "false"
	case f.Type == Facet:
		ok = FacetPaths(s) != nil
	default:
		ok = true
	}
	return Value{Text: s}, ok
}

// Number returns the value of a numeric field or a DATE from its text; ok is false if it is not one, and the document then
// lacks the field.
func Number(t FieldType, s string) (v float64, ok bool) {
	if t == Date {
		return ParseDate(s)
	}
	v, ok = text.ParseNumber(s)
	switch {
	case !ok || s != strings.TrimSpace(s) || math.IsNaN(v) || math.IsInf(v, 0):
		return 0, false
	case t == U64 && (v < 0 || v != float64(uint64(v))), t == I64 && v != float64(int64(v)):
		return 0, false
	}
	return v, true
}

// FacetPaths returns the path of a FACET and the paths above it; nil if it is not a path.
func FacetPaths(path string) []string {
	if !strings.HasPrefix(path, "/") || len(path) < 2 {
		return nil
	}
	var out []string
	for i := 1; i <= len(path); i++ {
		if i == len(path) || path[i] == '/' {
			out = append(out, path[:i])
		}
	}
	return out
}
