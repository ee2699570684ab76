package cmd

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/meowdis/meowdis/display"
	"github.com/meowdis/meowdis/inspect"
	"github.com/meowdis/meowdis/internal/exit"
	"github.com/meowdis/meowdis/internal/target"
	"github.com/meowdis/meowdis/keyspace/catalog"
	"github.com/meowdis/meowdis/local"
	"github.com/meowdis/meowdis/profile"
)

// inspectOptions are the flags and the argument of inspect.
type inspectOptions struct {
	target     target.Options
	delimiter  string
	noMouse    bool
	background string
	keys       bool
}

func newInspect(s *streams) *cobra.Command {
	o := &inspectOptions{}
	cmd := &cobra.Command{
		Use:     "inspect [FLAGS] [TARGET]",
		GroupID: groupLook,
		Short:   "Browse keys and values on the whole screen",
		Long: `Shows the keys of a target as a tree or a list, with their types, sizes and
times to live, and their values. Press ? for its keys. It writes nothing until
you unlock it with U.

Of a file the tree, the order and the counts are exact, for any number of keys.
A server's keys are found with SCAN, and the screen says how many were scanned.

Its keys and colours can be changed in config.toml, whose place "meowdis paths"
prints: --keys prints them as they come, in the form that they have there.`,
		Example: `  meowdis inspect cats.sqlite
  meowdis inspect --url redis://localhost:6379
  meowdis inspect --delimiter / paths.sqlite
  meowdis inspect --keys`,
		DisableFlagsInUseLine: true,
		Args:                  usageArgs(cobra.MaximumNArgs(1)),
		ValidArgsFunction:     target.CompleteNames(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if o.keys {
				return inspect.WriteDefaults(s.out)
			}
			if len(args) == 1 {
				o.target.Spec = args[0]
			}
			return o.run(cmd.Context(), s)
		},
	}
	o.target.AddFlags(cmd)
	cmd.Flags().StringVar(&o.delimiter, "delimiter", ":", "`TEXT` that parts names into folders")
	cmd.Flags().BoolVar(&o.noMouse, "no-mouse", false, "leave the mouse to the terminal")
	cmd.Flags().StringVar(&o.background, "background", "auto", "what the terminal's `SHADE` is: light, dark, or auto, which asks it")
	cmd.Flags().BoolVar(&o.keys, "keys", false, "print the keys and colours as they come, to be changed in config.toml")
	cmd.RegisterFlagCompletionFunc("delimiter", cobra.NoFileCompletions)
	cmd.RegisterFlagCompletionFunc("background", cobra.FixedCompletions(backgrounds, cobra.ShellCompDirectiveNoFileComp))
	return cmd
}

func (o *inspectOptions) run(ctx context.Context, s *streams) (err error) {
	look, decoders, err := configuredLook()
	if err == nil {
		err = o.check(s)
	}
	if err != nil {
		return err
	}
	// A server may let wait before it says so much as hello.
	late := time.AfterFunc(time.Second, func() { fmt.Fprintln(s.err, "Waiting for the server. ^C ends it.") })
	c, err := o.connect(ctx, s)
	late.Stop()
	if err != nil {
		return err
	}
	// Who writes goes last: then nothing but the file itself stays.
	w := unlocker{o: o, reader: c}
	defer func() { err = w.close(err) }()
	defer func() { err = closing(err, c) }()
	options := o.screen(s, c)
	options.Look, options.Decoder = look, decoders
	knowledge(ctx, c, &options)
	if !o.target.RefusesWrites(c.Target) && !(c.File != nil && c.File.Foreign()) {
		options.Unlock = w.unlock
	}
	kept, err := inspect.Run(ctx, options)
	if kept > 0 {
		fmt.Fprintf(s.err, "%s can still be undone: meowdis inspect %s, then U and u\n", display.Counted(int64(kept), "change", "changes"), c.Target.Args())
	}
	var signalled inspect.Signalled
	if errors.As(err, &signalled) {
		return exit.StoppedBy(signalled.Signal)
	}
	return err
}

func (o *inspectOptions) connect(ctx context.Context, s *streams) (*target.Conn, error) {
	t, err := o.target.Find(s.getenv, s.err)
	if err != nil {
		return nil, err
	}
	return o.target.Connect(ctx, t, readOnly, false)
}

