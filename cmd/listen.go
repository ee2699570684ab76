package cmd

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/meowdis/meowdis/internal/exit"
	"github.com/meowdis/meowdis/internal/target"
	"github.com/meowdis/meowdis/keyspace"
	"github.com/meowdis/meowdis/local"
	"github.com/meowdis/meowdis/resp"
)

// listenOptions are the flags of the verbs that listen to a server.
type listenOptions struct {
	target target.Options
	json   bool
	count  int64
}

func (o *listenOptions) addFlags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.BoolVar(&o.json, "json", false, "print JSON, one object a line")
	f.Int64Var(&o.count, "count", 0, "end after `NUMBER` messages")
	o.target.AddReadFlags(cmd)
}

// listener is a session on a server: remote.Redis and remote.REST.
type listener interface {
	Listen(ctx context.Context, args [][]byte, each func(resp.Value) error) error
}

// listen sends args and prints what print makes of each message, until Ctrl-C.
// print returns nothing for what is no message.
func (o *listenOptions) listen(ctx context.Context, s *streams, args [][]byte, print func(resp.Value) []byte) (err error) {
	if o.count < 0 {
		return exit.Usagef("--count %d: there cannot be fewer than none", o.count)
	}
	t, err := o.target.Find(s.getenv, s.err)
	if err != nil {
		return err
	}
	if t.URL == nil {
		return exit.Usagef("%s is a file, and only servers send messages: give --url, with redis:// or https://", t)
	}
	ctx, stop := exit.UntilInterrupted(ctx)
	defer stop()
	connect := o.target.Enter
	if t.IsREST() { // a message is all that it may have to say
		connect = func(ctx context.Context, t target.Target, file local.Options) (*target.Conn, error) {
			return o.target.Connect(ctx, t, file, false)
		}
	}
	c, err := connect(ctx, t, local.Options{})
	if err != nil {
		return ended(ctx, err)
	}
	defer func() { err = closing(err, c) }()
	var printed int64
	err = target.Plain(c.Session).(listener).Listen(ctx, args, func(v resp.Value) error {
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
		if printed++; printed == o.count {
			return errEnough
		}
		return nil
	})
	return answered(s, ended(ctx, err))
}
