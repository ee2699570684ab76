package commands

// The subcommands of DEBUG that the tests of clients rely on. Redis documents
// none of them. SLEEP is the connection's.
const debugging = Admin | NoScript | Loading | Stale

var debugCommands = []Command{
	{
		Name: "DEBUG", Group: "server", Since: "1.0.0", Arity: -2, Flags: debugging,
		Traits:  Dangerous,
		Summary: "Holds what helps to test clients",
	},
	{
		Name: "DEBUG CHANGE-REPL-ID", Group: "server", Since: "1.0.0", Arity: 2, Flags: debugging,
		Summary: "Changes nothing: nothing is replicated",
	},
	{
		Name: "DEBUG HELP", Group: "server", Since: "1.0.0", Arity: 2, Flags: debugging,
		Summary: "Lists the subcommands",
	},
	{
		Name: "DEBUG LOADAOF", Group: "server", Since: "1.0.0", Arity: 2, Flags: debugging,
		Summary: "Changes nothing: what is saved is what there is",
	},
	{
		Name: "DEBUG OBJECT", Group: "server", Since: "1.0.0", Arity: 3, Flags: debugging,
		Summary: "Describes the value at a key as OBJECT does, and the length of its DUMP",
		Syntax:  "key", Keys: []KeySpec{oneKey(RO|Metadata, 2)},
	},
	{
		Name: "DEBUG PROTOCOL", Group: "server", Since: "1.0.0", Arity: 3, Flags: debugging,
		Summary: "Answers a value of a type of the protocol",
		Syntax:  "<string|integer|double|bignum|null|array|set|map|attrib|push|verbatim|true|false>",
	},
	{
		Name: "DEBUG QUICKLIST-PACKED-THRESHOLD", Group: "server", Since: "1.0.0", Arity: 3, Flags: debugging,
		Summary: "Changes nothing: lists have no nodes",
		Syntax:  "size",
	},
	{
		Name: "DEBUG RELOAD", Group: "server", Since: "1.0.0", Arity: -2, Flags: debugging,
		Summary: "Changes nothing: what is saved is what there is",
		Syntax:  "[MERGE] [NOFLUSH] [NOSAVE]",
	},
	{
		Name: "DEBUG SET-ACTIVE-EXPIRE", Group: "server", Since: "1.0.0", Arity: 3, Flags: debugging,
		Summary: "Changes nothing: no client sees an expired key, swept or not",
		Syntax:  "<0|1>",
	},
	{
		Name: "DEBUG SLEEP", Group: "server", Since: "1.0.0", Arity: 3, Flags: debugging,
		Summary: "Holds the connection, and no other, for a time",
		Syntax:  "seconds",
	},
}
