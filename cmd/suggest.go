package cmd

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/meowdis/meowdis/resp"
	"github.com/meowdis/meowdis/translator"
)

// nearest are the words that word was probably meant to be, in any case: those
// with the fewest changes, which are few for a short word.
func nearest(word string, words []string) []string {
	word = strings.ToLower(word)
	least := min(2, (len(word)+1)/3) + 1
	var found []string
	for _, w := range words {
		switch d := distance(word, strings.ToLower(w)); {
		case d < least:
			least, found = d, []string{w}
		case d == least && found != nil:
			found = append(found, w)
		}
	}
	return found
}

// distance is the number of letters to change, add, remove or swap with their
// neighbour that makes b of a.
func distance(a, b string) int {
	before, last := make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := range len(a) {
		row := make([]int, len(b)+1)
		row[0] = i + 1
		for j := range len(b) {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			row[j+1] = min(last[j]+cost, last[j+1]+1, row[j]+1)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				row[j+1] = min(row[j+1], before[j-1]+1)
			}
		}
		before, last = last, row
	}
	return last[len(b)]
}

// didYouMean is a question about words, with a space before it; "" for none.
func didYouMean(words []string) string {
	if len(words) == 0 {
		return ""
	}
	return " Did you mean " + strings.Join(words, " or ") + "?"
}

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
		return nearest(name, commandNames())
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
	found := nearest(string(args[1]), subs)
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
	if question := didYouMean(likelyCommands(args)); question != "" {
		fmt.Fprintf(w, "meowdis:%s\n", question)
	}
}

// badFlag is the error of a flag that cannot be read, with what was probably
// meant when there is no such flag.
func badFlag(cmd *cobra.Command, err error) error {
	name, unknown := strings.CutPrefix(err.Error(), "unknown flag: --")
	if !unknown {
		return usageError{err}
	}
	var flags []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if !f.Hidden {
			flags = append(flags, "--"+f.Name)
		}
	})
	if question := didYouMean(nearest("--"+name, flags)); question != "" {
		return usagef("%w.%s", err, question)
	}
	return usageError{err}
}

// unknownVerb names what was probably meant by an argument that is no verb of cmd.
func unknownVerb(cmd *cobra.Command, args []string) error {
	msg := fmt.Sprintf("there is no verb %q", args[0])
	if cmd.HasParent() {
		msg = fmt.Sprintf("%s has no verb %q", cmd.CommandPath(), args[0])
	} else if translator.Lookup(args[0]) != nil {
		return usagef("%s; to run the Redis command: meowdis exec %s", msg, strings.Join(args, " "))
	}
	var verbs []string
	for _, c := range cmd.Commands() {
		if c.IsAvailableCommand() || c.IsAdditionalHelpTopicCommand() {
			verbs = append(verbs, c.Name())
		}
	}
	if near := nearest(args[0], verbs); len(near) > 0 {
		return usagef("%s; did you mean %s?", msg, strings.Join(near, " or "))
	}
	if near := nearest(args[0], commandNames()); len(near) > 0 && !cmd.HasParent() {
		return usagef("%s; to run a Redis command: meowdis exec %s", msg, near[0])
	}
	return usagef("%s", msg)
}
