package translator

import (
	"bytes"
	"slices"
	"strings"

	"github.com/meowdis/meowdis/internal/smallsort"
	"github.com/meowdis/meowdis/redis/commands"
	"github.com/meowdis/meowdis/redis/resp"
	"github.com/meowdis/meowdis/redis/timeseries"
	"github.com/meowdis/meowdis/store"
)

// sqlLabelled selects the labels of the series with the label ?2 = ?4, a row for each label, in order of the keys.
const sqlLabelled = `SELECT k.key, l.name, l.value FROM series_labels m JOIN keys k ON k.id = m.key_id JOIN series_labels l ON l.key_id = k.id
	WHERE m.name = ?2 AND m.value = ?4 AND k.db = ?1 AND (k.dies_at IS NULL OR k.dies_at > ?3) ORDER BY k.key, l.position`

// labelled holds a series that a filter found.
type labelled struct {
	key    []byte
	labels []timeseries.Label
}

// label returns a label, with its name as stored. The name is compared in any case unless exact is set.
func (l labelled) label(name string, exact bool) (found timeseries.Label, ok bool) {
	i := slices.IndexFunc(l.labels, func(own timeseries.Label) bool {
		return own.Name == name || !exact && strings.EqualFold(own.Name, name)
	})
	if i < 0 {
		return timeseries.Label{Name: name}, false
	}
	return l.labels[i], true
}

// unreadable replies if a user may not read all keys that a filter found.
var unreadable = resp.MakeError("NOPERM TSDB: current user doesn't have read permission to one or more keys that match the specified filter")

// withLabels finds the series that satisfy the filters in words, in order of their keys, and calls next. The user must
// have the right to read all of them.
func (c *Call) withLabels(words [][]byte, next func(found []labelled) Plan) Plan {
	return c.findLabelled(words, func(found []labelled, _ *store.Work) Plan {
		if may := c.Env.MayRead; may != nil && slices.ContainsFunc(found, func(l labelled) bool { return !may(l.key) }) {
			return answer(unreadable)
		}
		return next(found)
	})
}

// findLabelled is withLabels for series that the user may not be able to read.
func (c *Call) findLabelled(words [][]byte, next func(found []labelled, w *store.Work) Plan) Plan {
	var all []timeseries.Matcher
	for _, word := range words {
		c.Env.Work.Allocate(10 * len(word)) // a list of short values
		m, err := timeseries.ParseMatcher(string(word))
		if err != nil {
			return answer(seriesError(err.Error()))
		}
		all = append(all, m)
	}
	first := slices.IndexFunc(all, timeseries.Matcher.Selects)
	if first < 0 {
		return answer(seriesError("please provide at least one matcher"))
	}
	var stmts []store.Stmt
	for _, value := range all[first].Values {
		c.Env.Work.Grow(int64(stmtMemory + len(value)))
		stmts = append(stmts, c.stmt(sqlLabelled, []byte(all[first].Name), store.Bytes([]byte(value))))
	}
	if len(stmts) == 0 {
		return next(nil, c.Env.Work)
	}
	return readThen(func(r *store.Result) Plan {
		var found []labelled
		for _, rows := range r.Rows {
			found = append(found, labelledRows(rows, r.Work)...)
		}
		found = slices.DeleteFunc(found, func(l labelled) bool {
			return slices.ContainsFunc(all, func(m timeseries.Matcher) bool {
				r.Work.Step(len(l.labels) + len(m.Values))
				return !m.Matches(l.labels)
			})
		})
		smallsort.Sort(found, func(a, b labelled) int { return bytes.Compare(a.key, b.key) })
		found = slices.CompactFunc(found, func(a, b labelled) bool { return bytes.Equal(a.key, b.key) })
		return next(found, r.Work)
	}, stmts...)
}

