package repl

import (
	"fmt"
	"slices"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"github.com/meowdis/meowdis/internal/spelling"
	"github.com/meowdis/meowdis/keyspace/display"
	"github.com/meowdis/meowdis/redis/commands"
)

// Help returns the text for HELP with arguments: an overview, a command, a group of the
// table, or one of the prompt's own commands. Lines are at most columns wide; 0 means
// unlimited.
func Help(t *commands.Table, words []string, columns int) string {
	if len(words) == 0 {
		return generalHelp(t, columns)
	}
	if group, ok := strings.CutPrefix(words[0], "@"); ok {
		return groupHelp(t, strings.ToLower(group), columns)
	}
	own := colonNamed(words[0])
	if own == nil && t.Lookup(words[0]) == nil {
		own = colonNamed(":" + words[0])
	}
	if own != nil {
		return paragraph(columns, ":"+own.name+" "+own.syntax, "summary: "+own.summary) + "\n"
	}
	name := strings.ToUpper(words[0])
	if len(words) > 1 {
		name += " " + strings.ToUpper(words[1])
	}
	if c := t.Lookup(name); c != nil && len(c.Subcommands()) == 0 {
		return commandPage(t, c, columns)
	}
	var b strings.Builder
	for _, c := range t.All() {
		if c.Name == name || strings.HasPrefix(c.Name, name+" ") {
			b.WriteString(paragraph(columns, usage(c), "summary: "+c.Summary, "since: "+c.Since, "group: "+c.Group))
		}
	}
	if b.Len() == 0 {
		return fmt.Sprintf("unknown command %q.%s HELP lists the topics\n", name, spelling.Question(spelling.Nearest(words[0], commandNames(t))))
	}
	return b.String() + "\n"
}

// paragraph returns an empty line followed by texts of one or more lines.
func paragraph(columns int, texts ...string) string {
	const indent = 2
	var b strings.Builder
	for _, text := range texts {
		b.WriteString("\n" + display.Spaces(indent) + folded(strings.TrimSpace(text), indent, indent+4, columns))
	}
	return "\n" + strings.TrimPrefix(b.String(), "\n") + "\n"
}

// folded wraps text at columns. The first line starts in column at, the other lines in
// column next.
func folded(text string, at, next, columns int) string {
	if columns < next+8 || at+ansi.StringWidth(text) <= columns {
		return text
	}
	var b strings.Builder
	for text != "" {
		line, _, _ := strings.Cut(ansi.Wrap(text, columns-at, "|"), "\n")
		text = strings.TrimLeft(text[len(line):], " ")
		b.WriteString(strings.TrimRight(line, " "))
		if text != "" {
			b.WriteString("\n" + display.Spaces(next))
		}
		at = next
	}
	return b.String()
}

func usage(c *commands.Command) string { return strings.TrimSpace(c.Name + " " + c.Syntax) }

func generalHelp(t *commands.Table, columns int) string {
	var b strings.Builder
	line := func(left, right string) {
		const at = 29
		if columns >= 60 || columns == 0 {
			b.WriteString(display.Fit(left, at-1) + " " + folded(right, at, at, columns) + "\n")
			return
		}
		b.WriteString(left + "\n    " + folded(right, 4, 4, columns) + "\n")
	}
	line("HELP SET, HELP @list", "Describes a command, or lists a group")
	line("5 COMMAND", "Runs a command five times")
	line("COMMAND | less", "Pipes the reply to a shell command; jq gets JSON")
	line("COMMAND > FILE, >> FILE", "Writes the reply to a new file; >| replaces one")
	b.WriteByte('\n')
	for _, c := range colonCommands {
		if c.hidden {
			continue
		}
		line(strings.TrimSpace(":"+c.name+" "+c.syntax), c.summary)
	}
	return b.String()
}

// keysHelp returns the help for the editor's keys.
func keysHelp(columns int, vi bool, rc *inputrc) string {
	var b strings.Builder
	line := func(keys, does string) {
		const at = 20
		b.WriteString(display.Fit(keys, at-1) + " " + folded(does, at, at, columns) + "\n")
	}
	for _, k := range keyHelps {
		line(k.keys, k.does)
	}
	if vi {
		line("Escape", "vi's commands: motions, d c y with them, text objects, . u p ~ r R, / n, v for $EDITOR")
	} else {
		line("vi's keys", ":set editing-mode vi, or set editing-mode vi in ~/.inputrc")
	}
	if about := rc.summary(); about != "" {
		b.WriteString(folded(about, 0, 0, columns) + "\n")
	}
	return b.String()
}

// groups returns the groups of the table, in its order.
func groups(t *commands.Table) []string {
	var names []string
	for _, c := range t.All() {
		if !slices.Contains(names, c.Group) {
			names = append(names, c.Group)
		}
	}
	return names
}

func groupHelp(t *commands.Table, group string, columns int) string {
	var b strings.Builder
	for _, c := range t.All() {
		if c.Group == group {
			b.WriteString(paragraph(columns, usage(c), "summary: "+c.Summary))
		}
	}
	if b.Len() == 0 {
		return folded(fmt.Sprintf("unknown group %q. The groups are @%s", "@"+group, strings.Join(groups(t), " @")), 0, 0, columns) + "\n"
	}
	return b.String() + "\n"
}
