package cmd

import (
	"fmt"
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/meowdis/meowdis/local"
	"github.com/meowdis/meowdis/store/schema"
	"github.com/meowdis/meowdis/translator"
)

// version is set by the release's linker flags. Other builds read the module version.
var version = ""

func newVersion(s *streams) *cobra.Command {
	asJSON := false
	cmd := &cobra.Command{
		Use:     "version [FLAGS]",
		GroupID: groupSetUp,
		Short:   "Print the version of meowdis, of its files and of SQLite",
		Args:    usageArgs(cobra.NoArgs),
		RunE: func(*cobra.Command, []string) error {
			if asJSON {
				return printJSON(s.out, versions{versionName(), schema.Version, local.SQLiteVersion, translator.RedisVersion})
			}
			_, err := fmt.Fprintf(s.out, "meowdis %s\nschema %d\nSQLite %s\n", versionName(), schema.Version, local.SQLiteVersion)
			return err
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

// versions defines the JSON output of version.
type versions struct {
	Meowdis string `json:"meowdis"`
	Schema  int    `json:"schema"` // of files
	SQLite  string `json:"sqlite"`
	Redis   string `json:"redis"` // the Redis version whose replies we give
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
