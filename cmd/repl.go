package cmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/meowdis/meowdis/engine"
	"github.com/meowdis/meowdis/local"
	"github.com/meowdis/meowdis/remote"
	"github.com/meowdis/meowdis/repl"
	"github.com/meowdis/meowdis/resp"
)

// replOptions are the flags of repl.
type replOptions struct {
	target targetOptions
	format formatOptions
}

func newREPL(s *streams) *cobra.Command {
	o := &replOptions{}
	cmd := &cobra.Command{
		Use:     "repl",
		GroupID: groupUse,
		Short:   "Type commands, with completion, hints and history",
		Long: `Reads commands from the terminal and prints their replies. The prompt shows where
they go, the database when it is not 0, and (TX) with the number of queued
commands inside MULTI.

What may follow is shown as you type, and mistakes are coloured. TAB completes
commands, options, keys, fields and members. "| less" gives a reply to a shell
command, "> FILE" writes it into a file. :help lists the commands of the prompt
itself, and HELP SET tells about SET. The history leaves out lines with
passwords.

From a pipe it reads one command a line, and | and > stand for themselves.

` + targetHelp,
		Example: `  meowdis repl
  meowdis repl --db cats.sqlite -n 2
  meowdis repl --url rediss://user:password@example.com:6380`,
		Args: usageArgs(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := o.format.check(cmd); err != nil {
				return err
			}
			return o.run(cmd.Context(), s)
		},
	}
	o.target.addFlags(cmd)
	o.format.addFlags(cmd)
	return cmd
}

func (o *replOptions) run(ctx context.Context, s *streams) error {
	c, err := o.target.connect(ctx, s, local.Options{}, o.format.wantsRESP3())
	if err != nil {
		return err
	}
	failed, err := repl.Run(ctx, repl.Options{
		Target:      o.replTarget(s, c),
		Format:      replFormat(o.format.printer(s.outTerminal)),
		FormatName:  o.format.name(s.outTerminal),
		Formats:     []string{"typed", "raw", "json", "csv"},
		FormatNamed: func(name string) (repl.Format, error) { return o.formatNamed(s, name) },
		Connect: func(ctx context.Context, spec string) (repl.Target, error) {
			return o.connectTo(ctx, s, spec)
		},
		In: s.in, Out: s.out, Err: s.err,
		Terminal: s.inTerminal && s.outTerminal,
		History:  historyFile(),
		Editor:   firstOf(s.getenv("VISUAL"), s.getenv("EDITOR")),
		Colour:   s.colour(),
	})
	if err == nil && failed {
		return errAnswered
	}
	return err
}

// replTarget is a connection as the loop knows it.
func (o *replOptions) replTarget(s *streams, c *connection) repl.Target {
	t := repl.Target{Session: c.session, Name: c.target.label(), Strict: c.target.url == nil, Close: c.close}
	switch c := c.session.(type) {
	case *remote.Redis:
		t.Listen, t.Connections = c.Listen, c.Connections
	case *engine.Session:
		t.FirstKeys = c.FirstKeys
	}
	t.Explain = func(ctx context.Context, out io.Writer, args [][]byte) error {
		e := explainOptions{db: firstOf(c.target.path, local.Memory), database: c.DB()}
		for _, a := range args {
			e.args = append(e.args, string(a))
		}
		shown := *s
		shown.out = out
		err := e.run(ctx, &shown)
		if errors.Is(err, errAnswered) { // it has been shown
			return nil
		}
		return err
	}
	return t
}

// connectTo goes to a URL or a file that exists. Another target is in database 0.
func (o *replOptions) connectTo(ctx context.Context, s *streams, spec string) (repl.Target, error) {
	t, err := named(spec, firstOf(o.target.token, s.getenv("MEOWDIS_TOKEN")))
	if err != nil {
		return repl.Target{}, err
	}
	if _, err := os.Stat(t.path); t.url == nil && t.path != local.Memory && err != nil {
		return repl.Target{}, fmt.Errorf("there is no file %s: a new one is made by meowdis repl --db", t.path)
	}
	options := o.target
	options.database = 0
	c, err := options.connectTo(ctx, t, local.Options{}, o.format.wantsRESP3())
	if err != nil {
		return repl.Target{}, err
	}
	return o.replTarget(s, c), nil
}

// name is the format that the flags choose, on a terminal or elsewhere.
func (o *formatOptions) name(terminal bool) string {
	switch {
	case o.json:
		return "json"
	case o.csv:
		return "csv"
	case o.raw || !terminal && !o.noRaw:
		return "raw"
	}
	return "typed"
}

// formatNamed is the format of that name, with the other flags as they are.
func (o *replOptions) formatNamed(s *streams, name string) (repl.Format, error) {
	f := o.format
	f.json, f.csv, f.raw, f.noRaw = name == "json", name == "csv", name == "raw", name == "typed"
	if !f.json && !f.csv && !f.raw && !f.noRaw {
		return nil, fmt.Errorf("there is no format %q", name)
	}
	return replFormat(f.printer(s.outTerminal)), nil
}

func replFormat(p resp.Printer) repl.Format {
	return func(out []byte, args [][]byte, v resp.Value) []byte { return appendReply(out, p, args, v) }
}
