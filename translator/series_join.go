package translator

import (
	"math"
	"slices"

	"github.com/meowdis/meowdis/redis/commands"
	"github.com/meowdis/meowdis/redis/resp"
	"github.com/meowdis/meowdis/redis/timeseries"
	"github.com/meowdis/meowdis/store"
)

// joinQuery holds the arguments of TS.NRANGE and TS.NREVRANGE: a query for each key, with the same range.
type joinQuery struct {
	keys    [][]byte
	queries []seriesRange
}

func (c *Call) parseJoin(reverse bool) (q joinQuery, bad resp.Value) {
	n, ok := parseInt(c.Args[1])
	switch {
	case !ok || n <= 0:
		return q, seriesError("numkeys must be a positive integer")
	case n > int64(len(c.Args)-4):
		return q, commands.WrongArity(c.Command)
	}
	q.keys = c.Args[2 : 2+n]
	c.Env.Work.Allocate(int(n) * 512)
	options := *c // keys are not options
	options.Args = append([][]byte{c.Args[0]}, c.Args[2+n:]...)
	specs, bad := options.cutAggregations(int(n))
	for i := 0; i < int(n) && !bad.IsError(); i++ {
		if specs != nil {
			options.Args[options.option("AGGREGATION")+1] = specs[i]
		}
		var each seriesRange
		each, bad = options.parseRange(1, len(options.Args), reverse)
		q.queries = append(q.queries, each)
	}
	return q, bad
}

// cutAggregations returns the aggregators of n keys, and removes all but the first from the arguments.
func (c *Call) cutAggregations(n int) (specs [][]byte, bad resp.Value) {
	at := c.option("AGGREGATION")
	if n == 1 || at == 0 {
		return nil, bad
	}
	end := at + 1
	for ; end < len(c.Args); end++ {
		if _, number := parseInt(c.Args[end]); number {
			break
		}
	}
	if end-at-1 != n {
		return nil, seriesError("the number of AGGREGATION arguments must be equal to numkeys")
	}
	specs = slices.Clone(c.Args[at+1 : end])
	c.Args = slices.Delete(c.Args, at+2, end)
	return specs, bad
}

// tsNrange translates TS.NRANGE and TS.NREVRANGE.
func tsNrange(reverse bool) func(*Call) Plan {
	return func(c *Call) Plan {
		q, bad := c.parseJoin(reverse)
		if bad.IsError() {
			return answer(bad)
		}
		return c.joinFrom(q, 0, make([][]timeseries.Row, len(q.keys)))
	}
}

// joinFrom plans the queries of the keys from i on. rows has the rows of each key before.
func (c *Call) joinFrom(q joinQuery, i int, rows [][]timeseries.Row) Plan {
	return c.openSeries(q.keys[i], seriesWrongType, func(s *series) Plan {
		if !s.stored {
			return answer(seriesMissing)
		}
		return q.queries[i].run(s, func(got []timeseries.Row) Plan {
			if rows[i] = got; i+1 < len(q.keys) {
				return c.joinFrom(q, i+1, rows)
			}
			return answer(q.reply(rows, s.work))
		})
	})
}

// reply joins the rows of the keys by time. A key without a row at a time has NaN.
func (q joinQuery) reply(rows [][]timeseries.Row, w *store.Work) resp.Value {
	reverse, count := q.queries[0].reverse, q.queries[0].count
	width := 0
	for _, each := range q.queries {
		width += max(1, len(each.aggregators))
	}
	reply := resp.EmptyArray
	for count == 0 || int64(len(reply.Elems)) < count {
		next, found := nextTime(rows, reverse)
		if !found {
			break
		}
		w.Step(16 + len(rows) + width)
		w.Grow(rowBytes + int64(width)*128)
		joined := timeseries.Row{At: next, Values: make([]float64, 0, width)}
		for i, of := range rows {
			if len(of) > 0 && of[0].At == next {
				joined.Values, rows[i] = append(joined.Values, of[0].Values...), of[1:]
				continue
			}
			for range max(1, len(q.queries[i].aggregators)) {
				joined.Values = append(joined.Values, math.NaN())
			}
		}
		v := sampleReply(joined)
		reply.Elems = append(reply.Elems, resp.MakeArray(v.Elems[0], resp.MakeArray(v.Elems[1:]...)))
	}
	return reply
}

