// Package complete answers the shells at TAB: commands and the keys of a target (complete.go). It parses the lines of
// bash, zsh and fish itself (shells.go).
package complete

import (
	"context"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/meowdis/meowdis/cmd/internal/targets"
	"github.com/meowdis/meowdis/local"
	"github.com/meowdis/meowdis/redis/commands"
	"github.com/meowdis/meowdis/redis/resp"
	"github.com/meowdis/meowdis/repl"
)

// Commands completes the names of our commands and their subcommands.
func Commands(_ *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
	return completeNames(commands.Ours, args, typed), cobra.ShellCompDirectiveNoFileComp
}

// completeNames completes the names of the commands in t and their subcommands.
func completeNames(t *commands.Table, args []string, typed string) []string {
	var found []string
	prefix := strings.ToUpper(typed)
	for _, c := range t.All() {
		name, sub, isSub := strings.Cut(c.Name, " ")
		switch {
		case len(args) == 0 && !isSub && strings.HasPrefix(name, prefix):
			found = append(found, matchCase(typed, name)+"\t"+c.Summary)
		case len(args) == 1 && isSub && strings.EqualFold(args[0], name) && strings.HasPrefix(sub, prefix):
			found = append(found, matchCase(typed, sub)+"\t"+c.Summary)
		}
	}
	return found
}

// tableOfTarget returns the table of the target's commands, or ours if the target is a file or cannot be asked.
func tableOfTarget(ctx context.Context, getenv func(string) string, o *targets.Options) *commands.Table {
	t, err := o.Resolve(getenv)
	if err != nil || !t.IsServer() {
		return commands.Ours
	}
	c, err := o.Connect(ctx, t, local.Options{}, false)
	if err != nil {
		return commands.Ours
	}
	defer c.Close() // a failure changes no completion
	return c.Commands(ctx)
}

// matchCase returns an upper-case word in the case that the user types.
func matchCase(typed, word string) string {
	if typed != "" && typed == strings.ToLower(typed) {
		return strings.ToLower(word)
	}
	return word
}

// Call completes a command: its name, and its keys, fields, members and options from the target, within limit.
func Call(getenv func(string) string, o *targets.Options, limit time.Duration) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
		ctx, cancel := context.WithTimeout(cmd.Context(), limit)
		defer cancel()
		if len(args) == 0 {
			return completeNames(tableOfTarget(ctx, getenv, o), args, typed), cobra.ShellCompDirectiveNoFileComp
		}
		found := arguments(ctx, getenv, o, args, typed)
		if len(found) == 0 { // the target may have failed
			found = completeNames(commands.Ours, args, typed)
		}
		return found, cobra.ShellCompDirectiveNoFileComp
	}
}

// Key completes the key that is the only argument, or the first, within limit.
func Key(getenv func(string) string, o *targets.Options, limit time.Duration) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		ctx, cancel := context.WithTimeout(cmd.Context(), limit)
		defer cancel()
		return arguments(ctx, getenv, o, []string{"TYPE"}, typed), cobra.ShellCompDirectiveNoFileComp
	}
}

// AfterTarget completes the target, which may be the first argument, and with next the arguments after it. what
// names the verb's own argument.
func AfterTarget(o *targets.Options, what string, next cobra.CompletionFunc) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
		own, err := o.Split(args, targets.Own{What: what, Most: -1})
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		found, files := next(cmd, own, typed)
		if len(args) > 0 || len(found) > 0 || cmd.Flags().Changed("target") {
			return found, files
		}
		return targets.CompleteTarget(cmd, nil, typed)
	}
}

// keysShown limits the keys and elements that a completion offers.
const keysShown = 100

// arguments completes the argument of a command after args: a key of the type that the command takes, a part of a
// value, or an option. It returns nil if the target fails.
func arguments(ctx context.Context, getenv func(string) string, o *targets.Options, args []string, typed string) (found []string) {
	t, err := o.Resolve(getenv)
	if err != nil {
		return nil
	}
	c, err := o.Connect(ctx, t, local.Options{ReadOnly: t.Path != local.Memory, SingleConn: true}, false)
	if err != nil {
		return nil
	}
	defer c.Close() // a failure changes no completion
	asked := repl.Target{Session: c.Session, Commands: c.Commands(ctx)}
	asked.Keys, _ = targets.Plain(c.Session).(repl.KeyIndex)
	for _, offer := range repl.Offers(ctx, asked, args, typed) {
		if utf8.ValidString(offer.Value) && !strings.ContainsFunc(offer.Value, isHidden) && len(found) < keysShown {
			found = append(found, strings.TrimSuffix(offer.Value+"\t"+offer.About, "\t"))
		}
	}
	return found
}

// isHidden reports whether a shell cannot show a character.
func isHidden(r rune) bool { return !resp.Visible(r) }
