package cmd

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/spf13/cobra"

	"github.com/meowdis/meowdis/cmd/internal/exit"
	"github.com/meowdis/meowdis/cmd/internal/flags"
	"github.com/meowdis/meowdis/cmd/internal/mcptools"
	"github.com/meowdis/meowdis/cmd/internal/profile"
	"github.com/meowdis/meowdis/cmd/internal/targets"
	"github.com/meowdis/meowdis/engine"
	"github.com/meowdis/meowdis/local"
	"github.com/meowdis/meowdis/redis/commands"
	"github.com/meowdis/meowdis/redis/resp"
	"github.com/meowdis/meowdis/store"
)

// mcpOptions holds the flags and arguments of mcp.
type mcpOptions struct {
	target  targets.Options
	confirm confirmOptions
	write   bool
	limit   time.Duration
}

func newMCP(s *streams) *cobra.Command {
	o := &mcpOptions{}
	cmd := &cobra.Command{
		Use:     "mcp [FLAGS] [TARGET]",
		GroupID: groupUse,
		Short:   "Offer a target to coding agents (Model Context Protocol)",
		Long: `Speaks the Model Context Protocol on stdin and stdout, for an agent's program.
Tools list and search keys, read them a page at a time, run commands that only
read, and show the SQL of a command. Replies are bounded.

--write adds a tool that runs any command. Dangerous commands, such as FLUSHALL,
and scripts need a person's confirmation, which the agent's program asks for;
--yes allows them all. See also "meowdis help agents".`,
		Example: `  meowdis mcp cats.sqlite
  meowdis mcp --write @dev`,
		Args:              usageArgs(cobra.MaximumNArgs(1)),
		ValidArgsFunction: targets.CompleteNames(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := o.target.Argument(args); err != nil {
				return err
			}
			return o.run(cmd.Context(), s)
		},
	}
	f := cmd.Flags()
	f.BoolVar(&o.write, "write", false, "offer a tool that changes keys")
	f.BoolVar(&o.confirm.yes, "yes", false, "run dangerous commands without confirmation")
	o.target.AddFlags(cmd)
	o.target.Reach.SetTimeout(time.Minute)
	timeout := f.Lookup("timeout")
	timeout.Usage, timeout.DefValue, timeout.Annotations = "stop a call after `DURATION`", timeout.Value.String(), nil
	flags.Alias(f, "time-limit", "timeout")
	return cmd
}

// agentMemory limits the rows, replies and scripts of one call of an agent. The process takes at most 256 MB.
const agentMemory = 96 << 20

func (o *mcpOptions) run(ctx context.Context, s *streams) (err error) {
	if s.inTerminal {
		return exit.Usagef("mcp is for an agent's program, not for a terminal: see docs/agents.md")
	}
	if o.limit = o.target.Reach.Timeout(); o.limit == 0 {
		return exit.Usagef("--timeout 0: give more than 0")
	}
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	defer stop()
	t, err := o.target.Find(s.getenv, s.err)
	if err != nil {
		return err
	}
	if o.write && o.target.RefusesWrites(t) {
		return refusedWith(ctx, s, "READONLY --write needs a writable target, and "+t.String()+" is read-only")
	}
	file := local.Options{SingleConn: true, SweepEvery: noSweep, CacheBytes: smallCache, ReadOnly: !o.write, FallbackReadOnly: o.write}
	c, err := o.target.Enter(ctx, t, file)
	if err != nil {
		return err
	}
	defer func() { err = closeConn(err, c) }()
	c.LimitTime(o.limit)
	x := &explainer{path: t.Path}
	if t.URL != nil {
		x.path = local.Memory
	}
	defer func() { err = errors.Join(err, x.close()) }()
	debug.SetMemoryLimit(2 * agentMemory) // beyond it the garbage collector runs more often
	server := mcptools.New(o.offer(c, x))
	err = server.Run(ctx, &mcp.IOTransport{Reader: closable(s.in), Writer: unclosed{s.screen}})
	if ctx.Err() != nil {
		return nil // most clients end it with a signal
	}
	return err
}

// offer returns the target as agents see it.
func (o *mcpOptions) offer(c *targets.Conn, x *explainer) mcptools.Options {
	t := c.Target
	offered := mcptools.Options{
		Session: c.Session, Reading: c.Reading(), Name: t.String(), Kind: t.Kind(), Version: versionName(),
		Writes: o.write, TimeLimit: o.limit, Risk: func(args [][]byte) string { return o.risk(t, args) },
		Explain: func(ctx context.Context, db int, args [][]byte) ([]byte, resp.Value, error) {
			x.db = db
			e, refusal, err := x.explain(ctx, args)
			if err != nil || refusal.IsError() {
				return nil, refusal, err
			}
			var out bytes.Buffer
			err = e.print(&out)
			return out.Bytes(), refusal, err
		},
	}
	if t.Profile != "" && t.Settings.Confirm.Level() == profile.ConfirmName {
		offered.Typed = t.Profile
	}
	if session, is := targets.Plain(c.Session).(*engine.Session); is {
		budget := store.NewBudget(store.NewPool(agentMemory), agentMemory, 0).NoFlag()
		session.Bound(budget)
		offered.Release = func() { budget.Rewind(0) }
	}
	return offered
}

// risk returns the name of a call that the user must confirm, or "" if the call can run at once. It asks if the
// profile asks, and on every target without a profile, because an agent chose the command.
func (o *mcpOptions) risk(t targets.Target, args [][]byte) string {
	name, dangerous := isDangerous(args)
	dangerous = dangerous || commands.Known(args).Has(commands.Scripts) // a script may run dangerous commands
	if !dangerous || o.confirm.yes || t.Profile != "" && t.Settings.Confirm.Level() == profile.ConfirmNone {
		return ""
	}
	return name
}

// unclosed ignores Close: the process still uses stdout.
type unclosed struct{ io.Writer }

func (unclosed) Close() error { return nil }

// closable returns stdin as a reader that can be closed, which ends a blocked read.
func closable(r io.Reader) io.ReadCloser {
	if c, is := r.(io.ReadCloser); is {
		return c
	}
	return io.NopCloser(r)
}
