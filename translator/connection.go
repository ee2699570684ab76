package translator

import (
	"github.com/meowdis/meowdis/redis/commands"
	"github.com/meowdis/meowdis/redis/resp"
)

var handshakeTranslations = translations{
	{"PING", ping},
	{"ECHO", func(c *Call) Plan { return answer(resp.MakeBulk(c.Args[1])) }},
}

func ping(c *Call) Plan {
	switch len(c.Args) {
	case 1:
		return answer(resp.Pong)
	case 2:
		return answer(resp.MakeBulk(c.Args[1]))
	}
	return answer(commands.WrongArity(c.Command))
}
