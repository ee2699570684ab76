package cmd

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/meowdis/meowdis/keytype"
	"github.com/meowdis/meowdis/local"
	"github.com/meowdis/meowdis/transfer"
)

const moveExitCodesHelp = `Exit codes:
    0  everything was done
    1  some keys were not: each was named on stderr
    2  the command line was wrong
    3  a target or a file could not be opened or reached, or it failed or is damaged
  130  Ctrl-C ended it (143: SIGTERM): it said what was done, and how to go on`

// selection are the flags that choose keys.
type selection struct {
	match string
	typ   string
}

func (o *selection) addFlags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&o.match, "match", "", "only keys that match `PATTERN`, as in SCAN: cat:*")
	f.StringVar(&o.typ, "type", "", "only keys of `TYPE`: "+strings.Join(keytype.Labels(), ", "))
	cmd.RegisterFlagCompletionFunc("match", cobra.NoFileCompletions)
	cmd.RegisterFlagCompletionFunc("type", cobra.FixedCompletions(keytype.Labels(), cobra.ShellCompDirectiveNoFileComp))
}

// readOptions are the options of a source.
func (o *selection) readOptions() (transfer.ReadOptions, error) {
	read := transfer.ReadOptions{Match: o.match}
	var err error
	if o.typ != "" {
		read.Type, err = typeNamed(o.typ)
	}
	return read, err
}

// typeNamed is the type that --type means.
func typeNamed(name string) (transfer.Type, error) {
	if t, ok := keytype.Named(name); ok {
		return transfer.Type(t.Name), nil
	}
	return "", usagef("--type %s: give one of %s", name, strings.Join(keytype.Labels(), ", "))
}

// existingOptions are the flags that say what becomes of keys that are there
// already.
type existingOptions struct {
	replace, skip bool
}

func (o *existingOptions) addFlags(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&o.replace, "replace", false, "replace keys that are there already")
	cmd.Flags().BoolVar(&o.skip, "skip", false, "leave keys alone that are there already")
}

func (o *existingOptions) mode() transfer.Existing {
	switch {
	case o.replace:
		return transfer.Replace
	case o.skip:
		return transfer.Skip
	}
	return transfer.Refuse
}

// connectExisting connects to a target that is read: a file must be there.
func (o *targetOptions) connectExisting(ctx context.Context, t target) (*connection, error) {
	return o.enter(ctx, t, local.Options{ReadOnly: t.path != local.Memory, Cache: readCache})
}

// writable says once what every key would be refused with: the file is another
// program's.
func (c *connection) writable(ctx context.Context, s *streams) error {
	if c.file == nil || c.file.ReadOnly() == "" {
		return nil
	}
	return told(ctx, s, "READONLY "+c.target.String()+": "+c.file.ReadOnly())
}

// What is read has little use for a cache: each page is read once. Keys come to the
// pages of what is written in no order. Copies of a million keys stay below 200 MB
// with these.
const (
	readCache  = 8 << 20
	writeCache = 32 << 20
)

// toWrite is how a file is opened that keys are moved to.
var toWrite = local.Options{SweepEvery: noSweep, Cache: writeCache, Alone: true}

// connectToRead connects to the target that the flags choose. Of its databases one
// is read when it was chosen, and otherwise all.
func (o *targetOptions) connectToRead(ctx context.Context, s *streams, chosen bool, read *transfer.ReadOptions) (*connection, error) {
	t, err := o.resolve(s.getenv)
	if err != nil {
		return nil, err
	}
	o.tell(t, s)
	c, err := o.connectExisting(ctx, t)
	if err == nil && (chosen || c.chosen()) {
		read.Databases = []int{c.DB()}
	}
	return c, err
}

// report tells of the keys that were not moved as they should, and counts them.
type report struct {
	s       *streams
	bar     *progress
	failed  int
	gone    int // were deleted while they were read
	changed int

	incomplete int // were moved, but for something in them
}

// maxTold is the number of keys that are named; the others are only counted.
const maxTold = 50

// notify is a transfer.Notify.
func (r *report) notify(k *transfer.Key, err error) {
	if errors.Is(err, transfer.ErrGone) {
		r.gone++
		return
	}
	var lost *transfer.Incomplete
	if errors.As(err, &lost) {
		if r.incomplete++; r.incomplete <= maxTold {
			r.say("%s is not complete: %s", k, lost.Lost)
		}
		return
	}
	if r.failed++; r.failed <= maxTold {
		r.say("%s was left out: %v", k, err)
	}
}

// seen is shown each part that was put.
func (r *report) seen(p transfer.Part) {
	if !p.Last {
		return
	}
	r.bar.add(1)
	if p.Changed {
		if r.changed++; r.changed <= maxTold {
			r.say("%s was changed while it was read: it may be a mixture of before and after", p.Key)
		}
	}
}

func (r *report) say(format string, args ...any) {
	r.bar.clear()
	fmt.Fprintf(r.s.err, "meowdis: "+format+"\n", args...)
}

// end ends the run: what is said last, and with which code it ends.
func (r *report) end(err error) error {
	r.bar.end()
	if more := r.failed - maxTold; more > 0 {
		r.say("%d more were left out", more)
	}
	if err == nil && r.failed+r.incomplete > 0 {
		return errAnswered
	}
	return err
}

// count is a number of things, as people write it.
func count(n int64, one string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %ss", n, one)
}

// outcome says what became of keys, in one line.
func (r *report) outcome(did string, w transfer.Written) string {
	line := did + " " + count(w.Keys, "key")
	for _, more := range []struct {
		n    int64
		what string
	}{
		{w.Skipped, "there already"}, {w.Expired, "expired on the way"}, {int64(r.gone), "deleted meanwhile"},
		{int64(r.changed), "changed meanwhile"}, {int64(r.incomplete), "incomplete"}, {int64(r.failed), "left out"},
	} {
		if more.n > 0 {
			line += fmt.Sprintf(", %d %s", more.n, more.what)
		}
	}
	return line
}
