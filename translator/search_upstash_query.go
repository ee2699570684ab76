//go:build !wasip1 || search

package translator

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/meowdis/meowdis/redis/resp"
	"github.com/meowdis/meowdis/redis/search/query"
	scoring "github.com/meowdis/meowdis/redis/search/score"
	"github.com/meowdis/meowdis/redis/search/upstash"
	"github.com/meowdis/meowdis/store"
	"github.com/meowdis/meowdis/translator/document"
	"github.com/meowdis/meowdis/translator/inverted"
)

// upstashFinder prepares the search for the documents of a filter.
func (c *Call) upstashFinder(ix *searchIndex, filter []byte) (*finder, error) {
	tree, err := upstash.ParseFilter(string(filter), ix.schema.Upstash)
	return c.upstashSearch(ix, tree), err
}

func (c *Call) upstashSearch(ix *searchIndex, tree query.Node) *finder {
	options := newSearchOptions(nil, &defaultSettings)
	options.scorer = scoring.Fields
	return &finder{c: c, ix: ix, tree: tree, options: &options}
}

// fused runs the searches of a query one after the other, and calls next with the hits of all in the order of indexing.
func (c *Call) fused(ix *searchIndex, q *upstash.Fusion, scores bool, w *store.Work, next func(f *finder, w *store.Work) Plan) Plan {
	if q.RankConstant == 0 {
		f := c.upstashSearch(ix, q.Searches[0].Tree)
		f.scores = scores
		return f.find(w, func(w *store.Work) Plan { return next(f, w) })
	}
	found, all := map[int64]*hit{}, &query.Or{Base: query.Base{Weight: 1}}
	var search func(i int, w *store.Work) Plan
	search = func(i int, w *store.Work) Plan {
		f := c.upstashSearch(ix, q.Searches[i].Tree)
		f.scores = true
		return f.find(w, func(w *store.Work) Plan {
			all.Children = append(all.Children, f.tree)
			slices.SortStableFunc(f.hits, func(a, b *hit) int { return cmp.Compare(b.score, a.score) })
			for rank, h := range f.hits[:min(q.Window, len(f.hits))] {
				if found[h.Doc] == nil {
					w.Grow(200)
					found[h.Doc] = &hit{Found: h.Found}
				}
				found[h.Doc].score += q.Searches[i].Weight / (q.RankConstant + float64(rank+1))
			}
			if i+1 < len(q.Searches) {
				return search(i+1, w)
			}
			f.tree = all
			f.hits = slices.SortedFunc(maps.Values(found), func(a, b *hit) int { return cmp.Compare(a.Doc, b.Doc) })
			return next(f, w)
		})
	}
	return search(0, w)
}

func upstashQuery(c *Call) Plan {
	return c.withUpstash(c.Args[1], resp.Nil, func(ix *searchIndex, w *store.Work) Plan {
		if !c.mayQuery(ix) {
			return answer(noSearchPermission)
		}
		q, err := upstash.ParseRequest(texts(c.Args[3:]), ix.schema.Upstash)
		if err != nil {
			return failWith(err)
		}
		searches, err := upstash.ParseQuery(string(c.Args[2]), ix.schema.Upstash, q.Limit)
		if err != nil {
			return failWith(err)
		}
		scores := q.OrderBy == "" && (q.ScoreFunc == nil || q.ScoreFunc.Mode != "REPLACE")
		return c.fused(ix, searches, scores, w, func(f *finder, w *store.Work) Plan {
			return f.columns(q.Fields(), w, func(of map[string]column, w *store.Work) Plan {
				f.rank(q, of)
				first := min(q.Offset, len(f.hits))
				page := f.hits[first:min(first+q.Limit, len(f.hits))]
				return f.keysOf(page, w, func(w *store.Work) Plan {
					if !c.mayReadAll(page) {
						return answer(noSearchPermission)
					}
					if q.NoContent {
						return answer(f.upstashReply(q, page))
					}
					return c.loadKeys(keysOfHits(page), selected(q), w, func(*store.Work) Plan { return answer(f.upstashReply(q, page)) })
				})
			})
		})
	})
}

