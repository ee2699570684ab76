package translator

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/meowdis/meowdis/redis/commands"
	"github.com/meowdis/meowdis/redis/resp"
	"github.com/meowdis/meowdis/redis/timeseries"
	"github.com/meowdis/meowdis/store"
)

// Samples from ?4 to ?5 (ms), with a value from ?6 to ?7 unless ?6 is NULL, and at a time of the list ?8 unless it is NULL.
const (
	// A time that JavaScript's numbers cannot hold is text.
	samplesInRange = `SELECT iif(at > 9007199254740991, CAST(at AS TEXT), at), value FROM samples WHERE key_id = ` + liveID + ` AND at BETWEEN CAST(?4 AS INTEGER) AND CAST(?5 AS INTEGER)
		AND (?6 IS NULL OR value BETWEEN ?6 AND ?7) AND (?8 IS NULL OR at IN (SELECT value FROM json_each(?8)))`
	sqlRange      = samplesInRange + ` ORDER BY at LIMIT ?9`
	sqlRevrange   = samplesInRange + ` ORDER BY at DESC LIMIT ?9`
	sqlRangeFirst = samplesInRange + ` AND value IS NOT NULL ORDER BY at LIMIT ?9`
	sqlRangeLast  = samplesInRange + ` AND value IS NOT NULL ORDER BY at DESC LIMIT ?9`
)

// maxTime stands for + in a range.
const maxTime = math.MaxInt64

// seriesRange holds the arguments of a range query.
type seriesRange struct {
	from, to    int64
	reverse     bool
	latest      bool
	times       []int64 // of FILTER_BY_TS, sorted; nil for all
	least, most float64 // of FILTER_BY_VALUE
	byValue     bool
	count       int64 // 0 for all
	seriesAggregation
}

// seriesAggregation holds the arguments of AGGREGATION.
type seriesAggregation struct {
	aggregators []timeseries.Aggregator // nil without one
	bucket      int64
	align       int64
	time        timeseries.BucketTime
	empty       bool
}

// parseRange parses from, to and the options of a range query. Options stand before the argument end.
func (c *Call) parseRange(at, end int, reverse bool) (q seriesRange, bad resp.Value) {
	q.reverse, q.to = reverse, maxTime
	if q.from, q.to, bad = c.parseSpan(at); bad.IsError() {
		return q, bad
	}
	for _, parse := range []func(*Call, int) resp.Value{q.parseCount, q.parseAggregation, q.parseAlign(at), q.parseValues, q.parseTimes} {
		if bad := parse(c, end); bad.IsError() {
			return q, bad
		}
	}
	q.latest = c.optionBefore("LATEST", end) > 0
	return q, bad
}

func (c *Call) parseSpan(at int) (from, to int64, bad resp.Value) {
	to = maxTime
	var ok bool
	if string(c.Args[at]) != "-" {
		if from, ok = parseInt(c.Args[at]); !ok || from < 0 {
			return 0, 0, seriesError("wrong fromTimestamp")
		}
	}
	if string(c.Args[at+1]) != "+" {
		if to, ok = parseInt(c.Args[at+1]); !ok || to < 0 {
			return 0, 0, seriesError("wrong toTimestamp")
		}
	}
	return from, to, bad
}

// optionBefore is option for the arguments before end.
func (c *Call) optionBefore(word string, end int) int {
	if at := c.option(word); at < end {
		return at
	}
	return 0
}

func (q *seriesRange) parseCount(c *Call, end int) (bad resp.Value) {
	at := 0
	for i := 1; i < end && at == 0; i++ {
		if c.is(i, "COUNT") && !c.is(i-1, "AGGREGATION") && !c.is(i-1, "REDUCE") {
			at = i
		}
	}
	if at == 0 {
		return bad
	}
	if at+1 == len(c.Args) {
		return seriesError("COUNT argument is missing")
	}
	var ok bool
	if q.count, ok = parseInt(c.Args[at+1]); !ok {
		return seriesError("Couldn't parse COUNT")
	}
	if q.count < 1 {
		return seriesError("Invalid COUNT value")
	}
	return bad
}

