package cmd

import (
	"context"
	"crypto/rand"
	"errors"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/meowdis/meowdis/catalog"
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

// inspectCache is little: a browser seeks, or goes through all keys once.
const inspectCache = 2 << 20

func (o *inspectOptions) run(ctx context.Context, s *streams) (err error) {
	switch {
	case !s.outTerminal:
		return usagef("inspect draws on a terminal, and the output is none")
	case s.getenv("TERM") == "dumb":
		return usagef("inspect needs a terminal whose cursor can be moved, and TERM is dumb; see keys, peek and stats")
	case !slices.Contains(backgrounds, o.background):
		return usagef("--background is %s, not %q", strings.Join(backgrounds, ", "), o.background)
	}
	if o.delimiter == "" || !utf8.ValidString(o.delimiter) {
		return usagef("the delimiter must be some text")
	}
	c, err := o.connect(ctx, s, local.Options{ReadOnly: true, Cache: inspectCache}, false)
	if err != nil {
		return err
	}
	defer func() { err = closing(err, c) }()
	// Hanging up ends it as q does, so that the terminal is left as it was.
	ctx, stop := signal.NotifyContext(ctx, syscall.SIGHUP)
	defer stop()
	options := inspect.Options{
		Client: c, Target: c.target.String(), DB: c.DB(), Delimiter: o.delimiter, Out: s.out,
		Editor: editor(s.getenv), Exec: "meowdis exec " + c.target.flags(),
		Journal: undoDirectory(), Identity: c.target.identity(),
		Light: o.background == "light" || o.background == "auto" && lightByEnvironment(s.getenv),
		// The console of Linux prints the question.
		AskBackground: o.background == "auto" && s.getenv("TERM") != "linux",
	}
	if s.inTerminal {
		options.In = s.in
	}
	var writer *connection
	defer func() {
		if writer != nil {
			err = closing(err, writer)
		}
	}()
	options.Unlock = func(context.Context) (inspect.Client, error) { return c, nil }
	if c.file != nil && !c.file.Foreign() {
		options.Index = fileIndex{catalog.New(c.file, systemClock), c.file}
		options.Explain = func(db int, call [][]byte) string { return explainText(ctx, c.file, db, call) }
	}
	if c.file != nil && c.target.path != local.Memory {
		options.Unlock = func(ctx context.Context) (inspect.Client, error) {
			w, err := o.connectTo(ctx, c.target, local.Options{SweepEvery: noSweep, Cache: inspectCache}, false)
			if err == nil {
				writer = w
			}
			return w, err
		}
	}
	options.Mouse = !o.noMouse
	if o.refusesWrites(c.target) || c.file != nil && c.file.Foreign() {
		options.Unlock = nil
	}
	if name := c.target.profile; name != "" {
		options.Name = name
	}
	options.Confirm = map[profile.Confirm]inspect.Confirm{
		profile.ConfirmNone: inspect.ConfirmNone, profile.ConfirmName: inspect.ConfirmName,
	}[c.target.settings.Confirm.Level()]
	err = inspect.Run(ctx, options)
	if errors.Is(err, context.Canceled) {
		return nil
	}
	return err
}

var backgrounds = []string{"auto", "light", "dark"}

// lightByEnvironment tells whether COLORFGBG, which some terminals set, names a
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
		return "--profile " + t.profile
	}
	if t.url != nil {
		return "--url '" + t.String() + "'"
	}
	return "--db '" + strings.ReplaceAll(t.path, "'", `'\''`) + "'"
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
