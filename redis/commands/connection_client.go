package commands

// The subcommands of CLIENT. The server that holds the connections runs them.
var clientCommands = []Command{
	{
		Name: "CLIENT", Group: "connection", Since: "2.4.0", Arity: -2,
		Traits:  NeedsConnection,
		Summary: "Commands about connections",
	},
	{
		Name: "CLIENT CACHING", Group: "connection", Since: "6.0.0", Arity: 3, Flags: sessionFlags,
		Summary: "Chooses whether the keys of the next command are tracked",
		Syntax:  "<YES|NO>",
	},
	{
		Name: "CLIENT GETNAME", Group: "connection", Since: "2.6.9", Arity: 2, Flags: sessionFlags,
		Summary: "Returns the name of the connection",
	},
	{
		Name: "CLIENT GETREDIR", Group: "connection", Since: "6.0.0", Arity: 2, Flags: sessionFlags,
		Summary: "Returns the connection that invalidations are redirected to, 0 for none, -1 without tracking",
	},
	{
		Name: "CLIENT HELP", Group: "connection", Since: "5.0.0", Arity: 2, Flags: Loading | Stale,
		Summary: "Lists the subcommands",
	},
	{
		Name: "CLIENT ID", Group: "connection", Since: "5.0.0", Arity: 2, Flags: sessionFlags,
		Summary: "Returns the number of the connection",
	},
	{
		Name: "CLIENT INFO", Group: "connection", Since: "6.2.0", Arity: 2, Flags: sessionFlags,
		Traits:  Report,
		Summary: "Describes the connection",
		Tips:    []string{"nondeterministic_output"},
	},
	{
		Name: "CLIENT KILL", Group: "connection", Since: "2.4.0", Arity: -3, Flags: Admin | sessionFlags,
		Traits:  ChangesServer,
		Summary: "Closes connections",
		Syntax: "<ip:port|<ID client-id|TYPE <NORMAL|MASTER|SLAVE|REPLICA|PUBSUB>|USER username|ADDR ip:port|LADDR ip:port|SKIPME <YES|NO>|MAXAGE maxage> " +
			"[<ID client-id|TYPE <NORMAL|MASTER|SLAVE|REPLICA|PUBSUB>|USER username|ADDR ip:port|LADDR ip:port|SKIPME <YES|NO>|MAXAGE maxage> ...]>",
	},
	{
		Name: "CLIENT LIST", Group: "connection", Since: "2.4.0", Arity: -2, Flags: Admin | sessionFlags,
		Traits:  ReadsOnly | Report,
		Summary: "Describes all connections, one per line",
		Syntax:  "[TYPE <NORMAL|MASTER|REPLICA|PUBSUB>] [ID client-id [client-id ...]]",
		Tips:    []string{"nondeterministic_output"},
	},
	{
		Name: "CLIENT NO-EVICT", Group: "connection", Since: "7.0.0", Arity: 3, Flags: Admin | sessionFlags,
		Traits:  ChangesServer,
		Summary: "Exempts the connection from eviction, which never happens here",
		Syntax:  "<ON|OFF>",
	},
	{
		Name: "CLIENT NO-TOUCH", Group: "connection", Since: "7.2.0", Arity: 3, Flags: sessionFlags,
		Summary: "Keeps the connection's reads from counting as use of a key, which they never do here",
		Syntax:  "<ON|OFF>",
	},
	{
		Name: "CLIENT PAUSE", Group: "connection", Since: "3.0.0", Arity: -3, Flags: Admin | sessionFlags,
		Traits:  ChangesServer,
		Summary: "Pauses the commands, or only the write commands, of all clients",
		Syntax:  "timeout [WRITE|ALL]",
	},
	{
		Name: "CLIENT REPLY", Group: "connection", Since: "3.2.0", Arity: 3, Flags: sessionFlags,
		Traits:  OfConnection | Unpaired,
		Summary: "Turns the replies of the connection on or off",
		Syntax:  "<ON|OFF|SKIP>",
	},
	{
		Name: "CLIENT SETINFO", Group: "connection", Since: "7.2.0", Arity: 4, Flags: sessionFlags,
		Summary: "Names the library that the client uses",
		Syntax:  "<LIB-NAME libname|LIB-VER libver>",
		Tips:    []string{"request_policy:all_nodes", "response_policy:all_succeeded"},
	},
	{
		Name: "CLIENT SETNAME", Group: "connection", Since: "2.6.9", Arity: 3, Flags: sessionFlags,
		Summary: "Names the connection",
		Syntax:  "connection-name",
		Tips:    []string{"request_policy:all_nodes", "response_policy:all_succeeded"},
	},
	{
		Name: "CLIENT TRACKING", Group: "connection", Since: "6.0.0", Arity: -3, Flags: sessionFlags,
		Summary: "Sends the connection invalidations of keys that it has read, or that have a prefix",
		Syntax:  "<ON|OFF> [REDIRECT client-id] [PREFIX prefix [PREFIX prefix ...]] [BCAST] [OPTIN] [OPTOUT] [NOLOOP]",
	},
	{
		Name: "CLIENT TRACKINGINFO", Group: "connection", Since: "6.2.0", Arity: 2, Flags: sessionFlags,
		Summary: "Returns how the connection tracks keys",
	},
	{
		Name: "CLIENT UNBLOCK", Group: "connection", Since: "5.0.0", Arity: -3, Flags: Admin | sessionFlags,
		Summary: "Ends the wait of a client",
		Syntax:  "client-id [TIMEOUT|ERROR]",
	},
	{
		Name: "CLIENT UNPAUSE", Group: "connection", Since: "6.2.0", Arity: 2, Flags: Admin | sessionFlags,
		Traits:  ChangesServer,
		Summary: "Ends a pause",
	},
}

// The server's description. INFO is here, too: only the server knows its clients and its
// uptime.
var configCommands = []Command{
	{
		Name: "CONFIG", Group: "server", Since: "2.0.0", Arity: -2,
		Summary: "Commands about the server's parameters",
	},
	{
		Name: "CONFIG GET", Group: "server", Since: "2.0.0", Arity: -3, Flags: Admin | sessionFlags,
		Replies: []Reply{{Records: Pairs, Columns: []string{"parameter", "value"}, RESP3: toMap}},
		Traits:  ReadsOnly,
		Summary: "Returns the parameters that match patterns",
		Syntax:  "parameter [parameter ...]",
	},
	{
		Name: "CONFIG HELP", Group: "server", Since: "5.0.0", Arity: 2, Flags: Loading | Stale,
		Summary: "Lists the subcommands",
	},
	{
		Name: "CONFIG RESETSTAT", Group: "server", Since: "2.0.0", Arity: 2, Flags: Admin | sessionFlags,
		Traits:  AnswersOK,
		Summary: "Resets the counters of INFO",
		Tips:    []string{"request_policy:all_nodes", "response_policy:all_succeeded"},
	},
	{
		Name: "CONFIG REWRITE", Group: "server", Since: "2.8.0", Arity: 2, Flags: Admin | sessionFlags,
		Traits:  Dangerous | AnswersOK,
		Summary: "Writes the parameters to the file that the server was started with",
		Tips:    []string{"request_policy:all_nodes", "response_policy:all_succeeded"},
	},
	{
		Name: "CONFIG SET", Group: "server", Since: "2.0.0", Arity: -4, Flags: Admin | sessionFlags,
		Traits:  Dangerous | ChangesServer | AnswersOK,
		Summary: "Changes parameters",
		Tips:    []string{"request_policy:all_nodes", "response_policy:all_succeeded"},
		Syntax:  "parameter value [parameter value ...]",
	},
}
