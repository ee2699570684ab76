package translator

import (
	"slices"

	"github.com/meowdis/meowdis/redis/resp"
	"github.com/meowdis/meowdis/redis/timeseries"
	"github.com/meowdis/meowdis/store"
)

func tsDel(c *Call) Plan {
	from, to, bad := c.parseSpan(2)
	if bad.IsError() {
		return answer(bad)
	}
	return c.openSeries(c.Args[1], seriesWrongType, func(s *series) Plan {
		switch {
		case !s.stored:
			return answer(seriesMissing)
		case s.deletesCompacted(from):
			return answer(seriesError("When a series has compactions, deleting samples or compaction buckets beyond the series retention period is not possible"))
		}
		return readThen(func(r *store.Result) Plan {
			n := r.Rows[0][0][0].Int()
			if n == 0 {
				return answer(resp.Zero)
			}
			var last *timeseries.Sample
			for _, row := range r.Rows[1] {
				last = &timeseries.Sample{At: row[0].Int(), Value: sampleValue(row[1])}
			}
			s.work = r.Work
			return s.deleteSpan(from, to, last, resp.MakeInt(n))
		}, c.stmt(sqlCountSamples, s.key, store.Digits(max(from, s.oldest())), store.Digits(to)), c.stmt(sqlLastBeside, s.key, store.Digits(from), store.Digits(to), store.Digits(s.hidden)))
	})
}

const (
	sqlCountSamples = `SELECT count(*) FROM samples WHERE key_id = ` + liveID + ` AND at BETWEEN CAST(?4 AS INTEGER) AND CAST(?5 AS INTEGER)`
	// The last sample from ?6 on that is not between ?4 and ?5.
	sqlLastBeside = `SELECT CAST(at AS TEXT), value FROM samples WHERE key_id = ` + liveID + ` AND at >= CAST(?6 AS INTEGER) AND (at < CAST(?4 AS INTEGER) OR at > CAST(?5 AS INTEGER)) ORDER BY at DESC LIMIT 1`
)

// deletesCompacted reports whether a deletion from a time on changes buckets whose samples have expired.
func (s *series) deletesCompacted(from int64) bool {
	if s.retention == 0 || s.last.At <= s.retention {
		return false
	}
	return slices.ContainsFunc(s.rules, func(r *compactionRule) bool { return min(from, r.startOf(from)) < s.oldest() })
}

// deleteSpan plans the deletion of the samples from one time to another; last is the last sample that stays.
func (s *series) deleteSpan(from, to int64, last *timeseries.Sample, reply resp.Value) Plan {
	s.dropped = append(s.dropped, [2]int64{from, to})
	for _, r := range s.rules {
		if !r.open {
			continue
		}
		if last == nil {
			r.open, r.moved, r.emptied = false, true, &[2]int64{0, r.start}
			continue
		}
		emptied := [2]int64{r.startOf(from) + 1, min(r.startOf(to), r.start) - 1}
		if last.At < r.start {
			r.start, r.moved = r.startOf(last.At), true
			emptied = [2]int64{min(emptied[0], r.start), maxTime}
		}
		if emptied[0] <= emptied[1] {
			r.emptied = &emptied
		}
		for _, at := range []int64{from, min(to, s.last.At)} {
			if start := r.startOf(at); start < r.start {
				r.dirty[start] = true
			}
		}
	}
	return s.call.saveSeries([]*series{s}, reply)
}
