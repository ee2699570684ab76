package transfer

import (
	"bytes"
	"context"
	"fmt"
	"strings"

	"github.com/meowdis/meowdis/internal/smallsort"
	"github.com/meowdis/meowdis/keyspace"
	"github.com/meowdis/meowdis/redis/rdb"
	"github.com/meowdis/meowdis/redis/resp"
	"github.com/meowdis/meowdis/redis/timeseries"
)

// A series moves with its compaction rules in its value, as in a dump file. DUMP leaves them out, and RESTORE ignores them.
// So they are read by TS.INFO, and created once all keys are written.

// askRules requests the rules of a series, and the one that fills it.
func (r *reader) askRules(t *keyspace.RoundTrip, read *reading) {
	t.Add([][][]byte{call("TS.INFO", read.key.Name)}, func(ctx context.Context, replies []resp.Value) error {
		m, ok := read.value.(*rdb.Module)
		if !ok || replies[0].IsError() {
			return nil
		}
		source, rules := timeseries.RulesOf(replies[0])
		samples, err := timeseries.OpenBuckets(read.key.Name, rules, pipeline(ctx, r.session))
		read.value = timeseries.JoinRules(m, source, rules, samples)
		return err
	})
}

// pipeline returns a function that runs commands on s.
func pipeline(ctx context.Context, s keyspace.Session) func(calls [][][]byte) ([]resp.Value, error) {
	return func(calls [][][]byte) ([]resp.Value, error) { return s.Pipeline(ctx, calls) }
}

// plainSeries returns the value that RESTORE takes, and the rules of a series.
func plainSeries(m *rdb.Module) (*rdb.Module, []timeseries.Rule) {
	if m.Name != string(SeriesType) {
		return m, nil
	}
	return timeseries.SplitRules(m)
}

// ruledSeries holds rules until all keys are written.
type ruledSeries struct {
	key   *Key
	rules []timeseries.Rule
}

// createRules creates the rules of the series that were written. Until then their targets may be missing.
func (w *Writer) createRules(ctx context.Context) error {
	for _, s := range w.ruled {
		if err := selectDB(ctx, w.session, w.o.DB(s.key.DB)); err != nil {
			return err
		}
		samples, err := timeseries.OpenSamples(s.key.Name, s.rules, pipeline(ctx, w.session))
		if err != nil {
			return err
		}
		calls := timeseries.CreateCalls(s.key.Name, s.rules, samples)
		replies, err := w.runInTransaction(ctx, calls)
		if err == nil && replies == nil {
			replies, err = w.pipeline(ctx, calls)
		}
		if err != nil {
			return err
		}
		for i, v := range replies {
			switch bad := firstRefused(v); {
			case bad == nil:
			case string(calls[i][0]) == "TS.CREATERULE":
				w.o.Notify(s.key, &Incomplete{fmt.Sprintf("its compaction rule into %q: %v", calls[i][2], bad)})
			default:
				w.o.Notify(s.key, &Incomplete{fmt.Sprintf("the samples of its open bucket: %v", bad)})
			}
		}
		if w.o.Transaction != nil {
			if err := w.o.Transaction.Commit(); err != nil {
				return err
			}
		}
	}
	w.ruled = nil
	return nil
}

// compareRules compares the rules of a series in A with the ones in B.
func (d *differ) compareRules(ctx context.Context, k *Key, rules []timeseries.Rule) (a, b string, err error) {
	info, err := d.b.session.Do(ctx, call("TS.INFO", k.Name)...)
	if err != nil || info.IsError() {
		return "", "", err
	}
	_, there := timeseries.RulesOf(info)
	return showRules(rules), showRules(there), nil
}

func showRules(rules []timeseries.Rule) string {
	smallsort.Sort(rules, func(a, b timeseries.Rule) int { return bytes.Compare(a.Target, b.Target) })
	shown := []string{}
	for _, r := range rules {
		shown = append(shown, fmt.Sprintf("%s %dms into %q, aligned to %d", r.Aggregator, r.Bucket, r.Target, r.Align))
	}
	if len(shown) == 0 {
		return "no compaction rules"
	}
	return strings.Join(shown, "; ")
}
