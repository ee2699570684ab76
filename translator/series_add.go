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

// parseTimestamp parses a time in ms, or * for the present time.
func (c *Call) parseTimestamp(arg []byte) (at int64, bad resp.Value) {
	if string(arg) == "*" {
		return c.Env.Now, bad
	}
	at, ok := parseInt(arg)
	switch {
	case !ok:
		return 0, seriesError("invalid timestamp")
	case at < 0:
		return 0, seriesError("invalid timestamp, must be a nonnegative integer")
	}
	return at, bad
}

// parseSample parses a time and a value.
func (c *Call) parseSample(at, value []byte) (s timeseries.Sample, bad resp.Value) {
	var ok bool
	if s.Value, ok = timeseries.ParseValue(string(value)); !ok {
		return s, seriesError("invalid value")
	}
	s.At, bad = c.parseTimestamp(at)
	return s, bad
}

func tsAdd(c *Call) Plan {
	sample, bad := c.parseSample(c.Args[2], c.Args[3])
	if bad.IsError() {
		return answer(bad)
	}
	return c.openSeries(c.Args[1], notSeries, func(s *series) Plan {
		if !s.stored {
			return s.createWith(func() Plan { return s.insertOne(sample, s.policy) })
		}
		policy := s.policy
		on, bad := c.policyOption("ON_DUPLICATE")
		switch {
		case bad.IsError():
			return answer(bad)
		case on != policyUnset:
			policy = on
		}
		return s.insertOne(sample, policy)
	})
}

// create takes the options of the call for a new series.
func (s *series) create() (bad resp.Value) {
	o, bad := s.call.parseSeriesOptions()
	o.to(&s.seriesOptions)
	s.labels = o.labels
	return bad
}

// createWith creates a series, with the rules of the parameter ts-compaction-policy, and calls insert. A rule whose target
// exists is left out.
func (s *series) createWith(insert func() Plan) Plan {
	if bad := s.create(); bad.IsError() {
		return answer(bad)
	}
	c, rules := s.call, s.call.modules().SeriesRules
	if len(rules) == 0 {
		return insert()
	}
	var keys [][]byte
	var stmts []store.Stmt
	for _, rule := range rules {
		keys = append(keys, rule.Target(s.key))
		stmts = append(stmts, c.seriesStmts(keys[len(keys)-1])...)
	}
	p := readThen(func(r *store.Result) Plan {
		s.work = r.Work
		for i, rule := range rules {
			taken := slices.ContainsFunc(s.targets, func(t *series) bool { return string(t.key) == string(keys[i]) })
			if len(r.Rows[2*i]) > 0 || taken {
				continue
			}
			name := rule.Aggregator.String()
			t := &series{call: c, key: keys[i], work: r.Work, seriesOptions: seriesOptions{retention: rule.Retention, chunkSize: s.call.modules().SeriesChunk, plain: s.call.modules().SeriesPlain}, sampleChanges: noChanges()}
			t.labels = append(slices.Clone(s.labels), timeseries.Label{Name: "aggregation", Value: strings.ToUpper(name)}, timeseries.Label{Name: "time_bucket", Value: strconv.FormatInt(rule.Bucket, 10)})
			s.targets = append(s.targets, t)
			s.rules = append(s.rules, &compactionRule{target: keys[i], aggregator: rule.Aggregator, bucket: rule.Bucket, align: rule.Align, added: true, dirty: map[int64]bool{}})
		}
		return insert()
	}, stmts...)
	p.Reads = keys
	return p
}

// insertOne plans the insertion of a sample.
func (s *series) insertOne(at timeseries.Sample, policy duplicatePolicy) Plan {
	insert := func() Plan {
		reply := s.insert(at, policy)
		if reply.IsError() {
			return answer(reply)
		}
		return s.call.saveSeries([]*series{s}, reply)
	}
	if at.At > s.last.At || s.isEmpty() {
		return insert()
	}
	return readThen(func(r *store.Result) Plan {
		s.work = r.Work
		for _, row := range r.Rows[0] {
			s.remember(timeseries.Sample{At: row[0].Int(), Value: sampleValue(row[1])})
		}
		return insert()
	}, s.call.stmt(sqlSampleAt, s.key, store.Digits(at.At)))
}

func (s *series) isEmpty() bool { return s.count+s.added == 0 }

// remember records a stored sample.
func (s *series) remember(at timeseries.Sample) {
	s.known[at.At] = true
	if s.values == nil {
		s.values = map[int64]float64{}
	}
	s.values[at.At] = at.Value
}

var (
	tooOld       = seriesError("Timestamp is older than retention")
	upsertFailed = seriesError("Error at upsert, update is not supported when DUPLICATE_POLICY is set to BLOCK mode, or either current or new value is NaN and DUPLICATE_POLICY is MAX/MIN/SUM")
)

// insert adds a sample, and returns its time or an error. A stored sample at its time must be remembered.
func (s *series) insert(at timeseries.Sample, policy duplicatePolicy) resp.Value {
	switch {
	case s.isEmpty():
	case s.retention > 0 && at.At < s.last.At && s.last.At-at.At > s.retention:
		return tooOld
	case policy == policyLast && at.At >= s.last.At && at.At-s.last.At <= s.ignoreTime && math.Abs(at.Value-s.last.Value) <= s.ignoreValue:
		return resp.MakeInt(s.last.At)
	case at.At <= s.last.At:
		if old, ok := s.valueAt(at.At); ok {
			if at.Value, ok = merged(policy, old, at.Value); !ok {
				return upsertFailed
			}
		}
	}
	s.touchBuckets(at.At)
	s.put(at)
	return resp.MakeInt(at.At)
}

