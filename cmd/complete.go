package cmd

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/meowdis/meowdis/translator"
)

// completeCommand completes the name of a Redis command, and its subcommand's.
func completeCommand(_ *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
	var found []string
	prefix := strings.ToUpper(typed)
	for _, c := range translator.Commands() {
		name, sub, isSub := strings.Cut(c.Name, " ")
		switch {
		case len(args) == 0 && !isSub && strings.HasPrefix(name, prefix):
			found = append(found, inCaseOf(typed, name)+"\t"+c.Summary)
		case len(args) == 1 && isSub && strings.EqualFold(args[0], name) && strings.HasPrefix(sub, prefix):
			found = append(found, inCaseOf(typed, sub)+"\t"+c.Summary)
		}
	}
	return found, cobra.ShellCompDirectiveNoFileComp
}

// inCaseOf writes an upper-case word in the case of what was typed.
func inCaseOf(typed, word string) string {
	if typed != "" && typed == strings.ToLower(typed) {
		return strings.ToLower(word)
	}
	return word
}
