package inverted

import (
	"math"
	"slices"
	"sort"

	"github.com/meowdis/meowdis/redis/search/score"
	"github.com/meowdis/meowdis/store"
)

// Found is a document that the program found.
type Found struct {
	Doc       int64
	Match     *score.Match // nil unless Run makes matches
	Distances map[string]float64
}

// cursor goes through the documents of a clause, in order.
type cursor interface {
	// seek moves to the first document from doc on; ok is false after the last one.
	seek(doc int64) (at int64, ok bool)
	// match returns the match at the current document.
	match() *score.Match
	// note sets the distances of f, and the frequencies of words, at the current document.
	note(f *Found, freqs []uint32)
	// positions returns the positions of the words at the current document, in order.
	positions() []int
}

// RunOptions says what Run needs.
type RunOptions struct {
	All     []DocInfo // all documents, if Program.NeedsAll is set
	Docs    int       // the number of all documents
	Matches bool      // make matches, for scorers
	Places  bool      // with the positions of words
	Work    *store.Work
	Late    func() bool // reports whether Run ends early; nil for never
	Count   bool        // count the steps of each clause, for Program.Profile
}

// Run calls use for each document that the query selects, in order. freqs has the frequencies for Formula, and is valid
// during the call.
func (p *Program) Run(o RunOptions, use func(f Found, freqs []uint32)) {
	for _, l := range p.Leaves {
		l.finish()
	}
	for _, s := range p.Scans {
		for _, l := range s.leaves {
			l.merge()
		}
	}
	c := p.cursor(p.root, &o)
	freqs := make([]uint32, p.root.number(0))
	notes := len(freqs) > 0 || p.hasDistances()
	var f Found
	for doc, ok := c.seek(0); ok; doc, ok = c.seek(doc + 1) {
		o.Work.Step(16)
		if o.Late != nil && o.Late() {
			return
		}
		f = Found{Doc: doc}
		if o.Matches {
			o.Work.Grow(128)
			f.Match = c.match()
		}
		if notes {
			clear(freqs)
			c.note(&f, freqs)
		}
		use(f, freqs)
	}
}

// number gives the words of a clause that score their places in frequencies, after the first n. It returns the last one.
func (c *clause) number(n int) int {
	if c.scores {
		n++
		c.place = n
	}
	for _, child := range c.children {
		n = child.number(n)
	}
	return n
}

// Formula returns the score of the query that Run has found, among a number of documents.
func (p *Program) Formula(docs int) score.Formula { return p.root.formula(docs) }

func (c *clause) formula(docs int) score.Formula {
	f := score.Formula{Weight: c.weight, Term: c.place}
	if c.kind == leaf && c.scores {
		f.Weight *= score.BM25IDF(docs, c.leaf.count)
	}
	for _, child := range c.children {
		f.Children = append(f.Children, child.formula(docs))
	}
	return f
}

func (p *Program) hasDistances() bool {
	return slices.ContainsFunc(p.Leaves, func(l *Leaf) bool { return l.To != nil })
}

// cursor returns the cursor of a clause.
func (p *Program) cursor(c *clause, o *RunOptions) cursor {
	made := p.uncounted(c, o)
	if o.Count {
		return &countedCursor{cursor: made, clause: c}
	}
	return made
}

func (p *Program) uncounted(c *clause, o *RunOptions) cursor {
	var children []cursor
	for _, child := range c.children {
		children = append(children, p.cursor(child, o))
	}
	switch c.kind {
	case everything:
		return &allCursor{clause: c, all: o.All}
	case leaf:
		if f := &c.leaf.freqs; f.dense != nil {
			return &denseCursor{clause: c, freqs: f}
		} else if f.wanted {
			return &listCursor{c, f, f.list}
		}
		if len(c.leaf.spans) > 0 || c.leaf.docs == nil {
			at := &postingCursor{clause: c, spans: c.leaf.spans, last: -1, places: o.Places, average: 1}
			if c.field != nil && o.Matches {
				at.lengths = p.lengths(c.field)
				at.average = at.lengths.average(o.Docs)
			}
			return at
		}
		return &docCursor{clause: c, list: c.leaf.docs}
	case intersection:
		if len(children) == 0 {
			break
		}
		return newAndCursor(c, children, o)
	case union:
		return &orCursor{clause: c, children: children, at: make([]int64, len(children)), state: make([]byte, len(children))}
	case negation:
		return &notCursor{child: children[0], all: o.All}
	case optional:
		return &optionalCursor{clause: c, child: children[0], all: o.All}
	}
	return &docCursor{clause: c}
}

