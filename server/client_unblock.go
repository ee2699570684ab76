package server

import (
	"time"

	"github.com/meowdis/meowdis/redis/commands"
	"github.com/meowdis/meowdis/redis/resp"
	"github.com/meowdis/meowdis/translator"
)

func (c *client) unblock(args [][]byte) resp.Value {
	if len(args) > 4 {
		return commands.SubcommandSyntax(args)
	}
	reason := option(args, 3)
	if len(args) > 3 && reason != "TIMEOUT" && reason != "ERROR" {
		return resp.MakeError("ERR CLIENT UNBLOCK reason should be TIMEOUT or ERROR")
	}
	id, ok := commands.ParseInt(args[2])
	if !ok {
		return resp.MakeError("ERR value is not an integer or out of range")
	}
	if other := c.server.find(id); other != nil && other.session.Unblock(reason == "ERROR") {
		return resp.One
	}
	return resp.Zero
}

// pause runs CLIENT PAUSE timeout [WRITE|ALL]. It pauses only the clients of this server.
func (c *client) pause(args [][]byte) resp.Value {
	mode := option(args, 3)
	switch ms, bad := translator.Milliseconds(args[2], time.Now().UnixMilli()); {
	case len(args) > 4:
		return commands.SubcommandSyntax(args)
	case len(args) > 3 && mode != "WRITE" && mode != "ALL":
		return resp.MakeError("ERR CLIENT PAUSE mode must be WRITE or ALL")
	case bad != "":
		return resp.MakeError(bad)
	default:
		c.server.config.Engine.Pause(ms, mode != "WRITE")
	}
	return resp.OK
}

func (c *client) unpause([][]byte) resp.Value {
	c.server.config.Engine.Unpause()
	return resp.OK
}
