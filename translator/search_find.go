//go:build !wasip1 || search

package translator

import (
	"bytes"
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/meowdis/meowdis/redis/search/query"
	scoring "github.com/meowdis/meowdis/redis/search/score"
	"github.com/meowdis/meowdis/store"
	"github.com/meowdis/meowdis/translator/inverted"
)

// finder finds the documents of a query. The steps of one plan share it.
type finder struct {
	c       *Call
	ix      *searchIndex
	tree    query.Node
	options *searchOptions
	ordering

	pending *pending
	program *inverted.Program
	all     []inverted.DocInfo // all documents if the program needs them, else the hits that scores need
	hits    []*hit
	found   int
	ranked  *ranking       // nil unless ranks
	allowed map[int64]bool // by INKEYS, nil for all documents
	full    bool           // an expansion has more terms than it may

	deadline
	profile *profile // nil except for FT.PROFILE
}

// ordering describes the need of a query for scores.
type ordering struct {
	scores   bool // compute scores
	explains bool // keep their explanations
	limited  bool // hits are ordered by their scores
	limit    int  // the best hits that are kept, if limited is set
}

// deadline holds the TIMEOUT of a query.
type deadline struct {
	isLate func() bool // reports whether it has passed; nil without one
	late   bool        // it has passed, so hits may lack documents
	checks int         // calls of overdue since the last of isLate
}

// hit holds a document that a query found.
type hit struct {
	inverted.Found
	score float64
	key   *keyRow // once its key is known

	explanation *scoring.Explanation
	sortKey     sortable
}

const (
	sqlBlocksOf    = `SELECT data FROM search_postings WHERE index_id = ?1 AND term = ?2 ORDER BY block`
	sqlDocsOfNames = `SELECT d.doc FROM json_each(?2) j CROSS JOIN keys k ON k.db = 0 AND k.key = unhex(j.value) CROSS JOIN search_documents d ON d.key_id = k.id AND d.index_id = ?1`
	sqlNumbersOf   = `SELECT value, doc FROM search_numbers WHERE index_id = ?1 AND field = ?2 AND value BETWEEN ?3 AND ?4`
)

// find runs the query, and calls next with the documents in order of their numbers.
func (f *finder) find(w *store.Work, use func(w *store.Work) Plan) Plan {
	if f.options.timeout > 0 && f.c.Env.Timer.Deadline != nil {
		f.isLate = f.c.Env.Timer.Deadline(time.Duration(f.options.timeout) * time.Millisecond)
	}
	f.c.use(f.ix)
	next := func(w *store.Work) Plan {
		if f.late && f.options.failsLate {
			return fail(timedOut)
		}
		return use(w)
	}
	return f.c.withChanged(f.ix, w, func(p *pending) Plan {
		f.pending = p
		f.program = inverted.Compile(f.ix.schema, f.tree, f.options.CompileOptions)
		return f.expand(w, next)
	})
}

// timedOut says that TIMEOUT has ended a query.
const timedOut = "Timeout limit was reached"

// overdue reports whether TIMEOUT has passed. It reads the clock once in a while.
func (d *deadline) overdue() bool {
	if d.isLate == nil || d.late {
		return d.late
	}
	if d.checks++; d.checks == 1 || d.checks == 256 {
		d.checks = 1
		d.late = d.isLate()
	}
	return d.late
}

// expand reads the terms of the expansions.
func (f *finder) expand(w *store.Work, next func(w *store.Work) Plan) Plan {
	expansions := f.program.Expansions
	if len(expansions) == 0 {
		return f.load(w, next)
	}
	stmts, uses := make([]store.Stmt, len(expansions)), make([]func(rows []store.Row, w *store.Work), len(expansions))
	for i, e := range expansions {
		terms := termRange{e.First, e.Next}
		stmts[i] = terms.statement(sqlNamesBetween, f.ix)
		uses[i] = eachRow(&stmts[i], func() (func(row store.Row), func(w *store.Work)) {
			allocated, read := int64(0), 0
			e.Forget()
			return func(row store.Row) {
					read += 8 + len(row[0].Bytes()) + len(row[1].Bytes())
					terms.each(row, func(term, _ []byte) { allocated += e.See(term) })
				}, func(w *store.Work) {
					w.Grow(allocated)
					w.Step(read)
				}
		})
	}
	return readThen(func(r *store.Result) Plan {
		for i, e := range expansions {
			uses[i](r.Rows[i], r.Work)
			e.TakeSeen()
			e.TakeAll(f.pending.batch)
			f.full = f.full || e.Full()
		}
		return f.load(r.Work, next)
	}, stmts...)
}

