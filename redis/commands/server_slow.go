package commands

// The commands about slow calls, which the server counts.
var slowCommands = []Command{
	{
		Name: "SLOWLOG", Group: "server", Since: "2.2.12", Arity: -2,
		Summary: "Commands about the log of slow commands",
	},
	{
		Name: "SLOWLOG GET", Group: "server", Since: "2.2.12", Arity: -2, Flags: Admin | Loading | Stale,
		Traits:  ReadsOnly,
		Replies: []Reply{{Records: Rows, Columns: []string{"id", "time", "microseconds", "command", "client", "name"}}},
		Summary: "Returns the newest entries of the slow log",
		Syntax:  "[count]",
		Tips:    []string{"request_policy:all_nodes", "nondeterministic_output"},
	},
	{
		Name: "SLOWLOG HELP", Group: "server", Since: "6.2.0", Arity: 2, Flags: Loading | Stale,
		Traits:  ReadsOnly,
		Summary: "Lists the subcommands of SLOWLOG",
	},
	{
		Name: "SLOWLOG LEN", Group: "server", Since: "2.2.12", Arity: 2, Flags: Admin | Loading | Stale,
		Traits:  ReadsOnly,
		Summary: "Counts the entries of the slow log",
		Tips:    []string{"request_policy:all_nodes", "response_policy:agg_sum", "nondeterministic_output"},
	},
	{
		Name: "SLOWLOG RESET", Group: "server", Since: "2.2.12", Arity: 2, Flags: Admin | Loading | Stale,
		Traits:  ChangesServer | AnswersOK,
		Summary: "Empties the slow log",
		Tips:    []string{"request_policy:all_nodes", "response_policy:all_succeeded"},
	},
	{
		Name: "LATENCY", Group: "server", Since: "2.8.13", Arity: -2,
		Summary: "Commands about latency",
	},
	{
		Name: "LATENCY DOCTOR", Group: "server", Since: "2.8.13", Arity: 2, Flags: Admin | NoScript | Loading | Stale,
		Traits:  ReadsOnly | Report,
		Summary: "Reports slow events and suggests remedies",
		Tips:    []string{"nondeterministic_output", "request_policy:all_nodes", "response_policy:special"},
	},
	{
		Name: "LATENCY GRAPH", Group: "server", Since: "2.8.13", Arity: 3, Flags: Admin | NoScript | Loading | Stale,
		Traits:  ReadsOnly | Report,
		Summary: "Draws the samples of an event",
		Syntax:  "event",
		Tips:    []string{"nondeterministic_output", "request_policy:all_nodes", "response_policy:special"},
	},
	{
		Name: "LATENCY HELP", Group: "server", Since: "2.8.13", Arity: 2, Flags: Loading | Stale,
		Traits:  ReadsOnly,
		Summary: "Lists the subcommands of LATENCY",
	},
	{
		Name: "LATENCY HISTOGRAM", Group: "server", Since: "7.0.0", Arity: -2, Flags: Admin | NoScript | Loading | Stale,
		Traits:  ReadsOnly,
		Replies: []Reply{{RESP3: &Shape{Form: ToMap, Each: toMap}}},
		Summary: "Returns histograms of the durations of commands, in powers of two",
		Syntax:  "[command [command ...]]",
		Tips:    []string{"nondeterministic_output", "request_policy:all_nodes", "response_policy:special"},
	},
	{
		Name: "LATENCY HISTORY", Group: "server", Since: "2.8.13", Arity: 3, Flags: Admin | NoScript | Loading | Stale,
		Traits:  ReadsOnly,
		Replies: []Reply{{Records: Rows, Columns: []string{"time", "milliseconds"}}},
		Summary: "Returns the samples of an event",
		Syntax:  "event",
		Tips:    []string{"nondeterministic_output", "request_policy:all_nodes", "response_policy:special"},
	},
	{
		Name: "LATENCY LATEST", Group: "server", Since: "2.8.13", Arity: 2, Flags: Admin | NoScript | Loading | Stale,
		Traits:  ReadsOnly,
		Replies: []Reply{{Records: Rows, Columns: []string{"event", "time", "latest", "max"}}},
		Summary: "Returns the latest sample of each event",
		Tips:    []string{"nondeterministic_output", "request_policy:all_nodes", "response_policy:special"},
	},
	{
		Name: "LATENCY RESET", Group: "server", Since: "2.8.13", Arity: -2, Flags: Admin | NoScript | Loading | Stale,
		Traits:  ChangesServer,
		Summary: "Forgets the samples of events, all without names",
		Syntax:  "[event [event ...]]",
		Tips:    []string{"request_policy:all_nodes", "response_policy:agg_sum"},
	},
}