func upstashCount(c *Call) Plan {
	return c.withUpstash(c.Args[1], resp.MakeInt(-1), func(ix *searchIndex, w *store.Work) Plan {
		if !c.mayQuery(ix) {
			return answer(noSearchPermission)
		}
		f, err := c.upstashFinder(ix, c.Args[2])
		if err != nil {
			return failWith(err)
		}
		return f.find(w, func(*store.Work) Plan { return answer(resp.MakeInt(int64(len(f.hits)))) })
	})
}

func upstashAggregate(c *Call) Plan {
	return c.withUpstash(c.Args[1], resp.Nil, func(ix *searchIndex, w *store.Work) Plan {
		if !c.mayQuery(ix) {
			return answer(noSearchPermission)
		}
		f, err := c.upstashFinder(ix, c.Args[2])
		if err != nil {
			return failWith(err)
		}
		list, err := upstash.ParseAggregations(string(c.Args[3]), ix.schema.Upstash)
		if err != nil {
			return failWith(err)
		}
		return f.find(w, func(w *store.Work) Plan {
			return f.columns(upstash.FieldsOf(list), w, func(of map[string]column, w *store.Work) Plan {
				rows := make([]upstash.Row, len(f.hits))
				for i, h := range f.hits {
					w.Grow(32)
					rows[i] = func(field string) []upstash.Value {
						w.Step(8)
						return of[field][h.Doc]
					}
				}
				return answer(nested(upstash.Run(list, rows)))
			})
		})
	})
}

// nested returns a result of package upstash as a reply. A list that begins with a name has pairs.
func nested(v any) resp.Value {
	switch v := v.(type) {
	case string:
		return resp.MakeString(v)
	case int:
		return resp.MakeInt(int64(v))
	case float64:
		return resp.MakeDouble(v)
	case []any:
		out := resp.EmptyArray
		if len(v) > 0 {
			if _, named := v[0].(string); named {
				out.Kind = resp.Map
			}
		}
		for _, item := range v {
			out.Elems = append(out.Elems, nested(item))
		}
		return out
	}
	return resp.Nil
}

// column holds the values of a field by document.
type column map[int64][]upstash.Value

// columns reads the values of fields from the index, and calls next.
func (f *finder) columns(fields []string, w *store.Work, next func(of map[string]column, w *store.Work) Plan) Plan {
	of := map[string]column{}
	if len(fields) == 0 || len(f.hits) == 0 {
		return next(of, w)
	}
	found := map[int64]bool{}
	for _, h := range f.hits {
		w.Grow(16)
		found[h.Doc] = true
	}
	stmts := make([]store.Stmt, len(fields))
	for i, name := range fields {
		field := f.ix.schema.Field(name)
		if stmts[i] = f.numbers(field, math.Inf(-1), math.Inf(1)); field.Type == inverted.Tag {
			stmts[i] = f.ix.tagStmt(field)
		}
	}
	return readThen(func(r *store.Result) Plan {
		for i, name := range fields {
			c := column{}
			f.eachValue(f.ix.schema.Field(name), r.Rows[i], r.Work, func(doc int64, v upstash.Value) {
				if found[doc] {
					r.Work.Grow(96)
					c[doc] = append(c[doc], v)
				}
			})
			of[name] = c
		}
		return next(of, r.Work)
	}, stmts...)
}

// eachValue calls add with the values of a field, from its rows and from the changed keys.
func (f *finder) eachValue(field *inverted.Field, rows []store.Row, w *store.Work, add func(doc int64, v upstash.Value)) {
	batch := f.pending.batch
	if field.Type == inverted.Tag {
		eachTag(field, rows, func(tag string, data []byte) {
			w.Step(16 + len(data))
			inverted.Postings(data, func(p inverted.Posting) { add(p.Doc, upstash.Value{Text: tag}) })
		})
		batch.EachTag(field, func(tag string, doc int64) { add(doc, upstash.Value{Text: tag}) })
		return
	}
	for _, row := range rows {
		w.Step(16)
		add(row[1].Int(), upstash.Value{Num: row[0].Float()})
	}
	for _, n := range batch.Numbers {
		if n.Field == field.ID {
			add(n.Doc, upstash.Value{Num: n.Value})
		}
	}
}

