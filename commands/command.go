package commands

import (
	"bytes"
	"strings"

	"github.com/meowdis/meowdis/resp"
)

// Flags are Redis's command flags, with Redis's names.
type Flags uint32

const (
	Write Flags = 1 << iota
	ReadOnly
	DenyOOM
	Module // of a module: the JSON.* commands, and those of vector sets
	Admin
	PubSub
	NoScript
	Blocking
	Loading
	Stale
	SkipMonitor
	SkipSlowlog
	Fast
	NoAuth
	MovableKeys
	AllowBusy
	NoAsyncLoading
	NoMulti
	NoMandatoryKeys
)

var flagNames = []string{
	"write", "readonly", "denyoom", "module", "admin", "pubsub", "noscript", "blocking", "loading", "stale",
	"skip_monitor", "skip_slowlog", "fast", "no_auth", "movablekeys", "allow_busy", "no_async_loading",
	"no_multi", "no_mandatory_keys",
}

// Names lists the flags that are set, as COMMAND INFO does.
func (f Flags) Names() []string {
	var names []string
	for i, name := range flagNames {
		if f&(1<<i) != 0 {
			names = append(names, name)
		}
	}
	return names
}

// Command is everything that meowdis knows about one Redis command. Subcommands
// are commands of their own, named by both words.
type Command struct {
	Name    string // upper case: "SET", "OBJECT ENCODING"
	Group   string // Redis's group: "string", "sorted-set", "generic", …
	Since   string // the Redis version that introduced it
	Summary string // one line, no full stop
	Syntax  string // what follows the name, in the notation of redis.io
	Arity   int    // words with the name; -n means n or more
	Flags   Flags
	Keys    []KeySpec

	Categories []string // ACL categories beside those of the flags, when they are not the group's own
	Tips       []string // what COMMAND INFO tells cluster proxies

	// FindKeys finds the keys where Keys alone cannot; nil leaves it to Keys.
	FindKeys func(args [][]byte) []KeyRef

	WantsFacts bool // its reply needs what the server knows of itself

	id int // position in the table
}

// ID is the command's position in All.
func (c *Command) ID() int { return c.id }

// table holds every command by name, all in the order of declaration, and
// containers the first words of those with subcommands.
var (
	table      = map[string]*Command{}
	all        []*Command
	containers = map[string]bool{}
)

func init() {
	for _, group := range [][]Command{
		stringCommands, hashCommands, hashExpireCommands, hashGetexCommands, hashImportCommands, listCommands, setCommands, zsetCommands, blockingCommands, streamCommands,
		hyperloglogCommands, hyperloglogDebugCommands, bitmapCommands, geoCommands, arrayCommands, vectorSetCommands, jsonCommands, throttleCommands,
		genericCommands, sortCommands, dumpCommands, connectionCommands, serverCommands, persistCommands, debugCommands, memoryCommands, scriptingCommands, transactionCommands,
	} {
		for i := range group {
			c := &group[i]
			if table[c.Name] != nil {
				panic("commands: " + c.Name + " is declared twice")
			}
			c.id = len(all)
			table[c.Name] = c
			all = append(all, c)
			if parent, _, ok := strings.Cut(c.Name, " "); ok {
				containers[parent] = true
			}
		}
	}
}

// All lists the whole table, in the order of declaration.
func All() []*Command { return all }

// Lookup finds a command by name, in any case; a subcommand's name is both
// words with a space between. It returns nil for an unknown one.
func Lookup(name string) *Command { return table[strings.ToUpper(name)] }

// Find returns the command that args call, or the error reply that Redis gives
// for an unknown command or subcommand or a wrong number of arguments.
func Find(args [][]byte) (*Command, resp.Value) {
	if len(args) == 0 {
		return nil, resp.MakeError("ERR empty command")
	}
	c := Called(args)
	if c != nil && c.Accepts(len(args)) {
		return c, resp.Value{}
	}
	switch parent := byName(args[0]); {
	case parent == nil:
		return nil, unknownCommand(args)
	case parent.Name == "DEBUG" && len(args) > 1: // Redis has its subcommands in no table
		return nil, SubcommandSyntax(args)
	case c == nil:
		return nil, resp.MakeError("ERR unknown subcommand '" + Clip(args[1], 128) + "'. Try " + parent.Name + " HELP.")
	}
	return nil, WrongArity(c)
}

// Called is the command or subcommand that the first words of args name, whatever
// their number; nil for an unknown one.
func Called(args [][]byte) *Command {
	c := byName(args[0])
	if c != nil && containers[c.Name] && len(args) > 1 {
		return table[c.Name+" "+strings.ToUpper(string(args[1]))]
	}
	return c
}

// byName looks an upper- or lower-case name up without allocating.
func byName(name []byte) *Command {
	if len(name) > 64 {
		return nil
	}
	var buf [64]byte
	n := copy(buf[:], name)
	for i, ch := range buf[:n] {
		if 'a' <= ch && ch <= 'z' {
			buf[i] = ch - 'a' + 'A'
		}
	}
	if bytes.IndexByte(buf[:n], ' ') >= 0 {
		return nil
	}
	return table[string(buf[:n])]
}

// Accepts reports whether a call of n words, the name among them, has the right number.
func (c *Command) Accepts(n int) bool {
	return n == c.Arity || c.Arity < 0 && n >= -c.Arity
}

// SubcommandSyntax is the error of a call whose subcommand, number of words or
// options its command does not know.
func SubcommandSyntax(args [][]byte) resp.Value {
	name := strings.ToUpper(string(args[0]))
	return resp.MakeError("ERR unknown subcommand or wrong number of arguments for '" + Clip(args[1], 128) + "'. Try " + name + " HELP.")
}

// WrongArity is the error of a call with the wrong number of words.
func WrongArity(c *Command) resp.Value {
	return resp.MakeError("ERR wrong number of arguments for '" + c.WireName() + "' command")
}

// unknownCommand quotes the name and the first arguments, 128 bytes of each in
// all, as processCommand in Redis's server.c does.
func unknownCommand(args [][]byte) resp.Value {
	var b strings.Builder
	for _, arg := range args[1:] {
		room := 128 - b.Len()
		if room <= 0 {
			break
		}
		b.WriteString("'" + Clip(arg, room) + "' ")
	}
	msg := "ERR unknown command '" + Clip(args[0], 128) + "', with args beginning with: " + b.String()
	return resp.MakeError(OneLine(msg))
}
