package cmd

import (
	"bytes"
	"context"
	"errors"

	"github.com/spf13/cobra"

	"github.com/meowdis/meowdis/cmd/internal/complete"
	"github.com/meowdis/meowdis/cmd/internal/targets"
	"github.com/meowdis/meowdis/keyspace"
	"github.com/meowdis/meowdis/keyspace/display"
	"github.com/meowdis/meowdis/keyspace/peek"
	"github.com/meowdis/meowdis/redis/resp"
	"github.com/meowdis/meowdis/store/keytype"
)

// scanOptions holds the flags and arguments of scan.
type scanOptions struct {
	target     targets.Options
	list       listOptions
	key, match string
}

func newScan(s *streams) *cobra.Command {
	o := &scanOptions{}
	cmd := &cobra.Command{
		Use:     "scan [FLAGS] [TARGET] KEY [PATTERN]",
		GroupID: groupInspect,
		Short:   "List the elements of a key, for any number of elements",
		Long: `Lists the elements of a hash, set, sorted set, list, stream, array or vector
set, page by page. PATTERN selects fields of a hash, or members.

Each line is one element, with tabs between its parts: field and value, member
and score, or ID, fields and values.`,
		Example: `  meowdis scan cat:1
  meowdis scan cats.sqlite --json users 'a*'`,
		ValidArgsFunction: complete.AfterTarget(&o.target, "KEY", complete.Key(s.getenv, &o.target, s.waits.target)),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := o.list.check(cmd); err != nil {
				return err
			}
			own, err := ownArgs(cmd, &o.target, args, targets.Own{What: "KEY", Least: 1, Most: 2})
			if err != nil {
				return err
			}
			o.key, o.match = own[0], first(own[1:])
			return o.run(cmd.Context(), s)
		},
	}
	o.list.addFlags(cmd, "elements")
	o.target.AddReadFlags(cmd)
	return cmd
}

func (o *scanOptions) run(ctx context.Context, s *streams) error {
	return withTarget(ctx, s, &o.target, readOnly, func(c *targets.Conn) error {
		key, err := walk(c, keyspace.Described).DescribeOne(ctx, []byte(o.key))
		if errors.Is(err, keyspace.ErrMissing) {
			return keyspace.Refusal("no such key: " + display.Whole(o.key))
		}
		if err != nil {
			return err
		}
		parts := keytype.Of(key.Type).Parts
		if parts == nil {
			return keyspace.Refusal("a " + display.Type(key.Type) + " has no elements: use meowdis peek")
		}
		var printed int64
		var out []byte
		err = keyspace.Elements(ctx, c, key, o.match, func(element [][]byte) error {
			if printed++; o.list.beyond(printed) {
				return errEnough
			}
			if out = o.append(out, s, parts, element); len(out) > 64<<10 {
				_, err := s.out.Write(out)
				out = out[:0]
				return err
			}
			return nil
		})
		if _, failed := s.out.Write(out); failed != nil {
			return failed
		}
		return ignoreStop(ctx, err)
	})
}

func (o *scanOptions) append(out []byte, s *streams, parts []string, element [][]byte) []byte {
	switch {
	case o.list.json:
		return append(resp.AppendJSON(out, peek.ElementJSON(parts, element)), '\n')
	case o.list.null:
		for _, part := range element {
			out = append(append(out, part...), 0)
		}
		return out
	case s.outTerminal:
		shown := make([][]byte, len(element))
		for i, part := range element {
			shown[i] = []byte(display.Whole(string(part)))
		}
		element = shown
	}
	return append(append(out, bytes.Join(element, []byte("\t"))...), '\n')
}
