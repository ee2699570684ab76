package cmd

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"
	"github.com/spf13/cobra"

	"github.com/meowdis/meowdis/cmd/internal/exit"
	"github.com/meowdis/meowdis/cmd/internal/profile"
	"github.com/meowdis/meowdis/cmd/internal/targets"
	"github.com/meowdis/meowdis/engine"
	"github.com/meowdis/meowdis/internal/spelling"
	"github.com/meowdis/meowdis/keyspace"
	"github.com/meowdis/meowdis/local"
	"github.com/meowdis/meowdis/redis/commands"
	"github.com/meowdis/meowdis/redis/resp"
	"github.com/meowdis/meowdis/redis/script"
	"github.com/meowdis/meowdis/remote"
	"github.com/meowdis/meowdis/remote/cluster"
	"github.com/meowdis/meowdis/repl"
)

// replOptions holds the flags of repl.
type replOptions struct {
	target  targets.Options
	format  formatOptions
	confirm confirmOptions
	pager   bool

	debug     [][]byte // an EVAL for the debugger, instead of a prompt
	debugSync bool     // keeps its changes
}

func newREPL(s *streams) *cobra.Command {
	o := &replOptions{}
	cmd := &cobra.Command{
		Use:        "repl [FLAGS] [TARGET]",
		SuggestFor: []string{"cli", "redis-cli", "shell", "console"},
		GroupID:    groupUse,
		Short:      "Type commands, with completion, hints and history",
		Long: `Reads commands from the terminal and prints their replies. TAB completes
commands, options, keys, fields and members. Hints show the next arguments as
you type, and mistakes are coloured.

"| less" pipes a reply to a shell command, "> FILE" writes it to a file. :help
lists the commands of the prompt, and HELP SET explains SET. When stdin is a
pipe or TERM=dumb, each line is one command, and | and > are ordinary
characters.`,
		Example: `  meowdis repl
  meowdis repl cats.sqlite
  meowdis repl @prod -n 2
  meowdis repl -h localhost -p 6380`,
		Args:              usageArgs(cobra.MaximumNArgs(1)),
		ValidArgsFunction: targets.CompleteNames(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := o.target.Argument(args); err != nil {
				return err
			}
			if err := o.format.check(cmd); err != nil {
				return err
			}
			return o.run(cmd.Context(), s)
		},
	}
	o.target.AddFlags(cmd)
	o.target.AddServerFlags(cmd)
	o.confirm.addFlags(cmd)
	o.format.addFlags(cmd)
	cmd.Flags().BoolVar(&o.pager, "pager", true, "show replies longer than the screen in $PAGER, or less")
	cmd.Flags().Lookup("pager").Hidden = true // :set pager keeps the choice
	return cmd
}

func (o *replOptions) run(ctx context.Context, s *streams) error {
	if err := o.target.AskPassword(s.askSecret); err != nil {
		return err
	}
	chosen, err := o.target.Find(s.getenv, s.err)
	if err != nil {
		return err
	}
	c, err := o.target.Connect(ctx, chosen, local.Options{FallbackReadOnly: true}, o.format.wantsRESP3())
	if err != nil {
		return err
	}
	terminal := s.edits()
	if s.inTerminal && s.outTerminal && o.debug == nil {
		note(s, c)
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
		NoQuestions: o.confirm.yes || chosen.Profile != "" && chosen.Settings.Confirm.Level() == profile.ConfirmNone,
		Kept:        keptSettings(s),
		Page:        page,
		Paging:      o.pager && terminal,
		In:          s.in, Out: s.screen, Err: s.errScreen,
		Terminal: terminal,
		Prompts:  !terminal && s.inTerminal && s.outTerminal,
		History:  targets.HistoryFile(),
		Editor:   cmp.Or(s.getenv("VISUAL"), s.getenv("EDITOR")),
		Colour:   o.format.colour(s),
		Inputrc:  inputrc(s.getenv),
		Getenv:   s.getenv,
		Debug:    o.debug, DebugSync: o.debugSync,
	})
	if err == nil && failed {
		return exit.ErrReported
	}
	return err
}

// keptSettings returns the settings of the prompt in the configuration, and writes changes there.
func keptSettings(s *streams) repl.Kept {
	path := targets.ConfigFile()
	kept := repl.Kept{Write: func(table, name, value string) error {
		if table != "" {
			table = "." + table
		}
		return profile.Set(path, "repl"+table, name, value)
	}}
	config, err := profile.Load(path)
	switch {
	case err != nil:
		fmt.Fprintf(s.err, "meowdis: %v\n", err)
	case config.REPL != nil:
		kept.Settings, kept.Favourites, kept.Variables = config.REPL.Settings(), config.REPL.Favourites, config.REPL.Variables
	}
	return kept
}

// inputrc returns the path of readline's configuration file, "" without a home directory.
func inputrc(getenv func(string) string) string {
	file, home := getenv("INPUTRC"), getenv("HOME")
	if file == "" && home != "" {
		file = filepath.Join(home, ".inputrc")
	}
	return file
}

// note prints a greeting, and a warning if the file is missing or read-only.
func note(s *streams, c *targets.Conn) {
	if s.edits() {
		fmt.Fprintln(s.err, ":help shows help, TAB completes, Ctrl-D quits.")
	} else {
		fmt.Fprintln(s.err, "TERM=dumb: no key bindings and no completion. :help shows help, Ctrl-D quits.")
	}
	switch {
	case c.Target.IsNew() && !c.Target.IsDefault():
		fmt.Fprintf(s.err, "%s does not exist yet: the first command that writes creates it.%s\n", c.Target, c.Target.Question())
	case c.File != nil && c.File.ReadOnly() != "":
		fmt.Fprintf(s.err, "This target is read-only: %s.\n", c.File.ReadOnly())
	}
}

