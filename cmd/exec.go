package cmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/meowdis/meowdis/cmd/internal/complete"
	"github.com/meowdis/meowdis/cmd/internal/exit"
	"github.com/meowdis/meowdis/cmd/internal/flags"
	"github.com/meowdis/meowdis/cmd/internal/move"
	"github.com/meowdis/meowdis/cmd/internal/script"
	"github.com/meowdis/meowdis/cmd/internal/targets"
	"github.com/meowdis/meowdis/engine"
	"github.com/meowdis/meowdis/internal/atomicfile"
	"github.com/meowdis/meowdis/local"
	"github.com/meowdis/meowdis/redis/commands"
	"github.com/meowdis/meowdis/redis/resp"
	"github.com/meowdis/meowdis/transfer/cmdfile"
)

// execOptions holds the flags and arguments of exec.
type execOptions struct {
	target      targets.Options
	format      formatOptions
	errorsApart bool // print error replies to stderr
	confirm     confirmOptions
	keepGoing   bool
	transaction bool
	pipe        bool
	dryRun      bool
	sql         bool // --dry-run shows SQL
	ldb         bool
	ldbSync     bool
	call        callOptions
}

func newExec(s *streams) *cobra.Command {
	o := &execOptions{}
	cmd := &cobra.Command{
		Use:     "exec [FLAGS] [COMMAND [ARG...]]",
		GroupID: groupUse,
		Short:   "Run one command, or a script of commands from stdin",
		Long: `Runs one Redis command and prints its reply, or a script of commands from stdin.
Flags come before the command: everything after its first word belongs to it.

A script has one command per line, quoted as in redis-cli; # begins a comment.
It stops at its first error: the lines before it have taken effect, and its
number is printed on stderr. A failed SELECT, AUTH or HELLO always stops it.
stdin may also be in the Redis protocol, as for "redis-cli --pipe".`,
		Example: `  meowdis exec SET greeting "hello there" EX 60
  meowdis exec -t cats.sqlite --json HGETALL cat:1
  meowdis exec -h localhost -p 6380 PING
  meowdis exec -x SET picture < cat.png
  meowdis exec --eval script.lua key:1 key:2 , arg
  meowdis exec --pipe < million.txt
  meowdis exec --dry-run < commands.txt`,
		Args:              usageArgs(cobra.ArbitraryArgs),
		ValidArgsFunction: complete.Call(s.getenv, &o.target, s.waits.target),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := o.format.check(cmd); err != nil {
				return err
			}
			if err := errors.Join(o.target.Misplaced(args), o.target.AskPassword(s.askSecret)); err != nil {
				return err
			}
			o.call.args = args
			if err := o.check(cmd, s); err != nil {
				return err
			}
			return o.run(cmd.Context(), s)
		},
	}
	f := cmd.Flags()
	f.SetInterspersed(false)
	o.format.addFlags(cmd)
	f.BoolVar(&o.keepGoing, "keep-going", false, "continue a script after an error")
	f.BoolVar(&o.transaction, "transaction", false, "run a script as one MULTI and EXEC")
	f.BoolVar(&o.pipe, "pipe", false, "load commands or the Redis protocol from stdin, and count replies")
	f.BoolVar(&o.dryRun, "dry-run", false, "say what the commands would do, and run nothing")
	f.BoolVar(&o.sql, "sql", false, "with --dry-run, show the SQL of each command")
	f.BoolVar(&o.ldb, "ldb", false, "debug the script of --eval line by line; its changes are discarded")
	f.BoolVar(&o.ldbSync, "ldb-sync-mode", false, "--ldb, and keep the changes")
	o.call.addFlags(cmd)
	o.confirm.addFlags(cmd)
	cmd.Flags().BoolVar(&o.errorsApart, "errors-to-stderr", false, "print error replies on stderr instead of stdout")
	o.target.AddFlags(cmd)
	o.target.AddServerFlags(cmd)
	return cmd
}

// printer returns a function that prints replies, with error replies on stderr if errorsApart is set.
func (o *execOptions) printer(s *streams) func(w io.Writer, args [][]byte, v resp.Value) error {
	p := o.format.printer(s)
	if !o.errorsApart {
		return p.write
	}
	apart := p
	apart.values.Colour = false // s.err would show the escapes as text
	return func(w io.Writer, args [][]byte, v resp.Value) error {
		if v.IsError() {
			return apart.write(s.err, args, v)
		}
		return p.write(w, args, v)
	}
}

