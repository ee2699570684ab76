package commands

var aclCommands = []Command{
	{
		Name: "ACL", Group: "server", Since: "6.0.0", Arity: -2,
		Summary: "Commands about users and their permissions",
	},
	{
		Name: "ACL CAT", Group: "server", Since: "6.0.0", Arity: -2, Flags: NoScript | Loading | Stale,
		Traits:  ReadsOnly,
		Summary: "Lists the categories of commands, or the commands of one",
		Syntax:  "[category]",
	},
	{
		Name: "ACL DELUSER", Group: "server", Since: "6.0.0", Arity: -3, Flags: Admin | NoScript | Loading | Stale,
		Traits:  Dangerous,
		Summary: "Deletes users and closes their connections",
		Syntax:  "username [username ...]",
		Tips:    []string{"request_policy:all_nodes", "response_policy:all_succeeded"},
	},
	{
		Name: "ACL DRYRUN", Group: "server", Since: "7.0.0", Arity: -4, Flags: Admin | NoScript | Loading | Stale,
		Traits:  ReadsOnly,
		Summary: "Reports whether a user may run a command, without running it",
		Syntax:  "username command [arg [arg ...]]",
	},
	{
		Name: "ACL GENPASS", Group: "server", Since: "6.0.0", Arity: -2, Flags: NoScript | Loading | Stale,
		Traits:  ReadsOnly,
		Summary: "Generates a password",
		Syntax:  "[bits]",
	},
	{
		Name: "ACL GENTOKEN", Group: "server", Since: "1.0.0", Arity: -3, Flags: NoScript | Loading | Stale | Module,
		Traits:  ReadsOnly,
		Summary: "Creates a token for REST that ACL SETUSER accepts as a password",
		Syntax:  "username [password]",
	},
	{
		Name: "ACL GETUSER", Group: "server", Since: "6.0.0", Arity: 3, Flags: Admin | NoScript | Loading | Stale,
		Traits: ReadsOnly, Replies: aMap,
		Summary: "Returns the rules of a user",
		Syntax:  "username",
	},
	{
		Name: "ACL HELP", Group: "server", Since: "6.0.0", Arity: 2, Flags: Loading | Stale,
		Traits:  ReadsOnly,
		Summary: "Lists the subcommands",
	},
	{
		Name: "ACL LIST", Group: "server", Since: "6.0.0", Arity: 2, Flags: Admin | NoScript | Loading | Stale,
		Traits:  ReadsOnly,
		Summary: "Lists the users with their rules, as the lines of an ACL file",
	},
	{
		Name: "ACL LOAD", Group: "server", Since: "6.0.0", Arity: 2, Flags: Admin | NoScript | Loading | Stale,
		Traits:  Dangerous,
		Summary: "Replaces all users by the users of the ACL file",
	},
	{
		Name: "ACL LOG", Group: "server", Since: "6.0.0", Arity: -2, Flags: Admin | NoScript | Loading | Stale,
		Replies: []Reply{{Records: Maps}},
		Summary: "Lists the denials, newest first, or deletes them",
		Syntax:  "[count|RESET]",
	},
	{
		Name: "ACL RESTTOKEN", Group: "server", Since: "1.0.0", Arity: 4, Flags: NoScript | Loading | Stale | Module,
		Traits:  ReadsOnly,
		Summary: "Creates the token for a user's requests over REST",
		Syntax:  "username password",
	},
	{
		Name: "ACL SAVE", Group: "server", Since: "6.0.0", Arity: 2, Flags: Admin | NoScript | Loading | Stale,
		Summary: "Writes the users to the ACL file",
		Tips:    []string{"request_policy:all_nodes", "response_policy:all_succeeded"},
	},
	{
		Name: "ACL SETUSER", Group: "server", Since: "6.0.0", Arity: -3, Flags: Admin | NoScript | Loading | Stale,
		Traits:  Dangerous,
		Summary: "Creates a user, or changes a user's permissions",
		Syntax:  "username [rule [rule ...]]",
		Tips:    []string{"request_policy:all_nodes", "response_policy:all_succeeded"},
	},
	{
		Name: "ACL USERS", Group: "server", Since: "6.0.0", Arity: 2, Flags: Admin | NoScript | Loading | Stale,
		Traits:  ReadsOnly,
		Summary: "Lists the names of the users",
	},
	{
		Name: "ACL WHOAMI", Group: "server", Since: "6.0.0", Arity: 2, Flags: NoScript | Loading | Stale,
		Traits:  ReadsOnly,
		Summary: "Returns the name of the connection's user",
	},
}
