//go:build !wasip1 || search

package translator

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/meowdis/meowdis/redis/resp"
	"github.com/meowdis/meowdis/redis/search/query"
	scoring "github.com/meowdis/meowdis/redis/search/score"
	"github.com/meowdis/meowdis/store"
	"github.com/meowdis/meowdis/translator/document"
	"github.com/meowdis/meowdis/translator/inverted"
)

var noSearchPermission = resp.MakeError("NOPERM User does not have the required permissions to query the index")

// mayQuery reports whether the user may read the keys that the index can have.
func (c *Call) mayQuery(ix *searchIndex) bool {
	if c.Env.MayRead == nil {
		return true
	}
	return !slices.ContainsFunc(ix.schema.Prefixes, func(p []byte) bool { return !c.Env.MayRead(p) })
}

// mayReadAll reports whether the user may read the keys of the hits.
func (c *Call) mayReadAll(hits []*hit) bool {
	if c.Env.MayRead == nil {
		return true
	}
	return !slices.ContainsFunc(hits, func(h *hit) bool { return h.key != nil && !c.Env.MayRead(h.key.key) })
}

func ftSearch(c *Call) Plan {
	return c.withIndex(c.Args[1], noSuchIndex(c.Args[1]), func(ix *searchIndex, w *store.Work) Plan {
		q, bad := parseSearch(c.Args[2], c.Args[3:], ix, c.searchSettings())
		if bad != "" {
			return fail(bad)
		}
		return c.search(ix, q, nil, w)
	})
}

// search plans FT.SEARCH with parsed arguments.
func (c *Call) search(ix *searchIndex, q *searchCall, p *profile, w *store.Work) Plan {
	if !c.mayQuery(ix) {
		return answer(noSearchPermission)
	}
	tree, bad := q.parse(c, ix)
	if bad != "" {
		return fail(bad)
	}
	p.parsed()
	f := &finder{c: c, ix: ix, tree: tree, options: &q.searchOptions, profile: p}
	byScore := q.sortBy == "" && !isKNN(tree)
	f.ordering = ordering{scores: q.withScores || byScore, explains: q.explainScore, limited: byScore, limit: int(min(q.offset, math.MaxInt32) + min(q.limit, math.MaxInt32))}
	if q.sortBy != "" && ix.schema.Field(q.sortBy) == nil && !slices.Contains(yielded(tree), q.sortBy) && q.sortBy != "__key" && q.sortBy != "__score" {
		return fail(fmt.Sprintf("Property `%s` not loaded nor in schema", q.sortBy))
	}
	p.created()
	return f.find(w, func(w *store.Work) Plan {
		return f.sorted(q, w, func(w *store.Work) Plan {
			total := f.count()
			f.stage("Sorter", total)
			page := f.hits[min(q.offset, int64(len(f.hits))):]
			page = page[:min(q.limit, int64(len(page)))]
			return f.keysOf(page, w, func(w *store.Work) Plan {
				if !c.mayReadAll(page) {
					return answer(noSearchPermission)
				}
				if q.noContent && !q.withSortKeys && !q.withPayloads {
					return answer(f.profiled(f.reply(q, total, page, w)))
				}
				return c.loadKeys(keysOfHits(page), nil, w, func(w *store.Work) Plan {
					f.stage("Loader", len(page))
					return answer(f.profiled(f.reply(q, total, page, w)))
				})
			})
		})
	})
}

func isKNN(tree query.Node) bool {
	_, is := tree.(*query.KNN)
	return is
}

// yielded returns the names of the distances that the clauses of vectors yield.
func yielded(tree query.Node) (names []string) {
	query.Walk(tree, func(n query.Node) {
		switch n := n.(type) {
		case *query.KNN:
			names = append(names, n.ScoreAs)
		case *query.VectorRange:
			if n.ScoreAs != "" {
				names = append(names, n.ScoreAs)
			}
		}
	})
	return names
}

