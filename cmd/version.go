package cmd

import (
	"fmt"
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/meowdis/meowdis/local"
	"github.com/meowdis/meowdis/schema"
)

// version is set by the release's linker flags; other builds know theirs from
// the module.
var version = ""

func newVersion(s *streams) *cobra.Command {
	return &cobra.Command{
		Use:     "version",
		GroupID: groupSetUp,
		Short:   "Print the version of meowdis, of its files and of SQLite",
		Args:    usageArgs(cobra.NoArgs),
		RunE: func(*cobra.Command, []string) error {
			_, err := fmt.Fprintf(s.out, "meowdis %s\nschema %d\nSQLite %s\n", versionName(), schema.Version, local.SQLiteVersion)
			return err
		},
	}
}

func versionName() string {
	if version != "" {
		return version
	}
	info, ok := debug.ReadBuildInfo()
	if !ok || info.Main.Version == "" {
		return "(unknown)"
	}
	return info.Main.Version
}
