//go:build !wasip1 || search

package translator

import (
	"cmp"
	"slices"
	"sync"

	"github.com/meowdis/meowdis/internal/smallsort"
	scoring "github.com/meowdis/meowdis/redis/search/score"
	"github.com/meowdis/meowdis/store"
	"github.com/meowdis/meowdis/translator/inverted"
)

// ranking holds the documents that a query found, with what their scores need: a hit for each would take most of the
// time.
type ranking struct {
	docs      []int64
	words     int      // that score
	freqs     []uint32 // of the words in each document
	infos     []inverted.DocInfo
	scores    []float64
	distances map[int64]map[string]float64
}

// rankings holds the slices of earlier queries, to be used again.
var rankings = sync.Pool{New: func() any { return &ranking{} }}

// mostKept limits the documents of a ranking in rankings.
const mostKept = 1 << 16

func newRanking() *ranking {
	old := rankings.Get().(*ranking)
	return &ranking{docs: old.docs[:0], freqs: old.freqs[:0], infos: old.infos[:0], scores: old.scores[:0]}
}

// release lets another query use the slices.
func (r *ranking) release() {
	if len(r.docs) <= mostKept {
		rankings.Put(r)
	}
}

// hitBytes estimates the memory of a hit.
const hitBytes = 104

func (r *ranking) add(d inverted.Found, freqs []uint32, w *store.Work) {
	w.Grow(int64(8 + 4*len(freqs)))
	r.words = len(freqs)
	if n := len(r.docs); n == cap(r.docs) { // append would allocate more often
		n = max(n, 64)
		r.docs, r.freqs = slices.Grow(r.docs, n), slices.Grow(r.freqs, n*len(freqs))
	}
	r.docs, r.freqs = append(r.docs, d.Doc), append(r.freqs, freqs...)
	if d.Distances != nil {
		w.Grow(hitBytes)
		if r.distances == nil {
			r.distances = map[int64]map[string]float64{}
		}
		r.distances[d.Doc] = d.Distances
	}
}

// ranks reports whether the scores can be computed from the frequencies of words.
func (f *finder) ranks() bool { return f.scores && !f.explains && f.scorer().ByFormula() }

// count returns the number of hits, kept or not.
func (f *finder) count() int {
	if f.limited {
		return f.found
	}
	return len(f.hits)
}

// ranked holds the score of a document.
type ranked struct {
	doc   int64
	score float64
}

// rankFound makes hits of the documents found, in the order of their numbers, or of the best ones if the query is
// limited.
func (f *finder) rankFound(w *store.Work) {
	r := f.ranked
	limit := len(r.docs)
	if f.limited {
		limit = min(limit, f.limit)
	}
	best := best{limit: limit, all: make([]ranked, 0, min(2*limit, len(r.docs)))}
	if r.words == 0 {
		for _, doc := range r.docs[:limit] {
			best.all = append(best.all, ranked{doc: doc})
		}
	} else if limit > 0 {
		for i, score := range f.scoresOf(r) {
			best.add(ranked{r.docs[i], score})
		}
	}
	if f.limited {
		best.cut()
	}
	w.Grow(int64(8*len(r.scores) + hitBytes*len(best.all)))
	hits := make([]hit, len(best.all))
	f.hits = make([]*hit, len(hits))
	for i, of := range best.all {
		hits[i] = hit{Found: inverted.Found{Doc: of.doc, Distances: r.distances[of.doc]}, score: of.score}
		f.hits[i] = &hits[i]
	}
	f.ranked = nil
	r.release()
}

// scoresOf returns the scores of the documents.
func (f *finder) scoresOf(r *ranking) []float64 {
	scorer, c, formula := f.scorer(), f.collection(), f.program.Formula(f.documents())
	r.scores = slices.Grow(r.scores, len(r.docs))
	rest := f.all
	for i, doc := range r.docs {
		for len(rest) > 0 && rest[0].Doc < doc {
			rest = rest[1:]
		}
		d := scoring.Document{}
		if len(rest) > 0 && rest[0].Doc == doc {
			d.Score, d.Length = rest[0].Score, int(rest[0].Length)
		}
		r.scores = append(r.scores, scorer.Compute(&formula, r.freqs[i*r.words:], c, d))
	}
	if scorer.Name == "BM25STD.NORM" {
		scoring.Normalize(r.scores, nil)
	}
	return r.scores
}

// best keeps the documents with the highest scores. Documents are added in the order of their numbers.
type best struct {
	limit int
	all   []ranked
	least float64 // the score that a document must exceed, once limit documents have it
	full  bool
}

func (b *best) add(r ranked) {
	if b.limit == 0 || b.full && r.score <= b.least {
		return
	}
	if b.all = append(b.all, r); len(b.all) == 2*b.limit {
		b.cut()
	}
}

// cut sorts the documents, and drops those beyond the limit.
func (b *best) cut() {
	smallsort.Sort(b.all, func(x, y ranked) int { return cmp.Compare(y.score, x.score) })
	b.all = b.all[:min(len(b.all), b.limit)]
	if b.full = len(b.all) == b.limit; b.full && b.limit > 0 {
		b.least = b.all[b.limit-1].score
	}
}
