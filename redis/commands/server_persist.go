package commands

// The commands that save the data. Every commit is in the file already; a server may do more
// (server/shutdown_and_save.go).
var persistCommands = []Command{
	{
		Name: "SAVE", Group: "server", Since: "1.0.0", Arity: 1, Flags: Admin | NoScript | NoAsyncLoading | NoMulti,
		Summary: "Syncs every change to disk, and copies the file to the backup directory, if configured",
	},
	{
		Name: "BGSAVE", Group: "server", Since: "1.0.0", Arity: -1, Flags: Admin | NoScript | NoAsyncLoading,
		Summary: "Does what SAVE does, in the background",
		Syntax:  "[SCHEDULE]",
	},
	{
		Name: "BGREWRITEAOF", Group: "server", Since: "1.0.0", Arity: 1, Flags: Admin | NoScript | NoAsyncLoading,
		Summary: "Replies like Redis: the server has no log to rewrite",
	},
	{
		Name: "LASTSAVE", Group: "server", Since: "1.0.0", Arity: 1, Flags: Loading | Stale | Fast,
		Summary:    "Returns the time of the last successful SAVE or BGSAVE, as Unix time in seconds",
		Categories: []string{"admin", "dangerous"}, Tips: []string{"nondeterministic_output"},
	},
	{
		Name: "SHUTDOWN", Group: "server", Since: "1.0.0", Arity: -1, Flags: Admin | NoScript | Loading | Stale | NoMulti | AllowBusy,
		Summary: "Ends the server",
		Syntax:  "[NOSAVE|SAVE] [NOW] [FORCE] [ABORT]", Traits: Dangerous,
	},
	{
		Name: "PSYNC", Group: "server", Since: "2.8.0", Arity: -3, Flags: Admin | NoScript | NoAsyncLoading | NoMulti,
		Summary: "Sends all data to a replica, as a dump file, and then the effects of writes",
		Syntax:  "replicationid offset [FAILOVER]", Traits: OfConnection | NeedsConnection | Unpaired,
	},
	{
		Name: "SYNC", Group: "server", Since: "1.0.0", Arity: 1, Flags: Admin | NoScript | NoAsyncLoading | NoMulti,
		Summary: "Sends all data to an old replica, as a dump file",
		Traits:  OfConnection | NeedsConnection | Unpaired,
	},
	{
		Name: "REPLCONF", Group: "server", Since: "3.0.0", Arity: -1, Flags: Admin | NoScript | Loading | Stale | AllowBusy,
		Summary: "Accepts the report of a replica about itself",
		Syntax:  "[option value [option value ...]]",
		Traits:  OfConnection | NeedsConnection | Unpaired,
	},
	{
		Name: "ROLE", Group: "server", Since: "2.8.12", Arity: 1, Flags: NoScript | Loading | Stale | Fast,
		Summary:    "Reports the role: a master with its replicas, or a copy that follows a stream",
		WantsFacts: true,
		Categories: []string{"admin", "dangerous"},
	},
}
