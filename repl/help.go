package repl

import (
	"fmt"
	"slices"
	"strings"

	"github.com/meowdis/meowdis/translator"
)

// help is the text for HELP and its arguments.
func help(words []string) string {
	if len(words) == 0 {
		return generalHelp()
	}
	if group, ok := strings.CutPrefix(words[0], "@"); ok {
		return groupHelp(strings.ToLower(group))
	}
	own := colonNamed(words[0])
	if own == nil && translator.Lookup(words[0]) == nil {
		own = colonNamed(":" + words[0])
	}
	if own != nil {
		return fmt.Sprintf("\n  %s\n  summary: %s\n\n", strings.TrimSpace(":"+own.name+" "+own.syntax), own.summary)
	}
	name := strings.ToUpper(words[0])
	if len(words) > 1 {
		name += " " + strings.ToUpper(words[1])
	}
	var b strings.Builder
	for _, c := range translator.Commands() {
		if c.Name == name || strings.HasPrefix(c.Name, name+" ") {
			fmt.Fprintf(&b, "\n  %s\n  summary: %s\n  since: %s\n  group: %s\n", usage(c), c.Summary, c.Since, c.Group)
		}
	}
	if b.Len() == 0 {
		return fmt.Sprintf("There is no command %s. HELP shows where to look.\n", name)
	}
	return b.String() + "\n"
}

func usage(c *translator.Command) string { return strings.TrimSpace(c.Name + " " + c.Syntax) }

func generalHelp() string {
	var b strings.Builder
	line := func(left, right string) { fmt.Fprintf(&b, "%-28s %s\n", left, right) }
	line("HELP COMMAND", "What a command does, and its arguments")
	line("HELP @GROUP", "The commands of a group: @"+strings.Join(groups(), " @"))
	line("5 COMMAND", "Runs a command five times")
	line("COMMAND | less", "Gives the reply to a shell command; jq gets JSON")
	line("COMMAND > FILE, >> FILE", "Writes the reply into a file, or behind it")
	line(`COMMAND \`, "Goes on in the next line, as an open quote does")
	b.WriteByte('\n')
	for _, c := range colons {
		line(strings.TrimSpace(":"+c.name+" "+c.syntax), c.summary)
	}
	b.WriteByte('\n')
	for _, k := range bindings {
		line(k.keys, k.does)
	}
	return b.String()
}

// groups lists the groups of the table, in its order.
func groups() []string {
	var names []string
	for _, c := range translator.Commands() {
		if !slices.Contains(names, c.Group) {
			names = append(names, c.Group)
		}
	}
	return names
}

func groupHelp(group string) string {
	var b strings.Builder
	for _, c := range translator.Commands() {
		if c.Group == group {
			fmt.Fprintf(&b, "\n  %s\n  summary: %s\n", usage(c), c.Summary)
		}
	}
	if b.Len() == 0 {
		return fmt.Sprintf("There is no group @%s. The groups are @%s.\n", group, strings.Join(groups(), " @"))
	}
	return b.String() + "\n"
}
