package cmd

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/meowdis/meowdis/cmd/internal/exit"
	"github.com/meowdis/meowdis/cmd/internal/flags"
	"github.com/meowdis/meowdis/cmd/internal/targets"
	"github.com/meowdis/meowdis/inspect"
	"github.com/meowdis/meowdis/keyspace"
	"github.com/meowdis/meowdis/keyspace/catalog"
	"github.com/meowdis/meowdis/local"
)

// inspectOptions holds the flags and arguments of inspect.
type inspectOptions struct {
	target     targets.Options
	specs      []string // the arguments: one target each
	separator  string
	noMouse    bool
	background string
	keys       bool

	look    inspect.Appearance // of the configuration file
	decoder func(key string) *inspect.Decoder

	decoding sync.WaitGroup // running decoder commands

	mu    sync.Mutex
	notes strings.Builder // notes about undo, printed after the screen is closed
}

func newInspect(s *streams) *cobra.Command {
	o := &inspectOptions{}
	cmd := &cobra.Command{
		Use:     "inspect [FLAGS] [TARGET...]",
		GroupID: groupInspect,
		Short:   "Browse keys and values in full screen",
		Long: `Shows the keys of a target as a tree or a list, with their types, sizes and
TTLs, and their values. Press ? for its key bindings. It writes nothing until
you unlock it with w. Several targets open in tabs.`,
		Example: `  meowdis inspect cats.sqlite
  meowdis inspect --separator / paths.sqlite
  meowdis inspect cats.sqlite @prod redis://localhost:6379
  meowdis inspect --keys`,
		DisableFlagsInUseLine: true,
		Args:                  usageArgs(cobra.ArbitraryArgs),
		ValidArgsFunction:     targets.CompleteNames(20),
		RunE: func(cmd *cobra.Command, args []string) error {
			if o.keys {
				return inspect.WriteDefaults(s.out)
			}
			if len(args) > 0 && cmd.Flags().Changed("target") {
				args = append([]string{o.target.Spec}, args...)
			}
			o.specs = args
			return o.run(cmd.Context(), s)
		},
	}
	o.target.AddFlags(cmd)
	cmd.Flags().StringVar(&o.separator, "separator", ":", "`TEXT` that splits names into folders")
	cmd.Flags().BoolVar(&o.noMouse, "no-mouse", false, "leave the mouse to the terminal")
	cmd.Flags().StringVar(&o.background, "background", "auto", "background `SHADE` of the terminal: light, dark, or auto, which asks the terminal")
	cmd.Flags().BoolVar(&o.keys, "keys", false, "print the key bindings and colours for config.toml")
	flags.Alias(cmd.Flags(), "delimiter", "separator")
	cmd.RegisterFlagCompletionFunc("separator", cobra.NoFileCompletions)
	cmd.RegisterFlagCompletionFunc("background", cobra.FixedCompletions(backgrounds, cobra.ShellCompDirectiveNoFileComp))
	return cmd
}

// inspectGOGC is GOGC of the browser. At 100, which is usual, sorting a hash of a million fields takes 103 MB instead
// of 92, and as long.
const inspectGOGC = 50

func (o *inspectOptions) run(ctx context.Context, s *streams) (err error) {
	if o.look, o.decoder, err = configuredLook(&o.decoding); err == nil {
		err = o.check(s)
	}
	if err != nil {
		return err
	}
	targets, err := o.find(s)
	if err != nil {
		return err
	}
	first := &openTarget{o: o, s: s, ctx: ctx, options: &o.target, target: targets[0]}
	// A server may delay its reply to HELLO.
	late := time.AfterFunc(time.Second, func() { fmt.Fprintln(s.err, "Waiting for the server. Press ^C to stop.") })
	screen, err := first.open(ctx)
	late.Stop()
	if err != nil {
		return err
	}
	var more []inspect.Tab
	for _, t := range targets[1:] {
		i := &openTarget{o: o, s: s, ctx: ctx, options: &o.target, target: t}
		more = append(more, inspect.Tab{Label: t.Label(), Open: i.open})
	}
	if s.getenv("GOGC") == "" {
		// A sorted or filtered table may take half of the memory, and the rest makes little garbage.
		defer debug.SetGCPercent(debug.SetGCPercent(inspectGOGC))
	}
	err = inspect.Run(ctx, screen, more...)
	o.decoding.Wait() // their contexts are cancelled
	o.mu.Lock()
	fmt.Fprint(s.err, o.notes.String())
	o.mu.Unlock()
	var signalled inspect.Signalled
	if errors.As(err, &signalled) {
		return exit.StoppedBy(signalled.Signal)
	}
	return err
}

