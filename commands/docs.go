package commands

import (
	"github.com/meowdis/meowdis/resp"
)

// Docs is what COMMAND DOCS says of the command.
func (c *Command) Docs() resp.Value {
	doc := record(text("summary", c.Summary), text("since", c.Since), text("group", c.Group))
	if args := c.SyntaxTree(); len(args) > 0 {
		doc.Elems = append(doc.Elems, entry("arguments", argumentDocs(args))...)
	}
	if subs := c.Subcommands(); len(subs) > 0 {
		all := resp.EmptyMap
		for _, sub := range subs {
			all.Elems = append(all.Elems, resp.MakeString(sub.WireName()), sub.Docs())
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
		doc.Elems = append(doc.Elems, entry("flags", Statuses(flags))...)
	}
	if a.Arguments != nil {
		doc.Elems = append(doc.Elems, entry("arguments", argumentDocs(a.Arguments))...)
	}
	return doc
}
