package commands

// The commands about replicas and modules. A server has neither.
var replicaCommands = []Command{
	{
		Name: "FAILOVER", Group: "server", Since: "6.2.0", Arity: -1, Flags: Admin | NoScript | Stale,
		Traits:  Dangerous,
		Summary: "Replies with the error of a server without replicas",
		Syntax:  "[TO host port [FORCE]] [ABORT] [TIMEOUT milliseconds]", WantsFacts: true,
	},
	{
		Name: "REPLICAOF", Group: "server", Since: "5.0.0", Arity: 3, Flags: Admin | NoScript | Stale | NoAsyncLoading,
		Traits:  Dangerous | AnswersOK,
		Summary: "Accepts only NO ONE: the server follows no other",
		Syntax:  "<host port|NO ONE>", WantsFacts: true,
	},
	{
		Name: "SLAVEOF", Group: "server", Since: "1.0.0", Arity: 3, Flags: Admin | NoScript | Stale | NoAsyncLoading,
		Traits:  Dangerous | AnswersOK,
		Summary: "Accepts only NO ONE: the server follows no other",
		Syntax:  "<host port|NO ONE>", WantsFacts: true,
	},
	{
		Name: "MODULE LOAD", Group: "server", Since: "4.0.0", Arity: -3, Flags: Admin | NoScript | NoAsyncLoading,
		Traits:  Dangerous,
		Summary: "Replies with the error of a server that loads no modules",
		Syntax:  "path [arg [arg ...]]",
	},
	{
		Name: "MODULE LOADEX", Group: "server", Since: "7.0.0", Arity: -3, Flags: Admin | NoScript | NoAsyncLoading,
		Traits:  Dangerous,
		Summary: "Replies with the error of a server that loads no modules",
		Syntax:  "path [CONFIG name value [CONFIG name value ...]] [ARGS args [args ...]]",
	},
	{
		Name: "MODULE UNLOAD", Group: "server", Since: "4.0.0", Arity: 3, Flags: Admin | NoScript | NoAsyncLoading,
		Traits:  Dangerous,
		Summary: "Replies with the error of a server that loads no modules",
		Syntax:  "name",
	},
}
