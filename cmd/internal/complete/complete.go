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
	"github.com/meowdis/meowdis/store"
	"github.com/meowdis/meowdis/translator"
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

// Call completes a command: its name, and its keys, fields, members and options from the target.
func Call(getenv func(string) string, o *targets.Options) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
		ctx, cancel := context.WithTimeout(cmd.Context(), keyTimeout)
		defer cancel()
		if isKey(args, typed) {
			return keysWithPrefix(ctx, getenv, o, typed), cobra.ShellCompDirectiveNoFileComp
		}
		found := completeNames(tableOfTarget(ctx, getenv, o), args, typed)
		if len(found) == 0 && len(args) > 0 {
			found = elements(ctx, getenv, o, args, typed)
		}
		return found, cobra.ShellCompDirectiveNoFileComp
	}
}

// Key completes the key that is the only argument, or the first.
func Key(getenv func(string) string, o *targets.Options) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		ctx, cancel := context.WithTimeout(cmd.Context(), keyTimeout)
		defer cancel()
		return keysWithPrefix(ctx, getenv, o, typed), cobra.ShellCompDirectiveNoFileComp
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

// elements completes an argument of a command that names a part of a value, or an option.
func elements(ctx context.Context, getenv func(string) string, o *targets.Options, args []string, typed string) (found []string) {
	t, err := o.Resolve(getenv)
	if err != nil {
		return nil
	}
	c, err := o.Connect(ctx, t, local.Options{ReadOnly: t.Path != local.Memory, SingleConn: true}, false)
	if err != nil {
		return nil
	}
	defer c.Close() // a failure changes no completion
	for _, offer := range repl.Offers(ctx, repl.Target{Session: c.Session, Commands: c.Commands(ctx)}, args, typed) {
		if utf8.ValidString(offer.Value) && !strings.ContainsFunc(offer.Value, isHidden) && len(found) < keysShown {
			found = append(found, strings.TrimSuffix(offer.Value+"\t"+offer.About, "\t"))
		}
	}
	return found
}

// isKey reports whether the word after args is a key of the command.
func isKey(args []string, typed string) bool {
	if len(args) == 0 {
		return false
	}
	command := commands.Lookup(args[0])
	if len(args) > 1 {
		if sub := commands.Lookup(args[0] + " " + args[1]); sub != nil {
			command = sub
		}
	}
	if command == nil {
		return false
	}
	var words [][]byte
	for _, arg := range args {
		words = append(words, []byte(arg))
	}
	words = append(words, []byte(typed))
	for _, ref := range command.KeysSoFar(words) {
		if ref.Pos == len(args) {
			return true
		}
	}
	return false
}

// The time limit of a completion, the most keys that it offers, and the number of keys that a server scans for it.
const (
	keyTimeout  = 2 * time.Second
	keysShown   = 100
	keysScanned = "2000"
)

// keysWithPrefix returns keys of the target that begin with prefix and that a shell can show. It returns nil if the
// target fails.
func keysWithPrefix(ctx context.Context, getenv func(string) string, o *targets.Options, prefix string) []string {
	t, err := o.Resolve(getenv)
	if err != nil || t.Path == local.Memory {
		return nil
	}
	ask := scanKeys
	if t.URL == nil {
		ask = indexedKeys
	}
	var found []string
	for _, key := range ask(ctx, o, t, prefix) {
		if text := string(key); utf8.Valid(key) && !strings.ContainsFunc(text, isHidden) && len(found) < keysShown {
			found = append(found, text)
		}
	}
	return found
}

// isHidden reports whether a shell cannot show a character.
func isHidden(r rune) bool { return !resp.Visible(r) }

// indexedKeys returns the first matching keys from the index of a file.
func indexedKeys(ctx context.Context, o *targets.Options, t targets.Target, prefix string) (keys [][]byte) {
	options := local.Options{ReadOnly: true, SingleConn: true}
	file := local.NewImmutableReader(t.Path, options, func() (*local.Store, error) { return local.Open(t.Path, options) })
	defer file.Close() // nothing was written
	env := translator.Env{Now: time.Now().UnixMilli(), DB: o.DatabaseOf(t)}
	stmt := translator.KeysWithPrefix(env, []byte(prefix), keysShown)
	results, err := file.Apply(ctx, []store.Batch{{Stmts: []store.Stmt{stmt}, ReadOnly: true}})
	if err != nil {
		return nil
	}
	for _, row := range results[0].Rows[0] {
		keys = append(keys, row[0].Bytes())
	}
	return keys
}

// scanKeys returns the matching keys of one SCAN on a server.
func scanKeys(ctx context.Context, o *targets.Options, t targets.Target, prefix string) (keys [][]byte) {
	c, err := o.Connect(ctx, t, local.Options{}, false)
	if err != nil {
		return nil
	}
	defer c.Close() // a failure changes no completion
	pattern := strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`, `]`, `\]`).Replace(prefix) + "*"
	v, err := c.Do(ctx, []byte("SCAN"), []byte("0"), []byte("MATCH"), []byte(pattern), []byte("COUNT"), []byte(keysScanned))
	if err != nil || v.Kind != resp.Array || len(v.Elems) != 2 {
		return nil
	}
	for _, key := range v.Elems[1].Elems {
		keys = append(keys, key.Str)
	}
	return keys
}
