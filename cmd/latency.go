package cmd

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"
	"github.com/spf13/cobra"

	"github.com/meowdis/meowdis/cmd/internal/complete"
	"github.com/meowdis/meowdis/cmd/internal/exit"
	"github.com/meowdis/meowdis/cmd/internal/flags"
	"github.com/meowdis/meowdis/cmd/internal/targets"
	"github.com/meowdis/meowdis/internal/histogram"
	"github.com/meowdis/meowdis/keyspace"
	"github.com/meowdis/meowdis/local"
	"github.com/meowdis/meowdis/redis/resp"
)

// latencyOptions holds the flags and arguments of latency.
type latencyOptions struct {
	target   targets.Options
	confirm  confirmOptions
	limit    int64
	interval flags.Interval
	pauses   flags.Interval // measure the machine instead, for so long
	json     bool
	args     []string
}

func newLatency(s *streams) *cobra.Command {
	o := &latencyOptions{interval: flags.Interval(10 * time.Millisecond)}
	cmd := &cobra.Command{
		Use:     "latency [FLAGS] [TARGET] [COMMAND [ARG...]]",
		GroupID: groupInspect,
		Short:   "Measure the response time of the target",
		Long: `Sends a command repeatedly, one call at a time, and prints how long the replies
took. The command is PING, or DBSIZE on a file, because a PING would not read
it. On a terminal the numbers are live until Ctrl-C, and a chart follows;
elsewhere it makes 100 round trips.`,
		Example:           `  meowdis latency --limit 1000 --interval 0 GET greeting`,
		ValidArgsFunction: complete.AfterTarget(&o.target, "COMMAND", complete.Call(s.getenv, &o.target, s.waits.target)),
		RunE: func(cmd *cobra.Command, args []string) error {
			own, err := ownArgs(cmd, &o.target, args, targets.Own{What: "COMMAND", Most: -1})
			if err != nil {
				return err
			}
			if o.limit < 0 {
				return exit.Usagef("--limit %d: give 0 or more", o.limit)
			}
			o.args = own
			if o.pauses > 0 {
				return measurePauses(cmd.Context(), s, time.Duration(o.pauses))
			}
			return o.run(cmd.Context(), s)
		},
	}
	f := cmd.Flags()
	f.SetInterspersed(false)
	f.Int64Var(&o.limit, "limit", 0, "make at most `NUMBER` round trips")
	flags.Alias(f, "count", "limit")
	f.VarP(&o.interval, "interval", "i", "wait `DURATION` between round trips")
	f.BoolVar(&o.json, "json", false, "print JSON, at the end")
	f.Var(&o.pauses, "intrinsic", "for `DURATION`, measure how long this machine pauses a busy program")
	o.confirm.addFlags(cmd)
	o.target.AddFlags(cmd)
	return cmd
}

// measurePauses reads the clock for a time and prints how long the machine did not let it run. No target replies
// faster than that.
func measurePauses(ctx context.Context, s *streams, total time.Duration) error {
	ctx, stop := exit.UntilInterrupted(ctx)
	defer stop()
	var worst time.Duration
	began := time.Now()
	last, runs := began, 0
	for ctx.Err() == nil && last.Sub(began) < total {
		now := time.Now()
		worst = max(worst, now.Sub(last))
		last, runs = now, runs+1
	}
	took := last.Sub(began)
	_, err := fmt.Fprintf(s.out, "longest pause %s in %s, in %d readings of the clock, %s each\n", worst, took.Round(time.Millisecond), runs, took/time.Duration(max(runs, 1)))
	return err
}

// defaultRoundTrips sets the default count if the output is not a terminal.
const defaultRoundTrips = 100

func (o *latencyOptions) run(ctx context.Context, s *streams) error {
	ctx, stop := exit.UntilInterrupted(ctx)
	defer stop()
	return withTarget(ctx, s, &o.target, o.fileOptions(), func(c *targets.Conn) error {
		args := command(o.args)
		if err := o.confirm.confirmRun(ctx, s, c.Target, args); err != nil {
			return err
		}
		if len(args) == 0 {
			args = command([]string{shortestCommand(c.Target)})
		}
		live := s.outTerminal && !o.json && s.getenv("TERM") != "dumb"
		count := o.limit
		if count == 0 && !live {
			count = defaultRoundTrips
		}
		var l histogram.Distribution
		var h histogram.History
		columns, _ := s.room()
		err := o.measure(ctx, c, args, count, &l, &h, func() error {
			if !live {
				return nil
			}
			_, err := io.WriteString(s.screen, "\r\x1b[K"+liveLatencyLine(&l, &h, columns))
			return err
		})
		if live {
			io.WriteString(s.screen, "\r\x1b[K")
		}
		if err := ignoreStop(ctx, err); err != nil || l.N == 0 {
			return err
		}
		if o.json {
			_, err = s.out.Write(append(resp.AppendJSON(nil, latencyJSON(&l, args)), '\n'))
			return err
		}
		return writeLatency(s.out, &l, &h, live, columns)
	})
}