// labelledRows decodes the rows of sqlLabelled.
func labelledRows(rows []store.Row, w *store.Work) (all []labelled) {
	for _, row := range rows {
		w.Step(16)
		w.Grow(int64(64 + len(row[1].Bytes()) + len(row[2].Bytes())))
		if key := row[0].Bytes(); len(all) == 0 || !bytes.Equal(all[len(all)-1].key, key) {
			w.Grow(int64(64 + store.ValueBytes + len(key)))
			all = append(all, labelled{key: key})
		}
		of := &all[len(all)-1]
		of.labels = append(of.labels, timeseries.Label{Name: string(row[1].Bytes()), Value: string(row[2].Bytes())})
	}
	return all
}

func tsQueryindex(c *Call) Plan {
	return c.withLabels(c.Args[1:], func(found []labelled) Plan {
		keys := resp.Value{Kind: resp.Set, Elems: make([]resp.Value, len(found))}
		for i, l := range found {
			keys.Elems[i] = resp.MakeBulk(l.key)
		}
		return answer(keys)
	})
}

// shownLabels says which labels a reply shows.
type shownLabels struct {
	all      bool
	selected []string
}

// endOfSelected lists the options that end SELECTED_LABELS.
var endOfSelected = []string{"WITHLABELS", "AGGREGATION", "LIMIT", "GROUPBY", "REDUCE", "FILTER", "FILTER_BY_VALUE", "FILTER_BY_TS", "COUNT", "EXCLUDEEMPTY"}

// maxSelectedLabels limits the labels of SELECTED_LABELS.
const maxSelectedLabels = 50

func (c *Call) parseShownLabels(end int) (l shownLabels, bad resp.Value) {
	l.all = c.optionBefore("WITHLABELS", end) > 0
	at := c.optionBefore("SELECTED_LABELS", end)
	if at == 0 {
		return l, bad
	}
	if l.all {
		return l, seriesError("cannot accept WITHLABELS and SELECT_LABELS together")
	}
	for i := at + 1; i < len(c.Args) && !slices.ContainsFunc(endOfSelected, func(word string) bool { return c.is(i, word) }); i++ {
		l.selected = append(l.selected, string(c.Args[i]))
	}
	switch {
	case len(l.selected) > maxSelectedLabels:
		return l, seriesError("reached max size for SELECT_LABELS")
	case len(l.selected) == 0:
		return l, seriesError("SELECT_LABELS should have at least 1 parameter")
	}
	return l, bad
}

// reply returns the labels of a series.
func (l shownLabels) reply(of labelled) resp.Value {
	v := resp.Value{Kind: resp.PairMap}
	if l.all {
		for _, label := range of.labels {
			v.Elems = append(v.Elems, resp.MakeString(label.Name), resp.MakeString(label.Value))
		}
	}
	for _, name := range l.selected {
		label, ok := of.label(name, false)
		value := resp.Nil
		if ok {
			value = resp.MakeString(label.Value)
		}
		v.Elems = append(v.Elems, resp.MakeString(label.Name), value)
	}
	return v
}

// entry holds the parts of a reply about one key. Only RESP3 has the parts in only3.
type entry struct {
	key, labels, last resp.Value
	only3             []resp.Value
}

// growEntry charges an entry about a series, besides its samples.
func (s *series) growEntry(labels int) {
	const empty = 16 * store.ValueBytes // in both protocols
	s.work.Grow(int64(empty + 2*labels*store.ValueBytes))
}

// entries returns an array in RESP2, and a map by key in RESP3.
func entries(all []entry) resp.Value {
	v2 := resp.Value{Kind: resp.Array, Elems: make([]resp.Value, len(all))}
	v3 := &resp.Value{Kind: resp.Map, Elems: make([]resp.Value, 0, 2*len(all))}
	for i, e := range all {
		v2.Elems[i] = resp.MakeArray(e.key, e.labels, e.last)
		parts := append([]resp.Value{e.labels}, e.only3...)
		v3.Elems = append(v3.Elems, e.key, resp.MakeArray(append(parts, e.last)...))
	}
	v2.RESP3 = v3
	return v2
}

