package targets

import (
	"cmp"
	"strings"

	"github.com/spf13/cobra"

	"github.com/meowdis/meowdis/cmd/internal/profile"
)

// CompleteProfiles completes the name of a profile.
func CompleteProfiles(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	config, err := profile.Load(ConfigFile())
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	var found []string
	for _, name := range config.Names() {
		p := config.Profiles[name]
		found = append(found, name+"\t"+cmp.Or(p.DB, ShownURL(p.URL)))
	}
	return found, cobra.ShellCompDirectiveNoFileComp
}

// CompleteTarget completes the name of a target: a profile or a file.
func CompleteTarget(cmd *cobra.Command, _ []string, typed string) ([]string, cobra.ShellCompDirective) {
	return CompleteNames(1)(cmd, nil, typed)
}

// CompleteNames completes up to most arguments that name targets: profiles, and files, whose names do not begin with
// @.
func CompleteNames(most int) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
		if len(args) >= most {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		found, _ := CompleteProfiles(cmd, args, typed)
		for i := range found {
			found[i] = "@" + found[i]
		}
		if strings.HasPrefix(typed, "@") {
			return found, cobra.ShellCompDirectiveNoFileComp
		}
		return found, cobra.ShellCompDirectiveDefault
	}
}
