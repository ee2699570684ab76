package inverted

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"github.com/meowdis/meowdis/redis/geohash"
	"github.com/meowdis/meowdis/redis/search/geo"
	"github.com/meowdis/meowdis/redis/search/query"
	"github.com/meowdis/meowdis/redis/search/text"
	"github.com/meowdis/meowdis/store"
)

// Program is a compiled query. Its leaves say which rows to read; after these are loaded, Run finds the documents.
//
//	p := Compile(schema, tree)
//	for each of p.Expansions: read the terms from First to Next, and call Take
//	for each of p.Leaves: read its rows, and call its Load functions
//	p.LoadBatch(…)
//	p.Run(…)
type Program struct {
	Leaves     []*Leaf
	Expansions []*Expansion
	Scans      []*Scan         // of indexes of SEARCH.CREATE
	Lengths    []*FieldLengths // of the fields of words, for scores
	NeedsAll   bool            // the documents of AllTerm, for negations, * and scorers

	schema *Schema
	root   *clause
	terms  map[string]*Leaf
}

// LoadBatch adds the rows of a batch to all leaves.
func (p *Program) LoadBatch(b *Batch, w *store.Work) {
	for _, l := range p.Leaves {
		l.loadBatch(b, w)
	}
	for _, s := range p.Scans {
		s.addBatch(b)
	}
	for _, l := range p.Lengths {
		l.loadBatch(b)
	}
}

type clauseKind byte

const (
	nothing clauseKind = iota
	everything
	leaf
	intersection
	union
	negation
	optional
)

// clause holds a node of the program.
type clause struct {
	kind     clauseKind
	children []*clause
	leaf     *Leaf
	mask     Mask // of the fields
	masked   bool // not all fields
	weight   float64
	slop     int // -1 for none
	inOrder  bool
	scores   bool   // a leaf whose postings score, or everything
	place    int    // of its frequency, from 1; 0 unless it scores
	distance string // the name of the distance of a leaf of vectors
	text     string // the term of the query
	reads    int    // documents that a counted Run has read
	field    *Field // of a word of SEARCH.CREATE
	constant bool   // the score is the weight
}

// child returns an empty clause about the same fields.
func (c *clause) child() *clause {
	return &clause{weight: 1, slop: -1, mask: c.mask, masked: c.masked, field: c.field}
}

// CompileOptions holds the options of a command that apply to its query.
type CompileOptions struct {
	Slop    int // -1 for none
	InOrder bool
}

// Compile compiles a query.
func Compile(s *Schema, n query.Node, o CompileOptions) *Program {
	p := &Program{schema: s, terms: map[string]*Leaf{}}
	p.root = p.compile(n, o)
	return p
}

func (p *Program) base(n query.Node) *clause {
	b := n.Common()
	c := &clause{weight: b.Weight, slop: -1}
	if p.schema.Upstash != nil {
		if len(b.Fields) == 1 {
			c.field = p.schema.Field(b.Fields[0])
		}
		return c
	}
	if b.Fields != nil && !p.schema.NoFields {
		c.masked = true
		for _, name := range b.Fields {
			if f := p.schema.Field(name); f != nil && f.Type == Text {
				c.mask = c.mask.Or(f.Mask())
			}
		}
	}
	return c
}

func (p *Program) term(term []byte) *Leaf {
	l := p.terms[string(term)]
	if l == nil {
		l = &Leaf{Term: term}
		p.terms[string(term)] = l
		p.Leaves = append(p.Leaves, l)
	}
	return l
}

func (p *Program) word(c *clause, word string) *clause {
	term := WordTerm(word)
	if c.field != nil {
		term = FieldWordTerm(c.field, word)
		p.lengths(c.field)
	}
	c.kind, c.leaf, c.scores, c.text = leaf, p.term(term), true, word
	return c
}

func (p *Program) compile(n query.Node, o CompileOptions) *clause {
	c := p.base(n)
	switch n := n.(type) {
	case *query.All:
		c.kind, p.NeedsAll, c.scores = everything, true, true
	case *query.Term:
		return p.word(c, n.Text)
	case *query.Phrase:
		p.phrase(c, n)
	case *query.And:
		c.kind, c.slop, c.inOrder = intersection, o.Slop, o.InOrder
		if n.Slop != nil {
			c.slop = *n.Slop
		}
		if n.InOrder != nil {
			c.inOrder = *n.InOrder
		}
		p.compileAll(c, n.Children, o)
	case *query.Or:
		c.kind = union
		p.compileAll(c, n.Children, o)
	case *query.Not:
		c.kind, c.children, p.NeedsAll = negation, []*clause{p.compile(n.Child, o)}, true
	case *query.Optional:
		c.kind, c.children, p.NeedsAll = optional, []*clause{p.compile(n.Child, o)}, true
	case *query.KNN:
		return p.compile(n.Filter, o)
	default:
		p.compileLeaf(c, n)
	}
	return c
}

// compileAll compiles the children of a clause.
func (p *Program) compileAll(c *clause, nodes []query.Node, o CompileOptions) {
	for _, n := range nodes {
		c.children = append(c.children, p.compile(n, o))
	}
}

func (p *Program) phrase(c *clause, n *query.Phrase) {
	c.kind, c.slop, c.inOrder = intersection, 0, true
	if c.field != nil && n.Slop != nil { // FT.SEARCH ignores it
		c.slop = *n.Slop
	}
	for i, term := range n.Terms {
		child := c.child()
		if n.PrefixLast && i == len(n.Terms)-1 {
			first := FieldWordTerm(c.field, term)
			p.scan(child, first, After(first), nil)
		} else {
			p.word(child, term)
		}
		c.children = append(c.children, child)
	}
}

