package translator

import (
	"bytes"
	"math"
	"slices"
	"strings"

	"github.com/meowdis/meowdis/resp"
)

// wireName is the command's name as COMMAND writes it: "object|encoding".
func (c *Command) wireName() string {
	return strings.ReplaceAll(strings.ToLower(c.Name), " ", "|")
}

// subcommands lists those of a container, in the order of declaration.
func (c *Command) subcommands() []*Command {
	if !containers[c.Name] {
		return nil
	}
	var subs []*Command
	for _, sub := range commands {
		if strings.HasPrefix(sub.Name, c.Name+" ") {
			subs = append(subs, sub)
		}
	}
	return subs
}

// topLevel lists the commands that are no subcommands.
func topLevel() []*Command {
	var top []*Command
	for _, c := range commands {
		if !strings.Contains(c.Name, " ") {
			top = append(top, c)
		}
	}
	return top
}

// named finds a command by its name on the wire, in any case.
func named(name []byte) *Command {
	if bytes.IndexByte(name, ' ') >= 0 {
		return nil
	}
	return Lookup(strings.Replace(string(name), "|", " ", 1))
}

// wanted lists the commands that a call names from argument from on, nil for an
// unknown one; without names all of them.
func (c *Call) wanted(from int) []*Command {
	if len(c.Args) <= from {
		return topLevel()
	}
	var found []*Command
	for _, name := range c.Args[from:] {
		found = append(found, named(name))
	}
	return found
}

// commandInfo is COMMAND and COMMAND INFO.
func commandInfo(c *Call) Plan {
	reply := resp.EmptyArray
	for _, cmd := range c.wanted(2) {
		if cmd == nil {
			reply.Elems = append(reply.Elems, resp.Nil)
			continue
		}
		reply.Elems = append(reply.Elems, cmd.info())
	}
	return answer(reply)
}

// info is the command as COMMAND INFO describes it, in ten elements.
func (c *Command) info() resp.Value {
	first, last, step := c.keyRange()
	specs, subs := resp.EmptySet, resp.EmptySet
	for _, spec := range c.Keys {
		specs.Elems = append(specs.Elems, spec.info())
	}
	for _, sub := range c.subcommands() {
		subs.Kind = resp.Array // as Redis: a set only when there are none
		subs.Elems = append(subs.Elems, sub.info())
	}
	tips := resp.EmptySet
	for _, tip := range c.Tips {
		tips.Elems = append(tips.Elems, resp.MakeString(tip))
	}
	var categories []string
	for _, name := range c.ACLCategories() {
		categories = append(categories, "@"+name)
	}
	return resp.MakeArray(
		resp.MakeString(c.wireName()), resp.MakeInt(int64(c.Arity)), statuses(c.Flags.Names()),
		resp.MakeInt(int64(first)), resp.MakeInt(int64(last)), resp.MakeInt(int64(step)),
		statuses(categories), tips, specs, subs)
}

// statuses is a set of simple strings.
func statuses(names []string) resp.Value {
	set := resp.EmptySet
	for _, name := range names {
		set.Elems = append(set.Elems, resp.MakeStatus(name))
	}
	return set
}

// keyRange is the first key, the last one (counted from the end when negative)
// and the step, as clients knew commands before key specs: zeros without keys.
// Of several specs those count that are plain ranges, one behind the other, as
// in Redis's populateCommandLegacyRangeSpec.
func (c *Command) keyRange() (first, last, step int) {
	if len(c.Keys) == 1 && c.Keys[0].isRange() {
		s := c.Keys[0]
		last = s.Last
		if last >= 0 {
			last += s.Index
		}
		return s.Index, last, s.Step
	}
	first = math.MaxInt
	for _, s := range c.Keys {
		if !s.isRange() || s.Step != 1 || last != 0 && last != s.Index-1 {
			continue
		}
		first = min(first, s.Index)
		switch end := s.Index + s.Last; {
		case s.Last < 0:
			last = s.Last
		case last >= 0:
			last = max(last, end)
		}
	}
	if first == math.MaxInt {
		return 0, 0, 0
	}
	return first, last, 1
}