// check refuses flags that contradict each other.
func (o *execOptions) check(cmd *cobra.Command, s *streams) error {
	if err := o.call.check(cmd); err != nil {
		return err
	}
	isScript := !o.call.given()
	for _, flag := range []struct {
		name  string
		given bool
	}{{"--transaction", o.transaction}, {"--pipe", o.pipe}} {
		if flag.given && !isScript {
			return exit.Usagef("%s reads commands from stdin: give no command", flag.name)
		}
	}
	switch {
	case o.debugs() && o.call.eval == "":
		return exit.Usagef("--ldb needs --eval FILE")
	case o.debugs() && (o.dryRun || o.call.times != 1):
		return exit.Usagef("--ldb does not work with --dry-run or -r")
	case o.sql && !o.dryRun:
		return exit.Usagef("--sql needs --dry-run; to run SQL, use sqlite3")
	case o.transaction && o.keepGoing:
		return exit.Usagef("give only one of --transaction and --keep-going")
	case o.pipe && (o.transaction || o.dryRun):
		return exit.Usagef("--pipe does not work with --transaction or --dry-run")
	case isScript && s.inTerminal:
		return exit.Usagef("give a command, or a script on stdin; to type commands, run meowdis repl")
	}
	return nil
}

func (o *execOptions) run(ctx context.Context, s *streams) (err error) {
	if o.dryRun {
		return o.runDry(ctx, s)
	}
	if o.debugs() {
		return o.debug(ctx, s)
	}
	t, err := o.target.Find(s.getenv, s.err)
	if err != nil {
		return err
	}
	file := local.Options{SweepEvery: noSweep, SingleConn: true}
	if o.pipe {
		file.CacheBytes, file.BulkLoad = pipeCache, true
	} else {
		file = runOn(t, file, o.call.command())
		file.Immutable = o.call.times == 1 && readsOnce(o.call.command())
	}
	c, err := o.target.Connect(ctx, t, file, o.format.wantsRESP3())
	if err != nil {
		return err
	}
	defer func() { err = closeConn(err, c) }()
	if own, ok := c.Session.(*engine.Session); ok {
		own.PackReplies()
	}
	c.Session = o.confirm.confirmed(c, s)
	if o.call.given() {
		return o.repeat(ctx, s, c)
	}
	ctx, stop := exit.UntilInterrupted(ctx)
	defer stop()
	run := script.Run{
		In: cmdfile.NewReader(s.in), Out: s.screen, Notes: s.err, Session: c,
		Print:     o.printer(s),
		Suggest:   func(args [][]byte, reply resp.Value) { suggest(s.err, args, reply) },
		KeepGoing: o.keepGoing, Exact: !t.IsServer(),
	}
	if o.pipe {
		run.Out, run.JSON = s.out, o.format.output == formatJSON
		run.Sorted = sortedLoad(c)
	}
	defer execProgress(s, &run, o.pipe).End()
	switch {
	case o.pipe:
		return run.Load(ctx)
	case o.transaction:
		return run.Transaction(ctx)
	}
	return run.Script(ctx)
}

func (o *execOptions) debugs() bool { return o.ldb || o.ldbSync }

// debug runs the script of --eval in the debugger of the prompt.
func (o *execOptions) debug(ctx context.Context, s *streams) error {
	args, err := o.call.commandArgs(s)
	if err != nil {
		return err
	}
	r := &replOptions{target: o.target, format: o.format, confirm: o.confirm, debug: args, debugSync: o.ldbSync}
	return r.run(ctx, s)
}

// sortedLoad returns how a load into the file of c sorts its commands; nil if each command must be checked first.
func sortedLoad(c *targets.Conn) *script.Sorted {
	if _, plain := c.Session.(*engine.Session); !plain || c.File == nil || c.File.ReadOnly() != "" {
		return nil
	}
	o := &script.Sorted{Transaction: move.NewTransaction(c.File, c.DB(), engine.WithErrorsOnly())}
	if !c.File.BulkLoading() { // other processes may write: they wait for no more than a second
		o.Bytes = 4 << 20
	}
	return o
}

// pipeCache is large enough for the indexes of a file of a million keys: a bulk load touches their pages in random
// order.
const pipeCache = 80 << 20

// noSweep turns off the sweeps of expired keys, for a process that runs briefly.
const noSweep = -1