// rank computes the scores, and orders the hits by them. Documents without the field of ORDERBY are last.
func (f *finder) rank(q *upstash.Request, of map[string]column) {
	if q.OrderBy == "" {
		for _, h := range f.hits {
			if q.ScoreFunc != nil {
				h.score = q.ScoreFunc.Apply(h.score, func(field string) (float64, bool) {
					if values := of[field][h.Doc]; len(values) > 0 {
						return values[0].Num, true
					}
					return 0, false
				})
			}
		}
		slices.SortStableFunc(f.hits, func(a, b *hit) int { return cmp.Compare(b.score, a.score) })
		return
	}
	for _, h := range f.hits {
		h.sortKey.missing = true
		if values := of[q.OrderBy][h.Doc]; len(values) > 0 {
			h.sortKey = sortable{number: values[0].Num, text: values[0].Text}
			h.score = values[0].Num
		}
	}
	slices.SortStableFunc(f.hits, func(a, b *hit) int {
		x, y := a.sortKey, b.sortKey
		if order := cmp.Compare(toInt(x.missing), toInt(y.missing)); order != 0 {
			return order
		}
		if !q.Ascending {
			x, y = y, x
		}
		return cmp.Or(cmp.Compare(x.number, y.number), strings.Compare(x.text, y.text))
	})
}

// upstashReply makes the reply of SEARCH.QUERY.
func (f *finder) upstashReply(q *upstash.Request, page []*hit) resp.Value {
	all := resp.EmptyArray
	for _, h := range page {
		if h.key == nil {
			continue
		}
		score := resp.MakeDouble(h.score)
		if h.sortKey.text != "" {
			score = resp.MakeString(h.sortKey.text)
		}
		v := resp.MakeArray(resp.MakeBulk(h.key.key), score)
		if !q.NoContent {
			f.highlight(q, h.key.source)
			v.Elems = append(v.Elems, content(q, h.key.source))
		}
		all.Elems = append(all.Elems, v)
	}
	return all
}

// highlight marks the words of the filter in the fields of a document.
func (f *finder) highlight(q *upstash.Request, src *inverted.Source) {
	d := f.ix.schema.Upstash
	for _, name := range q.Highlight {
		field, _ := d.Field(name)
		terms := upstash.Terms(f.tree, name)
		if len(terms) == 0 {
			continue
		}
		if value, ok := src.Fields[field.Source()]; ok {
			src.Fields[field.Source()] = []byte(q.HighlightText(string(value), field, d.Language, terms))
		}
		for _, v := range src.Texts(field.Source()) {
			v.Str = q.HighlightText(v.Str, field, d.Language, terms)
			src.Text = nil
		}
	}
}

// content returns the fields of a document as pairs. The whole of a JSON document is the field $.
func content(q *upstash.Request, src *inverted.Source) resp.Value {
	pairs := resp.EmptyArray
	add := func(name, value string) {
		pairs.Elems = append(pairs.Elems, resp.MakeArray(resp.MakeString(name), resp.MakeString(value)))
	}
	switch {
	case src.Root == nil && q.Select == nil:
		for _, name := range src.Order {
			add(name, string(src.Fields[name]))
		}
	case src.Root == nil:
		for _, name := range q.Select {
			if value, ok := src.Fields[name]; ok {
				add(name, string(value))
			}
		}
	case q.Select == nil && src.Text != nil:
		add("$", string(src.Text))
	case q.Select == nil:
		add("$", string(src.Root.Append(nil)))
	default:
		for _, name := range q.Select {
			switch values := src.Dotted(name); len(values) {
			case 0:
			case 1:
				add(name, textOf(values[0]))
			default:
				add(name, string((&document.Value{Kind: document.Array, Elems: values}).Append(nil)))
			}
		}
	}
	return pairs
}

// selected returns the fields of a hash that the reply needs, nil for all.
func selected(q *upstash.Request) [][]byte {
	if q.Select == nil {
		return nil
	}
	fields := [][]byte{}
	for _, name := range q.Select {
		fields = append(fields, []byte(name))
	}
	return fields
}