// listCommands returns the commands of a target. The user waits.
func listCommands(ctx context.Context, s *streams, c *targets.Conn) *commands.Table {
	ctx, cancel := context.WithTimeout(ctx, s.waits.target)
	defer cancel()
	return c.Commands(ctx)
}

// replTarget returns the prompt's view of a connection.
func (o *replOptions) replTarget(ctx context.Context, s *streams, c *targets.Conn) repl.Target {
	if !s.edits() {
		c.Session = o.confirm.confirmed(c, s)
	}
	t := repl.Target{
		Session: c.Session,
		Name:    s.painted(c.Target.Settings.Color, c.Target.Label()),
		Strict:  !c.Target.IsServer(),
		Confirm: func(args [][]byte) (string, func(string) bool) { return o.confirm.question(c.Target, args) },
		Close:   c.Close,

		LookupTime: s.waits.lookup,
	}
	if s.edits() {
		t.Commands = listCommands(ctx, s, c)
		t.Strict = t.Strict || t.Commands != commands.Ours
	}
	switch c := targets.Plain(c.Session).(type) {
	case *remote.Redis:
		t.Connections, t.OnPush, t.Debug = c.Connections, c.OnPush, c.Debug
	case *cluster.Session:
		t.Connections, t.OnPush, t.Node = c.Connections, c.OnPush, c.Node
	case *remote.REST:
		t.PollEvery = time.Second / 2
	case *engine.Session:
		t.Keys, t.Aborts = c, c.Aborts
		t.Debug = func(ctx context.Context, args [][]byte, keep bool, ask func([]string) ([]string, bool)) (resp.Value, error) {
			d := &script.Debugger{Ask: ask}
			v, err := c.Debug(ctx, args, keep, d)
			if lines := d.Lines(); len(lines) > 0 {
				ask(append(lines, "<endsession>"))
			}
			return v, err
		}
	}
	t.Listen = func(ctx context.Context, args [][]byte, each func(resp.Value) error) error {
		return c.Listen(ctx, args, s.reportMissingMessages, each)
	}
	if c.File != nil {
		t.Bytes = func(ctx context.Context, keys []keyspace.Key) error { return tables(c).Measure(ctx, keys) }
	}
	t.Explain = func(ctx context.Context, out io.Writer, args [][]byte) error {
		e := explainOptions{target: targets.Options{Spec: targets.FileSpec(cmp.Or(c.Target.Path, local.Memory)), Database: c.DB()}}
		for _, a := range args {
			e.args = append(e.args, string(a))
		}
		shown := *s
		shown.out, shown.screen = escapingFor(out, s.outTerminal), out
		err := e.run(ctx, &shown)
		if errors.Is(err, exit.ErrReported) { // already printed
			return nil
		}
		return err
	}
	return t
}

// connectTo connects to a URL, a profile or an existing file. -n does not apply to it.
func (o *replOptions) connectTo(ctx context.Context, s *streams, spec string) (repl.Target, error) {
	t, err := (&targets.Tokens{Both: o.target.Token}).Named(s.getenv, spec, "")
	if err != nil {
		return repl.Target{}, err
	}
	if _, err := os.Stat(t.Path); t.URL == nil && t.Path != local.Memory && err != nil {
		return repl.Target{}, fmt.Errorf("no such file: %s; to create it, run meowdis repl %[1]s", t.Path)
	}
	c, err := o.target.Anywhere().Connect(ctx, t, local.Options{FallbackReadOnly: true}, o.format.wantsRESP3())
	if err != nil {
		return repl.Target{}, err
	}
	return o.replTarget(ctx, s, c), nil
}

// formatNamed returns the named format, with the other flags unchanged.
func (o *replOptions) formatNamed(s *streams, name string) (repl.Format, error) {
	if !slices.Contains(formats, name) {
		return nil, fmt.Errorf("unknown format %q.%s The formats are %s", name, spelling.Question(spelling.Nearest(name, formats)), strings.Join(formats, ", "))
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

// profileNames returns the names of the profiles; nil if they cannot be read.
func profileNames() []string {
	config, err := profile.Load(targets.ConfigFile())
	if err != nil {
		return nil
	}
	return config.Names()
}

// page shows text in a pager, $PAGER or less, if it is longer than the screen. It returns false if the caller must
// print the text: it is short, or the pager is missing.
func (s *streams) page(text []byte) bool {
	width, height, err := s.size()
	if err != nil || !longer(text, width, height) {
		return false
	}
	words := strings.Fields(cmp.Or(s.getenv("PAGER"), "less"))
	run := exec.Command(words[0], words[1:]...)
	run.Stdin, run.Stdout, run.Stderr = bytes.NewReader(text), s.screen, s.errScreen
	if s.getenv("LESS") == "" {
		run.Env = append(os.Environ(), "LESS=FRX") // keeps colours and the text on the screen
	}
	if err := run.Start(); err != nil {
		fmt.Fprintf(s.err, "meowdis: cannot start the pager: %v\n", err)
		return false
	}
	_ = run.Wait() // quitting a pager early is not an error
	return true
}

// longer reports whether text and the prompt after it exceed the screen.
func longer(text []byte, width, height int) bool {
	lines := 1
	for line := range bytes.Lines(text) {
		lines += 1 + max(0, ansi.StringWidth(string(line))-1)/max(width, 1)
		if lines > height {
			return true
		}
	}
	return false
}