// parseAggregation parses aggregators and a duration of a bucket in ms, after the word at.
func (c *Call) parseAggregation(at, end int) (all []timeseries.Aggregator, bucket int64, bad resp.Value) {
	if at+2 >= end {
		return nil, 0, seriesError("Couldn't parse AGGREGATION")
	}
	names := strings.Split(string(c.Args[at+1]), ",")
	if len(names) > 16 {
		return nil, 0, seriesError("Too many aggregation types")
	}
	for _, name := range names {
		a, ok := timeseries.ParseAggregator(name)
		switch {
		case name == "":
			return nil, 0, seriesError("Empty aggregation type in list")
		case !ok:
			return nil, 0, seriesError("Unknown aggregation type")
		}
		all = append(all, a)
	}
	bucket, ok := parseInt(c.Args[at+2])
	switch {
	case !ok:
		return nil, 0, seriesError("Couldn't parse AGGREGATION")
	case bucket <= 0:
		return nil, 0, seriesError("bucketDuration must be greater than zero")
	}
	return all, bucket, bad
}

func (q *seriesRange) parseAggregation(c *Call, end int) (bad resp.Value) {
	at := c.optionBefore("AGGREGATION", end)
	if at == 0 {
		return bad
	}
	if q.aggregators, q.bucket, bad = c.parseAggregation(at, end); bad.IsError() {
		return bad
	}
	if i := c.optionBefore("EMPTY", end); i > 0 {
		if i != at+3 && i != at+5 {
			return seriesError("EMPTY flag should be the 3rd or 5th flag after AGGREGATION flag")
		}
		q.empty = true
	}
	i := c.optionBefore("BUCKETTIMESTAMP", end)
	if i == 0 {
		return bad
	}
	if i != at+3 && i != at+4 {
		return seriesError("BUCKETTIMESTAMP flag should be the 3rd or 4th flag after AGGREGATION flag")
	}
	unknown := seriesError("unknown BUCKETTIMESTAMP parameter")
	if i+1 == len(c.Args) {
		return unknown
	}
	switch strings.ToLower(string(c.Args[i+1])) {
	case "-", "start":
	case "~", "mid":
		q.time = timeseries.AtMiddle
	case "+", "end":
		q.time = timeseries.AtEnd
	default:
		return unknown
	}
	return bad
}

// parseAlign returns the parser of ALIGN. The range stands in the arguments span and span+1.
func (q *seriesRange) parseAlign(span int) func(*Call, int) resp.Value {
	return func(c *Call, end int) (bad resp.Value) {
		at := c.optionBefore("ALIGN", end)
		switch {
		case at == 0:
			return bad
		case at+1 == len(c.Args):
			return seriesError("unknown ALIGN parameter")
		case q.aggregators == nil:
			return seriesError("ALIGN parameter can only be used with AGGREGATION")
		}
		switch strings.ToLower(string(c.Args[at+1])) {
		case "-", "start":
			if string(c.Args[span]) == "-" {
				return seriesError("start alignment can only be used with explicit start timestamp")
			}
			q.align = q.from
		case "+", "end":
			if string(c.Args[span+1]) == "+" {
				return seriesError("end alignment can only be used with explicit end timestamp")
			}
			q.align = q.to
		default:
			var ok bool
			if q.align, ok = parseInt(c.Args[at+1]); !ok {
				return seriesError("unknown ALIGN parameter")
			}
		}
		return bad
	}
}

func (q *seriesRange) parseValues(c *Call, end int) (bad resp.Value) {
	at := c.optionBefore("FILTER_BY_VALUE", end)
	if at == 0 {
		return bad
	}
	if at+2 >= len(c.Args) {
		return seriesError("FILTER_BY_VALUE one or more arguments are missing")
	}
	var ok bool
	if q.least, ok = parseFloat(c.Args[at+1]); !ok {
		return seriesError("Couldn't parse MIN")
	}
	if q.most, ok = parseFloat(c.Args[at+2]); !ok {
		return seriesError("Couldn't parse MAX")
	}
	q.byValue = true
	return bad
}

// maxFilterTimes limits the times of FILTER_BY_TS.
const maxFilterTimes = 128

func (q *seriesRange) parseTimes(c *Call, end int) (bad resp.Value) {
	at := c.optionBefore("FILTER_BY_TS", end)
	if at == 0 {
		return bad
	}
	for i := at + 1; i < end && len(q.times) < maxFilterTimes; i++ {
		t, ok := parseInt(c.Args[i])
		if !ok {
			break
		}
		q.times = append(q.times, t)
	}
	if len(q.times) == 0 {
		return seriesError("FILTER_BY_TS one or more arguments are missing")
	}
	slices.Sort(q.times)
	q.times = slices.Compact(q.times)
	return bad
}