func tsMget(c *Call) Plan {
	filter := c.option("FILTER")
	if filter == 0 || filter+1 == len(c.Args) {
		return answer(commands.WrongArity(c.Command))
	}
	shown, bad := c.parseShownLabels(filter)
	if bad.IsError() {
		return answer(bad)
	}
	latest := c.optionBefore("LATEST", filter) > 0
	return c.withLabels(c.Args[filter+1:], func(found []labelled) Plan {
		var all []entry
		return c.each(found, func(l labelled, s *series, next func() Plan) Plan {
			s.growEntry(len(l.labels) + len(shown.selected))
			return s.newest(latest, func(v resp.Value) Plan {
				all = append(all, entry{key: resp.MakeBulk(l.key), labels: shown.reply(l), last: v})
				return next()
			})
		}, func() Plan { return answer(entries(all)) })
	})
}

// each opens the series one after the other, and calls do for each. Then it calls end.
func (c *Call) each(found []labelled, do func(l labelled, s *series, next func() Plan) Plan, end func() Plan) Plan {
	if len(found) == 0 {
		return end()
	}
	p := c.openSeries(found[0].key, seriesWrongType, func(s *series) Plan {
		next := func() Plan { return c.each(found[1:], do, end) }
		if !s.stored {
			return next() // another process has deleted it
		}
		return do(found[0], s, next)
	})
	p.Reads = [][]byte{found[0].key}
	return p
}

// groupBy holds GROUPBY and REDUCE.
type groupBy struct {
	label   string // "" for none
	reducer timeseries.Aggregator
}

// manyQuery holds the arguments of TS.MRANGE and TS.MREVRANGE.
type manyQuery struct {
	seriesRange
	shown        shownLabels
	filters      [][]byte
	excludeEmpty bool
	groupBy
	work *store.Work
}

func (c *Call) parseMany(reverse bool) (q manyQuery, bad resp.Value) {
	filter := c.option("FILTER")
	end := filter
	if filter == 0 {
		end = len(c.Args)
	}
	if q.seriesRange, bad = c.parseRange(1, end, reverse); bad.IsError() {
		return q, bad
	}
	if filter == 0 {
		return q, seriesError("missing FILTER argument")
	}
	if q.shown, bad = c.parseShownLabels(filter); bad.IsError() {
		return q, bad
	}
	group := c.option("GROUPBY")
	last := len(c.Args)
	if group > 0 {
		if group < filter {
			return q, seriesError("GROUPBY should always come after filter")
		}
		last = group
	}
	if filter+1 == last {
		return q, seriesError("missing labels for filter argument")
	}
	q.filters, q.excludeEmpty = c.Args[filter+1:last], c.optionBefore("EXCLUDEEMPTY", filter) > 0
	if group > 0 {
		bad = q.parseGroupBy(c, group)
	}
	return q, bad
}

func (q *manyQuery) parseGroupBy(c *Call, at int) resp.Value {
	switch {
	case q.excludeEmpty:
		return seriesError("EXCLUDEEMPTY is not allowed with GROUPBY")
	case at != len(c.Args)-4 || !c.is(at+2, "REDUCE"):
		return commands.WrongArity(c.Command)
	}
	a, ok := timeseries.ParseAggregator(string(c.Args[at+3]))
	switch {
	case !ok || a == timeseries.First || a == timeseries.Last || a == timeseries.TWA:
		return seriesError("Invalid reducer type")
	case len(q.aggregators) > 1:
		return seriesError("GROUPBY is not allowed when multiple aggregators are specified")
	}
	q.label, q.reducer = string(c.Args[at+1]), a
	return resp.Value{}
}

// tsMrange translates TS.MRANGE and TS.MREVRANGE.
func tsMrange(reverse bool) func(*Call) Plan {
	return func(c *Call) Plan {
		q, bad := c.parseMany(reverse)
		if bad.IsError() {
			return answer(bad)
		}
		return c.withLabels(q.filters, func(found []labelled) Plan {
			if q.label != "" {
				return c.reduced(q, found)
			}
			var names []resp.Value
			for _, a := range q.aggregators {
				names = append(names, resp.MakeStatus(a.String()))
			}
			of := resp.MakeMap(resp.MakeString("aggregators"), resp.MakeArray(names...))
			var all []entry
			return c.each(found, func(l labelled, s *series, next func() Plan) Plan {
				s.growEntry(len(l.labels) + len(q.shown.selected))
				return q.run(s, func(rows []timeseries.Row) Plan {
					if len(rows) > 0 || !q.excludeEmpty {
						all = append(all, entry{resp.MakeBulk(l.key), q.shown.reply(l), sampleReplies(rows), []resp.Value{of}})
					}
					return next()
				})
			}, func() Plan { return answer(entries(all)) })
		})
	}
}

