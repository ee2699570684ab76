package commands

import (
	"bytes"
	"math"
	"slices"
	"strings"

	"github.com/meowdis/meowdis/redis/resp"
)

// WireName returns the command's name in COMMAND and in errors: "object|encoding". Names of
// vector set commands are in upper case.
func (c *Command) WireName() string {
	if c.Flags&Module != 0 && !strings.ContainsAny(c.Name, ". ") {
		return c.Name
	}
	return strings.ReplaceAll(strings.ToLower(c.Name), " ", "|")
}

// Subcommands returns the subcommands of a container, in order of declaration.
func (c *Command) Subcommands() []*Command { return c.subs }

// TopLevel returns the commands that are not subcommands.
func TopLevel() []*Command {
	var top []*Command
	for _, c := range Ours.all {
		if !strings.Contains(c.Name, " ") {
			top = append(top, c)
		}
	}
	return top
}

// Named finds a command by its wire name, in any case.
func Named(name []byte) *Command {
	if bytes.IndexByte(name, ' ') >= 0 {
		return nil
	}
	return Lookup(strings.Replace(string(name), "|", " ", 1))
}

// Info returns the command's entry in COMMAND INFO, of ten elements.
func (c *Command) Info() resp.Value {
	first, last, step := c.keyRange()
	specs, subs := resp.EmptySet, resp.EmptySet
	for _, spec := range c.Keys {
		specs.Elems = append(specs.Elems, spec.info())
	}
	for _, sub := range c.Subcommands() {
		subs.Kind = resp.Array // as in Redis: a set only if empty
		subs.Elems = append(subs.Elems, sub.Info())
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
		resp.MakeString(c.WireName()), resp.MakeInt(int64(c.Arity)), Statuses(c.Flags.Names()),
		resp.MakeInt(int64(first)), resp.MakeInt(int64(last)), resp.MakeInt(int64(step)),
		Statuses(categories), tips, specs, subs)
}

// Statuses returns a set of simple strings.
func Statuses(names []string) resp.Value {
	set := resp.EmptySet
	for _, name := range names {
		set.Elems = append(set.Elems, resp.MakeStatus(name))
	}
	return set
}

// keyRange returns the first key, the last one (counted from the end if negative) and the
// step, as clients used before key specs; all are 0 without keys. Only consecutive specs with
// plain ranges count, as in Redis's populateCommandLegacyRangeSpec.
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

// isRange reports whether the keys have fixed positions.
func (s KeySpec) isRange() bool { return s.Keyword == "" && !s.KeyNum && !s.Unknown }

// info returns the spec as in COMMAND INFO.
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
		entry("flags", Statuses(s.Access.Names())),
		entry("begin_search", begin),
		entry("find_keys", find))
}

// search returns one half of a key spec: the method and its numbers.
func search(how string, spec ...[]resp.Value) resp.Value {
	return record(text("type", how), entry("spec", record(spec...)))
}

// record returns a map of entries.
func record(entries ...[]resp.Value) resp.Value {
	return resp.MakeMap(slices.Concat(entries...)...)
}

func entry(name string, v resp.Value) []resp.Value { return []resp.Value{resp.MakeString(name), v} }
func text(name, s string) []resp.Value             { return entry(name, resp.MakeString(s)) }
func number(name string, n int) []resp.Value       { return entry(name, resp.MakeInt(int64(n))) }
