package cmd

import (
	"errors"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/meowdis/meowdis/cmd/internal/targets"
	"github.com/meowdis/meowdis/keyspace/display"
	"github.com/meowdis/meowdis/redis/resp"
)

func newMonitor(s *streams) *cobra.Command {
	o := &listenOptions{}
	cmd := &cobra.Command{
		Use:     "monitor [FLAGS] [TARGET]",
		GroupID: groupInspect,
		Short:   "Show the commands that a server or a file's processes run",
		Long: `Shows every command that any client runs on the target, until Ctrl-C: a Redis
server, a REST endpoint with /monitor, or a file, whose processes all report.
MONITOR slows a server down.`,
		Example: `  meowdis monitor redis://localhost:6379
  meowdis monitor cats.sqlite
  meowdis monitor -h localhost --json | jq -r .command[0]`,
		ValidArgsFunction: targets.CompleteNames(1),
		Args:              usageArgs(cobra.MaximumNArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := errors.Join(o.target.Argument(args), o.target.AskPassword(s.askSecret)); err != nil {
				return err
			}
			return o.listen(cmd.Context(), s, command([]string{"MONITOR"}), func(v resp.Value) []byte {
				return o.monitored(s, string(v.Str))
			})
		},
	}
	o.addFlags(cmd)
	o.target.AddServerFlags(cmd)
	return cmd
}

// monitored formats a line of MONITOR: TIME [DB CLIENT] "COMMAND" "ARG"…
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

// monitorJSON parses a line of MONITOR. A line in another format is returned whole.
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
