package text

import (
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/meowdis/meowdis/internal/smallsort"
)

// Highlight returns a text with the tags around each token that matched reports.
func Highlight(source string, matched func(term string) bool, open, closing string) string {
	var out strings.Builder
	at := 0
	for token := range Tokens(source, nil) {
		if matched(token.Term) {
			out.WriteString(source[at:token.Start] + open + source[token.Start:token.End] + closing)
			at = token.End
		}
	}
	out.WriteString(source[at:])
	return out.String()
}

// Matcher returns a function that reports whether a token matches one of the terms of a query, which may be expanded.
func Matcher(terms []string, a Analysis) func(term string) bool {
	set := make(map[string]struct{}, len(terms))
	for _, term := range terms {
		set[term] = struct{}{}
	}
	return func(term string) bool {
		if _, is := set[term]; is {
			return true
		}
		return slices.ContainsFunc(Extras(term, a), func(extra string) bool { _, is := set[extra]; return is })
	}
}

// Summary is how SUMMARIZE cuts a text.
type Summary struct {
	Fragments   int // how many at most; 3 by default
	Words       int // of a fragment; 20 by default
	Separator   string
	Open, Close string // the tags around matches; empty without HIGHLIGHT
}

// DefaultSummary is the Summary of a SUMMARIZE without options.
var DefaultSummary = Summary{Fragments: 3, Words: 20, Separator: "... "}

// fragment holds a part of a text: tokens from first to last.
type fragment struct{ first, last, distinct int }

// Summarize returns the fragments of a text with the most distinct matches, in the order of the text, each followed by the
// separator. A text without a match gives its beginning.
func Summarize(source string, matched func(term string) bool, s Summary) string {
	var tokens []Token
	var matches []int
	for token := range Tokens(source, nil) {
		if matched(token.Term) {
			matches = append(matches, len(tokens))
		}
		tokens = append(tokens, token)
	}
	if len(matches) == 0 {
		words := min(len(tokens), clampedProduct(s.Words, s.Fragments))
		if words == 0 {
			return ""
		}
		return collapse(source[:tokens[words-1].End])
	}
	best := fragments(tokens, matches, s.Words)
	smallsort.Sort(best, func(a, b fragment) int { return b.distinct - a.distinct })
	best = best[:min(len(best), s.Fragments)]
	smallsort.Sort(best, func(a, b fragment) int { return a.first - b.first })
	var out strings.Builder
	taken := 0 // tokens that an earlier fragment shows
	for i, f := range best {
		context := max(0, s.Words-(f.last-f.first+1))
		end := len(tokens)
		if i+1 < len(best) {
			end = best[i+1].first
		}
		first := max(taken, f.first-context/2)
		last := min(end, f.last+1+context-context/2)
		taken = last
		part := source[tokens[first].Start:tokens[last-1].End]
		if s.Open != "" || s.Close != "" {
			part = Highlight(part, matched, s.Open, s.Close)
		}
		out.WriteString(collapse(part) + s.Separator)
	}
	return out.String()
}

// fragments groups matches that lie within a number of words.
func fragments(tokens []Token, matches []int, words int) []fragment {
	var out []fragment
	seen := map[string]struct{}{}
	for _, i := range matches {
		if n := len(out) - 1; n < 0 || i-out[n].first >= words {
			out = append(out, fragment{i, i, 0})
			clear(seen)
		}
		f := &out[len(out)-1]
		f.last = i
		seen[tokens[i].Term] = struct{}{}
		f.distinct = len(seen)
	}
	return out
}

func clampedProduct(a, b int) int {
	if a > 0 && b > math.MaxInt32/a {
		return math.MaxInt32
	}
	return a * b
}

// collapse replaces each run of blanks by a space.
func collapse(s string) string { return strings.Join(strings.FieldsFunc(s, isBlank), " ") }

// SuggestExact is the score of a suggestion that is the text itself.
const SuggestExact = 2147483648

// Suggest returns the score of a suggestion for the beginning of a text, as FT.SUGGET does; ok is false if it does not
// match. stored is the suggestion's own score. Fuzzy allows one edit in the beginning.
func Suggest(beginning, suggestion string, stored float64, fuzzy bool) (score float64, ok bool) {
	beginning, suggestion = Fold(beginning), Fold(suggestion)
	distance := 0
	if !strings.HasPrefix(suggestion, beginning) {
		if !fuzzy {
			return 0, false
		}
		if distance = PrefixDistance(beginning, suggestion, 1); distance > 1 {
			return 0, false
		}
	}
	if beginning == suggestion {
		return SuggestExact, true
	}
	suffix := max(0, utf8.RuneCountInString(suggestion)-utf8.RuneCountInString(beginning))
	score = stored / math.Sqrt(1+float64(suffix)) * math.Exp(-2*float64(distance))
	return float64(float32(score)), true
}
