package inverted

import (
	"bytes"
	"cmp"
	"slices"
	"strings"

	"github.com/meowdis/meowdis/internal/smallsort"
	"github.com/meowdis/meowdis/redis/search/query"
	"github.com/meowdis/meowdis/redis/search/text"
	"github.com/meowdis/meowdis/redis/search/upstash"
	"github.com/meowdis/meowdis/translator/document"
)

// FromUpstash returns the schema of an index of SEARCH.CREATE. A KEYWORD, a BOOL and a FACET are tags, and a DATE is a
// number of ms. The words of each TEXT field are terms of their own, so that scores count per field.
func FromUpstash(d *upstash.Definition) *Schema {
	s := &Schema{JSON: d.Type == "JSON", Strings: d.Type == "STRING", DocumentOptions: DocumentOptions{Language: d.Language, Score: 1}, SkipScan: d.SkipInitialScan, Upstash: d}
	for _, p := range d.Prefixes {
		s.Prefixes = append(s.Prefixes, []byte(p))
	}
	for _, f := range d.Fields {
		t := Numeric
		switch f.Type {
		case upstash.Text:
			t = Text
		case upstash.Keyword, upstash.Bool, upstash.Facet:
			t = Tag
		}
		s.Add(&Field{Name: f.Name, Path: f.Source(), Type: t, TagOptions: TagOptions{CaseSensitive: true}})
	}
	return s
}

// Dotted returns the values at a dotted path of a document. It enters the elements of arrays on the way.
func (s *Source) Dotted(path string) []*document.Value {
	if s.Root == nil || s.Root.Kind != document.Object {
		return nil
	}
	all := []*document.Value{s.Root}
	for name := range strings.SplitSeq(path, ".") {
		var next []*document.Value
		for _, v := range elements(all) {
			s.Work.Step(8)
			if member := v.Get(name); member != nil {
				next = append(next, member)
			}
		}
		all = next
	}
	return all
}

// elements replaces arrays with their elements.
func elements(values []*document.Value) (all []*document.Value) {
	for _, v := range values {
		if v.Kind == document.Array {
			all = append(all, v.Elems...)
		} else {
			all = append(all, v)
		}
	}
	return all
}

// Texts returns the strings at a dotted path of a document, and the strings in arrays there.
func (s *Source) Texts(path string) []*document.Value {
	return slices.DeleteFunc(elements(s.Dotted(path)), func(v *document.Value) bool { return v.Kind != document.String })
}

// FieldValues returns the values of a field that suit its type; a document may have others.
func (s *Source) FieldValues(f upstash.Field) (all []upstash.Value) {
	add := func(value string) {
		if v, ok := f.Value(value); ok {
			all = append(all, v)
		}
	}
	if s.Root == nil {
		if value, ok := s.Fields[f.Source()]; ok {
			add(string(value))
		}
		return all
	}
	for _, v := range elements(s.Dotted(f.Source())) {
		switch {
		case v.Kind == document.String && (f.Type == upstash.Date || f.Type != upstash.Bool && !f.Type.IsNumeric()):
			add(v.Str)
		case v.Kind == document.Bool && f.Type == upstash.Bool, v.IsNumber() && f.Type.IsNumeric() && f.Type != upstash.Date:
			add(string(v.Append(nil)))
		}
	}
	return all
}

// Suits reports whether a document has a value for a field of an index of SEARCH.CREATE. The index leaves out others.
func (s *Source) Suits(of *Schema) bool {
	return slices.ContainsFunc(of.Upstash.Fields, func(f upstash.Field) bool { return len(s.FieldValues(f)) > 0 })
}

// maxTermBytes limits the size of a term of SEARCH.CREATE. Longer ones are not indexed.
const maxTermBytes = 65530

// addFields is Add for an index of SEARCH.CREATE.
func (b *Batch) addFields(doc int64, src *Source) {
	length := 0
	for i, f := range b.Schema.Fields {
		of := b.Schema.Upstash.Fields[i]
		values := src.FieldValues(of)
		switch f.Type {
		case Text:
			length += b.addWords(doc, f, of, values)
		case Tag:
			b.addTags(doc, f, of, values)
		default:
			numbers := make([]Number, len(values))
			for i, v := range values {
				numbers[i] = Number{Field: f.ID, Value: v.Num}
			}
			b.addNumbers(doc, numbers)
		}
	}
	info := DocInfo{Doc: doc, Length: uint32(length), Score: 1}
	b.chunk(AllTerm).docInfo(info)
	b.Docs = append(b.Docs, info)
}

// addWords adds the words of a TEXT field, and returns their number.
func (b *Batch) addWords(doc int64, f *Field, of upstash.Field, values []upstash.Value) (length int) {
	places, last := map[string][]int{}, 0
	for i, v := range values {
		b.Work.Step(4 * len(v.Text))
		b.Work.Grow(int64(8 * len(v.Text)))
		start := last
		if i > 0 {
			start += text.MultiTextSlop
		}
		for _, token := range upstash.Tokens(v.Text, of, b.Schema.Language) {
			if len(token.Term) > maxTermBytes {
				continue
			}
			last = start + token.Position
			places[token.Term] = append(places[token.Term], last)
			length++
		}
	}
	if length == 0 {
		return 0
	}
	b.chunk(LengthTerm(f)).docInfo(DocInfo{Doc: doc, Length: uint32(length), Score: 1})
	for term, positions := range places {
		b.Work.Grow(int64(8 + len(positions)))
		b.chunk(FieldWordTerm(f, term)).posting(doc, uint32(len(positions)), Mask{}, appendPositions(nil, positions))
	}
	return length
}

