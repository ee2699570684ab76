package repl

import (
	"fmt"
	"slices"
	"strings"

	"github.com/meowdis/meowdis/translator"
)

// help is the text for HELP and its arguments.
func help(words [][]byte) string {
	if len(words) == 0 {
		return generalHelp()
	}
	if group, ok := strings.CutPrefix(string(words[0]), "@"); ok {
		return groupHelp(strings.ToLower(group))
	}
	name := strings.ToUpper(string(words[0]))
	if len(words) > 1 {
		name += " " + strings.ToUpper(string(words[1]))
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
	return `HELP COMMAND    what a command does, and its arguments
HELP @GROUP     the commands of a group: @` + strings.Join(groups(), " @") + `
TAB             completes commands, options and keys
5 COMMAND       runs a command five times
Ctrl-R          searches the history
Ctrl-C          clears the line, or interrupts a command
CLEAR           clears the screen
QUIT            ends, as Ctrl-D does
`
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
