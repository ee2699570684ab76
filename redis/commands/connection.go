package commands

// The commands of a connection: handshakeCommands, clientCommands and configCommands. Most are
// run by the session (SELECT) or by the client's server.

// sessionFlags holds the flags that most of them share.
const sessionFlags = NoScript | Loading | Stale

var handshakeCommands = []Command{
	{
		Name: "PING", Group: "connection", Since: "1.0.0", Arity: -1, Flags: Fast,
		Traits:  Repeatable,
		Summary: "Replies with PONG, or with its argument",
		Syntax:  "[message]",
		Tips:    []string{"request_policy:all_shards", "response_policy:all_succeeded"},
	},
	{
		Name: "ECHO", Group: "connection", Since: "1.0.0", Arity: 2, Flags: Loading | Stale | Fast,
		Traits:  Repeatable,
		Summary: "Replies with its argument",
		Syntax:  "message",
	},
	{
		Name: "SELECT", Group: "connection", Since: "1.0.0", Arity: 2, Flags: Loading | Stale | Fast,
		Summary: "Changes the database of the connection",
		Syntax:  "index",
	},
	{
		Name: "AUTH", Group: "connection", Since: "1.0.0", Arity: -2, Flags: sessionFlags | Fast | NoAuth | AllowBusy,
		Traits:  OfConnection | NeedsConnection,
		Summary: "Authenticates the connection",
		Syntax:  "[username] password",
	},
	{
		Name: "HELLO", Group: "connection", Since: "6.0.0", Arity: -1, Flags: sessionFlags | Fast | NoAuth | AllowBusy,
		Replies: aMap,
		Traits:  OfConnection | NeedsConnection,
		Summary: "Chooses the protocol version and describes the server",
		Syntax:  "[protover [AUTH username password] [SETNAME clientname]]",
	},
	{
		Name: "RESET", Group: "connection", Since: "6.2.0", Arity: 1, Flags: sessionFlags | Fast | NoAuth | AllowBusy,
		Traits:  OfConnection | NeedsConnection,
		Summary: "Resets the connection to its initial state",
	},
	{
		Name: "QUIT", Group: "connection", Since: "1.0.0", Arity: -1, Flags: sessionFlags | Fast | NoAuth | AllowBusy,
		Traits:  OfConnection | NeedsConnection,
		Summary: "Closes the connection",
		Syntax:  "[ignored ...]",
	},
}
