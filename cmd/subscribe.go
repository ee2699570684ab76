package cmd

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/meowdis/meowdis/cmd/internal/targets"
	"github.com/meowdis/meowdis/keyspace/display"
	"github.com/meowdis/meowdis/redis/resp"
)

func newSubscribe(s *streams) *cobra.Command {
	return subscription(s, "subscribe", "CHANNEL", "Print the messages of channels",
		`  meowdis subscribe redis://localhost news
  meowdis subscribe redis://localhost --json --limit 1 jobs:done`)
}

func newPSubscribe(s *streams) *cobra.Command {
	return subscription(s, "psubscribe", "PATTERN", "Print the messages of the channels that match patterns",
		`  meowdis psubscribe redis://localhost 'news:*'`)
}

func subscription(s *streams, name, what, short, example string) *cobra.Command {
	o := &listenOptions{}
	shard := false
	cmd := &cobra.Command{
		Use:     name + " [FLAGS] [TARGET] " + what + "...",
		GroupID: groupInspect,
		Short:   short,
		Long: "Prints" + strings.TrimPrefix(short, "Print") + `, until Ctrl-C.
Each line is the channel, a tab and the message. The target is a file, a Redis
server, or a REST endpoint with /` + name + `, such as Upstash's.`,
		Example:           example,
		ValidArgsFunction: targets.CompleteNames(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			own, err := ownArgs(cmd, &o.target, args, targets.Own{What: what, Least: 1, Most: -1})
			if err != nil {
				return err
			}
			call := name
			if shard {
				call = "ssubscribe"
			}
			return o.subscribe(cmd.Context(), s, append([]string{call}, own...))
		},
	}
	if name == "subscribe" {
		cmd.Flags().BoolVar(&shard, "shard", false, "shard channels (SSUBSCRIBE), which a Redis Cluster keeps on one node")
	}
	o.addFlags(cmd)
	return cmd
}

func (o *listenOptions) subscribe(ctx context.Context, s *streams, words []string) error {
	return o.listen(ctx, s, command(words), func(v resp.Value) []byte {
		if len(v.Elems) < 3 {
			return nil
		}
		switch e := v.Elems; string(e[0].Str) {
		case "message", "smessage":
			return o.message(s, nil, e[1].Str, e[2].Str)
		case "pmessage":
			if len(e) == 4 {
				return o.message(s, e[1].Str, e[2].Str, e[3].Str)
			}
		case "subscribe", "psubscribe", "ssubscribe":
			fmt.Fprintf(s.err, "listening to %s\n", display.Whole(string(e[1].Str)))
		}
		return nil
	})
}

func (o *listenOptions) message(s *streams, pattern, channel, message []byte) []byte {
	if o.json {
		var fields []resp.Value
		if pattern != nil {
			fields = append(fields, resp.MakeString("pattern"), resp.MakeBulk(pattern))
		}
		fields = append(fields, resp.MakeString("channel"), resp.MakeBulk(channel), resp.MakeString("message"), resp.MakeBulk(message))
		return append(resp.AppendJSON(nil, resp.MakeMap(fields...)), '\n')
	}
	if s.outTerminal {
		channel, message = []byte(display.Whole(string(channel))), []byte(display.Whole(string(message)))
	}
	return append(append(append(append([]byte(nil), channel...), '\t'), message...), '\n')
}
