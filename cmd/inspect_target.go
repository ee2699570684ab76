package cmd

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/meowdis/meowdis/cmd/internal/profile"
	"github.com/meowdis/meowdis/cmd/internal/targets"
	"github.com/meowdis/meowdis/inspect"
	"github.com/meowdis/meowdis/keyspace"
	"github.com/meowdis/meowdis/keyspace/catalog"
	"github.com/meowdis/meowdis/keyspace/display"
	"github.com/meowdis/meowdis/local"
)

// openTarget holds an open target of the inspector. Unlocking a file opens it a second time for writing; other targets
// use one connection for both.
type openTarget struct {
	o       *inspectOptions
	s       *streams
	options *targets.Options // that reached it
	target  targets.Target
	ctx     context.Context // of the whole run

	reader *targets.Conn
	writer *targets.Conn // nil if locked, or if reader also writes
}

// open connects and returns the inspector's options for the target.
func (i *openTarget) open(ctx context.Context) (options inspect.Options, err error) {
	if i.reader, err = i.options.Connect(ctx, i.target, readOnly, false); err != nil {
		return options, err
	}
	return i.screen(i.ctx), nil
}

// another opens the target spec from within the inspector.
func (i *openTarget) another(ctx context.Context, spec string) (inspect.Options, error) {
	other := &openTarget{o: i.o, s: i.s, ctx: i.ctx, options: i.o.target.Other(spec)}
	var err error
	if other.target, err = other.options.Resolve(i.s.getenv); err != nil {
		return inspect.Options{}, err
	}
	return other.open(ctx)
}

// targetChoices lists targets to choose from: the profiles, and the databases in the current directory.
func targetChoices() (list []inspect.KnownTarget) {
	if config, err := profile.Load(targets.ConfigFile()); err == nil {
		for _, name := range config.Names() {
			p := config.Profiles[name]
			list = append(list, inspect.KnownTarget{Label: "@" + name, Note: cmp.Or(p.DB, targets.ShownURL(p.URL)), Spec: "@" + name})
		}
	}
	const most = 100
	for _, pattern := range []string{"*.sqlite", "*.sqlite3", "*.db"} {
		files, _ := filepath.Glob(pattern) // the pattern is well formed
		for _, file := range files[:min(len(files), most)] {
			list = append(list, inspect.KnownTarget{Label: file, Note: "file", Spec: file})
		}
	}
	return list
}

func (i *openTarget) unlock(ctx context.Context) (keyspace.Client, error) {
	if i.reader.File == nil || i.target.Path == local.Memory {
		return i.reader, nil
	}
	c, err := i.options.Connect(ctx, i.target, local.Options{SweepEvery: noSweep, CacheBytes: smallCache}, false)
	if err != nil {
		return nil, err
	}
	i.writer = c
	return c, nil
}

// close closes the connections, the writing one last, so that SQLite removes the log. It leaves a note about undo.
func (i *openTarget) close(kept int) (err error) {
	if kept > 0 {
		i.o.addNote(fmt.Sprintf("%s can still be undone: meowdis inspect %s, then w and u\n", display.Counted(int64(kept), "change", "changes"), i.target.Args()))
	}
	err = closeConn(nil, i.reader)
	if i.writer != nil {
		err = closeConn(err, i.writer)
	}
	return err
}

// screen returns the inspector's options for the open target.
func (i *openTarget) screen(ctx context.Context) inspect.Options {
	o, s, c := i.o, i.s, i.reader
	options := inspect.Options{
		Appearance: o.look, Decoder: o.decoder, Label: c.Target.Label(), Close: i.close, Open: i.another, Targets: targetChoices,
		Client: c, Target: c.Target.String(), Name: c.Target.Profile, Profile: c.Target.Profile, Color: 1 + slices.Index(profile.Colors, c.Target.Settings.Color), DB: c.DB(), Delimiter: o.separator, Out: s.screen,
		Exporter: exportFile, Exec: "meowdis exec " + c.Target.Args(), Mouse: !o.noMouse,
		Scratch: o.scratch, Listen: c.Listen,
		Journal: targets.UndoDirectory(), Recents: targets.RecentsDirectory(), Identity: c.Target.Identity(), Temporary: c.Target.Path == local.Memory,
		Light: o.background == "light" || o.background == "auto" && lightByEnvironment(s.getenv),
		// The Linux console prints the query instead of replying to it.
		AskBackground: o.background == "auto" && s.getenv("TERM") != "linux",
		Confirm: map[profile.Confirm]inspect.Confirm{
			profile.ConfirmNone: inspect.ConfirmNone, profile.ConfirmName: inspect.ConfirmName,
		}[c.Target.Settings.Confirm.Level()],
	}
	options.Editor, options.FallbackEditor = editor(s.getenv)
	if s.inTerminal {
		options.In = s.in
	}
	if !i.options.RefusesWrites(c.Target) && !(c.File != nil && c.File.Foreign()) {
		options.Unlock = i.unlock
	}
	if c.File != nil && c.File.Foreign() {
		options.ReadOnlyReason = fmt.Sprintf("Another program's file is read-only. To change a copy: meowdis import %s NEW.sqlite", i.target.Path)
	}
	knowledge(ctx, c, &options)
	return options
}

// knowledge adds the functions that only a file of ours supports, such as its index and SQL.
func knowledge(ctx context.Context, c *targets.Conn, options *inspect.Options) {
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
