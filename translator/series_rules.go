package translator

import (
	"math"
	"slices"

	"github.com/meowdis/meowdis/internal/smallsort"
	"github.com/meowdis/meowdis/redis/commands"
	"github.com/meowdis/meowdis/redis/resp"
	"github.com/meowdis/meowdis/redis/timeseries"
	"github.com/meowdis/meowdis/store"
)

// compactionRule aggregates the buckets of a series into another one. A bucket is written when a later one begins.
type compactionRule struct {
	target     []byte // its key
	targetID   store.Value
	aggregator timeseries.Aggregator
	bucket     int64 // ms
	align      int64
	start      int64 // of the open bucket
	open       bool  // a bucket is open

	added   bool           // the call creates the rule
	moved   bool           // start or open changed
	dirty   map[int64]bool // starts of the closed buckets that must be written again
	emptied *[2]int64      // the times of the target's samples to delete, from first to last; nil for none
}

const (
	sqlRules = `SELECT t.key, t.id, r.aggregator, CAST(r.bucket AS TEXT), CAST(r.align AS TEXT), CAST(r.opened AS TEXT)
		FROM series_rules r JOIN keys t ON t.id = r.target_id WHERE r.source_id = ` + liveID + ` AND t.db = ?1 ORDER BY r.id`
	sqlAddRule = `INSERT INTO series_rules(source_id, target_id, aggregator, bucket, align)
		VALUES(` + thisID + `, (SELECT id FROM keys WHERE db = ?1 AND key = ?3), ?4, CAST(?5 AS INTEGER), CAST(?6 AS INTEGER))`
	sqlDropRule = `DELETE FROM series_rules WHERE source_id = ` + thisID + ` AND target_id = (SELECT id FROM keys WHERE db = ?1 AND key = ?3)`
	// sqlAddOpenRule adds the rule of a new series to a target at ?3.
	sqlAddOpenRule = `INSERT INTO series_rules(source_id, target_id, aggregator, bucket, align, opened)
		VALUES(` + thisID + `, (SELECT id FROM keys WHERE db = ?1 AND key = ?3), ?4, CAST(?5 AS INTEGER), CAST(?6 AS INTEGER), CAST(?7 AS INTEGER))`
	sqlOpenRule = `UPDATE series_rules SET opened = CAST(?4 AS INTEGER) WHERE source_id = ` + thisID + ` AND target_id = ?3`
	sqlSource   = `SELECT s.key FROM series_rules r JOIN keys s ON s.id = r.source_id WHERE r.target_id = ` + liveID + ` AND s.db = ?1`

	sqlBucket = `SELECT CAST(at AS TEXT), value FROM samples WHERE key_id = ` + liveID + ` AND at BETWEEN CAST(?4 AS INTEGER) AND CAST(?5 AS INTEGER) ORDER BY at`
	// The nearest samples before and after ?4 that are not NaN, and not from ?5 to ?6.
	sqlBefore = `SELECT CAST(at AS TEXT), value FROM samples WHERE key_id = ` + liveID + ` AND at < CAST(?4 AS INTEGER) AND value IS NOT NULL
		AND at NOT BETWEEN CAST(?5 AS INTEGER) AND CAST(?6 AS INTEGER) ORDER BY at DESC LIMIT 1`
	sqlAfter = `SELECT CAST(at AS TEXT), value FROM samples WHERE key_id = ` + liveID + ` AND at > CAST(?4 AS INTEGER) AND value IS NOT NULL
		AND at NOT BETWEEN CAST(?5 AS INTEGER) AND CAST(?6 AS INTEGER) ORDER BY at LIMIT 1`
)

func ruleOf(row store.Row) *compactionRule {
	r := &compactionRule{
		target: row[0].Bytes(), targetID: row[1], aggregator: timeseries.Aggregator(row[2].Int()), bucket: row[3].Int(), align: row[4].Int(),
		dirty: map[int64]bool{},
	}
	if r.open = row[5].Kind() != store.Null; r.open {
		r.start = row[5].Int()
	}
	return r
}

// startOf returns the start of the bucket of a time, 0 for one that begins below 0.
func (r *compactionRule) startOf(at int64) int64 {
	return max(0, timeseries.BucketStart(at, r.align, r.bucket))
}

