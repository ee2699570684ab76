package cmd

import (
	"bytes"
	"cmp"
	"context"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/meowdis/meowdis/cmd/internal/exit"
	"github.com/meowdis/meowdis/cmd/internal/targets"
	"github.com/meowdis/meowdis/internal/smallsort"
	"github.com/meowdis/meowdis/keyspace"
	"github.com/meowdis/meowdis/keyspace/stats"
	"github.com/meowdis/meowdis/redis/resp"
)

func newBigKeys(s *streams) *cobra.Command {
	o := &bigKeysOptions{}
	cmd := &cobra.Command{
		Use:     "bigkeys [FLAGS] [TARGET] [PATTERN]",
		GroupID: groupInspect,
		Short:   "Find the largest keys of each type",
		Long: `Lists the largest keys of each type, by bytes and by elements. PATTERN selects
keys. On a file, bytes are exact; a server estimates them with MEMORY USAGE.
After Ctrl-C it prints a summary of the keys so far.`,
		Example: `  meowdis bigkeys redis://localhost --samples 0 'session:*'
  meowdis bigkeys redis://localhost --hot`,
		ValidArgsFunction: targets.CompleteNames(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := o.check(cmd, args); err != nil {
				return err
			}
			if o.top == 0 {
				return exit.Usagef("--top 0: give at least 1")
			}
			if o.hot {
				return o.runHot(cmd.Context(), s)
			}
			summary := &stats.Summary{Top: o.top, ByType: true}
			return o.run(cmd.Context(), s, summary, 0, func(r stats.Report) string { return r.BigKeys(summary) })
		},
	}
	o.addFlags(cmd, 5, "keys of each type")
	cmd.Flags().BoolVar(&o.hot, "hot", false, "list the keys used most; needs an LFU maxmemory-policy")
	return cmd
}

// bigKeysOptions holds the flags of bigkeys.
type bigKeysOptions struct {
	summaryOptions
	hot bool
}

// runHot lists the keys that OBJECT FREQ reports as used most.
func (o *bigKeysOptions) runHot(ctx context.Context, s *streams) error {
	ctx, stop := exit.UntilInterrupted(ctx)
	defer stop()
	return withTarget(ctx, s, &o.target, readOnly, func(c *targets.Conn) error {
		report, err := o.report(ctx, s, c)
		if err != nil {
			return err
		}
		var hot []stats.Hot
		keys := int64(0)
		names := walk(c, keyspace.Names)
		names.Match = o.match
		r := newKeysReport(s, "reading keys", report.Keys, c)
		err = names.Keys(ctx, func(page []keyspace.Key) error {
			if room := o.limit - keys; o.limit > 0 && int64(len(page)) > room {
				page = page[:room]
			}
			found, err := frequencies(ctx, c, page)
			if err != nil {
				return err
			}
			hot = hottest(append(hot, found...), o.top)
			keys += int64(len(page))
			countRead(r, page)
			if o.limit > 0 && keys == o.limit {
				return errEnough
			}
			return nil
		})
		r.Bar.End()
		if err = ignoreStop(ctx, err); err != nil {
			return err
		}
		r.SayNodes()
		if o.json {
			return writeJSON(s, r.WithNodes(report.HotJSON(hot, keys)))
		}
		_, err = io.WriteString(s.screen, report.HotKeys(hot, keys))
		return err
	})
}

// frequencies returns the keys that exist with their frequencies.
func frequencies(ctx context.Context, c *targets.Conn, keys []keyspace.Key) (found []stats.Hot, err error) {
	calls := make([][][]byte, len(keys))
	for i, k := range keys {
		calls[i] = [][]byte{[]byte("OBJECT"), []byte("FREQ"), k.Name}
	}
	if len(calls) == 0 {
		return nil, nil
	}
	replies, err := c.Pipeline(ctx, calls)
	if err != nil {
		return nil, err
	}
	for i, v := range replies {
		switch {
		case strings.HasPrefix(string(v.Str), "ERR no such key"):
		case v.IsError():
			return nil, keyspace.Refusal(v.Str)
		case v.Kind == resp.Int:
			found = append(found, stats.Hot{Name: bytes.Clone(keys[i].Name), Frequency: v.Int})
		}
	}
	return found, nil
}

// hottest returns the top most frequently used keys, the hottest first. SCAN may return a key twice.
func hottest(keys []stats.Hot, top int) []stats.Hot {
	smallsort.Sort(keys, func(a, b stats.Hot) int {
		return cmp.Or(cmp.Compare(b.Frequency, a.Frequency), bytes.Compare(a.Name, b.Name))
	})
	seen := map[string]bool{}
	keys = slices.DeleteFunc(keys, func(k stats.Hot) bool {
		again := seen[string(k.Name)]
		seen[string(k.Name)] = true
		return again
	})
	return keys[:min(top, len(keys))]
}
