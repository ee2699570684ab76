package cmd

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/meowdis/meowdis/cmd/internal/flags"
)

// helpWidth sets the width of help texts in columns.
const helpWidth = 80

// overview holds the output of "meowdis help". With the command line and the next prompt it fits on 24 lines.
const overview = `Redis commands on a SQLite file, on an Upstash REST endpoint or a Redis server.

  meowdis exec SET greeting hello      run a command, here on the default file
  meowdis repl cats.sqlite             type commands, with completion and hints
  meowdis inspect redis://localhost    browse keys and values, and change them
  meowdis serve cats.sqlite            serve a file to Redis and Upstash clients
  meowdis copy @prod cats.sqlite       copy keys, here from a profile to a file

Run commands    exec  repl  serve  mcp  lambda
Move keys       copy  diff  dump  restore  import  export
Look inside     inspect  keys  scan  peek  stats  bigkeys  explain  status
                health  latency  watch  monitor  subscribe  psubscribe
Maintain files  doctor  backup  vacuum  migrate
Set up          demo  profile  tenants  worker  completion  man  paths  version

A target is a file, a URL or @PROFILE. "meowdis status" shows the default one.

meowdis VERB --help    help for a verb, with examples and flags
meowdis help verbs     all verbs, one per line
meowdis help ZADD      help for a Redis command
meowdis help TOPIC     targets moving profiles formats environment
                       exit-codes agents
`

// showHelp prints the help of a verb or a topic: a summary, the usage line, examples, the details, and the flags.
func showHelp(cmd *cobra.Command, _ []string) {
	text := overview
	if cmd.HasParent() {
		text = helpText(cmd)
	}
	io.WriteString(cmd.OutOrStdout(), text)
}

func helpText(cmd *cobra.Command) string {
	var b strings.Builder
	first, rest, more := strings.Cut(strings.TrimSpace(cmd.Long), "\n\n")
	if first == "" {
		first = cmd.Short + "."
	}
	b.WriteString(first + "\n")
	if cmd.Runnable() || cmd.HasAvailableSubCommands() {
		b.WriteString("\nUsage:\n  " + usageLine(cmd) + "\n")
	}
	if cmd.Example != "" {
		b.WriteString("\nExamples:\n" + cmd.Example + "\n")
	}
	if more {
		b.WriteString("\n" + rest + "\n")
	}
	if cmd.HasAvailableSubCommands() {
		b.WriteString("\nVerbs:\n")
		listVerbs(&b, cmd.Commands())
	}
	for i, g := range groupsOf(cmd) {
		if i == 0 {
			b.WriteString("\n")
		}
		g.write(&b)
	}
	if topics := topicsOf(cmd); len(topics) > 0 {
		b.WriteString("More flags: " + strings.Join(topics, ", ") + "\n")
	}
	if explained := topicFlags(cmd); len(explained) > 0 {
		b.WriteString("\nFlags:\n")
		writeFlags(&b, explained)
	}
	return b.String()
}

// usageLine returns the usage line of cmd.
func usageLine(cmd *cobra.Command) string {
	if cmd.HasAvailableSubCommands() {
		return cmd.CommandPath() + " VERB"
	}
	return cmd.UseLine()
}

// showVerbs prints all verbs of the program, one per line.
func showVerbs(w io.Writer, root *cobra.Command) error {
	var b strings.Builder
	for _, g := range root.Groups() {
		b.WriteString(g.Title + "\n")
		listVerbs(&b, inGroup(root, g.ID))
		b.WriteString("\n")
	}
	b.WriteString("Topics:\n")
	for _, c := range root.Commands() {
		if c.IsAdditionalHelpTopicCommand() {
			fmt.Fprintf(&b, "  %-12s %s\n", c.Name(), c.Short)
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// inGroup returns the verbs of a group, in the order of the overview.
func inGroup(root *cobra.Command, id string) (verbs []*cobra.Command) {
	for _, c := range root.Commands() {
		if c.GroupID == id {
			verbs = append(verbs, c)
		}
	}
	_, named, _ := strings.Cut(overview, "\n\nRun commands")
	slices.SortFunc(verbs, func(a, b *cobra.Command) int {
		return strings.Index(named, "  "+a.Name()) - strings.Index(named, "  "+b.Name())
	})
	return verbs
}

func listVerbs(b *strings.Builder, verbs []*cobra.Command) {
	for _, c := range verbs {
		if c.IsAvailableCommand() && !c.IsAdditionalHelpTopicCommand() {
			fmt.Fprintf(b, "  %-12s %s\n", c.Name(), c.Short)
		}
	}
}

// flagGroup holds a heading of help, and the flags under it.
type flagGroup struct {
	title string
	names []string // in the order of the help

	flags []*pflag.Flag // the flags of names that the verb has
}

// groupsOf returns the groups of cmd's flags that are not empty. The flags that choose a target are last. Flags of a
// topic are only in its help.
func groupsOf(cmd *cobra.Command) []flagGroup {
	var groups []flagGroup
	if cmd.Name() == "serve" {
		groups = serveGroups()
	}
	groups = append(groups, flagGroup{title: "Flags"})
	rest := &groups[len(groups)-1]
	grouped := map[string]bool{"target": true, "database": true}
	for i := range groups {
		for _, name := range groups[i].names {
			if f := cmd.Flags().Lookup(name); f != nil {
				grouped[name] = true
				groups[i].add(f)
			}
		}
	}
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if !grouped[f.Name] {
			rest.add(f)
		}
	})
	for _, name := range []string{"target", "database"} {
		if f := cmd.Flags().Lookup(name); f != nil {
			rest.add(f)
		}
	}
	return slices.DeleteFunc(groups, func(g flagGroup) bool { return len(g.flags) == 0 })
}

// topicsOf returns the help topics that explain more flags of cmd, with redis-cli's if it has them.
func topicsOf(cmd *cobra.Command) (topics []string) {
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if t := flags.Topic(f); t != "" && !f.Hidden && !slices.Contains(topics, "meowdis help "+t) {
			topics = append(topics, "meowdis help "+t)
		}
	})
	return topics
}

