package cmd

import (
	"context"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/meowdis/meowdis/commands"
	"github.com/meowdis/meowdis/local"
	"github.com/meowdis/meowdis/resp"
	"github.com/meowdis/meowdis/store"
	"github.com/meowdis/meowdis/translator"
)

// completeCommand completes the name of one of our commands, and its subcommand's.
func completeCommand(_ *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
	return completeNames(commands.Ours, args, typed), cobra.ShellCompDirectiveNoFileComp
}

// completeNames completes the name of a command of the table, and its subcommand's.
func completeNames(t *commands.Table, args []string, typed string) []string {
	var found []string
	prefix := strings.ToUpper(typed)
	for _, c := range t.All() {
		name, sub, isSub := strings.Cut(c.Name, " ")
		switch {
		case len(args) == 0 && !isSub && strings.HasPrefix(name, prefix):
			found = append(found, inCaseOf(typed, name)+"\t"+c.Summary)
		case len(args) == 1 && isSub && strings.EqualFold(args[0], name) && strings.HasPrefix(sub, prefix):
			found = append(found, inCaseOf(typed, sub)+"\t"+c.Summary)
		}
	}
	return found
}

// commands is the table of the target's commands, ours when that cannot be had.
func (o *targetOptions) commands(ctx context.Context, s *streams) *commands.Table {
	t, err := o.resolve(s.getenv)
	if err != nil || t.url == nil {
		return commands.Ours
	}
	c, err := o.connectTo(ctx, t, local.Options{}, false)
	if err != nil {
		return commands.Ours
	}
	defer c.close() // a failure changes no completion
	return c.commands(ctx)
}

// inCaseOf writes an upper-case word in the case of what was typed.
func inCaseOf(typed, word string) string {
	if typed != "" && typed == strings.ToLower(typed) {
		return strings.ToLower(word)
	}
	return word
}

// completeCall completes commands, and their keys from the target.
func (o *targetOptions) completeCall(s *streams) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
		ctx, cancel := context.WithTimeout(cmd.Context(), keyPatience)
		defer cancel()
		if !isKey(args, typed) {
			return completeNames(o.commands(ctx, s), args, typed), cobra.ShellCompDirectiveNoFileComp
		}
		return o.keys(ctx, s, typed), cobra.ShellCompDirectiveNoFileComp
	}
}

// completeKey completes the key that is the only argument, or the first.
func (o *targetOptions) completeKey(s *streams) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		ctx, cancel := context.WithTimeout(cmd.Context(), keyPatience)
		defer cancel()
		return o.keys(ctx, s, typed), cobra.ShellCompDirectiveNoFileComp
	}
}

// isKey reports whether the word behind args is a key of the command.
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
	for _, ref := range command.KeysOf(words) {
		if ref.Pos == len(args) {
			return true
		}
	}
	return false
}

// How long somebody who completes a key waits, and for how many; a server looks
// at so many keys for it.
const (
	keyPatience = 2 * time.Second
	keysShown   = 100
	keysScanned = "2000"
)

// keys are keys of the target that begin with prefix, as far as a shell can have
// them. A target that fails has none.
func (o *targetOptions) keys(ctx context.Context, s *streams, prefix string) []string {
	t, err := o.resolve(s.getenv)
	if err != nil || t.path == local.Memory {
		return nil
	}
	ask := o.scanKeys
	if t.url == nil {
		ask = o.indexedKeys
	}
	var found []string
	for _, key := range ask(ctx, t, prefix) {
		if text := string(key); utf8.Valid(key) && !strings.ContainsFunc(text, isHidden) && len(found) < keysShown {
			found = append(found, text)
		}
	}
	return found
}

// isHidden reports whether a letter has no place in what a shell offers.
func isHidden(r rune) bool { return !resp.Visible(r) }

// indexedKeys takes the first keys from the index of a file.
func (o *targetOptions) indexedKeys(ctx context.Context, t target, prefix string) (keys [][]byte) {
	file, err := local.Open(t.path, local.Options{ReadOnly: true, Alone: true})
	if err != nil {
		return nil
	}
	defer file.Close() // nothing was written
	env := translator.Env{Now: time.Now().UnixMilli(), DB: o.databaseOf(t)}
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

// scanKeys asks a server once.
func (o *targetOptions) scanKeys(ctx context.Context, t target, prefix string) (keys [][]byte) {
	c, err := o.connectTo(ctx, t, local.Options{}, false)
	if err != nil {
		return nil
	}
	defer c.close() // a failure changes no completion
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