func (c *postingCursor) match() *score.Match {
	m := c.clause.termMatch(c.at.Freq)
	if m.Kind != score.Term {
		return m
	}
	m.AverageLength = c.average
	if c.lengths != nil {
		m.Length = c.lengths.of(c.at.Doc)
	}
	if c.places {
		m.Positions = c.positions()
	}
	return m
}

// termMatch returns the match of a posting of the clause, without lengths and positions.
func (c *clause) termMatch(freq uint32) *score.Match {
	switch {
	case c.constant:
		return &score.Match{Kind: score.Constant, Weight: c.weight}
	case !c.scores:
		return &score.Match{Kind: score.Virtual, Weight: c.weight}
	}
	return &score.Match{Kind: score.Term, Term: c.text, Freq: int(freq), Docs: c.leaf.count, Weight: c.weight, Length: 1, AverageLength: 1}
}

// docCursor goes through documents without postings.
type docCursor struct {
	clause *clause
	list   []int64
	at     int
}

func (c *docCursor) seek(doc int64) (int64, bool) {
	if c.at < len(c.list) && c.list[c.at] < doc {
		n, _ := slices.BinarySearch(c.list[c.at:], doc)
		c.at += n
	}
	if c.at == len(c.list) {
		return 0, false
	}
	return c.list[c.at], true
}

func (c *docCursor) match() *score.Match {
	if c.clause.constant {
		return &score.Match{Kind: score.Constant, Weight: c.clause.weight}
	}
	return &score.Match{Kind: score.Virtual, Weight: c.clause.weight}
}

// SetDistance sets the distance of a name, unless the name is empty.
func (f *Found) SetDistance(name string, d float64) {
	if name == "" {
		return
	}
	if f.Distances == nil {
		f.Distances = map[string]float64{}
	}
	f.Distances[name] = d
}

type allCursor struct {
	clause *clause
	all    []DocInfo
	at     int
}

func (c *allCursor) seek(doc int64) (int64, bool) {
	c.at = seekInfo(c.all, c.at, doc)
	if c.at == len(c.all) {
		return 0, false
	}
	return c.all[c.at].Doc, true
}

func seekInfo(all []DocInfo, at int, doc int64) int {
	if at < len(all) && all[at].Doc < doc {
		return at + sort.Search(len(all)-at, func(i int) bool { return all[at+i].Doc >= doc })
	}
	return at
}

func (c *allCursor) match() *score.Match {
	return &score.Match{Kind: score.All, Weight: c.clause.weight}
}

type andCursor struct {
	clause   *clause
	children []cursor
	order    []cursor       // to seek: children, but the rarest first
	dense    []*denseCursor // children, if all are dense
}

// newAndCursor returns a cursor for the intersection of the children of a clause.
func newAndCursor(c *clause, children []cursor, o *RunOptions) *andCursor {
	a := &andCursor{clause: c, children: children, order: children}
	if o.Count { // the counts depend on the order
		return a
	}
	rarest := 0
	for i, child := range children {
		if d, is := child.(*denseCursor); is {
			a.dense = append(a.dense, d)
		}
		if c.children[i].most() < c.children[rarest].most() {
			rarest = i
		}
	}
	if len(a.dense) < len(children) {
		a.dense = nil
	}
	a.order = append([]cursor{children[rarest]}, children[:rarest]...)
	a.order = append(a.order, children[rarest+1:]...)
	return a
}

// most returns how many documents a clause has at most, as far as its leaves say.
func (c *clause) most() int {
	switch c.kind {
	case nothing:
		return 0
	case leaf:
		return max(c.leaf.count, len(c.leaf.docs))
	case intersection:
		least := math.MaxInt
		for _, child := range c.children {
			least = min(least, child.most())
		}
		return least
	case union:
		sum := 0
		for _, child := range c.children {
			sum += min(child.most(), math.MaxInt-sum)
		}
		return sum
	}
	return math.MaxInt
}

func (c *andCursor) seek(doc int64) (int64, bool) {
	if c.dense != nil {
		at, ok := nextWithAll(c.dense, doc)
		for _, d := range c.dense {
			d.at = at
		}
		return at, ok
	}
	for {
		at, ok := c.order[0].seek(doc)
		if !ok {
			return 0, false
		}
		if doc, ok = c.agreed(at); !ok {
			return 0, false
		}
		if doc == at {
			if c.clause.slop < 0 && !c.clause.inOrder || c.near() {
				return at, true
			}
			doc = at + 1
		}
	}
}

// agreed seeks with all children but the first. It returns the document at if all have it, a later one to seek from
// otherwise, and false if a child has none.
func (c *andCursor) agreed(at int64) (doc int64, ok bool) {
	for _, child := range c.order[1:] {
		if doc, ok := child.seek(at); !ok || doc > at {
			return doc, ok
		}
	}
	return at, true
}

