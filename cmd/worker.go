package cmd

import (
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/meowdis/meowdis/worker"
)

const workerHelp = `A Cloudflare Worker that serves Upstash's REST protocol: the same engine,
compiled to WebAssembly, on the SQLite of a Durable Object. You need no
machine of your own. "meowdis worker init DIR" writes it, and wrangler,
Cloudflare's tool, deploys it. README.md in DIR describes its secrets.`

func newWorker(s *streams) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "worker",
		GroupID: groupSetUp,
		Short:   "Write a Cloudflare Worker that serves Upstash's REST",
		Long:    workerHelp,
		Example: `  meowdis worker init cats && cd cats
  npx wrangler deploy
  npx wrangler secret put MEOWDIS_TOKEN`,
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return unknownVerb(cmd, args)
			}
			return cmd.Help()
		},
	}
	cmd.AddCommand(&cobra.Command{
		Use:     "init DIR",
		Short:   "Write the Worker into an empty or new directory",
		Example: "  meowdis worker init cats",
		Args:    usageArgs(cobra.ExactArgs(1)),
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return nil, cobra.ShellCompDirectiveFilterDirs
		},
		RunE: func(_ *cobra.Command, args []string) error {
			dir := filepath.Clean(args[0])
			if err := worker.Write(dir); err != nil {
				return err
			}
			_, err := fmt.Fprintf(s.screen, "%s is a Worker. See README.md in it; in short:\n  cd %s\n  npx wrangler deploy\n  npx wrangler secret put MEOWDIS_TOKEN\n", dir, dir)
			return err
		},
	})
	return cmd
}
