//go:build !wasip1 || search

package translator

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/meowdis/meowdis/redis/resp"
	"github.com/meowdis/meowdis/store"
	"github.com/meowdis/meowdis/translator/inverted"
)

// hybridCall holds the arguments of FT.HYBRID: redis.io/docs/latest/commands/ft.hybrid.
type hybridCall struct {
	aggregateCall // the steps after the two searches, with the options of SEARCH

	hybridVector
	hybridCombination
	noSort, hasLimit          bool
	textAs, vectorAs, scoreAs string // names of scores, "" for none
	explainScore              bool

	ranked [2][]rankedHit // the documents of SEARCH and VSIM, for WITHCURSOR
}

// hybridVector holds the arguments of VSIM.
type hybridVector struct {
	field, param string
	blob         []byte // the vector in place of a param, nil for none
	k            int64  // of KNN
	radius       float64
	epsilon      string // of RANGE, "" for none
	isRange      bool
	filter       string // "" for none
}

// hybridCombination holds the arguments of COMBINE.
type hybridCombination struct {
	linear      bool
	constant    float64
	alpha, beta float64
	window      int64
}

func ftHybrid(c *Call) Plan {
	return c.withIndex(c.Args[1], noSuchIndex(c.Args[1]), func(ix *searchIndex, w *store.Work) Plan {
		q, bad := parseHybrid(c.Args[2:], c.searchSettings(), c.Random())
		if bad != "" {
			return fail(bad)
		}
		return c.hybrid(ix, q, nil, w)
	})
}

// hybridSearches holds the two searches of a call.
type hybridSearches struct {
	text, nearest *finder
	terms         []string // of the text search
	names         []string // the properties that the steps need
	metric        string   // of the vectors
}

// searches checks a call against its index.
func (q *hybridCall) searches(c *Call, ix *searchIndex) (s hybridSearches, bad string) {
	field := ix.schema.Field(q.field)
	if field == nil || field.Type != inverted.Vector {
		return s, fmt.Sprintf("Unknown vector field `%s`", q.field)
	}
	tree, bad := q.parse(c, ix)
	if bad == "" && isKNN(tree) {
		bad = "A vector query is not allowed in SEARCH: use VSIM"
	}
	if bad != "" {
		return s, bad
	}
	vector, bad := q.vectorOptions()
	if bad != "" {
		return s, bad
	}
	near, bad := vector.parse(c, ix)
	if bad != "" {
		return s, bad
	}
	for _, name := range []string{q.textAs, q.vectorAs, q.scoreAs} {
		if name == "" {
			continue
		}
		if ix.schema.Field(name) != nil {
			return s, fmt.Sprintf("Property `%s` already exists in schema", name)
		}
		q.yielded = append(q.yielded, name)
	}
	names, bad := q.check(ix, tree)
	return hybridSearches{
		text:    &finder{c: c, ix: ix, tree: tree, options: &q.searchOptions, ordering: ordering{scores: true, explains: q.explainScore}},
		nearest: &finder{c: c, ix: ix, tree: near, options: &vector},
		terms:   queryTerms(tree), names: names, metric: field.Vector.Metric,
	}, bad
}

// hybrid runs both searches, and the steps on the documents that either finds.
func (c *Call) hybrid(ix *searchIndex, q *hybridCall, p *profile, w *store.Work) Plan {
	if !c.mayQuery(ix) {
		return answer(noSearchPermission)
	}
	began := int64(0)
	if c.Env.Timer.Clock != nil {
		began = c.Env.Timer.Clock()
	}
	s, bad := q.searches(c, ix)
	if bad != "" {
		return fail(bad)
	}
	p.parsed()
	p.created()
	s.text.profile = p.part()
	return s.text.find(w, func(w *store.Work) Plan {
		s.nearest.profile = p.part()
		return s.nearest.find(w, func(w *store.Work) Plan { return q.joined(s, p, began, w) })
	})
}

// joined merges the documents of both searches, and runs the steps.
func (q *hybridCall) joined(s hybridSearches, p *profile, began int64, w *store.Work) Plan {
	text, nearest := s.text, s.nearest
	searches := [2]resp.Value{text.searchProfile(), nearest.searchProfile()}
	text.profile = p.resumed()
	text.late, text.full = text.late || nearest.late, text.full || nearest.full
	q.merge(text, nearest.hits, s.metric, w)
	text.stage("Hybrid Merger", len(text.hits))
	a := &pipeline{f: text, q: &q.aggregateCall, work: w, terms: s.terms}
	loads := len(s.names) > 0 || q.loadAll
	run := func(w *store.Work) Plan {
		if !text.c.mayReadAll(text.hits) {
			return answer(noSearchPermission)
		}
		if a.work = w; q.cursor != nil {
			return answer(q.openCursors(a))
		}
		if loads {
			text.stage("Loader", len(text.hits))
		}
		return answer(text.profiledHybrid(q.reply(a, began), searches))
	}
	return text.keysOf(text.hits, w, func(w *store.Work) Plan {
		if !loads {
			return run(w)
		}
		return text.c.loadKeys(keysOfHits(text.hits), text.ix.fieldsToLoad(s.names, q.loadAll), w, run)
	})
}

