package cmd

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/meowdis/meowdis/resp"
	"github.com/meowdis/meowdis/spelling"
	"github.com/meowdis/meowdis/translator"
)

// commandNames lists the first words of the commands.
func commandNames() []string {
	var names []string
	for _, c := range translator.Commands() {
		if !strings.Contains(c.Name, " ") {
			names = append(names, c.Name)
		}
	}
	return names
}

// likelyCommands are the commands that an unknown one was probably meant to be:
// those like its name, or like its subcommand.
func likelyCommands(args [][]byte) []string {
	name := strings.ToUpper(string(args[0]))
	if translator.Lookup(name) == nil {
		return spelling.Nearest(name, commandNames())
	}
	if len(args) < 2 || translator.Lookup(name+" "+string(args[1])) != nil {
		return nil
	}
	var subs []string
	for _, c := range translator.Commands() {
		if parent, sub, ok := strings.Cut(c.Name, " "); ok && parent == name {
			subs = append(subs, sub)
		}
	}
	found := spelling.Nearest(string(args[1]), subs)
	for i := range found {
		found[i] = name + " " + found[i]
	}
	return found
}

// suggest says on w what an unknown command was probably meant to be.
func suggest(w io.Writer, args [][]byte, v resp.Value) {
	if !v.IsError() || !strings.HasPrefix(string(v.Str), "ERR unknown ") && !strings.HasPrefix(string(v.Str), "READONLY ") {
		return
	}
	if question := spelling.Question(likelyCommands(args)); question != "" {
		fmt.Fprintf(w, "meowdis:%s\n", question)
	}
}

// unknownVerb names what was probably meant by an argument that is no verb of cmd.
func unknownVerb(cmd *cobra.Command, args []string) error {
	msg := fmt.Sprintf("there is no verb %q", args[0])
	if cmd.HasParent() {
		msg = fmt.Sprintf("%s has no verb %q", cmd.CommandPath(), args[0])
	} else if translator.Lookup(args[0]) != nil {
		return usagef("%s; to run the Redis command: meowdis exec %s", msg, commandLine(command(args)))
	}
	var verbs []string
	for _, c := range cmd.Commands() {
		if slices.Contains(c.SuggestFor, args[0]) {
			return usagef("%s; it is here: meowdis %s", msg, c.Name())
		}
		if c.IsAvailableCommand() || c.IsAdditionalHelpTopicCommand() {
			verbs = append(verbs, c.Name())
		}
	}
	if near := spelling.Nearest(args[0], verbs); len(near) > 0 {
		return usagef("%s; did you mean %s?", msg, strings.Join(near, " or "))
	}
	if near := spelling.Nearest(args[0], commandNames()); len(near) > 0 && !cmd.HasParent() {
		return usagef("%s; to run a Redis command: meowdis exec %s", msg, near[0])
	}
	return usagef("%s", msg)
}
