package cmd

import (
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/meowdis/meowdis/local"
)

const fileHelp = `The file is the argument, or --db, or MEOWDIS_DB, or the default file that
"meowdis paths" prints.`

// fileOptions choose the file of a verb that looks after files.
type fileOptions struct{ db string }

func (o *fileOptions) addFlags(cmd *cobra.Command) {
	cmd.Flags().StringVar(&o.db, "db", "", "SQLite `FILE` to work on")
	cmd.MarkFlagFilename("db", "sqlite", "db")
}

// path is the file that the arguments or the flags name.
func (o *fileOptions) path(s *streams, args []string) (string, error) {
	if len(args) == 1 {
		if o.db != "" {
			return "", usagef("give a FILE or --db, not both")
		}
		o.db = args[0]
	}
	files := targetOptions{db: o.db}
	t, err := files.file(s.getenv)
	if err == nil && t.path == local.Memory {
		err = usagef("%s is no file", t.path)
	}
	return t.path, err
}

// open opens the file as it is.
func (o *fileOptions) open(s *streams, args []string, readOnly bool) (*local.File, error) {
	path, err := o.path(s, args)
	if err != nil {
		return nil, err
	}
	return local.OpenFile(path, readOnly)
}

// tended closes a file and makes its error one that says what to do next.
func tended(err error, f *local.File) error {
	switch {
	case local.IsBusy(err):
		err = fmt.Errorf("%s is in use by another process: try again when that is done", f.Path())
	case local.IsDamage(err):
		err = fmt.Errorf("%s: %w; meowdis doctor says more", f.Path(), err)
	}
	return errors.Join(err, f.Close())
}

// aside is a name beside the file for a copy that is made before it is changed.
func aside(path, why string) string {
	return path + "." + why + "-" + time.Now().Format("20060102-150405")
}