func (b *Batch) addTags(doc int64, f *Field, of upstash.Field, values []upstash.Value) {
	tags := map[string]bool{}
	for _, v := range values {
		list := []string{v.Text}
		if of.Type == upstash.Facet {
			list = upstash.FacetPaths(v.Text)
		}
		for _, tag := range list {
			if tags[tag] || len(tag) > maxTermBytes {
				continue
			}
			tags[tag] = true
			b.Work.Grow(8)
			b.chunk(TagTerm(f, tag)).posting(doc, 1, Mask{}, nil)
		}
	}
}

// EachTag calls use for the documents of each tag of a field.
func (b *Batch) EachTag(f *Field, use func(tag string, doc int64)) {
	for _, tag := range b.TagsOf(f) {
		Postings(b.terms[string(TagTerm(f, tag))].sealed(), func(p Posting) { use(tag, p.Doc) })
	}
}

// FieldLengths holds the number of words of a TEXT field in each document.
type FieldLengths struct {
	Term []byte
	docs []DocInfo
}

// Load adds a block of the term.
func (l *FieldLengths) Load(data []byte, hidden map[int64]bool) {
	DocInfos(data, func(d DocInfo) {
		if !hidden[d.Doc] {
			l.docs = append(l.docs, d)
		}
	})
}

// loadBatch adds the documents of a batch.
func (l *FieldLengths) loadBatch(b *Batch) {
	if c := b.terms[string(l.Term)]; c != nil {
		l.Load(c.sealed(), nil)
	}
}

func (l *FieldLengths) of(doc int64) float64 {
	d, _ := InfoOf(l.docs, doc)
	return float64(d.Length)
}

// average divides by the number of all documents, as Tantivy does.
func (l *FieldLengths) average(documents int) float64 {
	total := 0.0
	for _, d := range l.docs {
		total += float64(d.Length)
	}
	return total / float64(max(1, documents))
}

// lengths adds the lengths of a field to the rows to read.
func (p *Program) lengths(f *Field) *FieldLengths {
	term := LengthTerm(f)
	for _, l := range p.Lengths {
		if bytes.Equal(l.Term, term) {
			return l
		}
	}
	l := &FieldLengths{Term: term}
	p.Lengths = append(p.Lengths, l)
	return l
}

// Scan reads the terms from First to Next, Next excluded, for leaves that match some of them. Unlike an Expansion it
// has no limit, and its documents all score the same.
type Scan struct {
	First, Next []byte
	leaves      []*Leaf
	term        []byte // the last one
	wanted      []bool // by leaf
}

// scan makes c the documents with a term of a range that matches. A nil matches accepts all.
func (p *Program) scan(c *clause, first, next []byte, matches func(word string) bool) {
	l := &Leaf{matches: matches}
	c.kind, c.leaf, c.constant = leaf, l, true
	for _, s := range p.Scans {
		if bytes.Equal(s.First, first) && bytes.Equal(s.Next, next) {
			s.leaves = append(s.leaves, l)
			return
		}
	}
	p.Scans = append(p.Scans, &Scan{First: first, Next: next, leaves: []*Leaf{l}})
}

// Reset forgets the rows of an earlier run.
func (s *Scan) Reset() {
	s.term = nil
	for _, l := range s.leaves {
		l.postings = nil
	}
}

// Add adds a row of search_postings, whose bytes it does not keep. It returns the bytes that it allocated.
func (s *Scan) Add(term, data []byte, hidden map[int64]bool) (allocated int64) {
	if s.term == nil || !bytes.Equal(term, s.term) {
		s.term, s.wanted = append(s.term[:0], term...), make([]bool, len(s.leaves))
		word := TagOf(term)
		for i, l := range s.leaves {
			s.wanted[i] = l.matches == nil || l.matches(word)
		}
	}
	for i, l := range s.leaves {
		if !s.wanted[i] {
			continue
		}
		Postings(data, func(p Posting) {
			if hidden[p.Doc] {
				return
			}
			allocated += 64
			if p.positions != nil {
				p.positions = bytes.Clone(p.positions)
			}
			l.postings = append(l.postings, p)
		})
	}
	return allocated
}

// addBatch adds the terms of a batch.
func (s *Scan) addBatch(b *Batch) {
	for term, c := range b.terms {
		if term >= string(s.First) && term < string(s.Next) {
			s.Add([]byte(term), c.sealed(), nil)
		}
	}
}

// merge makes a span of the postings, and joins the postings of a document.
func (l *Leaf) merge() {
	smallsort.Sort(l.postings, func(a, b Posting) int { return cmp.Compare(a.Doc, b.Doc) })
	kept := l.postings[:0]
	for _, p := range l.postings {
		if n := len(kept); n > 0 && kept[n-1].Doc == p.Doc {
			both := append(decodePositions(kept[n-1].positions), decodePositions(p.positions)...)
			slices.Sort(both)
			kept[n-1].positions = appendPositions(nil, slices.Compact(both))
			continue
		}
		kept = append(kept, p)
	}
	l.encode(kept)
	l.count = len(kept)
}

// scanField makes c the documents with a word of its field that matches.
func (p *Program) scanField(c *clause, matches func(word string) bool) {
	first := FieldWordTerm(c.field, "")
	p.scan(c, first, After(first), matches)
}

// tagRange makes c the documents with a tag of a range.
func (p *Program) tagRange(c *clause, n *query.TagRange) {
	f := p.field(n.Field, Tag)
	if f == nil {
		return
	}
	first := TagTerm(f, "")
	next := After(first)
	if n.Min != nil {
		first = TagTerm(f, *n.Min)
	}
	if n.Max != nil {
		next = append(TagTerm(f, *n.Max), 0)
	}
	p.scan(c, first, next, func(tag string) bool {
		return !(n.MinExclusive && tag == *n.Min || n.MaxExclusive && tag == *n.Max)
	})
}
