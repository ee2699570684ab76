package script

import (
	"strings"

	"github.com/meowdis/meowdis/redis/commands"
	"github.com/meowdis/meowdis/redis/lua"
	"github.com/meowdis/meowdis/redis/resp"
)

// The Redis version that scripts see.
const (
	version    = "8.0.2"
	versionNum = 0x080002
)

// withCode returns an error message with its code. A message of several words that begins with "-" has one
// already.
func withCode(msg string) string {
	code := "ERR"
	if rest, ok := strings.CutPrefix(msg, "-"); ok {
		msg = rest
		if before, after, ok := strings.Cut(rest, " "); ok {
			code, msg = before, after
		}
	}
	return code + " " + strings.Trim(msg, "\r\n")
}

// api returns the redis table of scripts and functions.
func (m *Machine) api() *lua.Table {
	t := lua.Library(map[string]lua.GoFunction{
		"call":          func(s *lua.State, args []lua.Value) []lua.Value { return m.redisCall(s, args, true) },
		"pcall":         func(s *lua.State, args []lua.Value) []lua.Value { return m.redisCall(s, args, false) },
		"log":           redisLog,
		"setresp":       m.setResp,
		"error_reply":   errorReply,
		"status_reply":  statusReply,
		"sha1hex":       sha1hex,
		"set_repl":      setRepl,
		"acl_check_cmd": m.aclCheck,
	})
	for name, n := range map[string]float64{"REPL_NONE": 0, "REPL_AOF": 1, "REPL_SLAVE": 2, "REPL_REPLICA": 2, "REPL_ALL": 3} {
		t.SetField(name, lua.Number(n))
	}
	constants(t)
	return t
}

// constants adds the constants that a library also has while it is loaded.
func constants(t *lua.Table) {
	for name, n := range map[string]float64{
		"LOG_DEBUG": 0, "LOG_VERBOSE": 1, "LOG_NOTICE": 2, "LOG_WARNING": 3,
		"REDIS_VERSION_NUM": versionNum,
	} {
		t.SetField(name, lua.Number(n))
	}
	t.SetField("REDIS_VERSION", lua.String(version))
}

// fail raises an error of the redis table.
func fail(s *lua.State, msg string) { s.ThrowValue(errorTable(msg)) }

func (m *Machine) redisCall(s *lua.State, args []lua.Value, raise bool) []lua.Value {
	refuse := func(v lua.Value) []lua.Value {
		if raise {
			s.ThrowValue(v)
		}
		return s.One(v)
	}
	if len(args) == 0 {
		return refuse(errorTable("Please specify at least one argument for this redis lib call"))
	}
	words, ok := arguments(s, args)
	if !ok {
		return refuse(errorTable("Lua redis lib command arguments must be strings or integers"))
	}
	if m.run == nil {
		return refuse(errorTable("redis.call/pcall can only be called inside a script invocation"))
	}
	if msg := m.refused(words); msg != "" {
		if m.run.Host.Rejected != nil {
			v := resp.MakeError(msg)
			m.run.Host.Rejected(words, &v)
		}
		return refuse(commandError(msg))
	}
	d := m.run.Debugger
	if d != nil {
		d.onCall(words)
	}
	v, err := m.run.Host.Call(words)
	if d != nil && err == nil {
		d.onReply(v)
	}
	if err != nil {
		if err != ErrKilled {
			m.err = err
		}
		s.End(err)
	}
	defer s.Built(len(s.Roots))
	if v.IsError() {
		return refuse(m.value(v))
	}
	return s.One(m.value(v))
}

const notAllowed = "ERR This Redis command is not allowed from script"

// refused returns the error if a script must not run a command, or "".
func (m *Machine) refused(args [][]byte) string {
	cmd, _ := commands.Find(args)
	switch called := commands.Called(args); {
	case cmd == nil && called == nil:
		if theirs := commands.Unsupported.Called(args); theirs != nil && theirs.Flags&commands.NoScript != 0 {
			return notAllowed
		}
		return "ERR Unknown Redis command called from script"
	case cmd == nil:
		return "ERR Wrong number of args calling Redis command from script"
	case cmd.Flags&commands.NoScript != 0:
		return notAllowed
	}
	return ""
}

func redisLog(s *lua.State, args []lua.Value) []lua.Value {
	if len(args) < 2 {
		fail(s, "redis.log() requires two arguments or more.")
	}
	level, ok := args[0].ToNumber()
	if !ok {
		fail(s, "First argument must be a number (log level).")
	}
	if n := lua.Int32(level); n < 0 || n > 3 {
		fail(s, "Invalid log level.")
	}
	return nil
}

func (m *Machine) setResp(s *lua.State, args []lua.Value) []lua.Value {
	if len(args) != 1 {
		fail(s, "redis.setresp() requires one argument.")
	}
	f, _ := args[0].ToNumber()
	n := lua.Integer(f)
	if n != 2 && n != 3 {
		fail(s, "RESP version must be 2 or 3.")
	}
	m.resp3 = n == 3
	return nil
}

func oneString(args []lua.Value) (string, bool) {
	if len(args) != 1 {
		return "", false
	}
	return args[0].AsString()
}

func errorReply(s *lua.State, args []lua.Value) []lua.Value {
	msg, ok := oneString(args)
	if !ok {
		return s.One(errorTable("wrong number or type of arguments"))
	}
	msg, _, _ = strings.Cut(msg, "\x00") // where C's strings end
	s.Grow(2 * len(msg))
	if !strings.HasPrefix(msg, "-") {
		msg = "-" + msg
	}
	return s.One(errorTable(msg))
}

func statusReply(s *lua.State, args []lua.Value) []lua.Value {
	msg, ok := oneString(args)
	if !ok {
		return s.One(errorTable("wrong number or type of arguments"))
	}
	return s.One(field("ok", lua.String(msg)))
}

func sha1hex(s *lua.State, args []lua.Value) []lua.Value {
	if len(args) != 1 {
		fail(s, "wrong number of arguments")
	}
	text, _ := args[0].Text()
	s.Grow(len(text))
	return s.One(lua.String(SHA1([]byte(text))))
}

func setRepl(s *lua.State, args []lua.Value) []lua.Value {
	if len(args) != 1 {
		fail(s, "redis.set_repl() requires one argument.")
	}
	n, _ := args[0].ToNumber()
	if lua.Integer(n)&^3 != 0 {
		fail(s, "Invalid replication flags. Use REPL_AOF, REPL_REPLICA, REPL_ALL or REPL_NONE.")
	}
	return nil
}

func (m *Machine) aclCheck(s *lua.State, args []lua.Value) []lua.Value {
	if len(args) == 0 {
		fail(s, "Please specify at least one argument for this redis lib call")
	}
	words, ok := arguments(s, args)
	if !ok {
		fail(s, "Lua redis lib command arguments must be strings or integers")
	}
	allowed, known := true, commands.Called(words) != nil
	if m.run != nil && m.run.Host.Allowed != nil {
		allowed, known = m.run.Host.Allowed(words)
	}
	if !known {
		fail(s, "Invalid command passed to redis.acl_check_cmd()")
	}
	if cmd, _ := commands.Find(words); cmd == nil {
		fail(s, "Wrong number of args for redis.acl_check_cmd()")
	}
	return s.One(lua.Bool(allowed))
}
