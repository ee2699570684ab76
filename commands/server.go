package commands

var serverCommands = []Command{
	{
		Name: "DBSIZE", Group: "server", Since: "1.0.0", Arity: 1, Flags: ReadOnly | Fast,
		Summary:    "Returns the number of keys in the database",
		Categories: []string{"keyspace"},
		Tips:       []string{"request_policy:all_shards", "response_policy:agg_sum"},
	},
	{
		Name: "FLUSHDB", Group: "server", Since: "1.0.0", Arity: -1, Flags: Write,
		Traits:     Dangerous | AnswersOK,
		Summary:    "Deletes all keys of the database",
		Syntax:     "[ASYNC|SYNC]",
		Categories: []string{"keyspace", "dangerous"},
		Tips:       []string{"request_policy:all_shards", "response_policy:all_succeeded"},
	},
	{
		Name: "FLUSHALL", Group: "server", Since: "1.0.0", Arity: -1, Flags: Write,
		Traits:     Dangerous | AnswersOK,
		Summary:    "Deletes all keys of all databases",
		Syntax:     "[ASYNC|SYNC]",
		Categories: []string{"keyspace", "dangerous"},
		Tips:       []string{"request_policy:all_shards", "response_policy:all_succeeded"},
	},
	{
		Name: "SWAPDB", Group: "server", Since: "4.0.0", Arity: 3, Flags: Write | Fast,
		Traits:     Dangerous | AnswersOK,
		Summary:    "Exchanges the keys of two databases",
		Syntax:     "index1 index2",
		Categories: []string{"keyspace", "dangerous"},
	},
	{
		Name: "TIME", Group: "server", Since: "2.6.0", Arity: 1, Flags: Loading | Stale | Fast,
		Summary: "Returns the Unix time in seconds, and the microseconds of the current one",
		Tips:    []string{"nondeterministic_output"},
	},
	{
		Name: "INFO", Group: "server", Since: "1.0.0", Arity: -1, Flags: Loading | Stale,
		Summary: "Returns facts about the server and the databases, as lines of name:value",
		Syntax:  "[section [section ...]]", WantsFacts: true,
		Categories: []string{"dangerous"},
		Tips:       []string{"nondeterministic_output", "request_policy:all_shards", "response_policy:special"},
	},
	{
		Name: "LOLWUT", Group: "server", Since: "5.0.0", Arity: -1, Flags: ReadOnly | Fast,
		Summary: "Draws a cat and names the version",
		Syntax:  "[VERSION version]",
	},
	{
		Name: "MODULE", Group: "server", Since: "4.0.0", Arity: -2,
		Summary: "Holds the commands about modules, of which there are none",
	},
	{
		Name: "MODULE HELP", Group: "server", Since: "5.0.0", Arity: 2, Flags: Loading | Stale,
		Summary: "Lists the subcommands of MODULE",
	},
	{
		Name: "MODULE LIST", Group: "server", Since: "4.0.0", Arity: 2, Flags: Admin | NoScript,
		Replies: someMaps,
		Summary: "Lists what Redis has as modules, and is part of meowdis",
		Traits:  Looks,
		Tips:    []string{"nondeterministic_output_order"},
	},
	{
		Name: "COMMAND", Group: "server", Since: "2.8.13", Arity: -1, Flags: Loading | Stale,
		Replies:    described,
		Summary:    "Describes all commands",
		Categories: []string{"connection"}, Tips: []string{"nondeterministic_output_order"},
	},
	{
		Name: "COMMAND COUNT", Group: "server", Since: "2.8.13", Arity: 2, Flags: Loading | Stale,
		Summary:    "Returns the number of commands",
		Categories: []string{"connection"},
	},
	{
		Name: "COMMAND DOCS", Group: "server", Since: "7.0.0", Arity: -2, Flags: Loading | Stale,
		Replies:    documented,
		Summary:    "Documents commands, all without names",
		Syntax:     "[command-name [command-name ...]]",
		Categories: []string{"connection"}, Tips: []string{"nondeterministic_output_order"},
	},
	{
		Name: "COMMAND GETKEYS", Group: "server", Since: "2.8.13", Arity: -3, Flags: Loading | Stale,
		Summary:    "Returns the keys of a call",
		Syntax:     "command [arg [arg ...]]",
		Categories: []string{"connection"},
	},
	{
		Name: "COMMAND GETKEYSANDFLAGS", Group: "server", Since: "7.0.0", Arity: -3, Flags: Loading | Stale,
		Summary:    "Returns the keys of a call and what it does with them",
		Syntax:     "command [arg [arg ...]]",
		Categories: []string{"connection"},
	},
	{
		Name: "COMMAND HELP", Group: "server", Since: "5.0.0", Arity: 2, Flags: Loading | Stale,
		Summary:    "Lists the subcommands of COMMAND",
		Categories: []string{"connection"},
	},
	{
		Name: "COMMAND INFO", Group: "server", Since: "2.8.13", Arity: -2, Flags: Loading | Stale,
		Replies:    described,
		Summary:    "Describes commands, all without names",
		Syntax:     "[command-name [command-name ...]]",
		Categories: []string{"connection"}, Tips: []string{"nondeterministic_output_order"},
	},
	{
		Name: "COMMAND LIST", Group: "server", Since: "7.0.0", Arity: -2, Flags: Loading | Stale,
		Summary:    "Returns the names of the commands, or of those of a kind",
		Syntax:     "[FILTERBY <MODULE module-name|ACLCAT category|PATTERN pattern>]",
		Categories: []string{"connection"}, Tips: []string{"nondeterministic_output_order"},
	},
}