// check reports why there can be no screen, before anything is opened.
func (o *inspectOptions) check(s *streams) error {
	switch {
	case !s.outTerminal:
		return exit.Usagef("inspect draws on a terminal, and the output is none")
	case s.getenv("TERM") == "dumb":
		return exit.Usagef("inspect needs a terminal whose cursor can be moved, and TERM is dumb; see keys, peek and stats")
	case !slices.Contains(backgrounds, o.background):
		return exit.Usagef("--background is %s, not %q", strings.Join(backgrounds, ", "), o.background)
	case o.delimiter == "" || !utf8.ValidString(o.delimiter):
		return exit.Usagef("the delimiter must be some text")
	}
	return nil
}

// screen is how the inspector is drawn, and what its target is called.
func (o *inspectOptions) screen(s *streams, c *target.Conn) inspect.Options {
	options := inspect.Options{
		Client: c, Target: c.Target.String(), Name: c.Target.Profile, Profile: c.Target.Profile, Color: 1 + slices.Index(profile.Colors, c.Target.Settings.Color), DB: c.DB(), Delimiter: o.delimiter, Out: s.screen,
		Editor: editor(s.getenv), Exec: "meowdis exec " + c.Target.Args(), Mouse: !o.noMouse,
		Scratch: o.scratch, Listen: c.Listen,
		Journal: target.UndoDirectory(), Identity: c.Target.Identity(), Fleeting: c.Target.Path == local.Memory,
		Light: o.background == "light" || o.background == "auto" && lightByEnvironment(s.getenv),
		// The console of Linux prints the question.
		AskBackground: o.background == "auto" && s.getenv("TERM") != "linux",
		Confirm: map[profile.Confirm]inspect.Confirm{
			profile.ConfirmNone: inspect.ConfirmNone, profile.ConfirmName: inspect.ConfirmName,
		}[c.Target.Settings.Confirm.Level()],
	}
	if s.inTerminal {
		options.In = s.in
	}
	return options
}

// scratch is an empty data set in memory.
func (o *inspectOptions) scratch(ctx context.Context) (inspect.Client, func() error, error) {
	writing := target.Options{}
	c, err := writing.Connect(ctx, target.Target{Path: local.Memory}, local.Options{SweepEvery: noSweep, Cache: smallCache}, false)
	if err != nil {
		return nil, nil, err
	}
	return c, c.Close, nil
}

// knowledge adds what a file of ours shows beside the replies to commands.
func knowledge(ctx context.Context, c *target.Conn, options *inspect.Options) {
	if c.File == nil {
		return
	}
	options.Moved = c.File.Moved
	if c.File.Foreign() {
		return
	}
	options.Index = fileIndex{catalog.New(c.File, systemClock), c.File}
	options.Explain = func(db int, call [][]byte) string { return explainText(ctx, c.File, db, call) }
}

// unlocker makes the connection that writes, which is there from the unlocking on: a
// file is opened once more for it, anything else is written as it is read.
type unlocker struct {
	o      *inspectOptions
	reader *target.Conn
	own    *target.Conn // nil while there is none
}

func (w *unlocker) unlock(ctx context.Context) (inspect.Client, error) {
	if t := w.reader.Target; w.reader.File == nil || t.Path == local.Memory {
		return w.reader, nil
	}
	c, err := w.o.target.Connect(ctx, w.reader.Target, local.Options{SweepEvery: noSweep, Cache: smallCache}, false)
	if err != nil {
		return nil, err
	}
	w.own = c
	return c, nil
}

func (w *unlocker) close(err error) error {
	if w.own == nil {
		return err
	}
	return closing(err, w.own)
}

var backgrounds = []string{"auto", "light", "dark"}

// lightByEnvironment reports whether COLORFGBG, which some terminals set, names a
// light background, as "0;15" does: black on white.
func lightByEnvironment(getenv func(string) string) bool {
	colours := strings.Split(getenv("COLORFGBG"), ";")
	n, err := strconv.Atoi(colours[len(colours)-1])
	return err == nil && (n == 7 || n > 8)
}

// editor is the command that edits a file, nil when the person has named none.
func editor(getenv func(string) string) func(path string) *exec.Cmd {
	words := strings.Fields(cmp.Or(getenv("VISUAL"), getenv("EDITOR")))
	if len(words) == 0 {
		return nil
	}
	return func(path string) *exec.Cmd { return exec.Command(words[0], append(words[1:], path)...) }
}

// explainText is what explain prints of a call.
func explainText(ctx context.Context, file *local.Store, db int, call [][]byte) string {
	x := explainer{db: db, file: file}
	e, bad, err := x.explain(ctx, call)
	switch {
	case err != nil:
		return err.Error()
	case bad.IsError():
		return string(bad.Str)
	}
	var b strings.Builder
	e.print(&b)
	return b.String()
}

// fileIndex is all that is known of a file's keys at once.
type fileIndex struct {
	*catalog.Catalog
	*local.Store
}