// end returns the last time of a bucket. A bucket that begins below 0 is shorter.
func (r *compactionRule) end(start int64) int64 {
	return timeseries.BucketStart(start, r.align, r.bucket) + r.bucket - 1
}

// touchBuckets records the buckets that a sample changes. It is called before the sample is put.
func (s *series) touchBuckets(at int64) {
	appended := s.isEmpty() || at > s.last.At
	for _, r := range s.rules {
		s.work.Step(1)
		start := r.startOf(at)
		switch {
		case appended && !r.open:
			r.start, r.open, r.moved = start, true, true
		case appended && start > r.start:
			s.markDirty(r, r.start)
			r.start, r.moved = start, true
		case appended:
		case start < r.current(s):
			s.markDirty(r, start)
		}
	}
}

// markDirty records that a bucket of a rule must be written again.
func (s *series) markDirty(r *compactionRule, start int64) {
	if !r.dirty[start] {
		s.work.Grow(2 * stmtMemory * (stmtsPerBucket + 1)) // the statements, and their rows
		r.dirty[start] = true
	}
}

// current returns the start of the bucket of the last sample.
func (r *compactionRule) current(s *series) int64 {
	if r.open {
		return r.start
	}
	return r.startOf(s.last.At)
}

// closed names a bucket whose result must be written.
type closed struct {
	source *series
	rule   *compactionRule
	start  int64
}

// saveSeries plans the writes of series and of the buckets that they close.
func (c *Call) saveSeries(all []*series, reply resp.Value) Plan {
	var buckets []closed
	emptied := false
	for _, s := range all {
		for _, r := range s.rules {
			emptied = emptied || r.emptied != nil
			for start := range r.dirty {
				buckets = append(buckets, closed{s, r, start})
			}
		}
	}
	if len(buckets) == 0 && !emptied {
		return c.writeSeries(all, nil, reply)
	}
	smallsort.Sort(buckets, func(a, b closed) int { return int(min(1, max(-1, a.start-b.start))) })
	return c.compact(all, buckets, reply)
}

// compact reads the closed buckets and their targets, and plans the writes.
func (c *Call) compact(all []*series, buckets []closed, reply resp.Value) Plan {
	var stmts []store.Stmt
	for _, b := range buckets {
		stmts = append(stmts, b.source.bucketStmts(b.start, b.rule.end(b.start))...)
	}
	keys := changedTargets(all)
	for _, key := range keys {
		stmts = append(stmts, c.seriesStmts(key)...)
	}
	for _, b := range buckets {
		stmts = append(stmts, c.stmt(sqlSampleAt, b.rule.target, store.Digits(b.start)))
	}
	p := readThen(func(r *store.Result) Plan {
		at := stmtsPerBucket * len(buckets)
		targets := c.openTargets(r, keys, at)
		at += 2 * len(keys)
		dropEmptied(all, targets)
		for i, b := range buckets {
			if t := targets[string(b.rule.target)]; t != nil {
				b.save(t, r.Rows[stmtsPerBucket*i:][:stmtsPerBucket], r.Rows[at+i])
			}
		}
		var written []*series
		for _, key := range keys {
			if t := targets[string(key)]; t != nil {
				written = append(written, t)
			}
		}
		return c.writeSeries(all, written, reply)
	}, stmts...)
	p.Reads = keys
	return p
}

// changedTargets returns the targets of the rules with changed buckets. A series is the target of one rule.
func changedTargets(all []*series) (keys [][]byte) {
	for _, s := range all {
		for _, r := range s.rules {
			if len(r.dirty) > 0 || r.emptied != nil {
				keys = append(keys, r.target)
			}
		}
	}
	return keys
}

// dropEmptied drops the results of emptied buckets from targets.
func dropEmptied(all []*series, targets map[string]*series) {
	for _, s := range all {
		for _, r := range s.rules {
			if t := targets[string(r.target)]; t != nil && r.emptied != nil {
				t.dropped = append(t.dropped, *r.emptied)
			}
		}
	}
}

// save puts the bucket's result into its target, or drops the target's sample. bucket has the rows of bucketStmts, and
// stored the row of the target's sample.
func (b closed) save(target *series, bucket [][]store.Row, stored []store.Row) {
	if len(stored) > 0 {
		target.remember(timeseries.Sample{At: b.start, Value: sampleValue(stored[0][1])})
	}
	v, ok := b.result(bucket)
	switch {
	case ok:
		target.put(timeseries.Sample{At: b.start, Value: v})
	case target.known[b.start]:
		target.drop(b.start)
	}
}

