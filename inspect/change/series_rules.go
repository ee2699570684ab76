package change

import (
	"bytes"
	"context"
	"slices"

	"github.com/meowdis/meowdis/inspect/client"
	"github.com/meowdis/meowdis/redis/resp"
	"github.com/meowdis/meowdis/redis/timeseries"
)

// A compaction rule ends with its source and with its target, and DUMP leaves it out. So the journal keeps the commands
// that create it, which run once all keys of a step exist.

// rules saves the rules of the series among the saved keys, as the source and as the target. A rule whose source is not
// saved begins with the next sample: reopening its bucket would write to another key.
func (c *Maker) rules(ctx context.Context, db int, out *batch) error {
	if len(out.series) == 0 {
		return nil
	}
	infos, err := c.seriesInfo(ctx, db, out.series)
	if err != nil {
		return err
	}
	out.kind = recordRules
	for i, key := range out.series {
		source, rules := timeseries.RulesOf(infos[i])
		samples, err := timeseries.OpenBuckets([]byte(key), rules, func(calls [][][]byte) ([]resp.Value, error) { return c.Do(ctx, db, calls...) })
		if err != nil {
			return err
		}
		calls := timeseries.CreateCalls([]byte(key), rules, samples)
		if len(source) > 0 && !slices.Contains(out.series, string(source)) {
			into, err := c.rulesInto(ctx, db, string(source), key)
			if err != nil {
				return err
			}
			calls = append(calls, into...)
		}
		for _, call := range calls {
			if err := out.add(call); err != nil {
				return err
			}
		}
	}
	return out.flush()
}

// rulesInto returns the commands that create the rules of source into target, without an open bucket.
func (c *Maker) rulesInto(ctx context.Context, db int, source, target string) ([][][]byte, error) {
	infos, err := c.seriesInfo(ctx, db, []string{source})
	if err != nil {
		return nil, err
	}
	_, rules := timeseries.RulesOf(infos[0])
	rules = slices.DeleteFunc(rules, func(r timeseries.Rule) bool { return !bytes.Equal(r.Target, []byte(target)) })
	return timeseries.CreateCalls([]byte(source), rules, nil), nil
}

func (c *Maker) seriesInfo(ctx context.Context, db int, keys []string) ([]resp.Value, error) {
	calls := make([][][]byte, len(keys))
	for i, key := range keys {
		calls[i] = client.Command("TS.INFO", key)
	}
	return c.Do(ctx, db, calls...)
}

// createRules creates the rules of a step of j after its keys are restored. It calls lost with the reason for each rule
// that cannot be created, as without its source or target.
func (c *Maker) createRules(ctx context.Context, j *Journal, s Step, lost func(source, target string, why error)) error {
	return j.replayKind(recordRules, s, func(_ int64, db int, calls [][][]byte) error {
		values, err := c.commit(ctx, db, !c.Refusals.Has("WATCH"), calls)
		if err != nil {
			return err
		}
		for i, v := range values {
			if why := client.ReplyError(v); why != nil && i < len(calls) && string(calls[i][0]) == "TS.CREATERULE" {
				lost(string(calls[i][1]), string(calls[i][2]), why)
			}
		}
		return nil
	})
}
