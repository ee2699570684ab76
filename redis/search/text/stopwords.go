package text

import "strings"

// DefaultStopWords are the stop words of an index that sets none.
var DefaultStopWords = strings.Fields("a an and are as at be but by for if in into is it no not of on or such that the " +
	"their then there these they this to was will with")

// StopWords returns a function that reports whether a term in lower case is one of the words.
func StopWords(words []string) func(term string) bool {
	set := make(map[string]struct{}, len(words))
	for _, word := range words {
		set[Fold(word)] = struct{}{}
	}
	return func(term string) bool {
		_, is := set[term]
		return is
	}
}
