package server

import (
	"context"
	"strings"

	"github.com/meowdis/meowdis/engine"
	"github.com/meowdis/meowdis/redis/acl"
	"github.com/meowdis/meowdis/redis/commands"
	"github.com/meowdis/meowdis/redis/resp"
	"github.com/meowdis/meowdis/translator"
)

// own runs the commands that concern the connection. It is the session's engine.Connection.
func (c *client) own(ctx context.Context, cmd *commands.Command, args [][]byte) (resp.Value, bool) {
	c.recordCommand(cmd.Name)
	if run := longCommands[cmd.Name]; run != nil {
		return run(c, ctx, args), true
	}
	if run := ownCommands[cmd.Name]; run != nil {
		return run(c, args), true
	}
	if _, is := subscriptions[cmd.Name]; is {
		return c.subscribe(cmd.Name, args), true
	}
	return c.server.own(ctx, &c.principal, cmd, args)
}

// recordCommand records the last command, for CLIENT LIST.
func (c *client) recordCommand(name string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.clientInfo.command = []byte(strings.ReplaceAll(name, " ", "|"))
}

// longCommands run on the connection, like ownCommands, and stop when their context ends.
var longCommands = map[string]func(c *client, ctx context.Context, args [][]byte) resp.Value{
	"DEBUG DIGEST": (*client).digest, "DEBUG DIGEST-VALUE": (*client).digestValues, "DEBUG POPULATE": (*client).populate,
}

var ownCommands = map[string]func(c *client, args [][]byte) resp.Value{
	"AUTH": (*client).auth, "HELLO": (*client).hello, "QUIT": (*client).quit, "RESET": (*client).reset,
	"CLIENT CACHING": (*client).caching, "CLIENT GETREDIR": (*client).getRedir, "CLIENT TRACKING": (*client).tracking,
	"CLIENT TRACKINGINFO": (*client).trackingInfo, "CLIENT UNBLOCK": (*client).unblock, "CLIENT UNPAUSE": (*client).unpause, "CLIENT PAUSE": (*client).pause,
	"CLIENT GETNAME": (*client).getName, "CLIENT ID": (*client).getID, "CLIENT INFO": (*client).info,
	"CLIENT KILL": (*client).kill, "CLIENT LIST": (*client).list, "CLIENT NO-EVICT": (*client).noEvict,
	"CLIENT NO-TOUCH": (*client).noTouch, "CLIENT REPLY": (*client).reply, "CLIENT SETINFO": (*client).setInfo,
	"CLIENT SETNAME": (*client).setName, "DEBUG SLEEP": (*client).sleep, "MONITOR": (*client).monitor,
	"PSYNC": (*client).psync, "SYNC": (*client).sync, "REPLCONF": (*client).replConf,
}

// own runs the commands that concern the server.
func (s *Server) own(ctx context.Context, p *principal, cmd *commands.Command, args [][]byte) (resp.Value, bool) {
	switch cmd.Name {
	case "CONFIG GET":
		return s.configGet(ctx, args), true
	case "CONFIG SET":
		defer s.tracks.DropExcess()
		return s.configSet(args), true
	case "CONFIG RESETSTAT":
		s.resetStats()
		return resp.OK, true
	case "CONFIG REWRITE":
		return s.rewriteConfig(), true
	}
	if v, ok := s.slowLog(cmd, args); ok {
		return v, true
	}
	if v, ok := s.save(ctx, p, cmd, args); ok {
		return v, true
	}
	if v, ok := s.cluster(ctx, p, cmd, args); ok {
		return v, true
	}
	if v, ok := s.debug(cmd, args); ok {
		return v, true
	}
	switch cmd.Name {
	case "MEMORY STATS":
		return s.memoryStats(ctx), true
	case "MEMORY MALLOC-STATS":
		return mallocStats(), true
	}
	return s.acl(p, cmd, args)
}

