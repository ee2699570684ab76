package commands

// The subcommands of DEBUG that the tests of clients use. Redis documents none of them. The
// connection runs SLEEP.
const debugFlags = Admin | NoScript | Loading | Stale

var debugCommands = []Command{
	{
		Name: "DEBUG", Group: "server", Since: "1.0.0", Arity: -2, Flags: debugFlags,
		Traits:  Dangerous,
		Summary: "Commands for testing clients",
	},
	{
		Name: "DEBUG CHANGE-REPL-ID", Group: "server", Since: "1.0.0", Arity: 2, Flags: debugFlags,
		Summary: "Generates a new replication ID",
	},
	{
		Name: "DEBUG DIGEST", Group: "server", Since: "1.0.0", Arity: 2, Flags: debugFlags,
		Summary: "Returns a fingerprint of all keys, which Redis computes alike",
	},
	{
		Name: "DEBUG DIGEST-VALUE", Group: "server", Since: "1.0.0", Arity: -2, Flags: debugFlags,
		Summary: "Returns a fingerprint of the value at each key, zeros for a missing key",
		Syntax:  "[key [key ...]]",
	},
	{
		Name: "DEBUG HELP", Group: "server", Since: "1.0.0", Arity: 2, Flags: debugFlags,
		Summary: "Lists the subcommands",
	},
	{
		Name: "DEBUG LOADAOF", Group: "server", Since: "1.0.0", Arity: 2, Flags: debugFlags,
		Summary: "Changes nothing: saved data cannot differ",
	},
	{
		Name: "DEBUG OBJECT", Group: "server", Since: "1.0.0", Arity: 3, Flags: debugFlags,
		Summary: "Describes the value at a key as OBJECT does, and the length of its DUMP",
		Syntax:  "key", Keys: []KeySpec{oneKey(RO|Metadata, 2)},
	},
	{
		Name: "DEBUG PROTOCOL", Group: "server", Since: "1.0.0", Arity: 3, Flags: debugFlags,
		Summary: "Replies with a value of a protocol type",
		Syntax:  "<string|integer|double|bignum|null|array|set|map|attrib|push|verbatim|true|false>",
	},
	{
		Name: "DEBUG QUICKLIST-PACKED-THRESHOLD", Group: "server", Since: "1.0.0", Arity: 3, Flags: debugFlags,
		Summary: "Changes nothing: lists have no nodes",
		Syntax:  "size",
	},
	{
		Name: "DEBUG RELOAD", Group: "server", Since: "1.0.0", Arity: -2, Flags: debugFlags,
		Summary: "Changes nothing: saved data cannot differ",
		Syntax:  "[MERGE] [NOFLUSH] [NOSAVE]",
	},
	{
		Name: "DEBUG SET-ACTIVE-EXPIRE", Group: "server", Since: "1.0.0", Arity: 3, Flags: debugFlags,
		Summary: "Turns the sweep of expired keys off or on; no client sees one, swept or not",
		Syntax:  "<0|1>",
	},
	{
		Name: "DEBUG SLEEP", Group: "server", Since: "1.0.0", Arity: 3, Flags: debugFlags,
		Summary: "Pauses all clients",
		Syntax:  "seconds",
	},
	{
		Name: "DEBUG AOF-FLUSH-SLEEP", Group: "server", Since: "1.0.0", Arity: 3, Flags: debugFlags,
		Summary: "Changes nothing: the server has no append-only file",
		Syntax:  "microseconds",
	},
	{
		Name: "DEBUG DICT-RESIZING", Group: "server", Since: "1.0.0", Arity: 3, Flags: debugFlags,
		Summary: "Changes nothing: the server has no hash tables",
		Syntax:  "<0|1>",
	},
	{
		Name: "DEBUG ERROR", Group: "server", Since: "1.0.0", Arity: 3, Flags: debugFlags,
		Summary: "Replies with the text as an error",
		Syntax:  "text",
	},
	{
		Name: "DEBUG LOG", Group: "server", Since: "1.0.0", Arity: 3, Flags: debugFlags,
		Summary: "Writes the text to the log of the server",
		Syntax:  "text",
	},
	{
		Name: "DEBUG PAUSE-CRON", Group: "server", Since: "1.0.0", Arity: 3, Flags: debugFlags,
		Summary: "Changes nothing: the server has no periodic tasks",
		Syntax:  "<0|1>",
	},
	{
		Name: "DEBUG POPULATE", Group: "server", Since: "1.0.0", Arity: -3, Flags: debugFlags,
		Summary: "Creates strings, except at keys that exist",
		Syntax:  "count [prefix [size]]",
	},
	{
		Name: "DEBUG SET-DISABLE-DENY-SCRIPTS", Group: "server", Since: "1.0.0", Arity: 3, Flags: debugFlags,
		Summary: "Changes nothing: scripts have no further permissions",
		Syntax:  "<0|1>",
	},
	{
		Name: "DEBUG SET-SKIP-CHECKSUM-VALIDATION", Group: "server", Since: "1.0.0", Arity: 3, Flags: debugFlags,
		Summary: "Changes nothing: checksums are compared",
		Syntax:  "<0|1>",
	},
}
