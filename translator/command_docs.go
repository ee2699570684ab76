package translator

import (
	"github.com/meowdis/meowdis/resp"
)

// commandDocs leaves unknown names out.
func commandDocs(c *Call) Plan {
	reply := resp.EmptyMap
	for _, cmd := range c.wanted(2) {
		if cmd != nil {
			reply.Elems = append(reply.Elems, resp.MakeString(cmd.wireName()), cmd.docs())
		}
	}
	return answer(reply)
}

// docs is what COMMAND DOCS says of the command.
func (c *Command) docs() resp.Value {
	doc := record(text("summary", c.Summary), text("since", c.Since), text("group", c.Group))
	if args := c.SyntaxTree(); len(args) > 0 {
		doc.Elems = append(doc.Elems, entry("arguments", argumentDocs(args))...)
	}
	if subs := c.subcommands(); len(subs) > 0 {
		all := resp.EmptyMap
		for _, sub := range subs {
			all.Elems = append(all.Elems, resp.MakeString(sub.wireName()), sub.docs())
		}
		doc.Elems = append(doc.Elems, entry("subcommands", all)...)
	}
	return doc
}

func argumentDocs(args []Argument) resp.Value {
	reply := resp.EmptyArray
	for _, a := range args {
		reply.Elems = append(reply.Elems, a.docs())
	}
	return reply
}

func (a Argument) docs() resp.Value {
	doc := record(text("name", a.Name), text("type", a.Type))
	if a.KeySpec >= 0 {
		doc.Elems = append(doc.Elems, number("key_spec_index", a.KeySpec)...)
	}
	if a.Token != "" {
		doc.Elems = append(doc.Elems, text("token", a.Token)...)
	}
	var flags []string
	for _, f := range []struct {
		set  bool
		name string
	}{{a.Optional, "optional"}, {a.Multiple, "multiple"}, {a.MultipleToken, "multiple_token"}} {
		if f.set {
			flags = append(flags, f.name)
		}
	}
	if flags != nil {
		doc.Elems = append(doc.Elems, entry("flags", statuses(flags))...)
	}
	if a.Arguments != nil {
		doc.Elems = append(doc.Elems, entry("arguments", argumentDocs(a.Arguments))...)
	}
	return doc
}