// stmt returns sql, one of the statements over samplesInRange.
func (q *seriesRange) stmt(c *Call, sql string, key []byte, from, to, limit int64) store.Stmt {
	var least, most, times store.Value
	if q.byValue {
		least, most = store.Float(q.least), store.Float(q.most)
	}
	if q.times != nil {
		var list []byte
		for _, t := range q.times {
			list = strconv.AppendInt(append(list, ','), t, 10)
		}
		list[0] = '['
		times = store.TextBytes(append(list, ']'))
	}
	return c.stmt(sql, key, store.Digits(from), store.Digits(to), least, most, times, store.Int(limit))
}

// samplesPerPage limits the samples that a step reads.
const samplesPerPage = 8192

// rowBytes counts the memory of a row and its reply, besides the values.
const rowBytes = 320

// seriesRun holds a range query over one series between its steps.
type seriesRun struct {
	*seriesRange
	series  *series
	from    int64              // the first time that has not been read; with reverse and no aggregation, to is the last
	to      int64              //
	extra   *timeseries.Sample // the open bucket of the source, for LATEST
	buckets *timeseries.Buckets
	rows    []timeseries.Row
	next    func([]timeseries.Row) Plan
}

// run plans the reads of a query over s, and then next with the rows.
func (q *seriesRange) run(s *series, next func([]timeseries.Row) Plan) Plan {
	r := &seriesRun{seriesRange: q, series: s, from: max(q.from, s.oldest()), to: q.to, next: next}
	if r.from > r.to {
		return next(nil)
	}
	if q.latest && s.isTarget {
		return s.openBucket(func(at *timeseries.Sample) Plan {
			if at != nil && at.At >= q.from && at.At <= q.to {
				r.extra = at
			}
			return r.begin()
		})
	}
	return r.begin()
}

// begin plans the first step.
func (r *seriesRun) begin() Plan {
	if r.aggregators == nil {
		if r.reverse && r.extra != nil {
			r.emit(timeseries.Row{At: r.extra.At, Values: []float64{r.extra.Value}})
		}
		return r.page()
	}
	r.buckets = &timeseries.Buckets{
		Aggregators: r.aggregators, Duration: r.bucket, Align: r.align, Time: r.time, Empty: r.empty, From: r.from, To: r.to, Emit: r.emit,
	}
	c, s := r.series.call, r.series
	before, after := r.stmt(c, sqlRangeLast, s.key, s.oldest(), r.from-1, 1), r.stmt(c, sqlRangeFirst, s.key, r.to, maxTime, 2)
	return readThen(func(got *store.Result) Plan {
		for _, row := range got.Rows[0] {
			r.buckets.Before = &timeseries.Sample{At: row[0].Int(), Value: row[1].Float()}
		}
		for _, row := range got.Rows[1] {
			if at := row[0].Int(); at > r.to && r.buckets.After == nil {
				r.buckets.After = &timeseries.Sample{At: at, Value: row[1].Float()}
			}
		}
		return r.page()
	}, before, after)
}

// emit adds a row. It returns false after the last one that is needed.
func (r *seriesRun) emit(row timeseries.Row) bool {
	r.series.work.Grow(rowBytes + int64(len(row.Values))*128)
	r.series.work.Step(16)
	r.rows = append(r.rows, row)
	return r.count == 0 || r.reverse && r.buckets != nil || int64(len(r.rows)) < r.count
}

// page plans the read of the next samples.
func (r *seriesRun) page() Plan {
	limit := int64(samplesPerPage)
	sql := sqlRange
	if r.buckets == nil {
		if r.count > 0 {
			limit = min(limit, r.count-int64(len(r.rows)))
		}
		if r.reverse {
			sql = sqlRevrange
		}
	}
	if limit <= 0 {
		return r.next(r.rows)
	}
	s := r.series
	more, read := true, int64(0)
	return readPart(s.work, func(got *store.Result) {
		read = int64(len(got.Rows[0]))
		for _, row := range got.Rows[0] {
			at := timeseries.Sample{At: row[0].Int(), Value: sampleValue(row[1])}
			if more = r.add(at); !more {
				break
			}
			if r.from = at.At + 1; sql == sqlRevrange {
				r.from, r.to = max(r.seriesRange.from, s.oldest()), at.At-1
			}
		}
	}, func() Plan {
		if more && read == limit && r.from > 0 && r.from <= r.to {
			return r.page()
		}
		return r.end(more)
	}, r.stmt(s.call, sql, s.key, r.from, r.to, limit))
}

