package commands

import (
	"bytes"
	"strings"

	"github.com/meowdis/meowdis/redis/resp"
)

// Flags are Redis's command flags, with Redis's names.
type Flags uint32

const (
	Write Flags = 1 << iota
	ReadOnly
	DenyOOM
	Module // from a module: the JSON.* and vector set commands
	Admin
	PubSub
	NoScript
	Blocking
	Loading
	Stale
	SkipMonitor
	SkipSlowlog
	Asking
	Fast
	NoAuth
	NoMandatoryKeys
	NoAsyncLoading
	NoMulti
	AllowBusy
	MovableKeys
)

var flagNames = []string{
	"write", "readonly", "denyoom", "module", "admin", "pubsub", "noscript", "blocking", "loading", "stale",
	"skip_monitor", "skip_slowlog", "asking", "fast", "no_auth", "no_mandatory_keys", "no_async_loading",
	"no_multi", "allow_busy", "movablekeys",
}

// Names returns the names of the flags, as in COMMAND INFO.
func (f Flags) Names() []string {
	var names []string
	for i, name := range flagNames {
		if f&(1<<i) != 0 {
			names = append(names, name)
		}
	}
	return names
}

// Command describes one Redis command. Subcommands are commands of their own, named by both
// words.
type Command struct {
	Name    string // upper case: "SET", "OBJECT ENCODING"
	Group   string // Redis's group: "string", "sorted-set", "generic", …
	Since   string // the Redis version that introduced it
	Summary string // one line, no full stop
	Syntax  string // arguments in the notation of redis.io
	Arity   int    // words with the name; -n means n or more
	Flags   Flags
	Keys    []KeySpec
	Traits  Traits
	Replies []Reply // shapes of the reply, the first that applies to the call; empty if the reply shows its own shape

	Categories []string // ACL categories besides the flags' own, if they differ from the group's
	Tips       []string // COMMAND INFO's hints for cluster proxies

	// FindKeys finds the keys of a call if Keys cannot; nil means that Keys suffices.
	FindKeys func(args [][]byte) []KeyRef

	WantsFacts bool // its reply depends on facts about the server

	registration
}

// registration is set when a command is added to a Table.
type registration struct {
	id   int        // position in the table
	subs []*Command // of a container, in order of declaration
	args []Argument // the syntax reported by a server; nil means Syntax
}

// ID returns the command's position in All.
func (c *Command) ID() int { return c.id }

// Table is a set of commands with lookup by name.
type Table struct {
	byName map[string]*Command
	all    []*Command
}

// Ours holds the commands that meowdis runs. The functions All, Lookup, Find and Called use
// it.
var Ours = newTable(
	stringCommands, hashCommands, hashExpireCommands, hashGetexCommands, hashImportCommands, listCommands, setCommands, zsetCommands, blockingCommands,
	streamCommands, hyperloglogCommands, hyperloglogDebugCommands, bitmapCommands, geoCommands, arrayCommands, vectorSetCommands, jsonCommands, bloomCommands, cuckooCommands, countMinCommands, topKCommands, tdigestCommands, timeSeriesCommands, searchCommands, upstashCommands, throttleCommands,
	genericCommands, sortCommands, dumpCommands, handshakeCommands, clientCommands, configCommands, serverCommands, persistCommands, slowCommands, clusterCommands, replicaCommands, aclCommands, debugCommands, memoryCommands, scriptingCommands,
	transactionCommands, pubsubCommands)

// newTable makes a table that refers to the groups: copies would cost time at each start of
// the program. Each command is declared once, and a container comes before its subcommands.
func newTable(groups ...[]Command) *Table {
	n := 0
	for _, group := range groups {
		n += len(group)
	}
	t := &Table{byName: make(map[string]*Command, n), all: make([]*Command, 0, n)}
	for _, group := range groups {
		for i := range group {
			t.add(&group[i])
		}
	}
	return t
}

func (t *Table) add(c *Command) {
	if t.byName[c.Name] != nil {
		panic("commands: " + c.Name + " is declared twice")
	}
	c.id = len(t.all)
	t.byName[c.Name] = c
	t.all = append(t.all, c)
	if parent, _, ok := strings.Cut(c.Name, " "); ok && t.byName[parent] != nil {
		t.byName[parent].subs = append(t.byName[parent].subs, c)
		c.Traits |= t.byName[parent].Traits
	}
}

// All returns the commands of the table, in order of declaration.
func (t *Table) All() []*Command { return t.all }

// Lookup finds a command by name, in any case. A subcommand's name is both words separated by
// a space. It returns nil if the name is unknown.
func (t *Table) Lookup(name string) *Command { return t.byName[strings.ToUpper(name)] }

// Find returns the command called by args, or Redis's error reply for an unknown command or
// subcommand or a wrong number of arguments.
func (t *Table) Find(args [][]byte) (*Command, resp.Value) {
	if len(args) == 0 {
		return nil, resp.MakeError("ERR empty command")
	}
	c := t.Called(args)
	if c != nil && c.Accepts(len(args)) {
		return c, resp.Value{}
	}
	switch parent := t.first(args[0]); {
	case parent == nil:
		return nil, unknownCommand(args)
	case parent.Name == "DEBUG" && len(args) > 1: // Redis has no table entries for its subcommands
		return nil, SubcommandSyntax(args)
	case c == nil:
		return nil, resp.MakeError("ERR unknown subcommand '" + Clip(args[1], 128) + "'. Try " + parent.Name + " HELP.")
	}
	return nil, WrongArity(c)
}

// Called returns the command or subcommand named by the first words of args, without checking
// the arity. It returns nil if the name is unknown or missing.
func (t *Table) Called(args [][]byte) *Command {
	if len(args) == 0 {
		return nil
	}
	c := t.first(args[0])
	if c != nil && len(c.subs) > 0 && len(args) > 1 {
		return t.byName[c.Name+" "+strings.ToUpper(string(args[1]))]
	}
	return c
}

// All returns our commands, in order of declaration.
func All() []*Command { return Ours.All() }

// Lookup is Ours.Lookup.
func Lookup(name string) *Command { return Ours.Lookup(name) }

// Find is Ours.Find.
func Find(args [][]byte) (*Command, resp.Value) { return Ours.Find(args) }

// Called is Ours.Called.
func Called(args [][]byte) *Command { return Ours.Called(args) }

// first finds a command by its first word, in any case, without allocating.
func (t *Table) first(name []byte) *Command {
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
	return t.byName[string(buf[:n])]
}

// Accepts reports whether n words, including the name, match the arity.
func (c *Command) Accepts(n int) bool {
	return n == c.Arity || c.Arity < 0 && n >= -c.Arity
}

// SubcommandSyntax returns the error for an unknown subcommand, or one with a wrong number of
// words or options.
func SubcommandSyntax(args [][]byte) resp.Value {
	name := strings.ToUpper(string(args[0]))
	return resp.MakeError("ERR unknown subcommand or wrong number of arguments for '" + Clip(args[1], 128) + "'. Try " + name + " HELP.")
}

// WrongArity returns the error for a wrong number of words.
func WrongArity(c *Command) resp.Value {
	return resp.MakeError("ERR wrong number of arguments for '" + c.WireName() + "' command")
}

// unknownCommand returns an error that quotes the name and up to 128 bytes of the first
// arguments, as processCommand in Redis's server.c does.
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
