//go:build !wasip1

package engine

import (
	"bytes"

	"github.com/meowdis/meowdis/redis/timeseries"
)

// seriesEffects holds the series whose state was reported. Their rules follow, once all targets exist: RESTORE leaves them
// out, and deletes the ones of the key that it replaces.
type seriesEffects []ruledKey

type ruledKey struct {
	db    int
	key   []byte
	rules []timeseries.Rule
}

func (all seriesEffects) has(db int, key []byte) bool {
	for _, s := range all {
		if s.db == db && bytes.Equal(s.key, key) {
			return true
		}
	}
	return false
}

// addSeries adds a series whose state was reported. It also reports the series that is compacted into it.
func (w *effectWriter) addSeries(all *seriesEffects, db int, key []byte) {
	info, ok := w.ask([]byte("TS.INFO"), key)
	if !ok {
		return
	}
	source, rules := timeseries.RulesOf(info)
	*all = append(*all, ruledKey{db, key, rules})
	if source != nil {
		w.stateOf(all, db, source)
	}
}

// ruleEffects reports the rules of series.
func (w *effectWriter) ruleEffects(all seriesEffects) {
	for _, s := range all {
		w.db = s.db
		samples, ok := w.openBuckets(s.key, s.rules)
		if !ok {
			return
		}
		for _, args := range timeseries.CreateCalls(s.key, s.rules, samples) {
			w.addFor(WithModules, args)
		}
	}
}

// openBuckets sets the starts of the open buckets, and returns the samples of the series from the first start on.
func (w *effectWriter) openBuckets(key []byte, rules []timeseries.Rule) (samples []timeseries.Sample, ok bool) {
	for i := range rules {
		closed, ok := w.ask([]byte("TS.GET"), rules[i].Target)
		if !ok {
			return nil, false
		}
		latest, ok := w.ask([]byte("TS.GET"), rules[i].Target, []byte("LATEST"))
		if !ok {
			return nil, false
		}
		rules[i].SetOpen(closed, latest)
	}
	from := timeseries.FirstOpen(rules)
	if from == timeseries.NoBucket {
		return nil, true
	}
	v, ok := w.ask([]byte("TS.RANGE"), key, number(from), []byte("+"))
	return timeseries.ReadSamples(v.Unpacked()), ok
}

// createdRules reports whether the call may have created a series with the rules of ts-compaction-policy, which a replica
// does not have.
func (w *effectWriter) createdRules() bool {
	limits := w.engine.env(w.db, w.work).Limits
	if limits == nil || limits.Modules == nil || len(limits.Modules.SeriesRules) == 0 {
		return false
	}
	info, ok := w.ask([]byte("TS.INFO"), w.call.args[1])
	return !ok || len(info.Elems) < 2 || info.Elems[1].Int == 1 // samples
}