// nextTime returns the first time of the rows, or the last one in reverse order. found is false without rows.
func nextTime(rows [][]timeseries.Row, reverse bool) (next int64, found bool) {
	for _, of := range rows {
		if len(of) > 0 && (!found || (of[0].At < next) != reverse) {
			next, found = of[0].At, true
		}
	}
	return next, found
}

const (
	// sqlLabelNames selects the names of all labels, sqlLabelValues the values of the label ?4.
	sqlLabelNames  = `SELECT DISTINCT l.name FROM series_labels l JOIN keys k ON k.id = l.key_id WHERE k.db = ?1 AND (k.dies_at IS NULL OR k.dies_at > ?3)`
	sqlLabelValues = `SELECT DISTINCT l.value FROM series_labels l JOIN keys k ON k.id = l.key_id WHERE l.name = ?4 AND k.db = ?1 AND (k.dies_at IS NULL OR k.dies_at > ?3)`

	// sqlAllLabels selects the labels of all series as sqlLabelled does.
	sqlAllLabels = `SELECT k.key, l.name, l.value FROM series_labels l JOIN keys k ON k.id = l.key_id
		WHERE k.db = ?1 AND (k.dies_at IS NULL OR k.dies_at > ?3) ORDER BY k.key, l.position`
)

// tsQuerylabels lists the names of labels, or the values of one, of the series that the user may read.
func tsQuerylabels(c *Call) Plan {
	rest, ofLabel := 2, []byte(nil)
	switch {
	case c.is(1, "LABELS"):
	case !c.is(1, "VALUES"):
		return answer(seriesError("unknown subtype, must be one of LABELS|VALUES"))
	case len(c.Args) < 3:
		return answer(commands.WrongArity(c.Command))
	default:
		rest, ofLabel = 3, c.Args[2]
	}
	switch {
	case rest == len(c.Args):
		return c.allLabels(ofLabel)
	case !c.is(rest, "FILTER"):
		return answer(seriesError("unknown argument, expected FILTER"))
	case rest+1 == len(c.Args):
		return answer(seriesError("FILTER given with no filter expressions"))
	}
	return c.findLabelled(c.Args[rest+1:], func(found []labelled, w *store.Work) Plan {
		return answer(c.labelsOf(found, ofLabel, w))
	})
}

// allLabels plans TS.QUERYLABELS without FILTER.
func (c *Call) allLabels(ofLabel []byte) Plan {
	if c.Env.MayRead != nil {
		return readThen(func(r *store.Result) Plan {
			return answer(c.labelsOf(labelledRows(r.Rows[0], r.Work), ofLabel, r.Work))
		}, c.stmt(sqlAllLabels, nil))
	}
	stmt := c.stmt(sqlLabelNames, nil)
	if ofLabel != nil {
		stmt = c.stmt(sqlLabelValues, nil, store.Bytes(ofLabel))
	}
	return readThen(func(r *store.Result) Plan {
		var all []string
		for _, row := range r.Rows[0] {
			r.Work.Grow(int64(store.ValueBytes + len(row[0].Bytes())))
			all = append(all, string(row[0].Bytes()))
		}
		return answer(sortedTexts(all))
	}, stmt)
}

// labelsOf returns the names of the labels of series, or the values of the label ofLabel unless it is nil.
func (c *Call) labelsOf(found []labelled, ofLabel []byte, w *store.Work) resp.Value {
	var all []string
	for _, l := range found {
		w.Step(1 + len(l.labels))
		if c.Env.MayRead != nil && !c.Env.MayRead(l.key) {
			continue
		}
		for _, label := range l.labels {
			w.Grow(int64(store.ValueBytes))
			if ofLabel == nil {
				all = append(all, label.Name)
			} else if label.Name == string(ofLabel) {
				all = append(all, label.Value)
			}
		}
	}
	return sortedTexts(all)
}

// sortedTexts returns a set of texts.
func sortedTexts(all []string) resp.Value {
	slices.Sort(all)
	v := resp.Value{Kind: resp.Set, Elems: []resp.Value{}}
	for _, text := range slices.Compact(all) {
		v.Elems = append(v.Elems, resp.MakeString(text))
	}
	return v
}
