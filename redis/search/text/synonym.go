package text

import "slices"

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
	if stem := Stem(a.Language, term); !a.NoStem && len(term) >= MinStemLength && HasStemmer(a.Language) {
		out = append(out, StemMark+stem)
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

// Expansions returns the terms that a term of a query matches beside itself: the terms of Extras, and the stem as a word.
func Expansions(term string, a Analysis) []string {
	out := Extras(term, a)
	if !a.NoStem {
		if stem := Stem(a.Language, term); stem != term {
			out = slices.Insert(out, 1, stem)
		}
	}
	return out
}

// Analysis is how the terms of a field are derived from its text.
type Analysis struct {
	Language string
	NoStem   bool
	Phonetic bool
	Synonyms Synonyms
}
