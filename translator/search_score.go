//go:build !wasip1 || search

package translator

import (
	"slices"
	"strings"

	scoring "github.com/meowdis/meowdis/redis/search/score"
	"github.com/meowdis/meowdis/store"
	"github.com/meowdis/meowdis/translator/inverted"
)

// sqlLengthsOf reads the lengths of documents.
const sqlLengthsOf = `SELECT d.doc, d.length FROM json_each(?2) j CROSS JOIN search_documents d ON d.id = ` + firstDoc + ` + j.value`

// lookUpCost counts the entries of the list of all documents that are read while a row of search_documents is found.
const lookUpCost = 400

// describeHits reads the lengths and scores of the hits, if their scores depend on them, and calls next.
func (f *finder) describeHits(w *store.Work, next func(w *store.Work) Plan) Plan {
	if f.program.NeedsAll || !f.explains && !f.scoresVary() {
		return next(w)
	}
	var docs []int64
	if f.ranked != nil {
		docs, f.all = f.ranked.docs, f.ranked.infos
	} else {
		for _, h := range f.hits {
			docs = append(docs, h.Doc)
		}
	}
	w.Grow(int64(32 * len(docs)))
	f.all = slices.Grow(f.all, len(docs)+len(f.pending.batch.Docs))
	found := func(w *store.Work) Plan {
		f.all = append(f.all, f.pending.batch.Docs...)
		if f.ranked != nil {
			f.ranked.infos = f.all
		}
		return next(w)
	}
	if f.lengthsSuffice() && int64(len(docs))*lookUpCost < f.ix.documents {
		return readThen(func(r *store.Result) Plan {
			for _, row := range r.Rows[0] {
				r.Work.Step(16)
				f.all = append(f.all, inverted.DocInfo{Doc: row[0].Int(), Length: uint32(row[1].Int()), Score: f.ix.schema.Score})
			}
			return found(r.Work)
		}, store.Stmt{SQL: sqlLengthsOf, Args: []store.Value{store.Int(f.ix.id), numberList(docs)}})
	}
	stmt := f.blocks(inverted.AllTerm)
	stmt.Scattered = true
	use := eachRow(&stmt, func() (func(row store.Row), func(w *store.Work)) {
		f.all = f.all[:0]
		rest, read := docs, 0
		return func(row store.Row) {
			read += len(row[0].Bytes())
			rest = inverted.DocInfosOf(row[0].Bytes(), rest, func(d inverted.DocInfo) { f.all = append(f.all, d) })
		}, func(w *store.Work) { w.Step(read) }
	})
	return readThen(func(r *store.Result) Plan {
		use(r.Rows[0], r.Work)
		return found(r.Work)
	}, stmt)
}

// lengthsSuffice reports whether scores depend on nothing of a document but its length.
func (f *finder) lengthsSuffice() bool {
	return f.ix.schema.ScoreField == "" && strings.HasPrefix(f.options.scorer, scoring.Default)
}

// scoresVary reports whether scores count, and may differ from 0. BM25STD gives 0 to tags, numbers and places.
func (f *finder) scoresVary() bool {
	if f.ranks() {
		return f.ranked.words > 0 && len(f.ranked.docs) > 0 && !(f.limited && f.limit == 0)
	}
	return f.options.scorer != scoring.Fields
}

// documents returns the number of documents that the query may see.
func (f *finder) documents() int {
	return int(f.ix.documents-f.pending.gone) + len(f.pending.batch.Docs)
}

// collection returns what scorers need to know of the index.
func (f *finder) collection() scoring.Collection {
	length := f.ix.length - f.pending.length
	for _, d := range f.pending.batch.Docs {
		length += int64(d.Length)
	}
	c := scoring.Collection{Docs: f.documents()}
	if c.Docs > 0 {
		c.AverageLength = float64(length) / float64(c.Docs)
	}
	return c
}

// scorer returns the scorer of the query.
func (f *finder) scorer() scoring.Scorer {
	return scoring.Scorer{Name: f.options.scorer, TanhFactor: f.options.tanhFactor, Payload: f.options.payload}
}

// score computes the scores of the hits from their matches.
func (f *finder) score() {
	scorer, c := f.scorer(), f.collection()
	scores, explanations := make([]float64, len(f.hits)), make([]*scoring.Explanation, len(f.hits))
	for i, h := range f.hits {
		d, _ := inverted.InfoOf(f.all, h.Doc)
		scores[i], explanations[i] = scorer.Score(h.Match, c, scoring.Document{Score: d.Score, Length: int(d.Length), MaxFreq: int(d.MaxFreq)})
	}
	if scorer.Name == "BM25STD.NORM" {
		scoring.Normalize(scores, explanations)
	}
	for i, h := range f.hits {
		h.score = scores[i]
		if f.explains {
			h.explanation = explanations[i]
		}
		h.Match = nil
	}
}
