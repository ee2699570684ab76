package commands

var memoryCommands = []Command{
	{
		Name: "MEMORY", Group: "server", Since: "4.0.0", Arity: -2,
		Summary: "Commands about the memory of values",
	},
	{
		Name: "MEMORY DOCTOR", Group: "server", Since: "4.0.0", Arity: 2,
		Traits:  Report,
		Summary: "Reports nothing: values are in a file",
		Tips:    []string{"nondeterministic_output", "request_policy:all_shards", "response_policy:special"},
	},
	{
		Name: "MEMORY HELP", Group: "server", Since: "4.0.0", Arity: 2, Flags: Loading | Stale,
		Summary: "Lists the subcommands of MEMORY",
	},
	{
		Name: "MEMORY PURGE", Group: "server", Since: "4.0.0", Arity: 2,
		Summary: "Replies OK: memory is freed automatically",
		Tips:    []string{"request_policy:all_shards", "response_policy:all_succeeded"},
	},
	{
		Name: "MEMORY USAGE", Group: "server", Since: "4.0.0", Arity: -3, Flags: ReadOnly,
		Summary: "Estimates the bytes of a key and its value in the file, or returns nil",
		Syntax:  "key [SAMPLES count]", Keys: []KeySpec{oneKey(RO|Metadata, 2)},
	},
	{
		Name: "MEMORY MALLOC-STATS", Group: "server", Since: "4.0.0", Arity: 2,
		Traits:  ReadsOnly | Report,
		Summary: "Describes the memory of the process with Go's statistics",
		Tips:    []string{"nondeterministic_output", "request_policy:all_shards", "response_policy:special"},
	},
	{
		Name: "MEMORY STATS", Group: "server", Since: "4.0.0", Arity: 2,
		Traits:  ReadsOnly,
		Replies: aMap,
		Summary: "Returns the memory of the process by use",
		Tips:    []string{"nondeterministic_output", "request_policy:all_shards", "response_policy:special"},
	},
}