// addNote keeps a line to print after the screen is closed.
func (o *inspectOptions) addNote(line string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.notes.WriteString(line)
}

// find returns the targets of the arguments, or without arguments the default target.
func (o *inspectOptions) find(s *streams) (found []targets.Target, err error) {
	for _, spec := range o.specs {
		o.target.Spec = spec
		t, err := o.target.Find(s.getenv, s.err)
		if err != nil {
			return nil, err
		}
		found = append(found, t)
	}
	if len(found) > 0 {
		return found, nil
	}
	t, err := o.target.Find(s.getenv, s.err)
	return []targets.Target{t}, err
}

// check returns an error if inspect cannot draw. It runs before anything is opened.
func (o *inspectOptions) check(s *streams) error {
	switch {
	case !s.outTerminal:
		return exit.Usagef("inspect needs a terminal, and stdout is not one")
	case s.getenv("TERM") == "dumb":
		return exit.Usagef("inspect needs a terminal that can move the cursor, and TERM is dumb: use keys, peek and stats")
	case !slices.Contains(backgrounds, o.background):
		return exit.Usagef("--background %s: give one of %s", o.background, strings.Join(backgrounds, ", "))
	case o.separator == "" || !utf8.ValidString(o.separator):
		return exit.Usagef("--separator must be UTF-8 and not empty")
	}
	return nil
}

// scratch returns an empty database in memory.
func (o *inspectOptions) scratch(ctx context.Context) (keyspace.Client, func() error, error) {
	writing := targets.Options{}
	c, err := writing.Connect(ctx, targets.Target{Path: local.Memory}, local.Options{SweepEvery: noSweep, CacheBytes: smallCache}, false)
	if err != nil {
		return nil, nil, err
	}
	return c, c.Close, nil
}

var backgrounds = []string{"auto", "light", "dark"}

// lightByEnvironment reports whether COLORFGBG, which some terminals set, names a
// light background, as "0;15" does: black on white.
func lightByEnvironment(getenv func(string) string) bool {
	colours := strings.Split(getenv("COLORFGBG"), ";")
	n, err := strconv.Atoi(colours[len(colours)-1])
	return err == nil && (n == 7 || n > 8)
}

// editor returns a command that edits a file: $VISUAL, $EDITOR, or the first installed editor of fallbackEditors. In
// that last case it also returns its name. edit is nil if no editor is installed.
func editor(getenv func(string) string) (edit func(path string) *exec.Cmd, standIn string) {
	words := strings.Fields(cmp.Or(getenv("VISUAL"), getenv("EDITOR")))
	for _, name := range fallbackEditors {
		if len(words) > 0 {
			break
		}
		if _, err := exec.LookPath(name); err == nil {
			words, standIn = []string{name}, name
		}
	}
	if len(words) == 0 {
		return nil, ""
	}
	return func(path string) *exec.Cmd { return exec.Command(words[0], append(words[1:], path)...) }, standIn
}

// fallbackEditors lists the editors to try, the easier ones first.
var fallbackEditors = []string{"nano", "micro", "vim", "vi", "emacs", "notepad"}

// explainText returns the output of explain for a call.
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

// fileIndex combines the catalog of a file with its store.
type fileIndex struct {
	*catalog.Catalog
	*local.Store
}
