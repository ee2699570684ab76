package cmd

import (
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/meowdis/meowdis/cmd/internal/exit"
	"github.com/meowdis/meowdis/internal/spelling"
	"github.com/meowdis/meowdis/keyspace/display"
	"github.com/meowdis/meowdis/redis/commands"
	"github.com/meowdis/meowdis/redis/resp"
	"github.com/meowdis/meowdis/transfer/cmdfile"
)

// commandNames returns the first words of the commands.
func commandNames() []string {
	var names []string
	for _, c := range commands.All() {
		if !strings.Contains(c.Name, " ") {
			names = append(names, c.Name)
		}
	}
	return names
}

// likelyCommands returns the commands whose name or subcommand is similar to an unknown one.
func likelyCommands(args [][]byte) []string {
	name := strings.ToUpper(string(args[0]))
	if commands.Lookup(name) == nil {
		return spelling.Nearest(name, commandNames())
	}
	if len(args) < 2 || commands.Lookup(name+" "+string(args[1])) != nil {
		return nil
	}
	var subs []string
	for _, c := range commands.All() {
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

// suggest prints a hint about an error reply: a similar command or option, or another way.
func suggest(w io.Writer, args [][]byte, v resp.Value) {
	if !v.IsError() {
		return
	}
	text := string(v.Str)
	switch {
	case listens(args):
		fmt.Fprintf(w, "meowdis: a script cannot listen; to listen, run %s\n", cmdfile.Line(append([][]byte{[]byte("meowdis"), []byte("exec")}, args...)))
	case strings.HasPrefix(text, "ERR unknown "), strings.HasPrefix(text, "READONLY "):
		if whole := quotedWhole(args); whole != "" {
			fmt.Fprintf(w, "meowdis: Did you mean %s, without the quotes?\n", whole)
		} else if question := spelling.Question(likelyCommands(args)); question != "" {
			fmt.Fprintf(w, "meowdis:%s\n", question)
		}
	case strings.HasPrefix(text, "NOAUTH "):
		fmt.Fprintf(w, "meowdis: the server needs a password: %s\n", passwordFlags)
	case strings.HasSuffix(text, "needs a connection of its own and is not available here"):
		fmt.Fprintln(w, "meowdis: a file has no connections: use meowdis serve, or -t URL")
	case strings.HasPrefix(text, "ERR syntax error"):
		if question := spelling.Question(likelyTokens(args)); question != "" {
			fmt.Fprintf(w, "meowdis:%s\n", question)
		}
	}
}

// hintMisplacedFlag prints a hint if a flag of f was given after the command, which took it for an argument.
func hintMisplacedFlag(w io.Writer, f *pflag.FlagSet, args [][]byte, v resp.Value) {
	text := string(v.Str)
	if !v.IsError() || !strings.HasPrefix(text, "ERR wrong number of arguments") && !strings.HasPrefix(text, "ERR syntax error") {
		return
	}
	for _, arg := range args[1:] {
		name, isFlag := strings.CutPrefix(string(arg), "--")
		name, _, _ = strings.Cut(name, "=")
		if isFlag && f.Lookup(name) != nil {
			fmt.Fprintf(w, "meowdis: flags come before the command: --%s was an argument of %s\n", name, display.Clipped(string(args[0])))
			return
		}
	}
}

// quotedWhole returns a command line that was quoted as one word, or "".
func quotedWhole(args [][]byte) string {
	words, err := resp.SplitLine(string(args[0]))
	if len(args) != 1 || err != nil || len(words) < 2 || commands.Lookup(string(words[0])) == nil {
		return ""
	}
	return display.Clipped(string(args[0]))
}

// likelyTokens returns the words of the syntax that are similar to an argument. It begins with the last argument,
// because options come last.
func likelyTokens(args [][]byte) []string {
	cmd, _ := commands.Find(args)
	if cmd == nil {
		return nil
	}
	tokens := tokensOf(nil, cmd.SyntaxTree())
	for _, arg := range slices.Backward(args[1:]) {
		near := spelling.Nearest(string(arg), tokens)
		if len(near) > 0 && !strings.EqualFold(near[0], string(arg)) {
			return near
		}
	}
	return nil
}

// tokensOf adds the words of a syntax to tokens, without duplicates.
func tokensOf(tokens []string, args []commands.Argument) []string {
	for _, a := range args {
		if a.Token != "" && !slices.Contains(tokens, a.Token) {
			tokens = append(tokens, a.Token)
		}
		tokens = tokensOf(tokens, a.Arguments)
	}
	return tokens
}

// unknownVerb returns an error that suggests a verb or a command for an unknown verb.
func unknownVerb(cmd *cobra.Command, args []string) error {
	msg := fmt.Sprintf("unknown verb %q", args[0])
	if cmd.HasParent() {
		msg = fmt.Sprintf("%s has no verb %q", cmd.CommandPath(), args[0])
	} else if commands.Lookup(args[0]) != nil {
		return exit.Usagef("%s; to run the Redis command: meowdis exec %s", msg, cmdfile.Line(command(args)))
	} else if strings.Contains(args[0], "://") { // it may hold a password
		return exit.Usagef("a URL comes after a verb: meowdis repl URL, or meowdis inspect URL")
	} else if _, err := os.Stat(args[0]); err == nil {
		return exit.Usagef("a file comes after a verb: meowdis repl %[1]s, or meowdis inspect %[1]s", args[0])
	}
	var verbs []string
	for _, c := range cmd.Commands() {
		if slices.Contains(c.SuggestFor, args[0]) {
			return exit.Usagef("%s; use meowdis %s", msg, c.Name())
		}
		if c.IsAvailableCommand() || c.IsAdditionalHelpTopicCommand() || c.Name() == "help" { // cobra counts help as neither
			verbs = append(verbs, c.Name())
		}
	}
	if near := spelling.Nearest(args[0], verbs); len(near) > 0 {
		return exit.Usagef("%s; did you mean %s?", msg, strings.Join(near, " or "))
	}
	if near := spelling.Nearest(args[0], commandNames()); len(near) > 0 && !cmd.HasParent() {
		return exit.Usagef("%s; to run a Redis command: meowdis exec %s", msg, near[0])
	}
	return exit.Usagef("%s", msg)
}
