package cmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/meowdis/meowdis/commands"
	"github.com/meowdis/meowdis/engine"
	"github.com/meowdis/meowdis/local"
	"github.com/meowdis/meowdis/profile"
	"github.com/meowdis/meowdis/remote"
	"github.com/meowdis/meowdis/repl"
	"github.com/meowdis/meowdis/resp"
	"github.com/meowdis/meowdis/spelling"
)

// replOptions are the flags of repl.
type replOptions struct {
	target  targetOptions
	format  formatOptions
	confirm confirmOptions
	pager   bool
}

func newREPL(s *streams) *cobra.Command {
	o := &replOptions{}
	cmd := &cobra.Command{
		Use:        "repl [FLAGS] [TARGET]",
		SuggestFor: []string{"cli", "redis-cli", "shell", "console"},
		GroupID:    groupUse,
		Short:      "Type commands, with completion, hints and history",
		Long: `Reads commands from the terminal and prints their replies. The prompt shows where
they go, the database when it is not 0, and (TX) with the number of queued
commands inside MULTI.

What may follow is shown as you type, and mistakes are coloured. TAB completes
commands, options, keys, fields and members. "| less" gives a reply to a shell
command, "> FILE" writes it into a file. :help lists the commands of the prompt
itself, and HELP SET tells about SET. The history leaves out lines with
passwords.

From a pipe, and with TERM=dumb, it reads one command a line, and | and > stand for
themselves.

` + targetHelp,
		Example: `  meowdis repl
  meowdis repl cats.sqlite
  meowdis repl @prod -n 2
  meowdis repl rediss://example.com:6380 --read-only`,
		Args:              usageArgs(cobra.MaximumNArgs(1)),
		ValidArgsFunction: completeTargets(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 1 {
				o.target.spec = args[0]
			}
			if err := o.format.check(cmd); err != nil {
				return err
			}
			return o.run(cmd.Context(), s)
		},
	}
	o.target.addFlags(cmd)
	o.confirm.addFlags(cmd)
	o.format.addFlags(cmd)
	cmd.Flags().BoolVar(&o.pager, "pager", false, "show replies longer than the screen in $PAGER, or less")
	return cmd
}

func (o *replOptions) run(ctx context.Context, s *streams) error {
	c, err := o.target.connect(ctx, s, local.Options{OrRead: true}, o.format.wantsRESP3())
	if err != nil {
		return err
	}
	terminal := s.edits()
	if terminal {
		c.note(s)
	}
	var page func([]byte) bool
	if terminal {
		page = s.page
	}
	failed, err := repl.Run(ctx, repl.Options{
		Target:      o.replTarget(ctx, s, c),
		Format:      o.replFormat(s, o.format),
		FormatName:  o.format.format(s),
		Formats:     formats,
		FormatNamed: func(name string) (repl.Format, error) { return o.formatNamed(s, name) },
		Suggest:     func(args [][]byte, v resp.Value) { suggest(s.err, args, v) },
		Connect:     func(ctx context.Context, spec string) (repl.Target, error) { return o.connectTo(ctx, s, spec) },
		Use:         func(ctx context.Context, name string) (repl.Target, error) { return o.connectTo(ctx, s, "@"+name) },
		Profiles:    profileNames,
		Page:        page,
		Paging:      o.pager && terminal,
		In:          s.in, Out: s.screen, Err: s.errScreen,
		Terminal: terminal,
		History:  historyFile(),
		Editor:   firstOf(s.getenv("VISUAL"), s.getenv("EDITOR")),
		Colour:   o.format.colour(s),
	})
	if err == nil && failed {
		return errAnswered
	}
	return err
}

// note says what of the file would surprise who types commands.
func (c *connection) note(s *streams) {
	switch {
	case c.target.isNew() && c.target.source != defaultSource:
		fmt.Fprintf(s.err, "There is no %s yet: the first command that writes makes it.\n", c.target)
	case c.file != nil && c.file.ReadOnly() != "":
		fmt.Fprintf(s.err, "Nothing can be written here: %s.\n", c.file.ReadOnly())
	}
}

// replTarget is a connection as the loop knows it.
func (o *replOptions) replTarget(ctx context.Context, s *streams, c *connection) repl.Target {
	if !s.edits() {
		c.session = o.confirm.confirmed(c, s)
	}
	t := repl.Target{
		Session: c.session,
		Name:    s.painted(c.target.settings.Color, c.target.label()),
		Strict:  c.target.url == nil,
		Confirm: func(args [][]byte) (string, func(string) bool) { return o.confirm.question(c.target, args) },
		Close:   c.close,
	}
	if s.edits() {
		t.Commands = c.commands(ctx)
		t.Strict = t.Strict || t.Commands != commands.Ours
	}
	switch c := plain(c.session).(type) {
	case *remote.Redis:
		t.Listen, t.Connections = c.Listen, c.Connections
	case *remote.REST:
		t.Listen = c.Listen
	case *engine.Session:
		t.FirstKeys = c.FirstKeys
	}
	t.Explain = func(ctx context.Context, out io.Writer, args [][]byte) error {
		e := explainOptions{target: targetOptions{db: firstOf(c.target.path, local.Memory), database: c.DB()}}
		for _, a := range args {
			e.args = append(e.args, string(a))
		}
		shown := *s
		shown.out, shown.screen = showTo(out, s.outTerminal), out
		err := e.run(ctx, &shown)
		if errors.Is(err, errAnswered) { // it has been shown
			return nil
		}
		return err
	}
	return t
}

// connectTo goes to a URL, a profile or a file that exists. Another target is in a
// database of its own choice.
func (o *replOptions) connectTo(ctx context.Context, s *streams, spec string) (repl.Target, error) {
	t, err := (&tokenOptions{both: o.target.token}).named(s, spec, "")
	if err != nil {
		return repl.Target{}, err
	}
	if _, err := os.Stat(t.path); t.url == nil && t.path != local.Memory && err != nil {
		return repl.Target{}, fmt.Errorf("there is no file %s: a new one is made by meowdis repl --db", t.path)
	}
	options := o.target
	options.database, options.flags = 0, nil
	c, err := options.connectTo(ctx, t, local.Options{OrRead: true}, o.format.wantsRESP3())
	if err != nil {
		return repl.Target{}, err
	}
	return o.replTarget(ctx, s, c), nil
}

// formatNamed is the format of that name, with the other flags as they are.
func (o *replOptions) formatNamed(s *streams, name string) (repl.Format, error) {
	if !slices.Contains(formats, name) {
		return nil, fmt.Errorf("there is no format %q.%s The formats are %s", name, spelling.Question(spelling.Nearest(name, formats)), strings.Join(formats, ", "))
	}
	f := o.format
	f.output = name
	return o.replFormat(s, f), nil
}

func (o *replOptions) replFormat(s *streams, f formatOptions) repl.Format {
	p := f.printer(s)
	return func(out []byte, args [][]byte, v resp.Value) []byte {
		return p.append(out, args, v)
	}
}

// profileNames lists the profiles; none when they cannot be read.
func profileNames() []string {
	config, err := profile.Load(configFile())
	if err != nil {
		return nil
	}
	return config.Names()
}