// openTargets decodes the series at keys, from statement at on. A target is nil if its rule does nothing, because the key
// is missing or has another type.
func (c *Call) openTargets(r *store.Result, keys [][]byte, at int) map[string]*series {
	targets := map[string]*series{}
	for i, key := range keys {
		t, bad := c.seriesOf(key, r.Rows[at+2*i], r.Rows[at+2*i+1], wrongType)
		if bad.IsError() || !t.stored {
			t = nil
		} else {
			t.work = r.Work
		}
		targets[string(key)] = t
	}
	return targets
}

// stmtsPerBucket counts the statements of bucketStmts.
const stmtsPerBucket = 3

// bucketStmts returns statements that read the samples from start to end, the one before, and the one after.
func (s *series) bucketStmts(start, end int64) []store.Stmt {
	without := [2]int64{1, 0}
	if len(s.dropped) > 0 {
		without = s.dropped[0]
	}
	c, first, last := s.call, store.Digits(without[0]), store.Digits(without[1])
	return []store.Stmt{
		c.stmt(sqlBucket, s.key, store.Digits(start), store.Digits(end)),
		c.stmt(sqlBefore, s.key, store.Digits(start), first, last),
		c.stmt(sqlAfter, s.key, store.Digits(end), first, last),
	}
}

// result aggregates a bucket of the source, with the changes of the call. ok is false without a valid sample.
func (b closed) result(rows [][]store.Row) (v float64, ok bool) {
	s, r := b.source, b.rule
	inside := s.overlaid(rows[0], b.start, r.end(b.start))
	var bucket timeseries.Bucket
	for _, at := range inside {
		s.work.Step(8)
		bucket.Add(at)
	}
	if !bucket.Valid(r.aggregator) {
		return 0, false
	}
	if r.aggregator != timeseries.TWA {
		return bucket.Result(r.aggregator), true
	}
	prev, next := s.nearest(rows[1], b.start, false), s.nearest(rows[2], r.end(b.start), true)
	return bucket.Weighted(b.start, r.end(b.start)+1, prev, next), true
}

// overlaid returns the samples of rows with the changes of the call, in order of time.
func (s *series) overlaid(rows []store.Row, from, to int64) []timeseries.Sample {
	s.work.Grow(16 * int64(len(rows)))
	all := make([]timeseries.Sample, 0, len(rows))
	for _, row := range rows {
		at := timeseries.Sample{At: row[0].Int(), Value: sampleValue(row[1])}
		if _, changed := s.samples[at.At]; !changed && !s.isDropped(at.At) {
			all = append(all, at)
		}
	}
	times := s.sortedTimes()
	first, _ := slices.BinarySearch(times, from)
	for _, at := range times[first:] {
		if at > to {
			break
		}
		all = append(all, timeseries.Sample{At: at, Value: s.samples[at]})
	}
	slices.SortFunc(all, func(a, b timeseries.Sample) int { return int(min(1, max(-1, a.At-b.At))) })
	return all
}

// sortedTimes returns the times of the changed samples, in order.
func (s *series) sortedTimes() []int64 {
	if len(s.sorted) != len(s.times) {
		s.work.Allocate(8 * len(s.times))
		s.sorted = slices.Sorted(slices.Values(s.times))
	}
	return s.sorted
}

// nearest returns the sample that is not NaN and nearest to a time: the first one after it if later is set, else the last
// one before it, nil for none. It is the stored one in rows, or a change of the call.
func (s *series) nearest(rows []store.Row, to int64, later bool) (found *timeseries.Sample) {
	for _, row := range rows {
		at := timeseries.Sample{At: row[0].Int(), Value: sampleValue(row[1])}
		if _, changed := s.samples[at.At]; !changed && !s.isDropped(at.At) {
			found = &at
		}
	}
	times := s.sortedTimes()
	i, there := slices.BinarySearch(times, to)
	step := -1
	switch {
	case !later:
		i--
	case there:
		i, step = i+1, 1
	default:
		step = 1
	}
	for ; i >= 0 && i < len(times); i += step {
		s.work.Step(1)
		at := timeseries.Sample{At: times[i], Value: s.samples[times[i]]}
		if math.IsNaN(at.Value) {
			continue
		}
		if found == nil || (at.At < found.At) == later {
			found = &at
		}
		break
	}
	return found
}