// near reports whether the positions at the current document satisfy slop and order.
func (c *andCursor) near() bool {
	lists := make([][]int, 0, len(c.children))
	for _, child := range c.children {
		if positions := child.positions(); len(positions) > 0 {
			lists = append(lists, positions)
		}
	}
	return len(lists) < 2 || score.Within(lists, c.clause.slop, c.clause.inOrder)
}

func (c *andCursor) match() *score.Match {
	m := &score.Match{Kind: score.And, Weight: c.clause.weight}
	for _, child := range c.children {
		m.Children = append(m.Children, child.match())
	}
	return m
}

type orCursor struct {
	clause   *clause
	children []cursor
	at       []int64
	state    []byte // 0 before the first seek, 1 at a document, 2 after the last one
	doc      int64
}

func (c *orCursor) seek(doc int64) (least int64, found bool) {
	for i, child := range c.children {
		if c.state[i] == 0 || c.state[i] == 1 && c.at[i] < doc {
			at, ok := child.seek(doc)
			if c.at[i], c.state[i] = at, 1; !ok {
				c.state[i] = 2
			}
		}
		if c.state[i] == 1 && (!found || c.at[i] < least) {
			least, found = c.at[i], true
		}
	}
	c.doc = least
	return least, found
}

func (c *orCursor) match() *score.Match {
	m := &score.Match{Kind: score.Or, Weight: c.clause.weight}
	for i, child := range c.children {
		if c.state[i] == 1 && c.at[i] == c.doc {
			m.Children = append(m.Children, child.match())
		}
	}
	return m
}

type notCursor struct {
	child cursor
	all   []DocInfo
	at    int
}

func (c *notCursor) seek(doc int64) (int64, bool) {
	for c.at = seekInfo(c.all, c.at, doc); c.at < len(c.all); c.at++ {
		at := c.all[c.at].Doc
		if next, ok := c.child.seek(at); !ok || next > at {
			return at, true
		}
	}
	return 0, false
}

func (c *notCursor) match() *score.Match { return &score.Match{Kind: score.Virtual, Weight: 1} }

type optionalCursor struct {
	clause *clause
	child  cursor
	all    []DocInfo
	at     int
	has    bool
}

func (c *optionalCursor) seek(doc int64) (int64, bool) {
	c.at = seekInfo(c.all, c.at, doc)
	if c.at == len(c.all) {
		return 0, false
	}
	at := c.all[c.at].Doc
	next, ok := c.child.seek(at)
	c.has = ok && next == at
	return at, true
}

func (c *optionalCursor) match() *score.Match {
	if !c.has {
		return &score.Match{Kind: score.Virtual, Weight: 1}
	}
	m := &score.Match{Kind: score.Or, Weight: c.clause.weight}
	m.Children = append(m.Children, c.child.match())
	return m
}

func (c *postingCursor) note(_ *Found, freqs []uint32) {
	if place := c.clause.place; place > 0 {
		freqs[place-1] = c.at.Freq
	}
}

func (c *docCursor) note(f *Found, _ []uint32) {
	if name := c.clause.distance; name != "" {
		f.SetDistance(name, c.clause.leaf.distances[f.Doc])
	}
}

func (c *allCursor) note(_ *Found, freqs []uint32) { freqs[c.clause.place-1] = 1 }

func (c *andCursor) note(f *Found, freqs []uint32) {
	for _, child := range c.children {
		child.note(f, freqs)
	}
}

func (c *orCursor) note(f *Found, freqs []uint32) {
	for i, child := range c.children {
		if c.state[i] == 1 && c.at[i] == c.doc {
			child.note(f, freqs)
		}
	}
}

func (c *notCursor) note(*Found, []uint32) {}

func (c *optionalCursor) note(f *Found, freqs []uint32) {
	if c.has {
		c.child.note(f, freqs)
	}
}

func (c *docCursor) positions() []int { return nil }
func (c *allCursor) positions() []int { return nil }
func (c *notCursor) positions() []int { return nil }

func (c *andCursor) positions() (all []int) {
	for _, child := range c.children {
		all = append(all, child.positions()...)
	}
	slices.Sort(all)
	return all
}

func (c *orCursor) positions() (all []int) {
	for i, child := range c.children {
		if c.state[i] == 1 && c.at[i] == c.doc {
			all = append(all, child.positions()...)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

func (c *optionalCursor) positions() []int {
	if !c.has {
		return nil
	}
	return c.child.positions()
}
