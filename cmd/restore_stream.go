package cmd

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/meowdis/meowdis/cmd/internal/exit"
	"github.com/meowdis/meowdis/keyspace/display"
	"github.com/meowdis/meowdis/local"
	"github.com/meowdis/meowdis/local/replicate"
)

// isStream reports whether the argument of restore is a stream rather than a file of keys.
func isStream(path string) bool { return replicate.IsURL(path) || replicate.IsDirectory(path) }

// keyFlags lists the flags of restore that do not apply to a stream.
var keyFlags = []string{"salvage", "replace", "skip", "match", "type", "from-database", "to-database", "prefix", "ttl", "dry-run", "database", "read-only"}

// checkStream refuses flags that do not apply to a stream, or only to one.
func (o *restoreOptions) checkStream(cmd *cobra.Command, args []string) error {
	if !isStream(args[0]) {
		if o.at != "" {
			return exit.Usagef("%s is not a stream of --replicate: --at is only for streams", args[0])
		}
		return o.check(cmd)
	}
	for _, name := range keyFlags {
		if cmd.Flags().Changed(name) {
			return exit.Usagef("--%s is for keys, and a stream is restored whole", name)
		}
	}
	return nil
}

// timeFormats lists the formats of --at.
var timeFormats = []string{time.RFC3339Nano, "2006-01-02T15:04:05", "2006-01-02 15:04:05", "2006-01-02 15:04", time.DateOnly}

// restoreTime returns the time of --at, zero if it is not given.
func (o *restoreOptions) restoreTime() (time.Time, error) {
	if o.at == "" {
		return time.Time{}, nil
	}
	for _, form := range timeFormats {
		if t, err := time.ParseInLocation(form, o.at, time.Local); err == nil {
			return t, nil
		}
	}
	return time.Time{}, exit.Usagef("--at %q is not a time: give one such as 2026-11-30T18:05:00Z or 2026-11-30 18:05", o.at)
}

// runStream restores a whole file from a stream.
func (o *restoreOptions) runStream(ctx context.Context, s *streams) error {
	ctx, stop := exit.UntilInterrupted(ctx)
	defer stop()
	at, err := o.restoreTime()
	if err != nil {
		return err
	}
	t, err := o.targets.File(s.getenv)
	if err != nil {
		return err
	}
	if t.Path == local.Memory {
		return exit.Usagef("a stream is restored to a file: name one")
	}
	if _, err := os.Stat(t.Path); err == nil {
		return exit.Usagef("%s already exists, and a stream is restored to a new file: name another", t.Path)
	}
	if err := o.targets.MakeDirectory(t); err != nil {
		return err
	}
	place, err := replicate.Open(o.path, s.getenv)
	if err != nil {
		return exit.Usage(err)
	}
	bar := newProgress(s, "restoring", "bytes", -1)
	r, err := place.Restore(ctx, t.Path, at, func(done, total int64) { bar.Set(done, total) })
	bar.End()
	switch {
	case exit.WasStopped(ctx, err):
		return exit.Stopped(ctx, t.Path+" was not written")
	case errors.Is(err, replicate.ErrEmpty) && !at.IsZero():
		return fmt.Errorf("%w; the stream may begin later", err)
	case err != nil:
		return err
	}
	_, err = fmt.Fprintf(s.out, "%s: %s, as of %s, checked\n", t.Path, display.Bytes(r.Bytes), r.At.UTC().Format(time.RFC3339))
	return err
}
