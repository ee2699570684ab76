package cmd

import (
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/meowdis/meowdis/internal/target"
)

// TestTargetsInHelp holds the verbs that have a target to one wording: their help
// has the same lines on targets, and their usage lines call an argument that is a
// target by one of its five names.
func TestTargetsInHelp(t *testing.T) {
	targets := []string{"TARGET", "SOURCE", "DESTINATION", "A", "B"}
	seen := 0
	for _, verb := range newRoot(&streams{}).Commands() {
		_, args, _ := strings.Cut(verb.Use, "[FLAGS] ")
		takes, _, _ := strings.Cut(strings.Trim(args, "[]"), " ")
		named := slices.Contains(targets, strings.TrimSuffix(takes, "]"))
		if verb.Flags().Lookup("db") == nil && !named {
			continue
		}
		seen++
		if !strings.Contains(verb.Long, target.Help) {
			t.Errorf("help %s: does not say how a target is given", verb.Name())
		}
		if named && !takesTargets(verb) {
			t.Errorf("%s: completes no targets, and its usage line is %q", verb.Name(), verb.Use)
		}
	}
	if seen < 20 {
		t.Errorf("only %d verbs have a target", seen)
	}
}

// takesTargets reports whether the first argument of a verb completes to files,
// as that of a target does.
func takesTargets(verb *cobra.Command) bool {
	if verb.ValidArgsFunction == nil {
		return false
	}
	_, files := verb.ValidArgsFunction(verb, nil, "")
	return files == cobra.ShellCompDirectiveDefault
}
