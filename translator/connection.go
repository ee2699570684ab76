package translator

import (
	"slices"

	"github.com/meowdis/meowdis/resp"
)

// The commands of a connection. Those without Translate belong to the session
// (SELECT) or to the server that the client is connected to.
var connectionCommands = slices.Concat(handshakeCommands, clientCommands, configCommands)

// session is what most of them have in common.
const session = NoScript | Loading | Stale

var handshakeCommands = []Command{
	{
		Name: "PING", Group: "connection", Since: "1.0.0", Arity: -1, Flags: Fast,
		Summary: "Answers PONG, or its argument",
		Syntax:  "[message]", Translate: ping,
		Tips: []string{"request_policy:all_shards", "response_policy:all_succeeded"},
	},
	{
		Name: "ECHO", Group: "connection", Since: "1.0.0", Arity: 2, Flags: Loading | Stale | Fast,
		Summary: "Answers its argument",
		Syntax:  "message", Translate: func(c *Call) Plan { return answer(resp.MakeBulk(c.Args[1])) },
	},
	{
		Name: "SELECT", Group: "connection", Since: "1.0.0", Arity: 2, Flags: Loading | Stale | Fast,
		Summary: "Changes the database of the connection",
		Syntax:  "index",
	},
	{
		Name: "AUTH", Group: "connection", Since: "1.0.0", Arity: -2, Flags: session | Fast | NoAuth | AllowBusy,
		Summary: "Authenticates the connection",
		Syntax:  "[username] password",
	},
	{
		Name: "HELLO", Group: "connection", Since: "6.0.0", Arity: -1, Flags: session | Fast | NoAuth | AllowBusy,
		Summary: "Chooses the protocol version and describes the server",
		Syntax:  "[protover [AUTH username password] [SETNAME clientname]]",
	},
	{
		Name: "RESET", Group: "connection", Since: "6.2.0", Arity: 1, Flags: session | Fast | NoAuth | AllowBusy,
		Summary: "Makes the connection as good as new",
	},
	{
		Name: "QUIT", Group: "connection", Since: "1.0.0", Arity: -1, Flags: session | Fast | NoAuth | AllowBusy,
		Summary: "Closes the connection",
		Syntax:  "[ignored ...]",
	},
}

func ping(c *Call) Plan {
	switch len(c.Args) {
	case 1:
		return answer(resp.Pong)
	case 2:
		return answer(resp.MakeBulk(c.Args[1]))
	}
	return answer(wrongArity(c.Command))
}

// ParseInt reads a 64-bit integer as strictly as Redis does.
func ParseInt(arg []byte) (int64, bool) { return parseInt(arg) }

// DBIndex reads the database number of SELECT, MOVE and COPY; the error reply
// is theirs.
func DBIndex(arg []byte) (int, resp.Value) {
	n, ok := parseInt(arg)
	switch {
	case !ok:
		return 0, notInteger
	case n != int64(int32(n)):
		return 0, resp.MakeError("ERR value is out of range, value must between -2147483648 and 2147483647")
	case n < 0 || n >= Databases:
		return 0, resp.MakeError(errDBIndex)
	}
	return int(n), resp.Value{}
}