// fileOptions returns the options for a file, which is open for writing only if the command may write.
func (o *latencyOptions) fileOptions() local.Options {
	if len(o.args) > 0 && !onlyReads(command(o.args)) {
		return local.Options{}
	}
	return readOnly // DBSIZE reads, too
}

// writeLatency writes the statistics, and for a live display the histograms, too.
func writeLatency(w io.Writer, l *histogram.Distribution, h *histogram.History, live bool, columns int) error {
	text := latencyLine(l) + "\n"
	if live {
		text += latencyPicture(l, h, columns)
	}
	_, err := io.WriteString(w, text)
	return err
}

// shortestCommand returns the command that latency runs if none is given.
func shortestCommand(t targets.Target) string {
	if t.IsServer() {
		return "PING"
	}
	return "DBSIZE" // PING would not reach the file
}

// liveLatencyLine returns the line of the statistics with a sparkline of the latest round trips.
func liveLatencyLine(l *histogram.Distribution, h *histogram.History, columns int) string {
	times, _ := h.Times()
	line := latencyLine(l)
	line += "  " + spark(times[max(0, len(times)-max(0, columns-ansi.StringWidth(line)-3)):])
	return ansi.Truncate(line, max(columns-1, 1), "…")
}

// measure makes count round trips, or runs forever for 0. It calls show about ten times a second.
func (o *latencyOptions) measure(ctx context.Context, c *targets.Conn, args [][]byte, count int64, l *histogram.Distribution, h *histogram.History, show func() error) error {
	var shown time.Time
	for l.N < count || count == 0 {
		start := time.Now()
		v, err := c.Do(ctx, args...)
		took := time.Since(start)
		switch {
		case err != nil:
			return err
		case v.IsError():
			return keyspace.Refusal(v.Str)
		}
		l.Add(took)
		h.Add(took)
		if time.Since(shown) > 100*time.Millisecond {
			shown = time.Now()
			if err := show(); err != nil {
				return err
			}
		}
		if err := pause(ctx, time.Duration(o.interval)); err != nil {
			return err
		}
	}
	return nil
}

// latencyNumbers returns the statistics of a distribution with their names.
func latencyNumbers(l *histogram.Distribution) (names []string, times []time.Duration) {
	return []string{"min", "avg", "p50", "p99", "max"},
		[]time.Duration{l.Min, l.Mean(), l.Quantile(0.5), l.Quantile(0.99), l.Max}
}

func latencyLine(l *histogram.Distribution) string {
	names, times := latencyNumbers(l)
	var b strings.Builder
	for i, name := range names {
		fmt.Fprintf(&b, "%s %s  ", name, briefly(times[i]))
	}
	fmt.Fprintf(&b, "of %d", l.N)
	return b.String()
}

// briefly formats a time with about three digits.
func briefly(d time.Duration) string {
	switch {
	case d < time.Millisecond:
		return fmt.Sprintf("%d µs", d.Microseconds())
	case d < 10*time.Millisecond:
		return fmt.Sprintf("%.2f ms", d.Seconds()*1e3)
	case d < time.Second:
		return fmt.Sprintf("%.0f ms", d.Seconds()*1e3)
	}
	return fmt.Sprintf("%.2f s", d.Seconds())
}

func latencyJSON(l *histogram.Distribution, args [][]byte) resp.Value {
	var words []resp.Value
	for _, a := range args {
		words = append(words, resp.MakeBulk(a))
	}
	fields := []resp.Value{resp.MakeString("command"), resp.MakeArray(words...), resp.MakeString("count"), resp.MakeInt(l.N)}
	names, times := latencyNumbers(l)
	for i, name := range names {
		fields = append(fields, resp.MakeString(name+"_us"), resp.MakeInt(times[i].Microseconds()))
	}
	return resp.MakeMap(fields...)
}