// isRange tells whether the keys stand at fixed positions.
func (s KeySpec) isRange() bool { return s.Keyword == "" && !s.KeyNum && !s.Unknown }

// info is the spec as COMMAND INFO describes it.
func (s KeySpec) info() resp.Value {
	begin := search("index", number("index", s.Index))
	if s.Keyword != "" {
		begin = search("keyword", text("keyword", s.Keyword), number("startfrom", s.Index))
	}
	find := search("range", number("lastkey", s.Last), number("keystep", s.Step), number("limit", s.Limit))
	switch {
	case s.Unknown:
		begin, find = search("unknown"), search("unknown")
	case s.KeyNum:
		find = search("keynum", number("keynumidx", 0), number("firstkey", 1), number("keystep", s.Step))
	}
	return record(
		entry("flags", statuses(s.Access.Names())),
		entry("begin_search", begin),
		entry("find_keys", find))
}

// search is one half of a key spec: how to search, and by which numbers.
func search(how string, spec ...[]resp.Value) resp.Value {
	return record(text("type", how), entry("spec", record(spec...)))
}

// record is a map of entries.
func record(entries ...[]resp.Value) resp.Value {
	return resp.MakeMap(slices.Concat(entries...)...)
}

func entry(name string, v resp.Value) []resp.Value { return []resp.Value{resp.MakeString(name), v} }
func text(name, s string) []resp.Value             { return entry(name, resp.MakeString(s)) }
func number(name string, n int) []resp.Value       { return entry(name, resp.MakeInt(int64(n))) }

func commandCount(*Call) Plan { return answer(resp.MakeInt(int64(len(topLevel())))) }

// commandList answers the names of all commands, subcommands included, or of
// those that pass the filter.
func commandList(c *Call) Plan {
	keep := func(*Command) bool { return true }
	if len(c.Args) > 2 {
		if len(c.Args) != 5 || !c.is(2, "FILTERBY") {
			return fail(errSyntax)
		}
		arg := c.Args[4]
		switch {
		case c.is(3, "MODULE"):
			keep = func(*Command) bool { return false }
		case c.is(3, "ACLCAT"):
			keep = func(cmd *Command) bool { return cmd.inCategory(arg) }
		case c.is(3, "PATTERN"):
			keep = func(cmd *Command) bool { return matchGlob(arg, []byte(cmd.wireName()), true) }
		default:
			return fail(errSyntax)
		}
	}
	reply := resp.EmptyArray
	for _, cmd := range commands {
		if keep(cmd) {
			reply.Elems = append(reply.Elems, resp.MakeString(cmd.wireName()))
		}
	}
	return answer(reply)
}

// commandGetkeys is COMMAND GETKEYS and COMMAND GETKEYSANDFLAGS.
func commandGetkeys(flags bool) func(*Call) Plan {
	return func(c *Call) Plan {
		args := c.Args[2:]
		cmd := byName(args[0])
		if cmd != nil && containers[cmd.Name] && len(args) > 1 {
			cmd = Lookup(cmd.Name + " " + string(args[1]))
		}
		switch {
		case cmd == nil:
			return fail("ERR Invalid command specified")
		case len(cmd.Keys) == 0:
			return fail("ERR The command has no key arguments")
		case !cmd.accepts(len(args)):
			return fail("ERR Invalid number of arguments specified for command")
		}
		var refs []KeyRef
		if cmd.wellFormed(args) {
			refs = cmd.KeysOf(args)
		}
		if len(refs) == 0 && cmd.Flags&NoMandatoryKeys == 0 {
			return fail("ERR Invalid arguments specified for command")
		}
		reply := resp.EmptyArray
		for _, ref := range refs {
			key := resp.MakeBulk(args[ref.Pos])
			if flags {
				key = resp.MakeArray(key, statuses(ref.Access.Names()))
			}
			reply.Elems = append(reply.Elems, key)
		}
		return answer(reply)
	}
}
