package cmd

import (
	"context"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/meowdis/meowdis/display"
	"github.com/meowdis/meowdis/local"
	"github.com/meowdis/meowdis/resp"
	"github.com/meowdis/meowdis/survey"
)

// listenOptions are the flags of the verbs that listen to a server.
type listenOptions struct {
	target targetOptions
	json   bool
	count  int64
}

func (o *listenOptions) addFlags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.BoolVar(&o.json, "json", false, "print JSON, one object a line")
	f.Int64Var(&o.count, "count", 0, "end after `NUMBER` messages")
	o.target.addLookFlags(cmd)
}

// listener is a session on a server: remote.Redis and remote.REST.
type listener interface {
	Listen(ctx context.Context, args [][]byte, each func(resp.Value) error) error
}

// listen sends args and prints what print makes of each message, until Ctrl-C.
// print returns nothing for what is no message.
func (o *listenOptions) listen(ctx context.Context, s *streams, args [][]byte, print func(resp.Value) []byte) (err error) {
	if o.count < 0 {
		return usagef("--count %d: there cannot be fewer than none", o.count)
	}
	t, err := o.target.resolve(s.getenv)
	if err != nil {
		return err
	}
	o.target.tell(t, s)
	if t.url == nil {
		return usagef("%s is a file, and only servers send messages: give --url, with redis:// or https://", t)
	}
	ctx, stop := untilInterrupted(ctx)
	defer stop()
	connect := o.target.enter
	if t.isREST() { // a message is all that it may have to say
		connect = func(ctx context.Context, t target, file local.Options) (*connection, error) {
			return o.target.connectTo(ctx, t, file, false)
		}
	}
	c, err := connect(ctx, t, local.Options{})
	if err != nil {
		return ended(ctx, err)
	}
	defer func() { err = closing(err, c) }()
	var printed int64
	err = plain(c.session).(listener).Listen(ctx, args, func(v resp.Value) error {
		if v.IsError() {
			return survey.Refusal(v.Str)
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

func newMonitor(s *streams) *cobra.Command {
	o := &listenOptions{}
	cmd := &cobra.Command{
		Use:     "monitor [FLAGS]",
		GroupID: groupLook,
		Short:   "Show the commands that a server runs",
		Long: `Shows every command that the server runs, for every client, until Ctrl-C. That
costs the server a good part of its speed. It takes a Redis server that has the
command MONITOR, or a REST endpoint that has /monitor, as Upstash's do.

` + targetHelp,
		Example: `  meowdis monitor --url redis://localhost:6379
  meowdis monitor --url redis://localhost --json | jq -r .command[0]`,
		ValidArgsFunction: cobra.NoFileCompletions,
		Args:              usageArgs(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return o.listen(cmd.Context(), s, command([]string{"MONITOR"}), func(v resp.Value) []byte {
				return o.monitored(s, string(v.Str))
			})
		},
	}
	o.addFlags(cmd)
	return cmd
}

// monitored prints a line of MONITOR: TIME [DB CLIENT] "COMMAND" "ARG"…
func (o *listenOptions) monitored(s *streams, line string) []byte {
	switch {
	case line == "OK":
		return nil
	case o.json:
		return append(resp.AppendJSON(nil, monitorJSON(line)), '\n')
	case s.outTerminal:
		line = display.Whole(line)
	}
	return []byte(line + "\n")
}

// monitorJSON takes a line apart; one that is otherwise is given as it is.
func monitorJSON(line string) resp.Value {
	at, rest, ok := strings.Cut(line, " [")
	source, words, ok2 := strings.Cut(rest, "] ")
	db, client, ok3 := strings.Cut(source, " ")
	n, err := strconv.ParseInt(db, 10, 64)
	args, bad := resp.SplitLine(words)
	if !ok || !ok2 || !ok3 || err != nil || bad != nil {
		return resp.MakeMap(resp.MakeString("line"), resp.MakeString(line))
	}
	var command []resp.Value
	for _, a := range args {
		command = append(command, resp.MakeBulk(a))
	}
	return resp.MakeMap(
		resp.MakeString("time"), resp.Value{Kind: resp.Bulk, Str: []byte(at)},
		resp.MakeString("db"), resp.MakeInt(n),
		resp.MakeString("client"), resp.MakeString(client),
		resp.MakeString("command"), resp.MakeArray(command...))
}
