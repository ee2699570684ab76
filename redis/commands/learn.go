package commands

import (
	"slices"
	"strings"

	"github.com/meowdis/meowdis/redis/resp"
)

// Learn builds a table from a server's replies to COMMAND and COMMAND DOCS, in RESP2 or RESP3.
// Servers before 7.0 lack DOCS: the syntax of their commands is taken from our commands of the
// same name. An unexpected reply gives an empty table.
func Learn(info, docs resp.Value) *Table {
	told := fields(docs)
	var learned []Command
	for _, v := range info.Elems {
		learned = learn(learned, v, told)
	}
	return newTable(learned)
}

// learn adds a command and its subcommands from an element of COMMAND. docs has their COMMAND
// DOCS, by name.
func learn(all []Command, v resp.Value, docs map[string]resp.Value) []Command {
	const oldest = 6 // minimum number of elements: Redis 6 has seven, 7.0 ten
	if v.Kind != resp.Array || len(v.Elems) < oldest {
		return all
	}
	wire := string(v.Elems[0].Str)
	doc := fields(docs[wire])
	name := strings.ReplaceAll(strings.ToUpper(wire), "|", " ")
	if slices.ContainsFunc(all, func(c Command) bool { return c.Name == name }) {
		return all
	}
	c := Command{
		Name: name, Arity: int(v.Elems[1].Int), Flags: flagsOf(v.Elems[2]),
		Group: string(doc["group"].Str), Since: string(doc["since"].Str), Summary: strings.TrimSuffix(string(doc["summary"].Str), "."),
	}
	if args, told := doc["arguments"]; told {
		c.args = learnArguments(args)
		c.Syntax = Written(c.args)
	}
	if len(v.Elems) > 8 {
		for _, spec := range v.Elems[8].Elems {
			c.Keys = append(c.Keys, learnSpec(fields(spec)))
		}
	} else if first := int(v.Elems[3].Int); first > 0 {
		c.Keys = []KeySpec{learnRange(first, int(v.Elems[4].Int), int(v.Elems[5].Int))}
	}
	c.fillIn(len(doc) > 0)
	all = append(all, c)
	if len(v.Elems) > 9 {
		subs := fields(doc["subcommands"])
		for _, sub := range v.Elems[9].Elems {
			all = learn(all, sub, subs)
		}
	}
	return all
}

// fillIn copies the facts that a server does not report from our command of the same name:
// keys that only code finds, and the rest if documented is false.
func (c *Command) fillIn(documented bool) {
	own := Lookup(c.Name)
	if own == nil {
		return
	}
	c.FindKeys = own.FindKeys
	if !documented {
		c.Group, c.Since, c.Summary, c.Syntax = own.Group, own.Since, own.Summary, own.Syntax
	}
}

// fields returns the entries of a map, or of a flat array in its place, by name.
func fields(v resp.Value) map[string]resp.Value {
	found := make(map[string]resp.Value, len(v.Elems)/2)
	for i := 0; i+1 < len(v.Elems); i += 2 {
		found[string(v.Elems[i].Str)] = v.Elems[i+1]
	}
	return found
}

func flagsOf(v resp.Value) (flags Flags) {
	for _, e := range v.Elems {
		if i := slices.Index(flagNames, string(e.Str)); i >= 0 {
			flags |= 1 << i
		}
	}
	return flags
}

func learnArguments(v resp.Value) []Argument {
	args := []Argument{} // not nil: the command has no arguments
	for _, e := range v.Elems {
		f := fields(e)
		a := Argument{Name: string(f["name"].Str), Type: string(f["type"].Str), Token: string(f["token"].Str), KeySpec: -1}
		if spec, isKey := f["key_spec_index"]; isKey {
			a.KeySpec = int(spec.Int)
		}
		for _, flag := range f["flags"].Elems {
			switch string(flag.Str) {
			case "optional":
				a.Optional = true
			case "multiple":
				a.Multiple = true
			case "multiple_token":
				a.MultipleToken = true
			}
		}
		if inner, has := f["arguments"]; has {
			a.Arguments = learnArguments(inner)
		}
		args = append(args, a)
	}
	return args
}

// learnRange returns the key spec for the positions that servers before 7.0 report.
func learnRange(first, last, step int) KeySpec {
	if last >= 0 {
		last -= first
	}
	return KeySpec{Access: RW, Index: first, Last: last, Step: max(step, 1)}
}

func learnSpec(f map[string]resp.Value) KeySpec {
	s := KeySpec{Step: 1}
	for _, flag := range f["flags"].Elems {
		for _, a := range []Access{RO, RW, OW, RM, NotKey} {
			if string(flag.Str) == a.Names()[0] {
				s.Access = a
			}
		}
	}
	begin, find := fields(f["begin_search"]), fields(f["find_keys"])
	from, keys := fields(begin["spec"]), fields(find["spec"])
	switch string(begin["type"].Str) {
	case "index":
		s.Index = int(from["index"].Int)
	case "keyword":
		s.Keyword, s.Index = string(from["keyword"].Str), int(from["startfrom"].Int)
	default:
		s.Unknown = true
	}
	switch string(find["type"].Str) {
	case "range":
		s.Last, s.Step, s.Limit = int(keys["lastkey"].Int), int(keys["keystep"].Int), int(keys["limit"].Int)
	case "keynum":
		s.KeyNum, s.Step = true, int(keys["keystep"].Int)
	default:
		s.Unknown = true
	}
	s.Step = max(s.Step, 1)
	return s
}
