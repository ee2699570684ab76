package translator

import (
	"slices"

	"github.com/meowdis/meowdis/redis/commands"
	"github.com/meowdis/meowdis/redis/glob"
	"github.com/meowdis/meowdis/redis/resp"
)

// namedCommands returns the commands named from argument from on, nil for an unknown one. Without names it returns all
// commands.
func (c *Call) namedCommands(from int) []*commands.Command {
	if len(c.Args) <= from {
		return commands.TopLevel()
	}
	var found []*commands.Command
	for _, name := range c.Args[from:] {
		found = append(found, commands.Named(name))
	}
	return found
}

// commandInfo translates COMMAND and COMMAND INFO.
func commandInfo(c *Call) Plan {
	reply := resp.EmptyArray
	for _, cmd := range c.namedCommands(2) {
		if cmd == nil {
			reply.Elems = append(reply.Elems, resp.Nil)
			continue
		}
		reply.Elems = append(reply.Elems, cmd.Info())
	}
	return answer(reply)
}

// commandDocs omits unknown names.
func commandDocs(c *Call) Plan {
	reply := resp.EmptyMap
	for _, cmd := range c.namedCommands(2) {
		if cmd != nil {
			reply.Elems = append(reply.Elems, resp.MakeString(cmd.WireName()), cmd.Docs())
		}
	}
	return answer(reply)
}

func commandCount(*Call) Plan { return answer(resp.MakeInt(int64(len(commands.TopLevel())))) }

// commandList replies with the names of all commands, including subcommands, that match the filter.
func commandList(c *Call) Plan {
	keep := func(*commands.Command) bool { return true }
	if len(c.Args) > 2 {
		if len(c.Args) != 5 || !c.is(2, "FILTERBY") {
			return fail(errSyntax)
		}
		arg := c.Args[4]
		switch {
		case c.is(3, "MODULE"):
			keep = func(cmd *commands.Command) bool {
				return slices.ContainsFunc(modules, func(m module) bool { return m.name == string(arg) && m.has(cmd) })
			}
		case c.is(3, "ACLCAT"):
			keep = func(cmd *commands.Command) bool { return cmd.InCategory(arg) }
		case c.is(3, "PATTERN"):
			keep = func(cmd *commands.Command) bool {
				return glob.MatchCounted(arg, []byte(cmd.WireName()), true, c.Env.Work.Step)
			}
		default:
			return fail(errSyntax)
		}
	}
	reply := resp.EmptyArray
	for _, cmd := range commands.All() {
		if keep(cmd) {
			reply.Elems = append(reply.Elems, resp.MakeString(cmd.WireName()))
		}
	}
	return answer(reply)
}

// commandGetkeys translates COMMAND GETKEYS and COMMAND GETKEYSANDFLAGS.
func commandGetkeys(flags bool) func(*Call) Plan {
	return func(c *Call) Plan {
		args := c.Args[2:]
		cmd := commands.Called(args)
		switch {
		case cmd == nil:
			return fail("ERR Invalid command specified")
		case len(cmd.Keys) == 0 || cmd.Keys[0].Access == commands.NotKey:
			return fail("ERR The command has no key arguments")
		case !cmd.Accepts(len(args)):
			return fail("ERR Invalid number of arguments specified for command")
		}
		var refs []commands.KeyRef
		if cmd.WellFormed(args) {
			refs = cmd.KeysOf(args)
		}
		if len(refs) == 0 && cmd.Flags&commands.NoMandatoryKeys == 0 {
			return fail("ERR Invalid arguments specified for command")
		}
		reply := resp.EmptyArray
		for _, ref := range refs {
			key := resp.MakeBulk(args[ref.Pos])
			if flags {
				key = resp.MakeArray(key, commands.Statuses(ref.Access.Names()))
			}
			reply.Elems = append(reply.Elems, key)
		}
		return answer(reply)
	}
}