func keysOfHits(hits []*hit) []*keyRow {
	keys := make([]*keyRow, 0, len(hits))
	for _, h := range hits {
		if h.key != nil {
			keys = append(keys, h.key)
		}
	}
	return keys
}

// sorted orders the hits, and calls next.
func (f *finder) sorted(q *searchCall, w *store.Work, next func(w *store.Work) Plan) Plan {
	if q.sortBy == "" || q.sortBy == "__score" {
		slices.SortStableFunc(f.hits, func(a, b *hit) int {
			if q.sortBy != "" && !q.descending {
				a, b = b, a
			}
			return cmp.Compare(b.score, a.score)
		})
		return next(w)
	}
	return f.keysOf(f.hits, w, func(w *store.Work) Plan {
		field := f.ix.schema.Field(q.sortBy)
		order := func(w *store.Work) Plan {
			for _, h := range f.hits {
				h.sortKey = f.property(h, q.sortBy)
			}
			slices.SortStableFunc(f.hits, func(a, b *hit) int {
				switch x, y := a.sortKey, b.sortKey; {
				case x.missing || y.missing:
					return cmp.Compare(toInt(x.missing), toInt(y.missing))
				case q.descending:
					return y.compare(x)
				default:
					return x.compare(y)
				}
			})
			return next(w)
		}
		if field == nil {
			return order(w)
		}
		return f.c.loadKeys(keysOfHits(f.hits), [][]byte{[]byte(field.Path)}, w, order)
	})
}

// sortable holds a value to sort by.
type sortable struct {
	missing, isNumber bool
	number            float64
	text              string
}

func (s sortable) compare(o sortable) int {
	if s.isNumber && o.isNumber {
		return cmp.Compare(s.number, o.number)
	}
	if s.isNumber != o.isNumber {
		return cmp.Compare(toInt(o.isNumber), toInt(s.isNumber))
	}
	return strings.Compare(s.text, o.text)
}

// String returns the sort key as WITHSORTKEYS shows it.
func (s sortable) reply() resp.Value {
	switch {
	case s.missing:
		return resp.Nil
	case s.isNumber:
		return resp.MakeString("#" + strconv.FormatFloat(s.number, 'g', 17, 64))
	}
	return resp.MakeString("$" + s.text)
}

// property returns the value of a property of a loaded hit.
func (f *finder) property(h *hit, name string) sortable {
	if d, ok := h.Distances[name]; ok {
		return sortable{isNumber: true, number: d}
	}
	switch name {
	case "__score":
		return sortable{isNumber: true, number: h.score}
	case "__key":
		if h.key != nil {
			return sortable{text: string(h.key.key)}
		}
	}
	field := f.ix.schema.Field(name)
	if field == nil || h.key == nil || h.key.source == nil {
		return sortable{missing: true}
	}
	v, ok := h.key.source.Value(field.Path)
	if !ok {
		return sortable{missing: true}
	}
	if h.key.json {
		if array := h.key.source.Select(field.Path); len(array) > 0 && array[0].Kind == document.Array {
			if len(array[0].Elems) == 0 {
				return sortable{missing: true}
			}
			v = textOf(array[0].Elems[0])
		}
	}
	if field.Type == inverted.Numeric {
		if n, err := strconv.ParseFloat(v, 64); err == nil {
			return sortable{isNumber: true, number: n}
		}
	}
	if field.SortsNormalized() {
		v = strings.ToLower(v)
	}
	return sortable{text: v}
}

func textOf(v *document.Value) string {
	if v.Kind == document.String {
		return v.Str
	}
	return string(v.Append(nil))
}

// explained returns an explanation of EXPLAINSCORE: a text, or an array of it and its parts.
func explained(e *scoring.Explanation) resp.Value {
	if e == nil {
		return resp.EmptyBulk
	}
	if len(e.Children) == 0 {
		return resp.MakeString(e.Text)
	}
	parts := resp.EmptyArray
	for _, child := range e.Children {
		parts.Elems = append(parts.Elems, explained(child))
	}
	return resp.MakeArray(resp.MakeString(e.Text), parts)
}

