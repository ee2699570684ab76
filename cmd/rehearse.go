package cmd

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/meowdis/meowdis/commands"
	"github.com/meowdis/meowdis/resp"
)

// rehearsal shows commands instead of running them: with their SQL where they
// would go to a file.
type rehearsal struct {
	out    io.Writer
	sql    *explainer // nil for a server
	guard  func(args [][]byte) (refusal resp.Value, refused bool)
	failed bool
}

// rehearse is exec with --dry-run.
func (o *execOptions) rehearse(ctx context.Context, s *streams) (err error) {
	t, err := o.target.resolve(s.getenv)
	if err != nil {
		return err
	}
	r := &rehearsal{out: s.out, guard: func(args [][]byte) (resp.Value, bool) {
		if o.target.refusesWrites(t) {
			return new(readOnly).refuse(ctx, args)
		}
		return resp.Value{}, false
	}}
	if _, err := fmt.Fprintf(s.out, "# Nothing is run. On %s (%s) it would be:\n", t, t.kind()); err != nil {
		return err
	}
	if t.url == nil {
		r.sql = &explainer{path: t.path, db: o.target.databaseOf(t)}
		defer func() { err = errors.Join(err, r.sql.close()) }()
	}
	if o.call.given() {
		args, err := o.call.words(s)
		if err != nil {
			return err
		}
		err = r.show(ctx, 0, args)
		return errors.Join(err, r.end())
	}
	script := newScript(s.in)
	for {
		args, err := script.lines.command()
		switch {
		case errors.Is(err, io.EOF):
			return r.end()
		case isNoCommand(err):
			r.failed = true
			fmt.Fprintf(s.err, "meowdis: line %d: %v: %s\n", script.lines.number, err, clipped(string(script.lines.text)))
		case err != nil:
			return fmt.Errorf("reading the script: %w", err)
		case len(args) > 0:
			if err := r.show(ctx, script.lines.number, args); err != nil {
				return err
			}
		}
		if r.failed && !o.keepGoing {
			return r.end()
		}
	}
}

func (r *rehearsal) end() error {
	if r.failed {
		return errAnswered
	}
	return nil
}

// show shows a command, of the script's line n, if any.
func (r *rehearsal) show(ctx context.Context, n int, args [][]byte) error {
	refusal, refused := r.guard(args)
	var e explanation
	var err error
	if r.sql != nil && !refused {
		if e, refusal, err = r.sql.explain(ctx, args); err != nil {
			return err
		}
	}
	if n > 0 {
		fmt.Fprintf(r.out, "\n# line %d\n", n)
	}
	if _, err := fmt.Fprintln(r.out, commandLine(args)); err != nil {
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

// follow selects the database that a SELECT would.
func (r *rehearsal) follow(args [][]byte) {
	if command, _ := commands.Find(args); command.Name == "SELECT" {
		if db, bad := commands.DBIndex(args[1]); !bad.IsError() {
			r.sql.db = db
		}
	}
}
