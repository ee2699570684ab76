package commands

import (
	"github.com/meowdis/meowdis/redis/resp"
)

// facts holds the fields of COMMAND DOCS that Command lacks.
type facts struct {
	complexity, deprecatedSince, replacedBy string
	flags                                   []string
	history                                 [][2]string // version, change
	args                                    []Argument
}

// Docs returns the command's entry in COMMAND DOCS.
func (c *Command) Docs() resp.Value {
	f := c.facts()
	doc := record(text("summary", c.Summary), text("since", c.Since), text("group", c.Group),
		known("complexity", f.complexity))
	if f.flags != nil {
		doc.Elems = append(doc.Elems, entry("doc_flags", Statuses(f.flags))...)
	}
	doc.Elems = append(doc.Elems, known("deprecated_since", f.deprecatedSince)...)
	doc.Elems = append(doc.Elems, known("replaced_by", f.replacedBy)...)
	if f.history != nil {
		changes := resp.EmptySet
		for _, h := range f.history {
			changes.Elems = append(changes.Elems, resp.MakeArray(resp.MakeString(h[0]), resp.MakeString(h[1])))
		}
		doc.Elems = append(doc.Elems, entry("history", changes)...)
	}
	if len(f.args) > 0 {
		doc.Elems = append(doc.Elems, entry("arguments", argumentDocs(f.args))...)
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

// known returns a map entry with a text, or nothing if the text is empty.
func known(name, s string) []resp.Value {
	if s == "" {
		return nil
	}
	return text(name, s)
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
	switch {
	case a.Display != "":
		doc.Elems = append(doc.Elems, text("display_text", a.Display)...)
	case a.Type != "oneof" && a.Type != "block":
		doc.Elems = append(doc.Elems, text("display_text", a.Name)...)
	}
	if a.KeySpec >= 0 {
		doc.Elems = append(doc.Elems, number("key_spec_index", a.KeySpec)...)
	}
	doc.Elems = append(doc.Elems, known("token", a.Token)...)
	doc.Elems = append(doc.Elems, known("since", a.Since)...)
	doc.Elems = append(doc.Elems, known("deprecated_since", a.DeprecatedSince)...)
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
