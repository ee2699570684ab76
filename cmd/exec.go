package cmd

import (
	"bufio"
	"context"
	"errors"
	"time"

	"github.com/spf13/cobra"

	"github.com/meowdis/meowdis/local"
)

// execOptions are the flags and arguments of exec.
type execOptions struct {
	target      targetOptions
	format      formatOptions
	confirm     confirmOptions
	keepGoing   bool
	transaction bool
	pipe        bool
	dryRun      bool
	call        callOptions
}

func newExec(s *streams) *cobra.Command {
	o := &execOptions{}
	cmd := &cobra.Command{
		Use:     "exec [FLAGS] [COMMAND [ARG...]]",
		GroupID: groupUse,
		Short:   "Run one command, or a script of commands from stdin",
		Long: `Runs one Redis command and prints its reply. Flags stand before the command:
everything behind its first word belongs to it.

Without a command, runs the lines of stdin, each a command in redis-cli's
quoting; a line that begins with # is a comment. The script stops at its first
error, and nothing behind the failed line takes effect; with --keep-going it runs
on. Either way the number of a failed line goes to stderr and the exit code is 1.
When a signal or a lost connection ends it, it says at which line, and how to go on.
A failed SELECT, AUTH or HELLO always stops: what follows was meant for another
place. With --transaction all lines are one MULTI and EXEC: others see all of
their effects or none, and a line that is no command keeps all from running.

Over REST and the Redis protocol a script waits for each write's reply before
it sends the next line, unless the endpoint can stop by itself; --keep-going
sends many lines at once.

--pipe loads much: lines, or the Redis protocol as redis-cli --pipe takes it. The
commands are independent, and only counted.

` + exitCodesHelp + "\n\n" + targetHelp,
		Example: `  meowdis exec SET greeting "hello there" EX 60
  meowdis exec --json HGETALL cat:1
  meowdis exec -x SET picture < cat.png
  meowdis exec -X @ SETEX picture 60 @ < cat.png
  meowdis exec -r 10 -i 0.5 INFO clients
  meowdis exec --eval script.lua key:1 key:2 , arg
  printf 'SET a 1\nINCR a\n' | meowdis exec
  meowdis exec --pipe < million.txt
  meowdis exec --dry-run < commands.txt`,
		Args:              usageArgs(cobra.ArbitraryArgs),
		ValidArgsFunction: o.target.completeCall(s),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := o.format.check(cmd); err != nil {
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
	f.BoolVar(&o.keepGoing, "keep-going", false, "run a script on behind an error")
	f.BoolVar(&o.transaction, "transaction", false, "run a script as one MULTI and EXEC")
	f.BoolVar(&o.pipe, "pipe", false, "load lines or the Redis protocol from stdin, and count")
	f.BoolVar(&o.dryRun, "dry-run", false, "show what would be run, and how, and touch nothing")
	o.call.addFlags(cmd)
	o.confirm.addFlags(cmd)
	o.target.addFlags(cmd)
	return cmd
}

// check refuses what does not go together.
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
			return usagef("%s takes commands from stdin: give no command", flag.name)
		}
	}
	switch {
	case o.transaction && o.keepGoing:
		return usagef("a transaction runs as a whole: give --transaction or --keep-going")
	case o.pipe && (o.transaction || o.dryRun):
		return usagef("--pipe goes with neither --transaction nor --dry-run")
	case isScript && s.inTerminal:
		return usagef("give a command, or a script on stdin; meowdis repl is for typing")
	}
	return nil
}

func (o *execOptions) run(ctx context.Context, s *streams) (err error) {
	if o.dryRun {
		return o.rehearse(ctx, s)
	}
	t, err := o.target.resolve(s.getenv)
	if err != nil {
		return err
	}
	o.target.tell(t, s)
	file := local.Options{SweepEvery: noSweep, Alone: true}
	if o.pipe {
		file.Cache = pipeCache
	} else {
		file = runOn(t, file, o.call.command())
	}
	c, err := o.target.connectTo(ctx, t, file, o.format.wantsRESP3())
	if err != nil {
		return err
	}
	defer func() { err = closing(err, c) }()
	c.session = o.confirm.confirmed(c, s)
	if o.call.given() {
		return o.repeat(ctx, s, c)
	}
	ctx, stop := untilInterrupted(ctx)
	defer stop()
	if o.pipe {
		p := pipe{in: bufio.NewReaderSize(s.in, pipeBuffer), out: s.out, err: s.err, session: c, atOnce: atOnceToServer, db: c.DB()}
		p.bar = newProgress(s, "loading", "commands", -1)
		if c.file != nil {
			p.atOnce, p.exact = atOnceToFile, true
		}
		return p.run(ctx)
	}
	script := newScript(s.in)
	script.out, script.err, script.session, script.printer, script.keepGoing = s.screen, s.err, c, o.format.printer(s), o.keepGoing
	script.exact, script.db = t.url == nil, c.DB()
	if o.transaction {
		return script.transaction(ctx)
	}
	return script.run(ctx)
}

// pipeCache holds the indexes of a file of a million keys, whose pages a bulk load
// touches in no order.
const pipeCache = 80 << 20

// noSweep turns off the sweeps of expired keys for a moment's work.
const noSweep = -1

// closing ends a connection; a failure to do so is the run's, unless it had one.
func closing(err error, c *connection) error {
	closed := c.close()
	if err == nil || errors.Is(err, errAnswered) && closed != nil {
		return closed
	}
	return err
}

// repeat runs the command as often as it was asked to. An error ends it, unless it
// is to keep going.
func (o *execOptions) repeat(ctx context.Context, s *streams, c *connection) error {
	args, err := o.call.words(s)
	if err != nil {
		return err
	}
	p := o.format.printer(s)
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
		if err := p.write(s.screen, args, v); err != nil {
			return err
		}
		suggest(s.err, args, v)
		misplaced(s.err, o.target.flags, args, v)
		if failed = failed || v.HasError(); failed && !o.keepGoing {
			break
		}
	}
	if failed {
		return errAnswered
	}
	return nil
}
