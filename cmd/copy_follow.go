package cmd

import (
	"context"
	"fmt"
	"os/exec"
	"runtime"
	"runtime/debug"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/meowdis/meowdis/cmd/internal/exit"
	"github.com/meowdis/meowdis/cmd/internal/flags"
	"github.com/meowdis/meowdis/cmd/internal/migration"
	"github.com/meowdis/meowdis/cmd/internal/move"
	"github.com/meowdis/meowdis/cmd/internal/targets"
	"github.com/meowdis/meowdis/keyspace/display"
	"github.com/meowdis/meowdis/local"
	"github.com/meowdis/meowdis/transfer"
)

// followOptions holds the flags of copy --follow.
type followOptions struct {
	follow        bool
	untilCaughtUp bool
	cutOver       string
	onConflict    string
	pause         flags.Interval
}

// conflicts maps the values of --on-conflict.
var conflicts = map[string]transfer.Existing{"stop": transfer.Refuse, "replace": transfer.Replace, "skip": transfer.Skip}

func (o *followOptions) addFlags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.BoolVar(&o.follow, "follow", false, "then apply every further write at the source")
	f.BoolVar(&o.untilCaughtUp, "until-caught-up", false, "with --follow: end when the target is up to date")
	f.StringVar(&o.cutOver, "cut-over", "", "with --follow: pause writes, verify, and run `COMMAND` to switch the clients")
	f.StringVar(&o.onConflict, "on-conflict", "stop", "with --follow, for a key that the target has: `WHAT` is stop (default), replace or skip")
	o.pause = flags.Interval(30 * time.Second)
	f.Var(&o.pause, "pause", "--cut-over pauses at most `DURATION`")
	f.Lookup("on-conflict").DefValue, f.Lookup("pause").DefValue = "", "30s"
	cmd.RegisterFlagCompletionFunc("on-conflict", cobra.FixedCompletions([]string{"stop", "replace", "skip"}, cobra.ShellCompDirectiveNoFileComp))
	cmd.RegisterFlagCompletionFunc("pause", cobra.NoFileCompletions)
	cmd.RegisterFlagCompletionFunc("cut-over", cobra.NoFileCompletions)
}

// check refuses flags that do not go together.
func (o *followOptions) check(cmd *cobra.Command) error {
	f := cmd.Flags()
	if !o.follow {
		for _, name := range []string{"until-caught-up", "cut-over", "on-conflict", "pause"} {
			if f.Changed(name) {
				return exit.Usagef("--%s needs --follow", name)
			}
		}
		return nil
	}
	for _, name := range []string{"match", "type", "from-database", "to-database", "prefix", "ttl", "dry-run", "resume"} {
		if f.Changed(name) {
			return exit.Usagef("--follow copies all keys as they are: leave out --%s", name)
		}
	}
	if f.Changed("replicas") {
		return exit.Usagef("--follow reads from the masters of a cluster: leave out --replicas")
	}
	for _, name := range []string{"replace", "skip"} {
		if f.Changed(name) {
			return exit.Usagef("with --follow, give --on-conflict %s", name)
		}
	}
	switch _, known := conflicts[o.onConflict]; {
	case !known:
		return exit.Usagef("--on-conflict %s: give stop, replace or skip", o.onConflict)
	case f.Changed("cut-over") && o.cutOver == "":
		return exit.Usagef("--cut-over is empty: give the command that switches the clients")
	case f.Changed("pause") && o.cutOver == "":
		return exit.Usagef("--pause needs --cut-over")
	case f.Changed("verify") && o.cutOver == "":
		return exit.Usagef("with --follow, --verify needs --cut-over")
	case o.pause < flags.Interval(time.Second):
		return exit.Usagef("--pause %v: give at least 1s", time.Duration(o.pause))
	}
	return nil
}

// toFollow holds the options of a file that follows a source.
var toFollow = local.Options{SweepEvery: noSweep, CacheBytes: writeCache, SingleConn: true}

