package text

import (
	"slices"
	"strings"
)

// Synonyms are the groups of synonyms of an index: the ids of the groups by term, in lower case.
type Synonyms map[string][]string

// Add puts terms into a group.
func (s Synonyms) Add(group string, terms ...string) {
	for _, term := range terms {
		if term = Fold(term); !slices.Contains(s[term], group) {
			s[term] = append(s[term], group)
		}
	}
}

// The first byte of the terms that an index has beside a token: its stem, its groups of synonyms, and its phonetic code.
const (
	StemMark     = "+"
	SynonymMark  = "~"
	PhoneticMark = "<"
)

// Extras returns the terms that are indexed at the position of a token, beside the token.
func Extras(term string, a Analysis) []string {
	var out []string
	if !a.NoStem && len(term) >= MinStemLength && HasStemmer(a.Language) {
		out = append(out, StemMark+Stem(a.Language, term))
	}
	for _, group := range a.Synonyms[term] {
		out = append(out, SynonymMark+group)
	}
	if a.Phonetic {
		if code := Phonetic(term); code != "" {
			out = append(out, PhoneticMark+code)
		}
	}
	return out
}

// Expansions returns the terms that a term of a query matches beside itself: the terms of Extras, the stem of a term that is
// too short for Extras ("run" finds "running"), and the stem as a word.
func Expansions(term string, a Analysis) []string {
	out := Extras(term, a)
	if a.NoStem || !HasStemmer(a.Language) {
		return out
	}
	stem := stem(a.Language, term)
	if len(term) < MinStemLength {
		out = slices.Insert(out, 0, StemMark+stem)
	}
	if stem != term {
		out = slices.Insert(out, 1, stem)
	}
	return out
}

// Analysis is how the terms of a field are derived from its text.
type Analysis struct {
	Language string
	NoStem   bool
	Phonetic bool
	Synonyms Synonyms

	// Known, unless nil, remembers some results of Extras. It must not be shared with another Analysis.
	Known map[string][]string
}

// maxKnown limits the words in Known.
const maxKnown = 1 << 15

// extras returns what Extras returns.
func (a *Analysis) extras(term string) []string {
	if a.NoStem && !a.Phonetic && len(a.Synonyms) == 0 {
		return nil
	}
	if a.Known == nil {
		return Extras(term, *a)
	}
	extras, known := a.Known[term]
	if !known {
		extras = Extras(term, *a)
		if len(a.Known) < maxKnown {
			a.Known[strings.Clone(term)] = extras // term may be a part of a long text
		}
	}
	return extras
}
