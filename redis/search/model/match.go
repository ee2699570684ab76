package model

import (
	"slices"
	"strings"

	"github.com/meowdis/meowdis/redis/search/geo"
	"github.com/meowdis/meowdis/redis/search/query"
	"github.com/meowdis/meowdis/redis/search/score"
	"github.com/meowdis/meowdis/redis/search/text"
)

// Options are what a match depends on beside the query.
type Options struct {
	Slop    int // SLOP of the command; negative for none
	InOrder bool
	// Docs returns how many documents have a term, for scores; nil counts one.
	Docs func(term string) int
}

// MinAffix is how many bytes an affix must have beside its stars: search-min-prefix.
const MinAffix = 2

// Match returns how the document matches a query; ok is false if it does not. A KNN matches as its filter does.
func (d *Document) Match(n query.Node, o Options) (m *score.Match, ok bool) {
	return (&matcher{d, o}).match(n)
}

type matcher struct {
	*Document
	o Options
}

func (d *matcher) match(n query.Node) (*score.Match, bool) {
	weight := n.Common().Weight
	found := func(ok bool) (*score.Match, bool) {
		return &score.Match{Kind: score.Virtual, Weight: weight}, ok
	}
	switch n := n.(type) {
	case *query.All:
		return &score.Match{Kind: score.All, Weight: weight}, true
	case *query.Term:
		return d.term(n.Text, n.Fields, weight)
	case *query.Phrase:
		return d.phrase(n)
	case *query.And:
		return d.and(n)
	case *query.Or:
		return d.or(n.Children, weight)
	case *query.Not:
		_, ok := d.match(n.Child)
		return found(!ok)
	case *query.Optional:
		if m, ok := d.match(n.Child); ok {
			return &score.Match{Kind: score.Or, Weight: weight, Children: []*score.Match{m}}, true
		}
		return found(true)
	case *query.Affix, *query.Wildcard, *query.Fuzzy, *query.Regexp:
		return d.pattern(n)
	case *query.KNN:
		if _, ok := d.Nearest(n.Field, n.Vector); !ok {
			return nil, false
		}
		return d.match(n.Filter)
	}
	return found(d.matchesValue(n))
}

// matchesValue is match for the clauses that have no terms.
func (d *matcher) matchesValue(n query.Node) bool {
	switch n := n.(type) {
	case *query.Tag:
		return slices.ContainsFunc(n.Values, func(v query.Node) bool {
			return slices.ContainsFunc(d.tags[n.Field], func(tag string) bool { return patternMatches(v, tag) })
		})
	case *query.TagRange:
		return slices.ContainsFunc(d.tags[n.Field], func(tag string) bool {
			return (n.Min == nil || tag > *n.Min || tag == *n.Min && !n.MinExclusive) &&
				(n.Max == nil || tag < *n.Max || tag == *n.Max && !n.MaxExclusive)
		})
	case *query.Numeric:
		return slices.ContainsFunc(d.numbers[n.Field], func(v float64) bool {
			return (v > n.Min || v == n.Min && !n.MinExclusive) && (v < n.Max || v == n.Max && !n.MaxExclusive)
		})
	case *query.Geo:
		return slices.ContainsFunc(d.points[n.Field], func(p geo.Point) bool {
			return geo.Haversine(p.X, p.Y, n.Lon, n.Lat) <= n.Meters()
		})
	case *query.GeoShape:
		f, _ := d.index.Schema.Field(n.Field)
		shape, err := geo.Parse(n.WKT, f.Spherical)
		return err == nil && slices.ContainsFunc(d.shapes[n.Field], func(s *geo.Shape) bool {
			return Relates(s, n.Relation, shape, f.Spherical)
		})
	case *query.Missing:
		return !d.present[n.Field]
	case *query.VectorRange:
		least, ok := d.Nearest(n.Field, n.Vector)
		return ok && least <= n.Radius
	}
	return false
}

// Relates reports whether a document's shape has a relation to a query's.
func Relates(document *geo.Shape, r query.Relation, other *geo.Shape, spherical bool) bool {
	switch r {
	case query.Within:
		return document.Within(other, spherical)
	case query.Contains:
		return other.Within(document, spherical)
	case query.Intersects:
		return document.Intersects(other, spherical)
	}
	return !document.Intersects(other, spherical)
}

