package translator

import (
	"github.com/meowdis/meowdis/resp"
)

var connectionCommands = []Command{
	{
		Name: "PING", Group: "connection", Since: "1.0.0", Arity: -1, Flags: Fast,
		Summary: "Answers PONG, or its argument",
		Syntax:  "[message]", Translate: ping,
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

// DBIndex reads the database number of SELECT; the error reply is Redis's.
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