// load reads the rows of the leaves.
func (f *finder) load(w *store.Work, next func(w *store.Work) Plan) Plan {
	var stmts []store.Stmt
	var uses []func(rows []store.Row, w *store.Work) // one for each statement
	add := func(use func(rows []store.Row, w *store.Work), stmt store.Stmt) {
		stmts, uses = append(stmts, stmt), append(uses, use)
	}
	hidden := f.pending.hidden
	if !f.scores || !needsPlaces(f.options.scorer) {
		f.program.OmitPositions(f.ix.lastDoc + int64(len(f.pending.batch.Docs)))
	}
	for _, l := range f.program.Leaves {
		for _, r := range l.Ranges {
			add(f.inRange(l, r, w))
		}
		if l.Ranges != nil {
			continue
		}
		if l.HasPostings() {
			add(f.postings(l, w))
			continue
		}
		add(f.each(func(row store.Row, w *store.Work) { l.LoadBlock(row[0].Bytes(), hidden, w) }), f.blocks(l.Term))
	}
	for _, s := range f.program.Scans {
		add(f.scan(s))
	}
	if f.scores {
		for _, l := range f.program.Lengths {
			add(f.each(func(row store.Row, w *store.Work) {
				w.Grow(int64(8 * len(row[0].Bytes())))
				l.Load(row[0].Bytes(), hidden)
			}), f.blocks(l.Term))
		}
	}
	if f.program.NeedsAll && !f.onlyVectors() {
		add(f.each(f.loadAll), f.blocks(inverted.AllTerm))
	}
	if f.options.hasInKeys {
		add(f.allow, store.Stmt{SQL: sqlDocsOfNames, Args: []store.Value{store.Int(f.ix.id), hexList(f.options.inKeys)}})
	}
	if len(stmts) == 0 {
		return f.run(w, next)
	}
	return readThen(func(r *store.Result) Plan {
		for i, rows := range r.Rows {
			uses[i](rows, r.Work)
		}
		return f.run(r.Work, next)
	}, stmts...)
}

// each returns a function that calls use for each row until TIMEOUT has passed.
func (f *finder) each(use func(row store.Row, w *store.Work)) func(rows []store.Row, w *store.Work) {
	return func(rows []store.Row, w *store.Work) {
		for _, row := range rows {
			if f.overdue() {
				break
			}
			use(row, w)
		}
	}
}

// blocks returns the statement that reads the blocks of a term.
func (f *finder) blocks(term []byte) store.Stmt {
	return store.Stmt{SQL: sqlBlocksOf, Args: []store.Value{store.Int(f.ix.id), store.Bytes(term)}}
}

// postings returns the statement that reads the postings of a leaf, which takes them from the rows while the store reads
// them.
func (f *finder) postings(l *inverted.Leaf, w *store.Work) (use func(rows []store.Row, w *store.Work), stmt store.Stmt) {
	stmt = f.ix.postings(l.Term)
	stmt.Scattered = true
	free := w.Remaining()
	use = eachRow(&stmt, func() (func(row store.Row), func(w *store.Work)) {
		allocated, read := int64(0), 0
		l.Begin(f.pending.hidden)
		return func(row store.Row) {
				if f.overdue() || free > 0 && allocated > free { // Grow will refuse the call
					return
				}
				read += len(row[0].Bytes())
				allocated += l.Take(chunksIn(row, l.Term))
			}, func(w *store.Work) {
				w.Grow(allocated)
				w.Step(read)
			}
	})
	return use, stmt
}

// numbers returns the statement that reads a range of the numbers of a field.
func (f *finder) numbers(field *inverted.Field, least, most float64) store.Stmt {
	return store.Stmt{SQL: sqlNumbersOf, Args: []store.Value{store.Int(f.ix.id), store.Int(int64(field.ID)), store.Float(least), store.Float(most)}}
}

// inRange reads a range of the numbers of a leaf, which takes them while the store reads them.
func (f *finder) inRange(l *inverted.Leaf, r inverted.NumberRange, w *store.Work) (use func(rows []store.Row, w *store.Work), stmt store.Stmt) {
	stmt = f.numbers(l.Field, r.Min, r.Max)
	free := w.Remaining()
	use = eachRow(&stmt, func() (func(row store.Row), func(w *store.Work)) {
		var docs []int64
		read := int64(0)
		return func(row store.Row) {
				if read += 8; f.overdue() || free > 0 && read > free { // Grow will refuse the call
					return
				}
				if doc := row[1].Int(); !f.pending.hidden[doc] && l.Accepts(row[0].Float()) {
					docs = append(docs, doc)
				}
			}, func(w *store.Work) {
				w.Grow(read)
				w.Step(int(read))
				l.LoadDocs(docs)
			}
	})
	return use, stmt
}

