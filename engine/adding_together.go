//go:build !wasip1

package engine

import (
	"github.com/meowdis/meowdis/redis/resp"
	"github.com/meowdis/meowdis/store"
	"github.com/meowdis/meowdis/translator"
)

// addStreak says whether the next calls of a bulk are likely to set strings of missing keys.
type addStreak struct {
	skip, refused int // calls to run one by one before the next try, and after the next refusal
}

const maxAddSkip = 1024 // calls between two tries

// addTogether runs the next calls of a bulk with one statement if each of them sets a small string of a missing key, and
// appends their replies. It reports false, without an effect, if they must run one by one.
func (a *attempt) addTogether(i int, replies *[]resp.Value) (added bool, err error) {
	const n = translator.AddedTogether
	switch {
	case a.chunks == nil || len(a.calls)-i < n:
		return false, nil
	case a.adding.skip > 0:
		a.adding.skip--
		return false, nil
	}
	plans := a.ahead()
	if len(plans) < n || a.engine.feed.Follows() {
		return false, nil
	}
	plans = plans[:n]
	for _, c := range a.calls[i : i+n] {
		if c.eval != nil || c.waiter != nil || c.options.has(mayStage) || c.session == nil || c.session.tracks {
			return false, nil
		}
	}
	batch, ok := translator.AddTogether(plans)
	if !ok {
		return false, nil
	}
	a.work.Begin()
	r, err := a.recorded(batch)
	if err != nil {
		return false, err
	}
	if r.Refused != nil {
		a.adding.refused = min(2*a.adding.refused+n, maxAddSkip)
		a.adding.skip = a.adding.refused
		return false, nil
	}
	a.adding.refused = 0
	one := store.Result{Rows: make([][]store.Row, 2), Changes: []int64{1, 0}} // for a plan of one or two statements
	for j := range plans {
		v, err := a.engine.reply(&plans[j], &one, a.work)
		if err != nil {
			return false, err
		}
		a.work.Budget.Charge(store.Weight(&v))
		*replies = append(*replies, v)
	}
	a.chunk.plans = a.chunk.plans[n:]
	a.spent(i, n)
	return true, nil
}
