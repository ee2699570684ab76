package text

import "slices"

// Stemmer returns the stem of a term in lower case.
type Stemmer func(term string) string

// Languages are the languages that FT.CREATE accepts.
var Languages = []string{"arabic", "armenian", "basque", "catalan", "chinese", "danish", "dutch", "english", "finnish",
	"french", "german", "greek", "hindi", "hungarian", "indonesian", "irish", "italian", "lithuanian", "malay", "nepali",
	"norwegian", "portuguese", "romanian", "russian", "serbian", "spanish", "swedish", "tagalog", "tamil", "turkish",
	"yiddish"}

var stemmers = map[string]Stemmer{}

// RegisterStemmer sets the stemmer of a language. Only init functions call it.
func RegisterStemmer(language string, s Stemmer) { stemmers[language] = s }

// IsLanguage reports whether FT.CREATE accepts a language, in any case.
func IsLanguage(language string) bool { return slices.Contains(Languages, Fold(language)) }

// HasStemmer reports whether the program has the stemmer of a language.
func HasStemmer(language string) bool { return stemmers[Fold(language)] != nil }

// MinStemLength is the least length of a term of a text that is stemmed, in bytes: search-min-stem-len.
const MinStemLength = 4

// Stem returns the stem of a term in a language; the term itself if it is too short or the program has no stemmer of the
// language.
func Stem(language, term string) string {
	if len(term) < MinStemLength {
		return term
	}
	return stem(language, term)
}

// stem returns the stem of a term of any length.
func stem(language, term string) string {
	if s := stemmers[Fold(language)]; s != nil {
		return s(term)
	}
	return term
}

var phonetic func(term string) string

// RegisterPhonetic sets the function that returns a term's phonetic code. Only init functions call it.
func RegisterPhonetic(f func(term string) string) { phonetic = f }

// MinPhoneticLength is how many bytes a term must have for a phonetic code.
const MinPhoneticLength = 3

// Phonetic returns the primary double-metaphone code of a term; empty if it is too short or has no code.
func Phonetic(term string) string {
	if phonetic == nil || len(term) < MinPhoneticLength {
		return ""
	}
	return phonetic(term)
}
