package cmd

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/meowdis/meowdis/cmd/internal/exit"
	"github.com/meowdis/meowdis/cmd/internal/flags"
	"github.com/meowdis/meowdis/cmd/internal/targets"
	"github.com/meowdis/meowdis/keyspace"
	"github.com/meowdis/meowdis/local"
	"github.com/meowdis/meowdis/redis/commands"
	"github.com/meowdis/meowdis/redis/resp"
)

// listenOptions holds the flags of the verbs that listen to a server.
type listenOptions struct {
	target targets.Options
	json   bool
	limit  int64
}

func (o *listenOptions) addFlags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.BoolVar(&o.json, "json", false, "print one JSON object per line")
	f.Int64Var(&o.limit, "limit", 0, "stop after `NUMBER` messages")
	flags.Alias(f, "count", "limit")
	o.target.AddReadFlags(cmd)
}

// listen sends args and prints each message until Ctrl-C. print formats a message; it returns nil for a reply to
// skip.
func (o *listenOptions) listen(ctx context.Context, s *streams, args [][]byte, print func(resp.Value) []byte) (err error) {
	if o.limit < 0 {
		return exit.Usagef("--limit %d: give 0 or more", o.limit)
	}
	t, err := o.target.Find(s.getenv, s.err)
	if err != nil {
		return err
	}
	ctx, stop := exit.UntilInterrupted(ctx)
	defer stop()
	connect := o.target.Enter
	if t.IsREST() { // an endpoint may serve only messages
		connect = func(ctx context.Context, t targets.Target, file local.Options) (*targets.Conn, error) {
			return o.target.Connect(ctx, t, file, false)
		}
	}
	c, err := connect(ctx, t, local.Options{ReadOnly: t.URL == nil && t.Path != local.Memory, SweepEvery: noSweep, CacheBytes: smallCache})
	if err != nil {
		return ignoreStop(ctx, err)
	}
	defer func() { err = closeConn(err, c) }()
	var printed int64
	err = c.Listen(ctx, args, s.reportMissingMessages, func(v resp.Value) error {
		if v.IsError() {
			return keyspace.Refusal(v.Str)
		}
		out := print(v)
		if out == nil {
			return nil
		}
		if _, err := s.out.Write(out); err != nil {
			return err
		}
		if printed++; printed == o.limit {
			return errEnough
		}
		return nil
	})
	return printRefusal(s, ignoreStop(ctx, err))
}

// reportMissingMessages prints why messages of other processes cannot be received.
func (s *streams) reportMissingMessages(err error) {
	fmt.Fprintf(s.err, "meowdis: messages of other processes are not received: %v\n", err)
}

// listens reports whether a call is a valid SUBSCRIBE, MONITOR or the like.
func listens(args [][]byte) bool {
	cmd := commands.Known(args)
	return cmd.Has(commands.OpensStream) && cmd.Accepts(len(args))
}

// listen prints the replies to SUBSCRIBE, MONITOR and the like until Ctrl-C.
func (o *execOptions) listen(ctx context.Context, s *streams, c *targets.Conn, args [][]byte) error {
	ctx, stop := exit.UntilInterrupted(ctx)
	defer stop()
	p := o.format.printer(s)
	failed := false
	err := c.Listen(ctx, args, s.reportMissingMessages, func(v resp.Value) error {
		failed = failed || v.IsError()
		return p.write(s.screen, args, v)
	})
	if err == nil && failed {
		return exit.ErrReported
	}
	return ignoreStop(ctx, err)
}
