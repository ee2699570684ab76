package translator

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
	Module // of a module: the JSON.* commands
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

	WantsFacts bool // Env.Facts is filled in for it

	// Translate makes the plan of a call whose arity has been checked. Nil for
	// a container such as OBJECT, and for a command that belongs to the
	// session (SELECT, MULTI, …), which the engine carries out itself.
	Translate func(*Call) Plan
}

// Env is all that a translation may depend on beside its arguments.
type Env struct {
	Now  int64  // Unix ms, by the clock of whoever owns the store
	Seed uint64 // fresh randomness for this call
	DB   int    // selected database

	InMulti bool // the call is one of a transaction, where nothing waits

	Limits *Limits // of the compact encodings; nil for the defaults

	Facts Facts // of the server, for INFO

	Fieldsets map[string][][]byte // of the session's HIMPORT PREPARE, by name
}

// Databases is the number of databases of a file, Redis's default.
const Databases = 16

// Call is one command to translate.
type Call struct {
	Command *Command
	// Args holds the words of the call. Args[0] is the name; a subcommand's
	// second word is Args[1], so positions are Redis's own.
	Args [][]byte
	Env  Env

	drawn uint64
}

// Random returns the next number of a sequence that Env.Seed determines.
func (c *Call) Random() uint64 {
	c.drawn++
	return mix(c.Env.Seed + c.drawn*0x9e3779b97f4a7c15)
}

// table holds every command by name, and index the first words of containers.
// They are filled by init, since COMMAND's own translation reads them.
var (
	table      = map[string]*Command{}
	commands   []*Command
	containers = map[string]bool{}
)

func init() {
	for _, group := range [][]Command{
		stringCommands, hashCommands, hashExpireCommands, hashGetexCommands, hashImportCommands, listCommands, setCommands, zsetCommands, blockingCommands, streamCommands,
		hyperloglogCommands, hyperloglogDebugCommands, bitmapCommands, geoCommands, arrayCommands, jsonCommands, throttleCommands,
		genericCommands, sortCommands, dumpCommands, connectionCommands, serverCommands, persistCommands, debugCommands, memoryCommands, scriptingCommands, transactionCommands,
	} {
		for i := range group {
			c := &group[i]
			if table[c.Name] != nil {
				panic("translator: " + c.Name + " is declared twice")
			}
			table[c.Name] = c
			commands = append(commands, c)
			if parent, _, ok := strings.Cut(c.Name, " "); ok {
				containers[parent] = true
			}
		}
	}
}

// Commands lists the whole table, in the order of declaration.
func Commands() []*Command { return commands }

// Lookup finds a command by name, in any case; a subcommand's name is both
// words with a space between. It returns nil for an unknown one.
func Lookup(name string) *Command { return table[strings.ToUpper(name)] }

// Find returns the command that args call, or the error reply that Redis gives
// for an unknown command or subcommand or a wrong number of arguments.
func Find(args [][]byte) (*Command, resp.Value) {
	if len(args) == 0 {
		return nil, resp.MakeError(errEmptyCommand)
	}
	c := byName(args[0])
	if c == nil {
		return nil, unknownCommand(args)
	}
	if containers[c.Name] && len(args) > 1 {
		sub := table[c.Name+" "+strings.ToUpper(string(args[1]))]
		switch {
		case c.Name == "DEBUG" && (sub == nil || !sub.accepts(len(args))): // Redis has those in no table
			return nil, SubcommandSyntax(args)
		case sub == nil:
			return nil, resp.MakeError("ERR unknown subcommand '" + clip(args[1], 128) + "'. Try " + c.Name + " HELP.")
		}
		c = sub
	}
	if !c.accepts(len(args)) {
		return nil, wrongArity(c)
	}
	return c, resp.Value{}
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

func (c *Command) accepts(n int) bool {
	return n == c.Arity || c.Arity < 0 && n >= -c.Arity
}

// Plan translates args, a call that Find accepted as c.
func (c *Command) Plan(args [][]byte, env Env) Plan {
	return c.Translate(&Call{Command: c, Args: args, Env: env})
}

// subcommandSyntax is the error of a subcommand whose options are wrong.
func subcommandSyntax(args [][]byte) string {
	return "ERR unknown subcommand or wrong number of arguments for '" + clip(args[1], 128) + "'. Try " + upper(args[0]) + " HELP."
}

// SubcommandSyntax is the error of a call whose subcommand or number of words its
// command does not know.
func SubcommandSyntax(args [][]byte) resp.Value { return resp.MakeError(subcommandSyntax(args)) }

func wrongArity(c *Command) resp.Value {
	name := strings.ReplaceAll(strings.ToLower(c.Name), " ", "|")
	return resp.MakeError("ERR wrong number of arguments for '" + name + "' command")
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
		b.WriteString("'" + clip(arg, room) + "' ")
	}
	msg := "ERR unknown command '" + clip(args[0], 128) + "', with args beginning with: " + b.String()
	return resp.MakeError(oneLine(msg))
}

// clip is the beginning of b that a C format of n bytes prints: a NUL ends it.
func clip(b []byte, n int) string {
	n = max(0, min(n, len(b)))
	if end := bytes.IndexByte(b[:n], 0); end >= 0 {
		n = end
	}
	return string(b[:n])
}

// Quote is an argument as errors quote it: up to a NUL, on one line.
func Quote(arg []byte) string { return newlines.Replace(string(cString(arg))) }

var newlines = strings.NewReplacer("\r", " ", "\n", " ")

// oneLine keeps an error reply on one line, as Redis does before it sends one:
// line breaks at its end go, others become spaces.
func oneLine(s string) string { return newlines.Replace(strings.TrimRight(s, "\r\n")) }
