package cmd

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/meowdis/meowdis/catalog"
	"github.com/meowdis/meowdis/display"
	"github.com/meowdis/meowdis/inspect"
	"github.com/meowdis/meowdis/local"
	"github.com/meowdis/meowdis/profile"
)

// inspectOptions are the flags and the argument of inspect.
type inspectOptions struct {
	targetOptions
	delimiter  string
	noMouse    bool
	background string
}

func newInspect(s *streams) *cobra.Command {
	o := &inspectOptions{}
	cmd := &cobra.Command{
		Use:     "inspect [FLAGS] [TARGET]",
		GroupID: groupLook,
		Short:   "Browse keys and values on the whole screen",
		Long: `Shows the keys of a target as a tree or a list, with their types, sizes and
times to live, and their values. Press ? for its keys. Nothing is written before
you unlock it with U.

Of a file the tree, the order and the counts are exact, for any number of keys.
A server's keys are found with SCAN, and the screen says how many were scanned.

` + targetHelp,
		Example: `  meowdis inspect cats.sqlite
  meowdis inspect --url redis://localhost:6379
  meowdis inspect --delimiter / paths.sqlite`,
		DisableFlagsInUseLine: true,
		Args:                  usageArgs(cobra.MaximumNArgs(1)),
		ValidArgsFunction:     completeTargets(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 1 {
				o.spec = args[0]
			}
			return o.run(cmd.Context(), s)
		},
	}
	o.addFlags(cmd)
	cmd.Flags().StringVar(&o.delimiter, "delimiter", ":", "`TEXT` that parts names into folders")
	cmd.Flags().BoolVar(&o.noMouse, "no-mouse", false, "leave the mouse to the terminal")
	cmd.Flags().StringVar(&o.background, "background", "auto", "what the terminal's `SHADE` is: light, dark, or auto, which asks it")
	cmd.RegisterFlagCompletionFunc("delimiter", cobra.NoFileCompletions)
	cmd.RegisterFlagCompletionFunc("background", cobra.FixedCompletions(backgrounds, cobra.ShellCompDirectiveNoFileComp))
	return cmd
}

func (o *inspectOptions) run(ctx context.Context, s *streams) (err error) {
	if err := o.check(s); err != nil {
		return err
	}
	// A server may let wait before it says so much as hello.
	late := time.AfterFunc(time.Second, func() { fmt.Fprintln(s.err, "Waiting for the server. ^C ends it.") })
	c, err := o.connect(ctx, s, lookOnly, false)
	late.Stop()
	if err != nil {
		return err
	}
	// Who writes goes last: then nothing but the file itself stays.
	w := unlocker{o: o, reader: c}
	defer func() { err = w.close(err) }()
	defer func() { err = closing(err, c) }()
	options := o.screen(s, c)
	knowledge(ctx, c, &options)
	if !o.refusesWrites(c.target) && !(c.file != nil && c.file.Foreign()) {
		options.Unlock = w.unlock
	}
	kept, err := inspect.Run(ctx, options)
	if kept > 0 {
		fmt.Fprintf(s.err, "%s can still be undone: meowdis inspect %s, then U and u\n", display.Counted(int64(kept), "change", "changes"), c.target.flags())
	}
	var signalled inspect.Signalled
	if errors.As(err, &signalled) {
		return stoppedBy(signalled.Signal)
	}
	return err
}

// check tells what speaks against a screen, before anything is opened.
func (o *inspectOptions) check(s *streams) error {
	switch {
	case !s.outTerminal:
		return usagef("inspect draws on a terminal, and the output is none")
	case s.getenv("TERM") == "dumb":
		return usagef("inspect needs a terminal whose cursor can be moved, and TERM is dumb; see keys, peek and stats")
	case !slices.Contains(backgrounds, o.background):
		return usagef("--background is %s, not %q", strings.Join(backgrounds, ", "), o.background)
	case o.delimiter == "" || !utf8.ValidString(o.delimiter):
		return usagef("the delimiter must be some text")
	}
	return nil
}

// screen is how the browser looks, and what its target is called.
func (o *inspectOptions) screen(s *streams, c *connection) inspect.Options {
	options := inspect.Options{
		Client: c, Target: c.target.String(), Name: c.target.profile, Profile: c.target.profile, Color: 1 + slices.Index(profile.Colors, c.target.settings.Color), DB: c.DB(), Delimiter: o.delimiter, Out: s.screen,
		Editor: editor(s.getenv), Exec: "meowdis exec " + c.target.flags(), Mouse: !o.noMouse,
		Journal: undoDirectory(), Identity: c.target.identity(), Fleeting: c.target.path == local.Memory,
		Light: o.background == "light" || o.background == "auto" && lightByEnvironment(s.getenv),
		// The console of Linux prints the question.
		AskBackground: o.background == "auto" && s.getenv("TERM") != "linux",
		Confirm: map[profile.Confirm]inspect.Confirm{
			profile.ConfirmNone: inspect.ConfirmNone, profile.ConfirmName: inspect.ConfirmName,
		}[c.target.settings.Confirm.Level()],
	}
	if s.inTerminal {
		options.In = s.in
	}
	return options
}

// knowledge adds what a file of ours tells beside the replies to commands.
func knowledge(ctx context.Context, c *connection, options *inspect.Options) {
	if c.file == nil {
		return
	}
	options.Moved = c.file.Moved
	if c.file.Foreign() {
		return
	}
	options.Index = fileIndex{catalog.New(c.file, systemClock), c.file}
	options.Explain = func(db int, call [][]byte) string { return explainText(ctx, c.file, db, call) }
}

// unlocker makes the connection that writes, which is there from the unlocking on: a
// file is opened once more for it, anything else is written as it is read.
type unlocker struct {
	o      *inspectOptions
	reader *connection
	own    *connection // nil while there is none
}

func (w *unlocker) unlock(ctx context.Context) (inspect.Client, error) {
	if t := w.reader.target; w.reader.file == nil || t.path == local.Memory {
		return w.reader, nil
	}
	c, err := w.o.connectTo(ctx, w.reader.target, local.Options{SweepEvery: noSweep, Cache: lookCache}, false)
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

// identity tells the target from all others, without its secrets. Memory is another
// one each time.
func (t target) identity() string {
	switch {
	case t.url != nil:
		return t.String()
	case t.path == local.Memory:
		return t.path + rand.Text()
	}
	path, err := filepath.Abs(t.path)
	if err != nil {
		return t.path
	}
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	return path
}

// flags are the arguments of a shell command that choose the target, without its
// secrets.
func (t target) flags() string {
	if t.profile != "" {
		return "--profile " + shellWords(t.profile)
	}
	if t.url != nil {
		return "--url " + shellWords(t.String())
	}
	return "--db " + shellWords(t.path)
}

// editor is the command that edits a file, nil when the person has named none.
func editor(getenv func(string) string) func(path string) *exec.Cmd {
	words := strings.Fields(firstOf(getenv("VISUAL"), getenv("EDITOR")))
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

func systemClock() int64 { return time.Now().UnixMilli() }

// fileIndex is all that is known of a file's keys at once.
type fileIndex struct {
	*catalog.Catalog
	*local.Store
}
