package cmd

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"github.com/meowdis/meowdis/catalog"
	"github.com/meowdis/meowdis/inspect"
	"github.com/meowdis/meowdis/local"
)

// inspectOptions are the flags and the argument of inspect.
type inspectOptions struct {
	targetOptions
	delimiter string
}

func newInspect(s *streams) *cobra.Command {
	o := &inspectOptions{}
	cmd := &cobra.Command{
		Use:     "inspect [FLAGS] [FILE]",
		GroupID: groupLook,
		Short:   "Browse keys and values on the whole screen",
		Long: `Shows the keys of a target as a tree or a list, with their types, sizes and
times to live, and their values. Press ? for its keys.

Of a file the tree, the order and the counts are exact, for any number of keys.
A server's keys are found with SCAN, and the screen says how many were scanned.

` + targetHelp,
		Example: `  meowdis inspect cats.sqlite
  meowdis inspect --url redis://localhost:6379
  meowdis inspect --delimiter / paths.sqlite`,
		DisableFlagsInUseLine: true,
		Args:                  usageArgs(cobra.MaximumNArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 1 {
				if o.db != "" || o.url != "" {
					return usagef("give a FILE, --db or --url, not two of them")
				}
				o.db = args[0]
			}
			return o.run(cmd.Context(), s)
		},
	}
	o.addFlags(cmd)
	cmd.Flags().StringVar(&o.delimiter, "delimiter", ":", "`TEXT` that parts names into folders")
	return cmd
}

func (o *inspectOptions) run(ctx context.Context, s *streams) (err error) {
	if !s.outTerminal {
		return usagef("inspect draws on a terminal, and the output is none")
	}
	if o.delimiter == "" {
		return usagef("the delimiter is empty")
	}
	c, err := o.connect(ctx, s, local.Options{ReadOnly: true}, false)
	if err != nil {
		return err
	}
	defer func() { err = closing(err, c) }()
	options := inspect.Options{Client: c, Target: c.target.String(), DB: c.DB(), Delimiter: o.delimiter, Out: s.out}
	if c.file != nil {
		options.Index = fileIndex{catalog.New(c.file, systemClock), c.file}
	}
	return inspect.Run(ctx, options)
}

func systemClock() int64 { return time.Now().UnixMilli() }

// fileIndex is all that is known of a file's keys at once.
type fileIndex struct {
	*catalog.Catalog
	*local.Store
}
