package cmd

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/meowdis/meowdis/cmd/internal/exit"
	"github.com/meowdis/meowdis/cmd/internal/targets"
	"github.com/meowdis/meowdis/local"
)

// fileOptions holds the flags that choose a file to maintain.
type fileOptions struct {
	target  targets.Options
	confirm confirmOptions
	json    bool
}

// addFlags adds the flags. changes adds --yes, for a verb that may change the file.
func (o *fileOptions) addFlags(cmd *cobra.Command, changes bool) {
	cmd.Flags().BoolVar(&o.json, "json", false, "print JSON")
	o.target.AddFileFlags(cmd, "to work on")
	if changes {
		o.confirm.addFlags(cmd)
	}
}

// choose returns the file that the argument or the flags name.
func (o *fileOptions) choose(s *streams, args []string) (targets.Target, error) {
	if err := o.target.Argument(args); err != nil {
		return targets.Target{}, err
	}
	t, err := o.target.File(s.getenv)
	if err == nil && t.Path == local.Memory {
		err = exit.Usagef("%s is not a file", t.Path)
	}
	return t, err
}

// confirmChange calls confirmWrite for the file of t.
func (o *fileOptions) confirmChange(ctx context.Context, s *streams, t targets.Target, verb string) error {
	return o.confirm.confirmWrite(ctx, s, &o.target, t, verb)
}

// closeFile closes a file. It adds to some errors what to do next.
func closeFile(err error, f *local.File) error {
	switch {
	case local.IsBusy(err):
		err = fmt.Errorf("%s is in use by another process: try again later", f.Path())
	case local.IsDamage(err):
		err = fmt.Errorf("%s: %w; run meowdis doctor", f.Path(), err)
	}
	return errors.Join(err, f.Close())
}

// backupName returns an unused name beside the file, for a copy made before the file is changed.
func backupName(path, why string) string {
	first := path + "." + why + "-" + time.Now().Format("20060102-150405")
	name := first
	for n := 2; ; n++ {
		if _, err := os.Lstat(name); err != nil {
			return name
		}
		name = fmt.Sprintf("%s-%d", first, n)
	}
}