// valueAt returns the value at a time.
func (s *series) valueAt(at int64) (v float64, ok bool) {
	if v, ok = s.samples[at]; ok {
		return v, true
	}
	v, ok = s.values[at]
	return v, ok
}

// merged returns the value of two samples at one time.
func merged(policy duplicatePolicy, old, v float64) (float64, bool) {
	if policy == policyBlock || policy == policyUnset {
		return 0, false
	}
	if math.IsNaN(old) != math.IsNaN(v) {
		if policy >= policyMin {
			return 0, false
		}
		if math.IsNaN(v) {
			return old, true
		}
		return v, true
	}
	switch policy {
	case policyFirst:
		return old, true
	case policyMin:
		return min(old, v), true
	case policyMax:
		return max(old, v), true
	case policySum:
		return old + v, true
	}
	return v, true
}

func tsMadd(c *Call) Plan {
	if len(c.Args)%3 != 1 {
		return answer(commands.WrongArity(c.Command))
	}
	all := map[string]*series{}
	var keys [][]byte
	var stmts []store.Stmt
	for i := 1; i < len(c.Args); i += 3 {
		if key := string(c.Args[i]); all[key] == nil {
			c.Env.Work.Grow(4 * stmtMemory) // the series, its statements, and their rows
			all[key] = &series{}
			keys = append(keys, c.Args[i])
			stmts = append(stmts, c.seriesStmts(c.Args[i])...)
		}
	}
	return readThen(func(r *store.Result) Plan {
		for i, key := range keys {
			s, bad := c.seriesOf(key, r.Rows[2*i], r.Rows[2*i+1], notSeries)
			if bad.IsError() {
				s = nil
			} else {
				s.work = r.Work
			}
			all[string(key)] = s
		}
		return c.rememberAll(keys, all, func() Plan { return c.insertAll(keys, all) })
	}, stmts...)
}

// rememberAll reads the stored samples at the times of TS.MADD that are not later than the last sample.
func (c *Call) rememberAll(keys [][]byte, all map[string]*series, next func() Plan) Plan {
	times := map[string][]byte{}
	for i := 1; i < len(c.Args); i += 3 {
		s := all[string(c.Args[i])]
		if s == nil || s.isEmpty() {
			continue
		}
		if at, bad := c.parseTimestamp(c.Args[i+1]); !bad.IsError() && at <= s.last.At {
			times[string(c.Args[i])] = strconv.AppendInt(append(times[string(c.Args[i])], ','), at, 10)
		}
	}
	if len(times) == 0 {
		return next()
	}
	var stmts []store.Stmt
	var of []*series
	for _, key := range keys {
		if list := times[string(key)]; list != nil {
			list[0] = '['
			stmts = append(stmts, c.stmt(sqlSamplesAt, key, store.TextBytes(append(list, ']'))))
			of = append(of, all[string(key)])
		}
	}
	return readThen(func(r *store.Result) Plan {
		for i, s := range of {
			s.work = r.Work
			for _, row := range r.Rows[i] {
				s.remember(timeseries.Sample{At: row[0].Int(), Value: sampleValue(row[1])})
			}
		}
		return next()
	}, stmts...)
}

// insertAll inserts the samples of TS.MADD, each on its own.
func (c *Call) insertAll(keys [][]byte, all map[string]*series) Plan {
	reply := resp.Value{Kind: resp.Array, Elems: make([]resp.Value, 0, len(c.Args)/3)}
	for i := 1; i < len(c.Args); i += 3 {
		s := all[string(c.Args[i])]
		at, bad := c.parseSample(c.Args[i+1], c.Args[i+2])
		switch {
		case bad.IsError():
			reply.Elems = append(reply.Elems, bad)
		case s == nil || !s.stored:
			reply.Elems = append(reply.Elems, notSeries)
		default:
			s.work.Step(8)
			reply.Elems = append(reply.Elems, s.insert(at, s.policy))
		}
	}
	var changed []*series
	for _, key := range keys {
		if s := all[string(key)]; s != nil && len(s.times) > 0 {
			changed = append(changed, s)
		}
	}
	return c.saveSeries(changed, reply)
}

// tsIncrby translates TS.INCRBY and TS.DECRBY: it adds sign times the argument to the last value.
func tsIncrby(sign float64) func(*Call) Plan {
	return func(c *Call) Plan {
		return c.openSeries(c.Args[1], seriesWrongType, func(s *series) Plan {
			n, ok := parseFloat(c.Args[2])
			if !ok {
				return answer(seriesError("invalid increase/decrease value"))
			}
			at := c.Env.Now
			if i := c.option("TIMESTAMP"); i > 0 && i+1 < len(c.Args) {
				var bad resp.Value
				if at, bad = c.parseTimestamp(c.Args[i+1]); bad.IsError() {
					return answer(seriesError("invalid timestamp"))
				}
			}
			if !s.stored {
				return s.createWith(func() Plan { return s.insertOne(timeseries.Sample{At: at, Value: sign * n}, policyLast) })
			}
			switch {
			case at < s.last.At && s.last.At != 0:
				return fail("TSDB: timestamp must be equal to or higher than the maximum existing timestamp")
			case math.IsNaN(s.last.Value):
				return answer(seriesError("cannot increment/decrement NaN value"))
			}
			return s.insertOne(timeseries.Sample{At: at, Value: s.last.Value + sign*n}, policyLast)
		})
	}
}
