package cmd

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
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

Run commands       exec  repl  serve  mcp  lambda
Move keys          copy  diff  dump  restore  import  export
Look inside        inspect  keys  scan  peek  stats  bigkeys  explain  status
                   health  latency  watch  monitor  subscribe  psubscribe
Maintain files     doctor  backup  vacuum  migrate
Set up             profile  tenants  worker  completion  man  paths  version

Commands go to --db FILE, --url URL or --profile NAME, else to MEOWDIS_DB or
MEOWDIS_URL, else to the default file; "meowdis status" shows which.

meowdis VERB --help    help for a verb, with examples and flags
meowdis help verbs     all verbs, one per line
meowdis help ZADD      help for a Redis command
meowdis help TOPIC     targets profiles formats environment exit-codes agents
`

// showHelp prints the help of a verb or a topic: a summary, the usage line, examples, the details, and the flags.
func showHelp(cmd *cobra.Command, _ []string) {
	w := cmd.OutOrStdout()
	if !cmd.HasParent() {
		io.WriteString(w, overview)
		return
	}
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
	for _, g := range groupsOf(cmd) {
		fmt.Fprintf(&b, "\n%s:\n", g.title)
		writeFlags(&b, g.flags)
		if g.note != "" {
			b.WriteString(wrapped(g.note, helpWidth, "") + "\n")
		}
	}
	io.WriteString(w, b.String())
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
	mark  string   // the verb has the group if it has this flag
	names []string // in the order of the help
	note  string   // printed after the flags

	flags []*pflag.Flag // the flags of names that the verb has
}

// commonGroups returns the groups of flags that many verbs have.
func commonGroups(cmd *cobra.Command) []flagGroup {
	return []flagGroup{
		{title: "Printing replies", mark: "output", names: []string{
			"output", "json", "csv", "raw", "no-raw", "header", "quoted", "escape", "color", "delimiter", "end", "resp2", "resp3"}},
		{title: "Target", mark: "env-file", note: targetNote(cmd), names: []string{
			"db", "url", "token", "profile", "database", "read-only", "verbose", "full", "env-file", "storage-url", "storage-token", "storage-cacert"}},
		{title: "Servers", mark: "cacert", names: []string{"timeout", "cacert", "cert", "key", "sni", "insecure"}},
	}
}

// targetNote says which target is used without these flags.
func targetNote(cmd *cobra.Command) string {
	note := ""
	files := cmd.Flags().Lookup("url") == nil
	if strings.Contains(cmd.Use, "TARGET") {
		note = "TARGET is a file, a URL or @NAME of a profile, instead of these flags. "
		if files {
			note = "TARGET is a file or @NAME of a profile, instead of these flags. "
		}
	}
	if files {
		return note + `The default is MEOWDIS_DB, or else the default file; this verb does not work on servers. See "meowdis help targets".`
	}
	return note + `The default is MEOWDIS_DB, MEOWDIS_URL or MEOWDIS_PROFILE, or else the default file: see "meowdis help targets".`
}

// groupsOf returns the groups of cmd's flags that are not empty.
func groupsOf(cmd *cobra.Command) []flagGroup {
	cmd.InitDefaultHelpFlag()
	var groups []flagGroup
	if cmd.Name() == "serve" {
		groups = serveGroups()
	}
	rest := len(groups)
	groups = append(append(groups, flagGroup{title: "Flags"}), commonGroups(cmd)...)
	grouped := map[string]bool{}
	for i := range groups {
		g := &groups[i]
		if g.mark != "" && cmd.Flags().Lookup(g.mark) == nil {
			continue
		}
		for _, name := range g.names {
			if f := cmd.Flags().Lookup(name); f != nil && !grouped[name] {
				grouped[name] = true
				g.add(f)
			}
		}
	}
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if !grouped[f.Name] {
			groups[rest].add(f)
		}
	})
	return slices.DeleteFunc(groups, func(g flagGroup) bool { return len(g.flags) == 0 })
}

func (g *flagGroup) add(f *pflag.Flag) {
	if !f.Hidden && f.Deprecated == "" {
		g.flags = append(g.flags, f)
	}
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
