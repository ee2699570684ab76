package server

import (
	"strings"

	"github.com/meowdis/meowdis/redis/commands"
	"github.com/meowdis/meowdis/redis/resp"
)

// slowLog runs SLOWLOG and LATENCY.
func (s *Server) slowLog(cmd *commands.Command, args [][]byte) (v resp.Value, ok bool) {
	switch cmd.Name {
	case "SLOWLOG GET":
		return s.slowGet(args), true
	case "SLOWLOG LEN":
		return resp.MakeInt(s.tally.Slow.Len()), true
	case "SLOWLOG RESET":
		s.tally.Slow.Reset()
		return resp.OK, true
	case "LATENCY LATEST":
		return s.tally.Latency.Latest(), true
	case "LATENCY HISTORY":
		return s.tally.Latency.History(string(args[2])), true
	case "LATENCY RESET":
		var events []string
		for _, event := range args[2:] {
			events = append(events, string(event))
		}
		return resp.MakeInt(s.tally.Latency.Reset(events)), true
	case "LATENCY GRAPH":
		graph, ok := s.tally.Latency.Graph(string(args[2]))
		if !ok {
			return resp.MakeError("ERR No samples available for event '" + commands.Quote(args[2]) + "'"), true
		}
		return verbatim(graph), true
	case "LATENCY DOCTOR":
		return verbatim(s.tally.Latency.Report()), true
	case "LATENCY HISTOGRAM":
		return s.histograms(args[2:]), true
	}
	return resp.Value{}, false
}

// slowGet runs SLOWLOG GET [count].
func (s *Server) slowGet(args [][]byte) resp.Value {
	most := int64(10)
	switch {
	case len(args) > 3:
		return commands.SubcommandSyntax(args)
	case len(args) == 3:
		var ok bool
		if most, ok = commands.ParseInt(args[2]); !ok || most < -1 {
			return resp.MakeError("ERR count should be greater than or equal to -1")
		}
	}
	return s.tally.Slow.Get(most)
}

// histograms runs LATENCY HISTOGRAM for the named commands, or for all commands. The name of a container selects its
// subcommands.
func (s *Server) histograms(names [][]byte) resp.Value {
	reply := resp.EmptyMap
	stats := s.tally.Stats()
	show := func(want func(name string) bool) {
		for _, c := range stats {
			if !c.Tracked() || !want(c.Command.WireName()) {
				continue
			}
			bars := resp.EmptyMap
			for _, b := range c.Bars() {
				bars.Elems = append(bars.Elems, resp.MakeInt(b.Micros), resp.MakeInt(b.Calls))
			}
			reply.Elems = append(reply.Elems, resp.MakeString(c.Command.WireName()), resp.MakeMap(
				resp.MakeString("calls"), resp.MakeInt(int64(c.Calls)), resp.MakeString("histogram_usec"), bars))
		}
	}
	if len(names) == 0 {
		show(func(string) bool { return true })
	}
	for _, name := range names {
		if cmd := commands.Named(name); cmd != nil {
			wire := cmd.WireName()
			show(func(name string) bool { return name == wire || strings.HasPrefix(name, wire+"|") })
		}
	}
	return reply
}