// labelGroup holds the series with one value of a label.
type labelGroup struct {
	value string
	keys  [][]byte
	rows  []timeseries.Row
}

// reduced plans a query whose rows are merged by the value of a label.
func (c *Call) reduced(q manyQuery, found []labelled) Plan {
	var groups []*labelGroup
	of := map[string]*labelGroup{}
	each := q.seriesRange
	each.count = 0 // it limits the merged rows
	return c.each(found, func(l labelled, s *series, next func() Plan) Plan {
		label, ok := l.label(q.label, true)
		if !ok {
			return next()
		}
		s.growEntry(len(q.shown.selected))
		s.work.Grow(2 * int64(len(l.key)))
		return each.run(s, func(rows []timeseries.Row) Plan {
			g := of[label.Value]
			if g == nil {
				g = &labelGroup{value: label.Value}
				of[label.Value] = g
				groups = append(groups, g)
			}
			q.work = s.work
			g.keys, g.rows = append(g.keys, l.key), append(g.rows, rows...)
			return next()
		})
	}, func() Plan {
		slices.SortFunc(groups, func(a, b *labelGroup) int { return strings.Compare(a.value, b.value) })
		all := make([]entry, len(groups))
		for i, g := range groups {
			all[i] = q.entry(g)
		}
		return answer(entries(all))
	})
}

// entry returns the reply for a labelGroup.
func (q *manyQuery) entry(g *labelGroup) entry {
	keys := make([]resp.Value, len(g.keys))
	for i, key := range g.keys {
		keys[i] = resp.MakeBulk(key)
	}
	labels := resp.Value{Kind: resp.PairMap}
	if q.shown.all {
		label := []resp.Value{resp.MakeString(q.label), resp.MakeString(g.value)}
		in3 := resp.Value{Kind: resp.PairMap, Elems: label}
		labels.Elems = append(slices.Clone(label), resp.MakeString("__reducer__"), resp.MakeString(q.reducer.String()),
			resp.MakeString("__source__"), resp.MakeBulk(bytes.Join(g.keys, []byte(","))))
		labels.RESP3 = &in3
	}
	for _, name := range q.shown.selected {
		value := resp.Nil
		if name == q.label {
			value = resp.MakeString(g.value)
		}
		labels.Elems = append(labels.Elems, resp.MakeString(name), value)
	}
	return entry{resp.MakeString(q.label + "=" + g.value), labels, sampleReplies(q.merge(g.rows)), []resp.Value{
		resp.MakeMap(resp.MakeString("reducers"), resp.MakeArray(resp.MakeStatus(q.reducer.String()))),
		resp.MakeMap(resp.MakeString("sources"), resp.MakeArray(keys...)),
	}}
}

// merge reduces the rows of each time to one.
func (q *manyQuery) merge(rows []timeseries.Row) (merged []timeseries.Row) {
	smallsort.Sort(rows, func(a, b timeseries.Row) int {
		q.work.Step(1)
		if q.reverse {
			a, b = b, a
		}
		return int(min(1, max(-1, a.At-b.At)))
	})
	for len(rows) > 0 && (q.count == 0 || int64(len(merged)) < q.count) {
		var b timeseries.Bucket
		at := rows[0].At
		for len(rows) > 0 && rows[0].At == at {
			b.Add(timeseries.Sample{At: at, Value: rows[0].Values[0]})
			rows = rows[1:]
		}
		v := timeseries.EmptyResult(q.reducer, at, at, nil, nil)
		if b.Valid(q.reducer) {
			v = b.Result(q.reducer)
		}
		merged = append(merged, timeseries.Row{At: at, Values: []float64{v}})
	}
	return merged
}