// followMemory makes the garbage collector run more often beyond it: copy --follow runs beside its source, and may take
// 200 MB with SQLite's memory.
const followMemory = 110 << 20

// migrate implements --follow.
func (o *copyOptions) migrate(ctx context.Context, s *streams, opts *targets.Options, src *targets.Conn, to targets.Target) error {
	if src.Chosen() {
		return exit.Usagef("--follow copies all databases: leave out the database of %s", src.Target)
	}
	if err := o.confirm.confirmWrite(ctx, s, opts, to, "copy"); err != nil {
		return err
	}
	debug.SetMemoryLimit(followMemory)
	r := newMoveReport(s, &o.keys, "copying", -1, nil)
	m := migration.New(src, migration.Options{
		Existing: conflicts[o.follow.onConflict],
		OpenTarget: func(ctx context.Context, load bool) (*targets.Conn, error) {
			file := toFollow
			if load {
				file = toWrite
			}
			dst, err := opts.Enter(ctx, to, file)
			if err != nil {
				return nil, err
			}
			if err := writable(ctx, s, dst); err != nil {
				return nil, closeConn(err, dst)
			}
			return dst, nil
		},
		UntilCaughtUp: o.follow.untilCaughtUp, CutOver: o.switchClients(s), VerifyAll: o.verify, Pause: time.Duration(o.follow.pause),
		PassEvery: time.Second, Notify: r.Notify, Say: r.Say, Status: o.progress(s, r),
	})
	result, err := m.Run(ctx)
	r.AddResult(result)
	switch {
	case exit.WasStopped(ctx, err):
		err = exit.Stopped(ctx, fmt.Sprintf("%s and %s arrived; the same command continues", move.Count(result.Keys, "key"), move.Count(result.Commands, "command")))
	case result.CutOver:
		r.Say("cut over: %s copied, %s applied, %s compared; writes were paused for %s before the clients switched, and stay paused at the source for at most %v more",
			move.Count(result.Keys, "key"), move.Count(result.Commands, "command"), move.Count(result.Verified, "key"),
			time.Duration(result.PausedMs)*time.Millisecond, result.Rest.Round(time.Second))
	case err == nil:
		r.Say("caught up: %s copied, %s applied; the same command continues", move.Count(result.Keys, "key"), move.Count(result.Commands, "command"))
	}
	if err == nil && result.Refused > 0 {
		err = exit.ErrPartial
	}
	return r.End(err)
}

// progress returns the function that shows the status: on a terminal in the line of the bar, with --json as lines.
func (o *copyOptions) progress(s *streams, r *move.Report) func(migration.Status) {
	return func(st migration.Status) {
		if o.keys.JSON {
			move.WriteJSON(s.out, st) // a lost reader fails the last line, too
		}
		if st.Action == "copying" {
			r.Bar.Set(st.Keys, -1)
			return
		}
		lag := ""
		if st.LagBytes >= 0 {
			lag = ", " + display.Bytes(st.LagBytes) + " to come"
		}
		for _, n := range st.Nodes {
			lag += fmt.Sprintf(", %s from %s", display.Bytes(n.LagBytes), n.Node)
		}
		r.Bar.Say(fmt.Sprintf("following: %d commands%s", st.Commands, lag))
	}
}

// switchClients returns the function that runs the command of --cut-over, or nil.
func (o *copyOptions) switchClients(s *streams) func(context.Context) error {
	if o.follow.cutOver == "" {
		return nil
	}
	return func(ctx context.Context) error {
		shell, flag := "sh", "-c"
		if runtime.GOOS == "windows" {
			shell, flag = "cmd", "/C"
		}
		c := exec.CommandContext(ctx, shell, flag, o.follow.cutOver)
		c.Stdout, c.Stderr = s.err, s.err
		err := c.Run()
		if err != nil {
			err = fmt.Errorf("%s: %w", strings.TrimSpace(o.follow.cutOver), err)
		}
		return err
	}
}