// compileLeaf compiles a node that is not about a word or other nodes.
func (p *Program) compileLeaf(c *clause, n query.Node) {
	switch n := n.(type) {
	case *query.Affix:
		p.affix(c, n, []byte{kindWord}, false, func(s string) string { return s })
	case *query.Wildcard:
		p.expand(c, []byte{kindWord}, func(s string) bool { return text.MatchWildcard(n.Pattern, s) }, false)
	case *query.Fuzzy:
		near := func(s string) bool { return text.Edits(n.Text, s, n.Distance, n.Swaps, n.Prefix) <= n.Distance }
		if c.field == nil {
			p.expand(c, []byte{kindWord}, near, false)
			break
		}
		p.scanField(c, near)
	case *query.Regexp:
		p.scanField(c, n.Pattern.MatchString)
	case *query.TagRange:
		p.tagRange(c, n)
	case *query.Tag:
		p.tag(c, n)
	case *query.Numeric:
		if f := p.field(n.Field, Numeric); f != nil {
			l := &Leaf{Field: f, Ranges: []NumberRange{{n.Min, n.Max}}, Accepts: func(v float64) bool {
				return (v > n.Min || !n.MinExclusive) && (v < n.Max || !n.MaxExclusive)
			}}
			p.add(c, l)
			c.constant = p.schema.Upstash != nil
		}
	case *query.Geo:
		if f := p.field(n.Field, Geo); f != nil {
			shape := geohash.Shape{Centre: geohash.Point{Lon: n.Lon, Lat: n.Lat}, Radius: n.Meters()}
			l := &Leaf{Field: f, Accepts: func(v float64) bool {
				_, inside := shape.Distance(geohash.PointOf(v))
				return inside
			}}
			for _, r := range shape.Ranges() {
				l.Ranges = append(l.Ranges, NumberRange{r.First, math.Nextafter(r.Next, 0)})
			}
			p.add(c, l)
		}
	case *query.GeoShape:
		if f := p.field(n.Field, GeoShape); f != nil {
			p.add(c, &Leaf{Field: f, Term: ShapeTerm(f), shape: relates(n, f)})
		}
	case *query.Missing:
		if f := p.schema.Field(n.Field); f != nil {
			c.kind, c.leaf = leaf, p.term(MissingTerm(f))
		}
	case *query.VectorRange:
		if f := p.field(n.Field, Vector); f != nil {
			p.add(c, &Leaf{Field: f, Term: VectorTerm(f), Radius: n.Radius, To: NewDistance(f.Vector, []byte(n.Vector))})
			c.distance = n.ScoreAs
		}
	}
}

// relates returns a function that reports whether a shape has the relation to the shape of the query.
func relates(n *query.GeoShape, f *Field) func(wkt string) bool {
	other, err := geo.Parse(n.WKT, !f.Flat)
	return func(wkt string) bool {
		shape, bad := geo.Parse(wkt, !f.Flat)
		if err != nil || bad != nil {
			return false
		}
		switch n.Relation {
		case query.Within:
			return shape.Within(other, !f.Flat)
		case query.Contains:
			return other.Within(shape, !f.Flat)
		case query.Intersects:
			return shape.Intersects(other, !f.Flat)
		}
		return !shape.Intersects(other, !f.Flat)
	}
}

func (p *Program) add(c *clause, l *Leaf) {
	c.kind, c.leaf = leaf, l
	p.Leaves = append(p.Leaves, l)
}

// field returns a field that can be searched, or nil.
func (p *Program) field(name string, t Type) *Field {
	f := p.schema.Field(name)
	if f == nil || f.Type != t || f.NoIndex {
		return nil
	}
	return f
}

// tag compiles a clause of tags.
func (p *Program) tag(c *clause, n *query.Tag) {
	f := p.field(n.Field, Tag)
	if f == nil {
		return
	}
	c.kind = union
	for _, value := range n.Values {
		v := &clause{weight: 1, slop: -1}
		switch value := value.(type) {
		case *query.Term:
			if p.schema.Upstash != nil {
				v.kind, v.leaf, v.scores = leaf, p.term(TagTerm(f, value.Text)), true
				break
			}
			v.kind, v.leaf = leaf, p.term(TagTerm(f, f.NormalTag(value.Text)))
		case *query.Affix:
			p.affix(v, value, TagTerm(f, ""), true, f.NormalTag)
		case *query.Wildcard:
			pattern := value.Pattern
			if !f.CaseSensitive {
				pattern = strings.ToLower(pattern)
			}
			p.expand(v, TagTerm(f, ""), func(s string) bool { return text.MatchWildcard(pattern, s) }, true)
		}
		c.children = append(c.children, v)
	}
}

// Words returns the words that the expansions found.
func (p *Program) Words() (words []string) {
	for _, e := range p.Expansions {
		for term := range e.found {
			if !e.tags {
				words = append(words, term[1:])
			}
		}
	}
	return words
}

// InfoOf finds the document in a sorted list.
func InfoOf(all []DocInfo, doc int64) (DocInfo, bool) {
	i, ok := slices.BinarySearchFunc(all, doc, func(d DocInfo, doc int64) int { return cmp.Compare(d.Doc, doc) })
	if !ok {
		return DocInfo{}, false
	}
	return all[i], true
}
