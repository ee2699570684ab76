package cmd

import (
	"context"
	"errors"
	"io"

	"github.com/spf13/cobra"

	"github.com/meowdis/meowdis/cmd/internal/complete"
	"github.com/meowdis/meowdis/cmd/internal/exit"
	"github.com/meowdis/meowdis/cmd/internal/targets"
	"github.com/meowdis/meowdis/keyspace"
	"github.com/meowdis/meowdis/keyspace/display"
	"github.com/meowdis/meowdis/keyspace/peek"
	"github.com/meowdis/meowdis/redis/resp"
)

// peekOptions holds the flags and arguments of peek.
type peekOptions struct {
	target targets.Options
	json   bool
	limit  int
	key    string
}

func newPeek(s *streams) *cobra.Command {
	o := &peekOptions{}
	cmd := &cobra.Command{
		Use:     "peek [FLAGS] [TARGET] KEY",
		GroupID: groupInspect,
		Short:   "Show the type of a key, and the beginning of its value",
		Long: `Shows the type, the TTL and the size of a key, and its first elements or the
beginning of its value. It reads no more than that, however large the key is.`,
		Example:           `  meowdis peek redis://localhost --limit 3 --json queue`,
		ValidArgsFunction: complete.AfterTarget(&o.target, "KEY", complete.Key(s.getenv, &o.target, s.waits.target)),
		RunE: func(cmd *cobra.Command, args []string) error {
			own, err := ownArgs(cmd, &o.target, args, targets.Own{What: "KEY", Least: 1, Most: 1})
			if err != nil {
				return err
			}
			if o.key = own[0]; o.limit < 0 {
				return exit.Usagef("--limit %d: give 0 or more", o.limit)
			}
			return o.run(cmd.Context(), s)
		},
	}
	f := cmd.Flags()
	f.IntVar(&o.limit, "limit", 10, "show at most `NUMBER` elements")
	f.BoolVar(&o.json, "json", false, "print JSON")
	o.target.AddReadFlags(cmd)
	return cmd
}

func (o *peekOptions) run(ctx context.Context, s *streams) error {
	return withTarget(ctx, s, &o.target, readOnly, func(c *targets.Conn) error {
		p, err := peek.Take(ctx, walk(c, keyspace.Measured), []byte(o.key), o.limit)
		if errors.Is(err, keyspace.ErrMissing) {
			return keyspace.Refusal("no such key: " + display.Whole(o.key))
		}
		if err != nil {
			return err
		}
		if o.json {
			_, err = s.out.Write(append(resp.AppendJSON(nil, p.JSON()), '\n'))
			return err
		}
		columns, _ := s.room()
		_, err = io.WriteString(s.out, p.Text(columns, func(text string) string { return text }))
		return err
	})
}
