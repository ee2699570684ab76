package inverted

import (
	"strings"

	"github.com/meowdis/meowdis/redis/search/text"
)

// marks holds the first characters of stems and other codes.
const marks = text.StemMark + text.SynonymMark + text.PhoneticMark

// Profile describes what a counted Run has done for a clause.
type Profile struct {
	Type     string // as FT.PROFILE names it
	Term     string // of a word or a tag
	Reads    int    // documents read
	Estimate int    // documents loaded, of a leaf
	Children []*Profile
}

// countedCursor counts the documents that a clause returns.
type countedCursor struct {
	cursor
	clause *clause
}

func (c *countedCursor) seek(doc int64) (int64, bool) {
	at, ok := c.cursor.seek(doc)
	if ok {
		c.clause.reads++
	}
	return at, ok
}

// Profile returns what the last counted Run has done.
func (p *Program) Profile() *Profile { return p.root.profile() }

func (c *clause) profile() *Profile {
	v := &Profile{Type: [...]string{"EMPTY", "WILDCARD", "", "INTERSECT", "UNION", "NOT", "OPTIONAL"}[c.kind], Reads: c.reads, Estimate: c.reads}
	for _, child := range c.children {
		v.Children = append(v.Children, child.profile())
	}
	if c.kind != leaf {
		return v
	}
	l := c.leaf
	v.Estimate = max(l.count, len(l.docs))
	switch {
	case l.Field != nil:
		v.Type = l.Field.Type.String()
	case len(l.Term) == 0:
		v.Type = "EMPTY"
	case l.Term[0] == kindWord:
		v.Type, v.Term = "TEXT", Word(l.Term)
	case l.Term[0] == kindTag:
		v.Type, v.Term = "TAG", TagOf(l.Term)
	default:
		v.Type = "MISSING"
	}
	v.Term = strings.ToValidUTF8(v.Term, "?")
	return v
}

// Count returns the number of documents of the batch with the word in one of the fields.
func (b *Batch) Count(word string, fields Mask) (n int) {
	if c := b.terms[string(WordTerm(word))]; c != nil {
		n = CountPostings(c.sealed(), fields, nil)
	}
	return n
}

// CountPostings returns the number of documents of a block that have a word in one of the fields, without the hidden ones.
func CountPostings(data []byte, fields Mask, hidden map[int64]bool) (n int) {
	Postings(data, func(p Posting) {
		if !hidden[p.Doc] && !p.Mask.And(fields).Empty() {
			n++
		}
	})
	return n
}

// MaskOf returns the set of the named Text fields, or of all fields if names is nil.
func (s *Schema) MaskOf(names []string) (m Mask) {
	if names == nil || s.NoFields {
		return AllFields
	}
	for _, name := range names {
		if f := s.Field(name); f != nil && f.Type == Text {
			m = m.Or(f.Mask())
		}
	}
	return m
}

// IsPlainWord reports whether a word of the index is a word of documents, and not a stem or another code.
func IsPlainWord(word string) bool {
	return word != "" && !strings.ContainsRune(marks, rune(word[0]))
}