func (r *seriesRun) add(at timeseries.Sample) bool {
	r.series.work.Step(8)
	if r.buckets != nil {
		if math.IsNaN(at.Value) {
			r.series.work.Grow(32) // it may wait for the next sample
		}
		return r.buckets.Add(at)
	}
	return r.emit(timeseries.Row{At: at.At, Values: []float64{at.Value}})
}

// end plans the step after the last page; more is set if more rows are needed.
func (r *seriesRun) end(more bool) Plan {
	if more && r.extra != nil && (r.buckets != nil || !r.reverse) {
		r.add(*r.extra)
	}
	if r.buckets == nil {
		return r.next(r.rows)
	}
	r.buckets.Close()
	if r.reverse {
		slices.Reverse(r.rows)
		if r.count > 0 {
			r.rows = r.rows[:min(int64(len(r.rows)), r.count)]
		}
	}
	return r.next(r.rows)
}

// openBucket reads the result of the open bucket of the rule whose target s is, nil for none, and calls next.
func (s *series) openBucket(next func(at *timeseries.Sample) Plan) Plan {
	c := s.call
	p := readThen(func(r *store.Result) Plan {
		if len(r.Rows[0]) == 0 {
			return next(nil)
		}
		key := r.Rows[0][0][0].Bytes()
		source := c.openSeries(key, seriesWrongType, func(source *series) Plan {
			i := slices.IndexFunc(source.rules, func(r *compactionRule) bool { return string(r.target) == string(s.key) })
			if i < 0 || !source.rules[i].open || source.rules[i].start <= s.last.At && !s.isEmpty() {
				return next(nil)
			}
			b := closed{source, source.rules[i], source.rules[i].start}
			read := readThen(func(r *store.Result) Plan {
				v, ok := b.result(r.Rows)
				if !ok {
					return next(nil)
				}
				return next(&timeseries.Sample{At: b.start, Value: v})
			}, source.bucketStmts(b.start, b.rule.end(b.start))...)
			read.Reads = [][]byte{key}
			return read
		})
		source.Reads = [][]byte{key}
		return source
	}, c.stmt(sqlSource, s.key))
	return p
}

// sampleReply returns a sample, whose value is a simple string in RESP2 and a double in RESP3.
func sampleReply(row timeseries.Row) resp.Value {
	v := resp.Value{Kind: resp.Array, Elems: make([]resp.Value, 1, 1+len(row.Values))}
	v.Elems[0] = resp.MakeInt(row.At)
	for _, f := range row.Values {
		double := resp.MakeDouble(f)
		text := resp.MakeStatus(timeseries.FormatValue(f))
		text.RESP3 = &double
		v.Elems = append(v.Elems, text)
	}
	return v
}

func sampleReplies(rows []timeseries.Row) resp.Value {
	v := resp.Value{Kind: resp.Array, Elems: make([]resp.Value, len(rows))}
	for i, row := range rows {
		v.Elems[i] = sampleReply(row)
	}
	return v
}

// tsRange translates TS.RANGE and TS.REVRANGE.
func tsRange(reverse bool) func(*Call) Plan {
	return func(c *Call) Plan {
		return c.openSeries(c.Args[1], seriesWrongType, func(s *series) Plan {
			if !s.stored {
				return answer(seriesMissing)
			}
			q, bad := c.parseRange(2, len(c.Args), reverse)
			if bad.IsError() {
				return answer(bad)
			}
			return q.run(s, func(rows []timeseries.Row) Plan { return answer(sampleReplies(rows)) })
		})
	}
}

func tsGet(c *Call) Plan {
	if len(c.Args) > 3 || len(c.Args) == 3 && !c.is(2, "LATEST") {
		return answer(commands.WrongArity(c.Command))
	}
	return c.openSeries(c.Args[1], seriesWrongType, func(s *series) Plan {
		if !s.stored {
			return answer(seriesMissing)
		}
		return s.newest(len(c.Args) == 3, func(v resp.Value) Plan { return answer(v) })
	})
}

// newest reads the last sample, or the open bucket of the source with latest, and calls next.
func (s *series) newest(latest bool, next func(v resp.Value) Plan) Plan {
	last := func(at *timeseries.Sample) Plan {
		switch {
		case at != nil:
			return next(sampleReply(timeseries.Row{At: at.At, Values: []float64{at.Value}}))
		case s.isEmpty():
			return next(resp.EmptyArray)
		}
		return next(sampleReply(timeseries.Row{At: s.last.At, Values: []float64{s.last.Value}}))
	}
	if latest && s.isTarget {
		return s.openBucket(last)
	}
	return last(nil)
}
