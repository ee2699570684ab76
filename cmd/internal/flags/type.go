package flags

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/meowdis/meowdis/cmd/internal/exit"
	"github.com/meowdis/meowdis/store/keytype"
)

// AddType adds --type, which Type reads. Completion and the error for an unknown type list the types.
func AddType(cmd *cobra.Command, label *string, usage string) {
	cmd.Flags().StringVar(label, "type", "", usage)
	cmd.RegisterFlagCompletionFunc("type", cobra.FixedCompletions(keytype.Labels(), cobra.ShellCompDirectiveNoFileComp))
}

// Type returns Redis's name of the type that --type names.
func Type(label string) (string, error) {
	if t, ok := keytype.Named(label); ok {
		return t.Name, nil
	}
	return "", exit.Usagef("--type %s: give one of %s", label, strings.Join(keytype.Labels(), ", "))
}