// vectorScore returns the score of a distance, which grows with the similarity.
func vectorScore(metric string, distance float64) float64 {
	switch metric {
	case "L2":
		return 1 / (1 + distance)
	case "COSINE":
		return (2 - distance) / 2
	}
	return (1 + distance) / 2
}

// foundTwice holds a document of FT.HYBRID, and what SEARCH and VSIM say of it.
type foundTwice struct {
	*hit
	parts [2]hybridPart
}

// hybridPart holds the rank and score of a document in one search. Its zero value means that the search lacks the document.
type hybridPart struct {
	rank  int // from 1
	score float64
}

// merge gives text the hits of both searches, with one score each.
func (q *hybridCall) merge(text *finder, near []*hit, metric string, w *store.Work) {
	best := func(hits []*hit, compare func(a, b *hit) int) []*hit {
		slices.SortStableFunc(hits, func(a, b *hit) int { return cmp.Or(compare(a, b), cmp.Compare(a.Doc, b.Doc)) })
		return hits[:min(q.window, int64(len(hits)))]
	}
	words := best(text.hits, func(a, b *hit) int { return cmp.Compare(b.score, a.score) })
	near = best(near, func(a, b *hit) int { return cmp.Compare(a.Distances[hybridDistance], b.Distances[hybridDistance]) })
	found := map[int64]*foundTwice{}
	var all []*foundTwice
	add := func(of, rank int, h *hit, score float64, as string) {
		both := found[h.Doc]
		if both == nil {
			w.Grow(250)
			both = &foundTwice{hit: &hit{Found: inverted.Found{Doc: h.Doc}, explanation: h.explanation}}
			found[h.Doc] = both
			all = append(all, both)
		}
		if q.cursor != nil {
			w.Grow(200)
			q.ranked[of] = append(q.ranked[of], rankedHit{both.hit, score})
		}
		both.parts[of] = hybridPart{rank, score}
		both.SetDistance(as, score)
	}
	for i, h := range words {
		add(0, i+1, h, h.score, q.textAs)
	}
	for i, h := range near {
		add(1, i+1, h, vectorScore(metric, h.Distances[hybridDistance]), q.vectorAs)
	}
	text.hits = make([]*hit, 0, len(all))
	for _, both := range all {
		both.hit.score = q.combine(both.parts)
		both.SetDistance(q.scoreAs, both.hit.score)
		if q.explainScore {
			both.explanation = q.explain(both)
		}
		text.hits = append(text.hits, both.hit)
	}
}

// combine returns the score of a document.
func (q *hybridCombination) combine(parts [2]hybridPart) (score float64) {
	for i, p := range parts {
		switch {
		case p.rank == 0:
		case q.linear:
			score += [2]float64{q.alpha, q.beta}[i] * p.score
		default:
			score += 1 / (q.constant + float64(p.rank))
		}
	}
	return score
}

// reply runs the steps, and makes the reply.
func (q *hybridCall) reply(a *pipeline, began int64) resp.Value {
	if a.shown = append(a.shown, q.yielded...); len(q.load) == 0 && !q.loadAll {
		a.shown = append([]string{"__key", "__score"}, a.shown...)
	}
	if err := a.run(); err != nil {
		return resp.MakeError(err.Error())
	}
	results := resp.EmptyArray
	for _, r := range a.rows {
		fields := a.rowFields(r)
		fields.Kind = resp.Map
		if q.explainScore && r.hit != nil {
			score := resp.MakeArray(resp.MakeDouble(r.hit.score), explained(r.hit.explanation))
			fields.Elems = append([]resp.Value{resp.MakeString("score"), score}, fields.Elems...)
		}
		results.Elems = append(results.Elems, fields)
	}
	took := int64(0)
	if clock := a.f.c.Env.Timer.Clock; clock != nil {
		took = clock() - began
	}
	warnings := resp.EmptyArray
	warnings.Elems = append(warnings.Elems, a.f.warnings()...)
	return resp.MakeMap(resp.MakeString("total_results"), resp.MakeInt(int64(a.total)), resp.MakeString("results"), results,
		resp.MakeString("warnings"), warnings, resp.MakeString("execution_time"), resp.MakeDouble(float64(took/1000)/1000))
}