// patternMatches reports whether a term or a tag has the text or the pattern of a node.
func patternMatches(n query.Node, s string) bool {
	switch n := n.(type) {
	case *query.Term:
		return n.Text == s
	case *query.Wildcard:
		return text.MatchWildcard(n.Pattern, s)
	case *query.Fuzzy:
		return text.Edits(n.Text, s, n.Distance, n.Swaps, n.Prefix) <= n.Distance
	case *query.Regexp:
		return n.Pattern.MatchString(s)
	case *query.Affix:
		switch {
		case len(n.Text) < MinAffix:
			return false
		case n.Kind == query.Prefix:
			return strings.HasPrefix(s, n.Text)
		case n.Kind == query.Suffix:
			return strings.HasSuffix(s, n.Text)
		}
		return strings.Contains(s, n.Text)
	}
	return false
}

// term matches a term in some fields; nil fields means all.
func (d *matcher) term(term string, fields []string, weight float64) (*score.Match, bool) {
	p := d.Terms.Postings[term]
	if p == nil {
		return nil, false
	}
	m := &score.Match{Kind: score.Term, Weight: weight, Term: term, Freq: p.Freq, Docs: 1}
	if d.o.Docs != nil {
		m.Docs = d.o.Docs(term)
	}
	for _, o := range p.Occurrences {
		if fields == nil || slices.Contains(fields, d.index.Schema[o.Field].Name) {
			m.Positions = append(m.Positions, o.Position)
		}
	}
	return m, len(m.Positions) > 0
}

func (d *matcher) phrase(n *query.Phrase) (*score.Match, bool) {
	m := &score.Match{Kind: score.And, Weight: n.Weight}
	var lists [][]int
	for i, term := range n.Terms {
		child, ok := d.term(term, n.Fields, 1)
		if i == len(n.Terms)-1 && n.PrefixLast {
			child, ok = d.beginning(term, n.Fields)
		}
		if !ok {
			return nil, false
		}
		m.Children = append(m.Children, child)
		lists = append(lists, positions(child))
	}
	slop := 0
	if n.Slop != nil {
		slop = *n.Slop
	}
	return m, score.Within(lists, slop, true)
}

// beginning matches the terms that begin with a text, of any length.
func (d *matcher) beginning(start string, fields []string) (*score.Match, bool) {
	m := &score.Match{Kind: score.Or, Weight: 1}
	for term := range d.Terms.Postings {
		if strings.HasPrefix(term, start) {
			if c, ok := d.term(term, fields, 1); ok {
				m.Children = append(m.Children, c)
			}
		}
	}
	return m, len(m.Children) > 0
}

func (d *matcher) and(n *query.And) (*score.Match, bool) {
	m := &score.Match{Kind: score.And, Weight: n.Weight}
	var lists [][]int
	for _, child := range n.Children {
		c, ok := d.match(child)
		if !ok {
			return nil, false
		}
		m.Children = append(m.Children, c)
		if list := positions(c); len(list) > 0 {
			lists = append(lists, list)
		}
	}
	slop, inOrder := d.o.Slop, d.o.InOrder
	if n.Slop != nil {
		slop = *n.Slop
	}
	if n.InOrder != nil {
		inOrder = *n.InOrder
	}
	return m, slop < 0 && !inOrder || score.Within(lists, slop, inOrder)
}

func (d *matcher) or(children []query.Node, weight float64) (*score.Match, bool) {
	m := &score.Match{Kind: score.Or, Weight: weight}
	for _, child := range children {
		if c, ok := d.match(child); ok {
			m.Children = append(m.Children, c)
		}
	}
	return m, len(m.Children) > 0
}

// pattern matches every token of the document that has a pattern.
func (d *matcher) pattern(n query.Node) (*score.Match, bool) {
	m := &score.Match{Kind: score.Or, Weight: n.Common().Weight}
	for term := range d.Terms.Postings {
		if term != "" && strings.ContainsAny(term[:1], text.StemMark+text.SynonymMark+text.PhoneticMark) || !patternMatches(n, term) {
			continue
		}
		if c, ok := d.term(term, n.Common().Fields, 1); ok {
			m.Children = append(m.Children, c)
		}
	}
	slices.SortFunc(m.Children, func(a, b *score.Match) int { return strings.Compare(a.Term, b.Term) })
	return m, len(m.Children) > 0
}

// positions returns the positions of all terms of a match, ascending.
func positions(m *score.Match) []int {
	out := slices.Clone(m.Positions)
	for _, c := range m.Children {
		out = append(out, positions(c)...)
	}
	slices.Sort(out)
	return out
}