// reply makes the reply of FT.SEARCH. A client of RESP2 gets no other reply, but a script can choose.
func (f *finder) reply(q *searchCall, total int, page []*hit, w *store.Work) resp.Value {
	width := 1 + toInt(q.withScores) + toInt(q.withPayloads) + toInt(q.withSortKeys) + toInt(!q.noContent)
	v2 := resp.MakeArray(append(make([]resp.Value, 0, 1+len(page)*width), resp.MakeInt(int64(total)))...)
	page = slices.DeleteFunc(slices.Clone(page), func(h *hit) bool { return h.key == nil })
	if f.c.Env.Reply.RESP2 && !f.c.Env.InScript {
		for _, h := range page {
			v2.Elems = append(v2.Elems, resp.MakeBulk(h.key.key))
			f.replyOf(h, q, w, func(_ string, v resp.Value) { v2.Elems = append(v2.Elems, v) })
		}
		return v2
	}
	results := resp.MakeArray(make([]resp.Value, 0, len(page))...)
	id, values, maps := resp.MakeString("id"), resp.MakeString("values"), make([]resp.Value, 2*len(page)*(width+1))
	for _, h := range page {
		key := resp.MakeBulk(h.key.key)
		v2.Elems = append(v2.Elems, key)
		v3 := resp.MakeMap(append(maps[:0:2*(width+1)], id, key)...)
		maps = maps[2*(width+1):]
		f.replyOf(h, q, w, func(name string, v resp.Value) {
			v2.Elems = append(v2.Elems, v)
			if name == attributes && v.Kind == resp.Array {
				v.Kind = resp.Map
			}
			v3.Elems = append(v3.Elems, resp.MakeString(name), v)
		})
		v3.Elems = append(v3.Elems, values, resp.EmptyArray)
		results.Elems = append(results.Elems, v3)
	}
	v2.RESP3 = resultMap(results, total, q.expand, f.warnings())
	return v2
}

// attributes names the fields of a hit in RESP3.
const attributes = "extra_attributes"

// replyOf calls add for each value of a hit that the reply has after the key, with its name in RESP3.
func (f *finder) replyOf(h *hit, q *searchCall, w *store.Work, add func(name string, v resp.Value)) {
	if q.withScores {
		score := resp.MakeDouble(h.score)
		if q.explainScore {
			score = resp.MakeArray(score, explained(h.explanation))
		}
		add("score", score)
	}
	if q.withPayloads {
		add("payload", f.payload(h))
	}
	if q.withSortKeys {
		key := resp.Nil
		if q.sortBy != "" {
			key = h.sortKey.reply()
		}
		add("sortkey", key)
	}
	if !q.noContent {
		add(attributes, f.fields(q, h, w))
	}
}

// warnings returns what RESP3 says about an incomplete result.
func (f *finder) warnings() (all []resp.Value) {
	if f.late {
		all = append(all, resp.MakeString(timedOut))
	}
	if f.full {
		all = append(all, resp.MakeString("Max prefix expansions limit was reached"))
	}
	return all
}

// resultMap makes the reply of RESP3.
func resultMap(results resp.Value, total int, expand bool, warnings []resp.Value) *resp.Value {
	warning, format := resp.EmptyArray, "STRING"
	warning.Elems = append(warning.Elems, warnings...)
	if expand {
		format = "EXPAND"
	}
	v := resp.MakeMap(resp.MakeString("attributes"), resp.EmptyArray, resp.MakeString("format"), resp.MakeString(format), resp.MakeString("results"), results,
		resp.MakeString("total_results"), resp.MakeInt(int64(total)), resp.MakeString("warning"), warning)
	return &v
}