var (
	syntaxError = resp.MakeError("ERR syntax error")
	wrongPass   = resp.MakeError("WRONGPASS invalid username-password pair or user is disabled.")
	noPassword  = resp.MakeError("ERR AUTH <password> called without any password configured for the default user. Are you sure your configuration is correct?")
	helloNoAuth = resp.MakeError("NOAUTH HELLO must be called with the client already authenticated, otherwise the HELLO <proto> AUTH <user> <pass> option can be used to authenticate the client and select the RESP protocol version at the same time")
	badName     = resp.MakeError("ERR Client names cannot contain spaces, newlines or special characters.")
)

func (c *client) auth(args [][]byte) resp.Value {
	switch len(args) {
	case 2:
		if !c.server.users.HasPassword() {
			return noPassword
		}
		return c.authenticate(args[0], acl.Default, string(args[1]))
	case 3:
		return c.authenticate(args[0], string(args[1]), string(args[2]))
	}
	return syntaxError
}

// authenticate logs the client in as the user if the password is right. command is AUTH or HELLO as sent.
func (c *client) authenticate(command []byte, name, password string) resp.Value {
	if v, found := c.enter(name, password); found {
		return v
	}
	user := c.server.users.Login(name, password)
	if user == nil {
		context := contexts[engine.Calling]
		if c.session.InMulti() {
			context = contexts[engine.Queueing]
		}
		c.log(acl.ByPassword, context, string(command), name)
		c.server.delayRefusal(c.life.Done())
		return wrongPass
	}
	c.user.Store(user)
	c.authed = true
	c.markAuthenticated()
	return resp.OK
}

// hello runs HELLO [protover [AUTH username password] [SETNAME clientname]]. It parses all options before it applies
// any.
func (c *client) hello(args [][]byte) resp.Value {
	resp3 := c.resp3
	if len(args) > 1 {
		switch v, ok := commands.ParseInt(args[1]); {
		case !ok:
			return resp.MakeError("ERR Protocol version is not an integer or out of range")
		case v != 2 && v != 3:
			return resp.MakeError("NOPROTO unsupported protocol version")
		default:
			resp3 = v == 3
		}
	}
	var credentials [][]byte
	var name []byte
	for i := 2; i < len(args); {
		rest := args[i+1:]
		switch option := strings.ToUpper(string(args[i])); {
		case option == "AUTH" && len(rest) >= 2:
			credentials = rest[:2]
			i += 3
		case option == "SETNAME" && len(rest) >= 1:
			if name = rest[0]; !printable(name) {
				return badName
			}
			i += 2
		default:
			return resp.MakeError("ERR Syntax error in HELLO option '" + commands.Quote(args[i]) + "'")
		}
	}
	if credentials != nil {
		if v := c.authenticate(args[0], string(credentials[0]), string(credentials[1])); v.IsError() {
			return v
		}
	}
	if !c.mayRun() {
		return helloNoAuth
	}
	if name != nil {
		c.rename(string(name))
	}
	c.speak(resp3)
	return c.greeting()
}

func (c *client) greeting() resp.Value {
	protocol := int64(2)
	if c.resp3 {
		protocol = 3
	}
	role := "master"
	if c.server.isCopy() {
		role = "replica"
	}
	return resp.MakeMap(
		resp.MakeString("server"), resp.MakeString("redis"),
		resp.MakeString("version"), resp.MakeString(translator.RedisVersion),
		resp.MakeString("proto"), resp.MakeInt(protocol),
		resp.MakeString("id"), resp.MakeInt(c.id),
		resp.MakeString("mode"), resp.MakeString(c.server.mode()),
		resp.MakeString("role"), resp.MakeString(role),
		resp.MakeString("modules"), translator.Modules)
}

func (c *client) quit([][]byte) resp.Value {
	c.closed = true
	return resp.OK
}

// reset restores the connection's initial state. The session has been reset before.
func (c *client) reset([][]byte) resp.Value {
	c.server.hub.Leave(&c.inbox)
	c.subscribed, c.monitors = 0, false
	c.classify()
	c.stopAllTracking()
	if c.speak(false); c.replyMode != skipping {
		c.replyMode = repliesOn
	}
	c.user.Store(c.server.users.Default())
	c.authed = c.server.users.Open()
	c.rename("")
	c.mu.Lock()
	c.clientInfo.noEvict, c.clientInfo.noTouch = false, false
	c.mu.Unlock()
	return resp.MakeStatus("RESET")
}