// topicFlags returns the flags that a help topic explains: exec or copy has each of them.
func topicFlags(topic *cobra.Command) (found []*pflag.Flag) {
	for _, verb := range topic.Root().Commands() {
		if verb.Name() != "exec" && verb.Name() != "copy" || len(found) > 0 {
			continue
		}
		verb.Flags().VisitAll(func(f *pflag.Flag) {
			if flags.Topic(f) == topic.Name() && !f.Hidden {
				found = append(found, f)
			}
		})
	}
	return found
}

func (g *flagGroup) add(f *pflag.Flag) {
	if !f.Hidden && f.Deprecated == "" && flags.Topic(f) == "" {
		g.flags = append(g.flags, f)
	}
}

// write writes the flags with their descriptions, or only their names if the group has a title of its own.
func (g *flagGroup) write(b *strings.Builder) {
	if g.title == "Flags" {
		b.WriteString("Flags:\n")
		writeFlags(b, g.flags)
		return
	}
	const column = 12
	var heads []string
	for _, f := range g.flags {
		heads = append(heads, strings.TrimSpace(flagHead(f)))
	}
	text := wrapped(strings.Join(heads, " "), helpWidth-column, strings.Repeat(" ", column))
	fmt.Fprintf(b, "%-*s%s\n", column, g.title+":", text)
}

// flagColumn limits the column of the descriptions. A longer flag has its description on the next line.
const flagColumn = 28

// writeFlags writes one or more lines for each flag.
func writeFlags(b *strings.Builder, flags []*pflag.Flag) {
	column := 0
	for _, f := range flags {
		if w := utf8.RuneCountInString(flagHead(f)) + 2; w <= flagColumn {
			column = max(column, w)
		}
	}
	if column == 0 {
		column = flagColumn
	}
	indent := strings.Repeat(" ", column)
	for _, f := range flags {
		head := flagHead(f)
		text := wrapped(flagUsage(f), helpWidth-column, indent)
		if n := column - utf8.RuneCountInString(head); n >= 2 {
			b.WriteString(head + strings.Repeat(" ", n) + text + "\n")
		} else {
			b.WriteString(head + "\n" + indent + text + "\n")
		}
	}
}

// flagHead returns a flag with its value, as a user types it.
func flagHead(f *pflag.Flag) string {
	head := "      --" + f.Name
	if f.Shorthand != "" {
		head = "  -" + f.Shorthand + ", --" + f.Name
	}
	if value, _ := pflag.UnquoteUsage(f); value != "" {
		head += " " + value
	}
	return head
}

// flagUsage returns the description of a flag, with its default unless the text has it.
func flagUsage(f *pflag.Flag) string {
	_, usage := pflag.UnquoteUsage(f)
	switch f.DefValue {
	case "", "false", "0", "[]":
		return usage
	}
	if strings.Contains(usage, "(default") {
		return usage
	}
	return usage + " (default " + f.DefValue + ")"
}

// wrapped breaks text into lines of width characters. Lines after the first begin with indent.
func wrapped(text string, width int, indent string) string {
	var b strings.Builder
	at := 0
	for i, word := range strings.Fields(text) {
		n := utf8.RuneCountInString(word)
		switch {
		case i == 0:
		case at+1+n > width:
			b.WriteString("\n" + indent)
			at = 0
		default:
			b.WriteString(" ")
			at++
		}
		b.WriteString(word)
		at += n
	}
	return b.String()
}
