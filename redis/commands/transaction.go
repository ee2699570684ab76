package commands

// The commands of a transaction belong to the session: the engine runs them.
var transactionCommands = []Command{
	{
		Name: "MULTI", Group: "transactions", Since: "1.2.0", Arity: 1, Flags: NoScript | Loading | Stale | Fast | AllowBusy,
		Traits:  OfConnection | NeedsConnection,
		Summary: "Starts a transaction: later commands are queued",
	},
	{
		Name: "EXEC", Group: "transactions", Since: "1.2.0", Arity: 1, Flags: NoScript | Loading | Stale | SkipSlowlog,
		Replies: asScripts,
		Traits:  OfConnection | NeedsConnection,
		Summary: "Runs the queued commands as one, unless a watched key has changed",
	},
	{
		Name: "DISCARD", Group: "transactions", Since: "2.0.0", Arity: 1, Flags: NoScript | Loading | Stale | Fast | AllowBusy,
		Traits:  OfConnection | NeedsConnection,
		Summary: "Drops the queued commands and the watched keys",
	},
	{
		Name: "WATCH", Group: "transactions", Since: "2.2.0", Arity: -2, Flags: NoScript | Loading | Stale | Fast | AllowBusy,
		Traits:  OfConnection | NeedsConnection,
		Summary: "Makes the next EXEC fail if a key changes",
		Syntax:  "key [key ...]", Keys: []KeySpec{keysFrom(RO|Metadata, 1, -1, 1)},
	},
	{
		Name: "UNWATCH", Group: "transactions", Since: "2.2.0", Arity: 1, Flags: NoScript | Loading | Stale | Fast | AllowBusy,
		Traits:  OfConnection | NeedsConnection,
		Summary: "Forgets the watched keys",
	},
}
