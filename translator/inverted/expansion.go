package inverted

import (
	"bytes"
	"maps"
	"slices"
	"strings"

	"github.com/meowdis/meowdis/redis/search/query"
)

// Expansion is a set of terms that match a pattern.
type Expansion struct {
	First, Next []byte // the range of terms to look at; Next is excluded
	Whole       bool   // every term of the range matches
	Limit       int
	matches     func(text string) bool
	tags        bool
	found       map[string]bool
	seen        map[string]bool // the terms of the index that may be taken
	program     *Program
	clause      *clause
}

// maxExpansions limits the terms of an Expansion.
const maxExpansions = 200

// minPrefix limits how short an affix may be.
const minPrefix = 2

func (p *Program) affix(c *clause, n *query.Affix, prefix []byte, tags bool, normal func(string) string) {
	affix := normal(n.Text)
	if len(affix) < minPrefix {
		return
	}
	switch n.Kind {
	case query.Prefix:
		p.expand(c, append(bytes.Clone(prefix), affix...), nil, tags)
	case query.Suffix:
		p.expand(c, prefix, func(s string) bool { return strings.HasSuffix(s, affix) }, tags)
	default:
		p.expand(c, prefix, func(s string) bool { return strings.Contains(s, affix) }, tags)
	}
}

// expand makes c a union of the terms that begin with prefix and match. A nil matches accepts all.
func (p *Program) expand(c *clause, prefix []byte, matches func(string) bool, tags bool) {
	c.kind = union
	p.Expansions = append(p.Expansions, &Expansion{First: prefix, Next: After(prefix), Whole: matches == nil, Limit: maxExpansions, matches: matches, tags: tags, found: map[string]bool{}, program: p, clause: c})
}

// Take adds a term of the index to the expansion if it matches. It returns false if the expansion is full.
func (e *Expansion) Take(term []byte) bool {
	if len(e.found) >= e.Limit {
		return false
	}
	if bytes.Compare(term, e.First) < 0 || bytes.Compare(term, e.Next) >= 0 || e.found[string(term)] {
		return true
	}
	word := Word(term)
	if e.tags {
		word = TagOf(term)
	} else if !IsPlainWord(word) {
		return true
	}
	if !e.Whole && !e.matches(word) {
		return true
	}
	e.found[string(term)] = true
	v := e.clause.child()
	if e.tags {
		v.kind, v.leaf = leaf, e.program.term(bytes.Clone(term))
	} else {
		e.program.word(v, word)
	}
	e.clause.children = append(e.clause.children, v)
	return true
}

// See notes a term of the index that matches, for TakeSeen. It returns the bytes that it allocated.
func (e *Expansion) See(term []byte) (allocated int64) {
	if e.seen[string(term)] || !e.tags && !IsPlainWord(Word(term)) {
		return 0
	}
	word := Word(term)
	if e.tags {
		word = TagOf(term)
	}
	if !e.Whole && !e.matches(word) {
		return 0
	}
	if len(e.seen) >= 4*e.Limit { // only the first ones are taken
		for _, far := range e.sortedSeen()[e.Limit:] {
			delete(e.seen, far)
		}
	}
	if e.seen == nil {
		e.seen = map[string]bool{}
	}
	e.seen[string(term)] = true
	return int64(64 + len(term))
}

// Forget forgets the terms of See.
func (e *Expansion) Forget() { clear(e.seen) }

// TakeSeen takes the first terms of See.
func (e *Expansion) TakeSeen() {
	for _, term := range e.sortedSeen() {
		e.Take([]byte(term))
	}
	e.seen = nil
}

func (e *Expansion) sortedSeen() []string { return slices.Sorted(maps.Keys(e.seen)) }

// Full reports whether the expansion has reached its limit of terms.
func (e *Expansion) Full() bool { return len(e.found) >= e.Limit }

// TakeAll adds the matching terms of a batch.
func (e *Expansion) TakeAll(b *Batch) {
	for term := range b.terms {
		e.Take([]byte(term))
	}
}