// scan reads a range of terms, whose rows are matched while the store reads them.
func (f *finder) scan(s *inverted.Scan) (use func(rows []store.Row, w *store.Work), stmt store.Stmt) {
	terms := termRange{s.First, s.Next}
	stmt = terms.statement(sqlTermsBetween, f.ix)
	use = eachRow(&stmt, func() (func(row store.Row), func(w *store.Work)) {
		allocated, read := int64(0), 0
		s.Reset()
		return func(row store.Row) {
				read += 8 + len(row[1].Bytes())
				terms.each(row, func(term, data []byte) { allocated += s.Add(term, data, f.pending.hidden) })
			}, func(w *store.Work) {
				w.Grow(allocated)
				w.Step(read)
			}
	})
	return use, stmt
}

// loadAll reads a block of the list of all documents.
func (f *finder) loadAll(row store.Row, w *store.Work) {
	w.Grow(int64(8 * len(row[0].Bytes())))
	if f.all == nil {
		n := max(0, f.ix.documents)
		w.Grow(24 * n)
		f.all = make([]inverted.DocInfo, 0, n)
	}
	inverted.DocInfos(row[0].Bytes(), func(d inverted.DocInfo) {
		if !f.pending.hidden[d.Doc] {
			f.all = append(f.all, d)
		}
	})
}

// allow reads the documents of INKEYS.
func (f *finder) allow(rows []store.Row, _ *store.Work) {
	f.allowed = map[int64]bool{}
	for _, row := range rows {
		f.allowed[row[0].Int()] = true
	}
	for doc, k := range f.pending.docs {
		if slices.ContainsFunc(f.options.inKeys, func(key []byte) bool { return bytes.Equal(key, k.key) }) {
			f.allowed[doc] = true
		}
	}
}

// needsPlaces reports whether a scorer looks at the positions of words.
func needsPlaces(scorer string) bool {
	return scorer == "BM25" || strings.HasPrefix(scorer, "TFIDF")
}

// run finds the documents in memory.
func (f *finder) run(w *store.Work, next func(w *store.Work) Plan) Plan {
	if f.late { // a part of the rows would find wrong documents
		return next(w)
	}
	f.program.LoadBatch(f.pending.batch, w)
	if f.onlyVectors() {
		return f.nearest(f.tree.(*query.KNN), w, next)
	}
	if f.program.NeedsAll {
		f.all = append(f.all, f.pending.batch.Docs...)
	}
	if f.ranks() {
		f.ranked = newRanking()
	}
	o := inverted.RunOptions{All: f.all, Docs: f.documents(), Matches: f.scores && f.ranked == nil, Places: f.scores && needsPlaces(f.options.scorer), Work: w, Late: f.overdue, Count: f.profile != nil}
	f.program.Run(o, func(d inverted.Found, freqs []uint32) { f.take(d, freqs, w) })
	f.program.Release()
	f.stage("Index", f.found)
	found := func(w *store.Work) Plan {
		if knn, is := f.tree.(*query.KNN); is {
			return f.nearest(knn, w, next)
		}
		return next(w)
	}
	if !f.scores {
		return found(w)
	}
	return f.describeHits(w, func(w *store.Work) Plan {
		if f.ranked != nil {
			f.rankFound(w)
		} else {
			f.score()
		}
		f.stage("Scorer", f.count())
		return found(w)
	})
}

// take adds a document that the program found to the ranking, or else to the hits.
func (f *finder) take(d inverted.Found, freqs []uint32, w *store.Work) {
	if f.allowed != nil && !f.allowed[d.Doc] {
		return
	}
	if f.found++; f.ranked != nil {
		f.ranked.add(d, freqs, w)
		return
	}
	w.Grow(hitBytes)
	f.hits = append(f.hits, &hit{Found: d})
}

// onlyVectors reports whether the query is a KNN of all documents, so that their vectors are all it needs.
func (f *finder) onlyVectors() bool {
	knn, is := f.tree.(*query.KNN)
	if !is || f.scores || f.options.hasInKeys || f.profile != nil {
		return false
	}
	_, all := knn.Filter.(*query.All)
	return all
}

