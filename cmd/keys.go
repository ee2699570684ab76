package cmd

import (
	"bytes"
	"context"

	"github.com/spf13/cobra"

	"github.com/meowdis/meowdis/cmd/internal/flags"
	"github.com/meowdis/meowdis/cmd/internal/move"
	"github.com/meowdis/meowdis/cmd/internal/targets"
	"github.com/meowdis/meowdis/keyspace"
	"github.com/meowdis/meowdis/keyspace/display"
	"github.com/meowdis/meowdis/keyspace/stats"
	"github.com/meowdis/meowdis/redis/resp"
	"github.com/meowdis/meowdis/store/keytype"
)

// keysOptions holds the flags and arguments of keys.
type keysOptions struct {
	target targets.Options
	list   listOptions
	long   bool
	typ    string
	match  string
}

func newKeys(s *streams) *cobra.Command {
	o := &keysOptions{}
	cmd := &cobra.Command{
		Use:        "keys [FLAGS] [TARGET] [PATTERN]",
		SuggestFor: []string{"ls", "list"},
		GroupID:    groupInspect,
		Short:      "List keys, for any number of keys",
		Long: `Lists the keys that match a pattern, or all keys, page by page: unlike the
command KEYS it does not block the target. Into a pipe, names are printed
unchanged; on a terminal, control characters are quoted.`,
		Example: `  meowdis keys 'cat:*'
  meowdis keys -0 'tmp:*' | xargs -0r meowdis exec DEL`,
		ValidArgsFunction: targets.CompleteNames(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := o.list.check(cmd); err != nil {
				return err
			}
			if err := flags.Exclusive(cmd, "long", "null"); err != nil {
				return err
			}
			own, err := ownArgs(cmd, &o.target, args, targets.Own{What: "PATTERN", Most: 1})
			if err != nil {
				return err
			}
			o.match = first(own)
			if o.typ != "" {
				typ, err := flags.Type(o.typ)
				if err != nil {
					return err
				}
				o.typ = typ
			}
			return o.run(cmd.Context(), s)
		},
	}
	f := cmd.Flags()
	f.BoolVarP(&o.long, "long", "l", false, "print type, TTL and size of each key, too")
	flags.AddType(cmd, &o.typ, "list only keys of `TYPE`, such as string or hash")
	o.list.addFlags(cmd, "keys")
	o.target.AddReadFlags(cmd)
	return cmd
}

func (o *keysOptions) run(ctx context.Context, s *streams) error {
	return withTarget(ctx, s, &o.target, readOnly, func(c *targets.Conn) error {
		var printed int64
		if o.long && !o.list.json && s.outTerminal {
			if _, err := s.out.Write(longLine("TYPE", "TTL", "SIZE", "KEY")); err != nil {
				return err
			}
		}
		r := &move.Report{} // on a terminal the keys themselves show the progress
		if !s.outTerminal {
			r = newKeysReport(s, "reading keys", -1, c)
		}
		defer r.Bar.End()
		err := o.pages(c)(ctx, func(keys []keyspace.Key) error {
			var out []byte
			for _, k := range keys {
				if printed++; o.list.beyond(printed) {
					break
				}
				out = o.append(out, s, k)
				r.Read(k.Name)
			}
			if _, err := s.out.Write(out); err != nil {
				return err
			}
			if o.list.beyond(printed + 1) {
				return errEnough
			}
			return nil
		})
		return ignoreStop(ctx, err)
	})
}

// pages returns the source of the keys. Without a pattern it reads a file's tables, which is many times as fast as
// commands, and keeps one order.
func (o *keysOptions) pages(c *targets.Conn) keyspace.Pages {
	detail := keyspace.Names
	if o.long {
		detail = keyspace.Described
	}
	if o.match == "" && c.File != nil {
		tables := tables(c)
		tables.Detail, tables.Type = detail, o.typ
		return tables.Keys
	}
	walk := walk(c, detail)
	walk.Match, walk.Type = o.match, o.typ
	if o.list.limit > 0 && o.match == "" && o.typ == "" {
		walk.Page = int(min(o.list.limit, 500))
	}
	return walk.Keys
}

func (o *keysOptions) append(out []byte, s *streams, k keyspace.Key) []byte {
	name := k.Name
	if s.outTerminal && !o.list.null {
		name = []byte(display.Whole(string(name)))
	}
	switch {
	case o.list.json:
		return append(resp.AppendJSON(out, stats.KeyJSON(k)), '\n')
	case !o.long:
		return append(append(out, name...), o.list.end())
	}
	ttl, size := "-", "-"
	if k.TTL >= 0 {
		ttl = display.Remaining(k.TTL)
	}
	if k.Count >= 0 {
		size = display.Counted(k.Count, keytype.Of(k.Type).One, keytype.Of(k.Type).Many)
	}
	return append(out, longLine(display.Type(k.Type), ttl, size, string(name))...)
}

// longLine formats the columns of a key. The name is last, because it may be long.
func longLine(typ, ttl, size, name string) []byte {
	var b bytes.Buffer
	b.WriteString(display.Fit(typ, 9) + "  " + display.FitRight(ttl, 7) + "  " + display.FitRight(size, 18) + "  " + name + "\n")
	return b.Bytes()
}
