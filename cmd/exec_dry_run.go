package cmd

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/meowdis/meowdis/cmd/internal/exit"
	"github.com/meowdis/meowdis/cmd/internal/script"
	"github.com/meowdis/meowdis/cmd/internal/targets"
	"github.com/meowdis/meowdis/keyspace/display"
	"github.com/meowdis/meowdis/redis/commands"
	"github.com/meowdis/meowdis/redis/resp"
	"github.com/meowdis/meowdis/transfer/cmdfile"
)

// dryRun shows commands instead of running them: with a preview in words, or with their SQL.
type dryRun struct {
	out    io.Writer
	words  *preview   // nil with --sql
	sql    *explainer // nil for a server; with words only for the errors that it finds
	guard  func(args [][]byte) (refusal resp.Value, refused bool)
	queued bool // the commands are queued by MULTI
	failed bool
}

// runDry implements exec --dry-run.
func (o *execOptions) runDry(ctx context.Context, s *streams) (err error) {
	t, err := o.target.Resolve(s.getenv)
	if err != nil {
		return err
	}
	r := &dryRun{out: s.out, guard: func(args [][]byte) (resp.Value, bool) {
		if o.target.RefusesWrites(t) {
			return new(targets.ReadOnly).Refuse(ctx, args)
		}
		return resp.Value{}, false
	}}
	if !o.sql {
		if r.words, err = newPreview(ctx, &o.target, t); err != nil {
			return err
		}
		defer func() { err = closeConn(err, r.words.conn) }()
	}
	head := fmt.Sprintf("Nothing is run. On %s (%s):\n", t, t.Kind())
	if o.sql {
		head = fmt.Sprintf("# Nothing is run. On %s (%s) this would run:\n", t, t.Kind())
	}
	if !o.sql && o.call.given() {
		head = ""
	}
	if _, err := io.WriteString(s.out, head); err != nil {
		return err
	}
	if t.URL == nil {
		r.sql = &explainer{path: t.Path, db: o.target.DatabaseOf(t)}
		defer func() { err = errors.Join(err, r.sql.close()) }()
	}
	if o.call.given() {
		args, err := o.call.commandArgs(s)
		if err != nil {
			return err
		}
		err = r.show(ctx, "", args)
		return errors.Join(err, r.end())
	}
	return o.dryRunScript(ctx, s, r)
}

// dryRunScript shows the commands of standard input, and the transaction around them.
func (o *execOptions) dryRunScript(ctx context.Context, s *streams, r *dryRun) error {
	if o.transaction {
		if err := r.show(ctx, "begin", [][]byte{[]byte("MULTI")}); err != nil {
			return err
		}
		r.queued = true
	}
	in := cmdfile.NewReader(s.in)
	for {
		c, err := in.Read()
		var wrong *cmdfile.SyntaxError
		switch {
		case errors.Is(err, io.EOF) && o.transaction:
			r.queued = false
			return errors.Join(r.show(ctx, "end", [][]byte{[]byte("EXEC")}), r.end())
		case errors.Is(err, io.EOF):
			return r.end()
		case errors.As(err, &wrong):
			r.failed = true
			fmt.Fprintf(s.err, "meowdis: %v\n", wrong)
			if !wrong.Line {
				return r.end()
			}
		case err != nil:
			return fmt.Errorf("reading the script: %w", err)
		default:
			if err := r.show(ctx, in.Where(c), c.Args); err != nil {
				return err
			}
		}
		if r.failed && !o.keepGoing {
			if o.transaction {
				fmt.Fprintln(s.err, "meowdis: nothing would be run")
			}
			return r.end()
		}
	}
}

func (r *dryRun) end() error {
	if r.failed {
		return exit.ErrReported
	}
	return nil
}

// show prints a command, and its position in the script unless where is empty.
func (r *dryRun) show(ctx context.Context, where string, args [][]byte) error {
	refusal, refused := r.guard(args)
	if r.queued && !refused {
		refusal, refused = notQueued(args)
	}
	var e explanation
	var err error
	if r.sql != nil && !refused {
		if e, refusal, err = r.sql.explain(ctx, args); err != nil {
			return err
		}
	}
	if r.words != nil {
		return r.say(ctx, where, args, refusal)
	}
	if where != "" {
		fmt.Fprintf(r.out, "\n# %s\n", where)
	}
	if _, err := fmt.Fprintln(r.out, cmdfile.Line(args)); err != nil {
		return err
	}
	switch {
	case refusal.IsError():
		r.failed = true
		_, err = fmt.Fprintf(r.out, "(error) %s\n", refusal.Str)
	case r.sql != nil:
		r.follow(args)
		err = e.print(r.out)
	}
	return err
}

// say prints what a command would do, after its position in the script unless where is empty.
func (r *dryRun) say(ctx context.Context, where string, args [][]byte, refusal resp.Value) (err error) {
	text := "would fail: " + string(refusal.Str)
	if r.failed = r.failed || refusal.IsError(); !refusal.IsError() {
		if text, err = r.words.describe(ctx, args); err != nil {
			return err
		}
		if r.sql != nil {
			r.follow(args)
		}
	}
	if where != "" {
		text = fmt.Sprintf("%s: %s\n  %s", where, display.Clipped(cmdfile.Line(args)), text)
	}
	_, err = fmt.Fprintln(r.out, text)
	return err
}

// notQueued returns the error reply to a command that --transaction refuses.
func notQueued(args [][]byte) (refusal resp.Value, refused bool) {
	switch command := commands.Called(args); {
	case script.EndsTransaction(args):
		return resp.MakeError(fmt.Sprintf("ERR %s cannot be part of --transaction", args[0])), true
	case command != nil && command.Flags&commands.NoMulti != 0:
		return resp.MakeError("ERR Command not allowed inside a transaction"), true
	}
	return resp.Value{}, false
}

// follow selects the database of a SELECT.
func (r *dryRun) follow(args [][]byte) {
	if command, _ := commands.Find(args); command.Name == "SELECT" {
		if db, bad := commands.DBIndex(args[1]); !bad.IsError() {
			r.sql.db = db
		}
	}
}