// hitAt returns a function that finds the hit of a document, nil if it is missing. It is fast if the documents come in
// order.
func hitAt(hits []*hit) func(doc int64) *hit {
	at := 0
	return func(doc int64) *hit {
		if at > 0 && hits[at-1].Doc >= doc {
			at, _ = slices.BinarySearchFunc(hits, doc, func(h *hit, doc int64) int { return cmp.Compare(h.Doc, doc) })
		}
		for at < len(hits) && hits[at].Doc < doc {
			at++
		}
		if at == len(hits) || hits[at].Doc != doc {
			return nil
		}
		return hits[at]
	}
}

// nearest keeps the documents with the nearest vectors.
func (f *finder) nearest(knn *query.KNN, w *store.Work, next func(w *store.Work) Plan) Plan {
	field := f.ix.schema.Field(knn.Field)
	all := f.onlyVectors()
	if field == nil || len(f.hits) == 0 && !all || knn.K == 0 {
		f.hits = nil
		return next(w)
	}
	candidates := func() *inverted.Nearest {
		hits := hitAt(f.hits)
		wanted := func(doc int64) bool { return hits(doc) != nil }
		if all {
			wanted = func(doc int64) bool { return len(f.pending.hidden) == 0 || !f.pending.hidden[doc] }
		}
		return inverted.NewNearest(knn.K, inverted.NewDistance(field.Vector, []byte(knn.Vector)), wanted)
	}
	var found *inverted.Nearest
	stmt := f.blocks(inverted.VectorTerm(field))
	stmt.Fold = func() func(store.Row) {
		n := candidates()
		found = n
		return func(row store.Row) { n.Block(row[0].Bytes()) }
	}
	return readThen(func(r *store.Result) Plan {
		if found == nil || len(r.Rows[0]) > 0 { // the store keeps the rows
			found = candidates()
			for _, row := range r.Rows[0] {
				r.Work.Step(len(row[0].Bytes()))
				found.Block(row[0].Bytes())
			}
		}
		found.Batch(f.pending.batch, field)
		hits, kept := hitAt(f.hits), []*hit{}
		for _, d := range found.Sorted() {
			h := &hit{}
			if h.Doc = d.Doc; !all {
				h = hits(d.Doc)
			}
			r.Work.Grow(128)
			h.SetDistance(knn.ScoreAs, d.Distance)
			kept = append(kept, h)
		}
		f.hits = kept
		slices.SortFunc(f.hits, func(a, b *hit) int { return cmp.Compare(a.Doc, b.Doc) })
		f.stage("Metrics Applier", len(f.hits))
		return next(r.Work)
	}, stmt)
}

// sqlKeysOfDocs reads the keys of a list of documents, in its order. A row has nulls if the document is missing.
const sqlKeysOfDocs = `SELECT d.key_id, d.key FROM json_each(?2) j LEFT JOIN search_documents d ON d.id = ` + firstDoc + ` + j.value`

// namesBytes limits the allocations that several names share.
const namesBytes = 4096

// keysOf finds the keys of hits, and calls next.
func (f *finder) keysOf(hits []*hit, w *store.Work, next func(w *store.Work) Plan) Plan {
	unknown, docs := make([]*hit, 0, len(hits)), make([]int64, 0, len(hits))
	for _, h := range hits {
		if h.key != nil {
			continue
		}
		if h.key = f.pending.docs[h.Doc]; h.key == nil {
			unknown, docs = append(unknown, h), append(docs, h.Doc)
		}
	}
	if len(docs) == 0 {
		return next(w)
	}
	stmt := store.Stmt{SQL: sqlKeysOfDocs, Args: []store.Value{store.Int(f.ix.id), numberList(docs)}}
	free := w.Remaining()
	use := eachRow(&stmt, func() (func(row store.Row), func(w *store.Work)) {
		keys, allocated := make([]keyRow, 0, len(docs)), int64(0)
		var names []byte
		return func(row store.Row) {
			n := len(row[1].Bytes())
			if allocated += int64(160 + n); free > 0 && allocated > free {
				return // Grow will refuse the call
			}
			if len(names)+n > cap(names) {
				names = make([]byte, 0, max(n, min(16*(len(docs)-len(keys)), namesBytes)))
			}
			names = append(names, row[1].Bytes()...)
			keys = append(keys, keyRow{id: row[0].Int(), key: names[len(names)-n : len(names) : len(names)], json: f.ix.schema.JSON, text: f.ix.schema.Strings})
			if k := &keys[len(keys)-1]; !row[0].IsNull() {
				unknown[len(keys)-1].key = k
			}
		}, func(w *store.Work) { w.Grow(allocated) }
	})
	return readThen(func(r *store.Result) Plan {
		use(r.Rows[0], r.Work)
		return next(r.Work)
	}, stmt)
}