// writeSeries plans the writes of series and of the targets of their rules.
func (c *Call) writeSeries(all, targets []*series, reply resp.Value) Plan {
	var stmts, added []store.Stmt
	var keys [][]byte
	for _, s := range all {
		targets = append(targets, s.targets...)
	}
	for _, s := range slices.Concat(all, targets) {
		if len(s.times) == 0 && len(s.dropped) == 0 && s.stored {
			continue
		}
		stmts = append(stmts, s.stmts()...)
		keys = append(keys, s.key)
		for _, r := range s.rules {
			if !r.moved {
				continue
			}
			opened := store.Value{}
			if r.open {
				opened = store.Digits(r.start)
			}
			if r.added {
				added = append(added, store.Stmt{SQL: sqlAddOpenRule, Args: append(c.key(s.key)[:2:2], store.Bytes(r.target), store.Int(int64(r.aggregator)),
					store.Digits(r.bucket), store.Digits(r.align), opened)})
				continue
			}
			stmts = append(stmts, store.Stmt{SQL: sqlOpenRule, Args: append(c.key(s.key)[:2:2], r.targetID, opened)})
		}
	}
	if len(stmts) == 0 {
		return answer(reply)
	}
	p := write(always(reply), append(stmts, added...)...)
	p.Keys = keys
	return p
}

func tsCreaterule(c *Call) Plan {
	if n := len(c.Args); n != 6 && n != 7 || !c.is(3, "AGGREGATION") {
		return answer(commands.WrongArity(c.Command))
	}
	r, bad := c.parseRule()
	if bad.IsError() {
		return answer(bad)
	}
	source, target := c.Args[1], c.Args[2]
	if string(source) == string(target) {
		return answer(seriesError("the source key and destination key should be different"))
	}
	return c.openSeries(source, seriesWrongType, func(s *series) Plan {
		switch {
		case !s.stored:
			return answer(seriesMissing)
		case s.isTarget:
			return answer(seriesError("the source key already has a source rule"))
		}
		return c.openSeries(target, seriesWrongType, func(t *series) Plan {
			switch {
			case !t.stored:
				return answer(seriesMissing)
			case len(t.rules) > 0:
				return answer(seriesError("the destination key already has a dst rule"))
			case t.isTarget:
				return answer(seriesError("the destination key already has a src rule"))
			}
			return write(always(resp.OK),
				store.Stmt{SQL: sqlAddRule, Args: append(c.key(source)[:2:2], store.Bytes(target), store.Int(int64(r.aggregator)), store.Digits(r.bucket), store.Digits(r.align))},
				c.touch(source), c.touch(target))
		})
	})
}

// parseRule parses the aggregation of TS.CREATERULE.
func (c *Call) parseRule() (r compactionRule, bad resp.Value) {
	all, bucket, bad := c.parseAggregation(3, len(c.Args))
	if bad.IsError() {
		return r, bad
	}
	r = compactionRule{aggregator: all[0], bucket: bucket}
	if len(c.Args) == 7 {
		var ok bool
		if r.align, ok = parseInt(c.Args[6]); !ok || r.align < 0 {
			return r, seriesError("Couldn't parse alignTimestamp")
		}
	}
	if len(all) > 1 {
		return r, seriesError("CREATERULE requires exactly one aggregation type")
	}
	return r, bad
}

func tsDeleterule(c *Call) Plan {
	source, target := c.Args[1], c.Args[2]
	return c.openSeries(source, seriesWrongType, func(s *series) Plan {
		switch {
		case !s.stored:
			return answer(seriesMissing)
		case !slices.ContainsFunc(s.rules, func(r *compactionRule) bool { return string(r.target) == string(target) }):
			return answer(seriesError("compaction rule does not exist"))
		}
		return write(always(resp.OK),
			store.Stmt{SQL: sqlDropRule, Args: append(c.key(source)[:2:2], store.Bytes(target))}, c.touch(source), c.touch(target))
	})
}
