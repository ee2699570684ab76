package cmd

import (
	"context"
	"errors"
	"os"
	"time"

	"github.com/spf13/pflag"

	"github.com/meowdis/meowdis/cmd/internal/exit"
	"github.com/meowdis/meowdis/cmd/internal/flags"
	"github.com/meowdis/meowdis/cmd/internal/targets"
	"github.com/meowdis/meowdis/local"
	"github.com/meowdis/meowdis/local/replicate"
	"github.com/meowdis/meowdis/server"
	"github.com/meowdis/meowdis/store"
)

// replicateOptions holds the place that the file is streamed to, or the stream that it follows.
type replicateOptions struct {
	to     string
	every  flags.Interval
	keep   flags.Interval
	follow string
	sync   bool

	lease        flags.Interval
	promoteAfter flags.Interval // 0: never
}

func (o *replicateOptions) addFlags(f *pflag.FlagSet) {
	f.StringVar(&o.to, "replicate", "", "`PLACE` to stream the file to: a directory, file:///path or s3://bucket/path")
	o.every, o.keep = flags.Interval(time.Second), flags.Interval(24*time.Hour)
	f.Var(&o.every, "replicate-every", "stream changes every `DURATION`, or with --follow check for them")
	f.Var(&o.keep, "replicate-keep", "keep the history of the last `DURATION` for restore --at")
	f.BoolVar(&o.sync, "sync-replicate", false, "reply to a write after the place of --replicate has it")
	f.StringVar(&o.follow, "follow", "", "serve a read-only copy of the stream at `PLACE`")
	f.Var(&o.promoteAfter, "promote-after", "with --follow, become the writer when the writer has been silent for `DURATION`; 0: never")
	o.lease = flags.Interval(10 * time.Second)
	f.Var(&o.lease, "lease", "make the writer's lease of the place last `DURATION` without a renewal")
}

func (o *replicateOptions) check(storage bool) error {
	switch {
	case o.follow != "" && storage:
		return exit.Usagef("give only one of --follow and --storage: a copy is read-only")
	case o.promoteAfter > 0 && o.follow == "":
		return exit.Usagef("give --promote-after with --follow PLACE")
	case o.promoteAfter < 0 || time.Duration(o.lease) < time.Second:
		return exit.Usagef("give --lease of at least 1s, and --promote-after of at least that")
	case o.sync && o.to == "" && o.promoteAfter == 0:
		return exit.Usagef("give --sync-replicate with --replicate PLACE, or with --promote-after")
	case o.to != "" && o.follow != "":
		return exit.Usagef("give only one of --replicate and --follow: a copy cannot be streamed")
	case time.Duration(o.every) < 10*time.Millisecond || time.Duration(o.keep) < time.Minute:
		return exit.Usagef("give --replicate-every of at least 10ms, and --replicate-keep of at least 1m")
	}
	return nil
}

// placeTimeout limits the time that a starting server waits for a place.
const placeTimeout = 5 * time.Second

// start starts to stream or to follow, if a flag asks for it. end stops it after streaming the remaining changes.
func (o *replicateOptions) start(ctx context.Context, s *streams, file *local.Store, copied *local.Copy, config *server.Config, grace time.Duration) (end func() error, err error) {
	if o.to == "" && copied == nil {
		return func() error { return nil }, nil
	}
	r, err := o.newReplication(ctx, s, file, copied, config.Logger, grace)
	if err != nil {
		return nil, err
	}
	return r.start(ctx, config), nil
}

// madeAt returns the creation time of the file's tables, in Unix ms.
func madeAt(ctx context.Context, file *local.Store) (int64, error) {
	r, err := file.Apply(ctx, []store.Batch{{ReadOnly: true, Stmts: []store.Stmt{{SQL: "SELECT min(applied_at) FROM meowdis"}}}})
	if err != nil {
		return 0, err
	}
	return r[0].Rows[0][0][0].Int(), nil
}

// readOnlyError has the text of Redis's read-only replicas.
const readOnlyError = "You can't write against a read only replica."

// openCopy opens the file as a copy that follows the stream. It creates a missing file.
func (o *replicateOptions) openCopy(ctx context.Context, s *streams, t targets.Target, options local.Options, targets *targets.Options) (*local.Store, *local.Copy, error) {
	place, err := replicate.Open(o.follow, s.getenv)
	if err != nil {
		return nil, nil, exit.Usagef("--follow: %w", err)
	}
	if t.Path == local.Memory {
		return nil, nil, exit.Usagef("--follow keeps its copy in a file: name one")
	}
	if err := o.makeCopy(ctx, place, t, targets); err != nil {
		return nil, nil, err
	}
	options.ReadOnly, options.WriteRefusal = true, readOnlyError
	file, err := local.Open(t.Path, options)
	if err != nil {
		return nil, nil, err
	}
	copied, err := local.OpenCopy(t.Path)
	if err != nil {
		return nil, nil, errors.Join(err, file.Close())
	}
	return file, copied, nil
}

// makeCopy creates the copy unless it exists. It never replaces another file: a mark file beside the copy names the
// stream that it follows.
func (o *replicateOptions) makeCopy(ctx context.Context, place *replicate.Place, t targets.Target, targets *targets.Options) error {
	mark := t.Path + markSuffix
	of, err := os.ReadFile(mark)
	if _, missing := os.Stat(t.Path); missing == nil {
		if err != nil || string(of) != place.String()+"\n" {
			return exit.Usagef("%s exists and is not a copy of %s: name another file", t.Path, place)
		}
		return nil
	}
	if err := targets.MakeDirectory(t); err != nil {
		return err
	}
	if err := os.WriteFile(mark, []byte(place.String()+"\n"), 0o600); err != nil {
		return err
	}
	if _, err = place.Restore(ctx, t.Path, time.Time{}, nil); err != nil {
		return errors.Join(err, os.Remove(mark))
	}
	return nil
}

// markSuffix ends the name of the mark file beside a copy.
const markSuffix = "-follows"

// forgetSource removes the mark of a copy before it is written.
func forgetSource(path string) error {
	if err := os.Remove(path + markSuffix); path != local.Memory && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return nil
}
