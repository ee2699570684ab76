package cmd

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
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
}

func (o *replicateOptions) addFlags(f *pflag.FlagSet) {
	f.StringVar(&o.to, "replicate", "", "`PLACE` to stream the file to: a directory, file:///path or s3://bucket/path")
	o.every, o.keep = flags.Interval(time.Second), flags.Interval(24*time.Hour)
	f.Var(&o.every, "replicate-every", "stream changes every `DURATION`, or with --follow check for them")
	f.Var(&o.keep, "replicate-keep", "keep the history of the last `DURATION` for restore --at")
	f.BoolVar(&o.sync, "sync-replicate", false, "reply to a write after the place of --replicate has it")
	f.StringVar(&o.follow, "follow", "", "serve a read-only copy of the stream at `PLACE`")
}

func (o *replicateOptions) check(storage bool) error {
	switch {
	case o.follow != "" && storage:
		return exit.Usagef("give only one of --follow and --storage: a copy is read-only")
	case o.sync && o.to == "":
		return exit.Usagef("give --sync-replicate with --replicate PLACE")
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
func (o *replicateOptions) start(ctx context.Context, s *streams, file *local.Store, copied *follower, config *server.Config, grace time.Duration) (end func() error, err error) {
	switch {
	case copied != nil:
		return copied.start(ctx, config), nil
	case o.to == "":
		return func() error { return nil }, nil
	}
	place, err := replicate.Open(o.to, s.getenv)
	if err != nil {
		return nil, exit.Usagef("--replicate: %w", err)
	}
	made, err := madeAt(ctx, file)
	if err != nil {
		return nil, err
	}
	tail, err := file.Tail()
	if err != nil {
		return nil, fmt.Errorf("--replicate: %w", err)
	}
	shipper := replicate.NewShipper(place, tail, replicate.Options{Path: file.Path(), CreatedAt: made, Every: time.Duration(o.every), Keep: time.Duration(o.keep), Log: config.Logger})
	soon, cancel := context.WithTimeout(ctx, placeTimeout)
	defer cancel()
	if err := shipper.Check(soon); err != nil {
		return nil, errors.Join(err, tail.Close())
	}
	if o.sync {
		file.SetConfirm(shipper.Sync)
	}
	config.Stream = func() server.Stream { return server.Stream(shipper.Status()) }
	life, stop := context.WithCancel(context.WithoutCancel(ctx)) // clients may write until the server has stopped
	done := make(chan struct{})
	go func() {
		defer close(done)
		shipper.Run(life, grace)
	}()
	return func() error {
		stop()
		<-done
		return tail.Close()
	}, nil
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
func (o *replicateOptions) openCopy(ctx context.Context, s *streams, t targets.Target, options local.Options, targets *targets.Options, log *slog.Logger) (*local.Store, *follower, error) {
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
	return file, &follower{copied, replicate.NewFollower(place, copied, replicate.FollowOptions{Every: time.Duration(o.every), Log: log})}, nil
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

// promote turns a copy into an independent file before it is written.
func promote(path string) error {
	if err := os.Remove(path + markSuffix); path != local.Memory && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return nil
}

// follower updates a copy from its stream.
type follower struct {
	copied *local.Copy
	*replicate.Follower
}

// start starts to follow; end stops.
func (f *follower) start(ctx context.Context, config *server.Config) (end func() error) {
	config.Following = func() server.Following { return server.Following(f.Status()) }
	life, stop := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		f.Run(life)
	}()
	return func() error {
		stop()
		<-done
		return f.copied.Close()
	}
}
