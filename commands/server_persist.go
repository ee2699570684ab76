package commands

// The commands that save, and what stands around them: every commit is in the
// file already, so that they have nothing to do and say what Redis says.
var persistCommands = []Command{
	{
		Name: "SAVE", Group: "server", Since: "1.0.0", Arity: 1, Flags: Admin | NoScript | NoAsyncLoading | NoMulti,
		Summary: "Answers OK: every change is in the file already",
	},
	{
		Name: "BGSAVE", Group: "server", Since: "1.0.0", Arity: -1, Flags: Admin | NoScript | NoAsyncLoading,
		Summary: "Answers as if it saved: every change is in the file already",
		Syntax:  "[SCHEDULE]",
	},
	{
		Name: "BGREWRITEAOF", Group: "server", Since: "1.0.0", Arity: 1, Flags: Admin | NoScript | NoAsyncLoading,
		Summary: "Answers as if it rewrote a log, of which there is none",
	},
	{
		Name: "LASTSAVE", Group: "server", Since: "1.0.0", Arity: 1, Flags: Loading | Stale | Fast,
		Summary:    "Returns the Unix time in seconds: everything is saved now",
		Categories: []string{"admin", "dangerous"}, Tips: []string{"nondeterministic_output"},
	},
	{
		Name: "ROLE", Group: "server", Since: "2.8.12", Arity: 1, Flags: NoScript | Loading | Stale | Fast,
		Summary:    "Answers that this is a master without replicas",
		Categories: []string{"admin", "dangerous"},
	},
}
