//go:build !wasip1

package engine

import (
	"bytes"
	"errors"

	"github.com/meowdis/meowdis/redis/resp"
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
		samples, err := timeseries.OpenBuckets(s.key, s.rules, w.askAll)
		if err != nil {
			return
		}
		for _, args := range timeseries.CreateCalls(s.key, s.rules, samples) {
			w.addFor(WithModules, args)
		}
	}
}

// createdRules reports whether the call may have created a series with the rules of ts-compaction-policy, which a replica
// does not have.
func (w *effectWriter) createdRules() bool {
	limits := w.engine.env(w.db, w.work).Limits
	if limits == nil || limits.Modules == nil || len(limits.Modules.SeriesRules) == 0 {
		return false
	}
	samples, ok := w.ask([]byte("TS.RANGE"), w.call.args[1], []byte("-"), []byte("+"), []byte("COUNT"), []byte("2"))
	return !ok || len(samples.Unpacked().Elems) < 2
}

// askAll is ask for several commands, with errNotAsked in place of ok.
func (w *effectWriter) askAll(calls [][][]byte) (replies []resp.Value, err error) {
	for _, args := range calls {
		v, ok := w.ask(args...)
		if !ok {
			return nil, errNotAsked
		}
		replies = append(replies, v)
	}
	return replies, nil
}

// errNotAsked means that ask has failed, and has recorded that.
var errNotAsked = errors.New("the state of a key is unknown")