// repeat runs the command --repeat times. It stops at an error unless keepGoing is set.
func (o *execOptions) repeat(ctx context.Context, s *streams, c *targets.Conn) error {
	args, err := o.call.commandArgs(s)
	if err != nil {
		return err
	}
	if listens(args) {
		return o.listen(ctx, s, c, args)
	}
	write := o.printer(s)
	failed := false
	for n := 0; o.call.times < 0 || n < o.call.times; n++ {
		if n > 0 && o.call.interval > 0 {
			select {
			case <-time.After(time.Duration(o.call.interval)):
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		v, err := c.Do(ctx, args...)
		if err != nil {
			return err
		}
		if err := write(s.screen, args, v); err != nil {
			return err
		}
		suggest(s.err, args, v)
		hintMisplacedFlag(s.err, o.target.Flags, args, v)
		if failed = failed || v.HasError(); failed && !o.keepGoing {
			break
		}
	}
	if failed {
		return exit.ErrReported
	}
	return nil
}

// runOn returns the options to open t for args, or for a script if args is empty. A missing file is created by the
// first write, and a file without write permission is opened for reading, unless args is itself a write. A file that
// the user named and args only read must exist.
func runOn(t targets.Target, file local.Options, args [][]byte) local.Options {
	cmd := commands.Called(args)
	file.FallbackReadOnly = cmd == nil || cmd.Flags&commands.Write == 0
	file.ReadOnly = onlyReads(args) && !t.IsDefault() && t.IsNew()
	return file
}

// callOptions holds the flags and arguments of exec's single command.
type callOptions struct {
	args     []string
	lastArg  bool   // -x
	tag      string // -X
	eval     string // file of a Lua script
	times    int    // -1 repeats forever
	interval flags.Interval

	tagged bool
}

func (o *callOptions) addFlags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.BoolVarP(&o.lastArg, "stdin", "x", false, "read the last argument from stdin, unchanged")
	f.StringVarP(&o.tag, "stdin-tag", "X", "", "read the argument `TAG` from stdin, unchanged")
	f.StringVar(&o.eval, "eval", "", "run the Lua script in `FILE` with KEY... , ARG...")
	f.IntVarP(&o.times, "repeat", "r", 1, "run the command `COUNT` times; -1 repeats forever")
	f.VarP(&o.interval, "interval", "i", "wait `DURATION` between runs")
	cmd.RegisterFlagCompletionFunc("stdin-tag", cobra.NoFileCompletions)
	cmd.MarkFlagFilename("eval", "lua")
}

// given reports whether there is a command, rather than a script on stdin.
func (o *callOptions) given() bool { return len(o.args) > 0 || o.eval != "" }

func (o *callOptions) check(cmd *cobra.Command) error {
	o.tagged = cmd.Flags().Changed("stdin-tag")
	repeats := cmd.Flags().Changed("repeat") || cmd.Flags().Changed("interval")
	switch {
	case o.lastArg && o.tagged:
		return exit.Usagef("give only one of -x and -X")
	case (o.lastArg || o.tagged) && !o.given():
		return exit.Usagef("-x and -X need a command")
	case repeats && !o.given():
		return exit.Usagef("-r and -i need a command")
	case o.tagged && !slices.Contains(o.args, o.tag):
		return exit.Usagef("-X %q: no argument has this text", o.tag)
	case o.times < -1:
		return exit.Usagef("-r %d: give -1 or more", o.times)
	}
	return nil
}

// command returns enough of the command to look it up; nil for a script.
func (o *callOptions) command() [][]byte {
	if o.eval != "" {
		return command([]string{"EVAL"})
	}
	return command(o.args)
}

// commandArgs returns the command with its arguments, including one from stdin.
func (o *callOptions) commandArgs(s *streams) ([][]byte, error) {
	args, err := o.commandLine()
	if err != nil || !o.lastArg && !o.tagged {
		return args, err
	}
	text, err := io.ReadAll(s.in)
	if err != nil {
		return nil, fmt.Errorf("reading an argument: %w", err)
	}
	if o.lastArg {
		return append(args, text), nil
	}
	for i, arg := range args {
		if string(arg) == o.tag {
			args[i] = text
		}
	}
	return args, nil
}

// commandLine returns the arguments of the command line.
func (o *callOptions) commandLine() ([][]byte, error) {
	var words [][]byte
	args := o.args
	if o.eval != "" {
		script, err := os.ReadFile(o.eval)
		if err != nil {
			return nil, exit.Usagef("--eval %s: %w", o.eval, atomicfile.Pathless(err))
		}
		keys := slices.Index(args, ",")
		if keys < 0 {
			keys = len(args)
		} else {
			args = slices.Concat(args[:keys], args[keys+1:])
		}
		words = [][]byte{[]byte("EVAL"), script, strconv.AppendInt(nil, int64(keys), 10)}
	}
	for _, arg := range args {
		words = append(words, []byte(arg))
	}
	return words, nil
}
