package cmd

import (
	"cmp"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/meowdis/meowdis/cmd/internal/exit"
	"github.com/meowdis/meowdis/cmd/internal/profile"
	"github.com/meowdis/meowdis/cmd/internal/targets"
)

const profilesHelp = `A profile is a name for a target: a file or a URL, with its token and the
confirmations that it asks for. Give @NAME wherever a verb takes a target, or
NAME if no file has that name. MEOWDIS_PROFILE and "meowdis profile use NAME"
choose a profile, too.

Profiles are in config.toml, at the path that "meowdis paths" prints:

  profile = "dev"              # the one in use

  [profiles.dev]
  db = "/home/me/dev.sqlite"
  confirm = "none"

  [profiles.prod]
  url = "https://example.com"  # or redis://, rediss://, unix://
  keyring = true               # the token is in the system's keyring, or
  # token_env = "PROD_TOKEN"   # in this variable, or
  # token_command = "aws …"    # a command prints it, or
  # token = "…"                # here
  database = 0
  confirm = "name"
  read_only = false
  color = "red"                # of the name in the prompt

confirm applies to commands that destroy much at once or change the server
(FLUSHALL, FLUSHDB, SWAPDB, DEL of 10 keys and more, CONFIG SET, SHUTDOWN, …),
and to copy, restore, import, vacuum, migrate and doctor --fix. "none" runs
them, "yes" asks for a y, "name" asks for the name of the profile. The default
is "yes". Targets without a profile do not ask, and neither does a new file.
Scripts and pipes have no terminal to ask on: give --yes.

read_only, like --read-only, refuses commands that write, and commands that
meowdis does not know, before they are sent. A file is then opened for reading.

A token is stored in the system's keyring if there is one, else in config.toml,
which only you can read. MEOWDIS_KEYRING=off does not use the keyring.

token_command runs in a shell, for at most 30 s, and again when the token has
expired or is refused. It prints the token, or JSON with "token" (or "password",
"access_token", "accessToken"), "user" and "expires_in" or "expires_on".

config.toml also holds the key bindings and colours of inspect: "meowdis inspect
--keys" prints them.`

func newProfile(s *streams) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "profile",
		GroupID: groupSetUp,
		Short:   "Manage named targets: URL, token, confirmations",
		Long: `A profile is a name for a target, with its token and the confirmations that it
asks for: give @NAME wherever a verb takes a target. "meowdis help profiles"
shows the file that holds them.`,
		Example: `  meowdis profile add dev dev.sqlite --confirm none
  meowdis profile add prod https://example.com --confirm name
  meowdis profile use dev
  meowdis exec -t @prod DBSIZE`,
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return unknownVerb(cmd, args)
			}
			return cmd.Help()
		},
	}
	cmd.AddCommand(newProfileAdd(s), newProfileList(s), newProfileUse(s), newProfileShow(s), newProfileRemove(s))
	return cmd
}

func newProfileList(s *streams) *cobra.Command {
	asJSON := false
	cmd := &cobra.Command{
		Use:   "list [FLAGS]",
		Short: "List the profiles; * is the one in use",
		Args:  usageArgs(cobra.NoArgs),
		RunE: func(*cobra.Command, []string) error {
			config, err := profile.Load(targets.ConfigFile())
			if err != nil {
				return err
			}
			shown := []shownProfile{}
			for _, name := range config.Names() {
				shown = append(shown, showProfile(config, name))
			}
			if asJSON {
				return printJSON(s.out, shown)
			}
			for _, p := range shown {
				mark := " "
				if p.InUse {
					mark = "*"
				}
				if _, err := fmt.Fprintf(s.screen, "%s %s  %s\n", mark, s.painted(p.Color, fmt.Sprintf("%-12s", p.Name)), p.target()); err != nil {
					return err
				}
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

func newProfileUse(s *streams) *cobra.Command {
	none := false
	cmd := &cobra.Command{
		Use:               "use NAME|--none",
		Short:             "Make a profile the default target",
		Example:           "  meowdis profile use dev\n  meowdis profile use --none",
		Args:              usageArgs(cobra.MaximumNArgs(1)),
		ValidArgsFunction: targets.CompleteProfiles,
		RunE: func(_ *cobra.Command, args []string) error {
			if none != (len(args) == 0) {
				return exit.Usagef("give the NAME of a profile, or --none")
			}
			config, err := profile.Load(targets.ConfigFile())
			if err != nil {
				return err
			}
			config.InUse = ""
			if !none {
				if _, err := config.Get(args[0]); err != nil {
					return exit.Usage(err)
				}
				config.InUse = args[0]
			}
			return config.Save()
		},
	}
	cmd.Flags().BoolVar(&none, "none", false, "use no profile")
	return cmd
}

func newProfileShow(s *streams) *cobra.Command {
	asJSON := false
	cmd := &cobra.Command{
		Use:               "show [FLAGS] [NAME]",
		Short:             "Show a profile, or the one in use, without its token",
		Args:              usageArgs(cobra.MaximumNArgs(1)),
		ValidArgsFunction: targets.CompleteProfiles,
		RunE: func(_ *cobra.Command, args []string) error {
			config, err := profile.Load(targets.ConfigFile())
			if err != nil {
				return err
			}
			name := config.InUse
			if len(args) > 0 {
				name = args[0]
			} else if name == "" {
				return exit.Usagef("no profile is in use: give the NAME of one")
			}
			if _, err := config.Get(name); err != nil {
				return exit.Usage(err)
			}
			shown := showProfile(config, name)
			if asJSON {
				return printJSON(s.out, shown)
			}
			return shown.print(s.out)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

func newProfileRemove(s *streams) *cobra.Command {
	return &cobra.Command{
		Use:               "remove NAME",
		Short:             "Delete a profile and its token, but not the target",
		Args:              usageArgs(cobra.ExactArgs(1)),
		ValidArgsFunction: targets.CompleteProfiles,
		RunE: func(_ *cobra.Command, args []string) error {
			config, err := profile.Load(targets.ConfigFile())
			if err != nil {
				return err
			}
			p, err := config.Get(args[0])
			if err != nil {
				return exit.Usage(err)
			}
			if p.Keyring && s.getenv("MEOWDIS_KEYRING") != "off" {
				if err := profile.DeleteToken(args[0]); err != nil {
					return fmt.Errorf("%w; with MEOWDIS_KEYRING=off only the profile is removed", err)
				}
			}
			config.Remove(args[0])
			return config.Save()
		},
	}
}

// shownProfile defines the output of a profile, without its token.
type shownProfile struct {
	Name  string `json:"name"`
	InUse bool   `json:"in_use"`
	profile.Profile
	Token string `json:"token"`
}

func showProfile(config *profile.File, name string) shownProfile {
	p := config.Profiles[name]
	shown := shownProfile{Name: name, InUse: config.InUse == name, Profile: p, Token: "none"}
	shown.Confirm = p.Confirm.Level()
	if p.URL != "" {
		shown.URL = targets.ShownURL(p.URL)
	}
	switch {
	case p.Token != "":
		shown.Token = "in config.toml"
	case p.TokenEnv != "":
		shown.Token = "in $" + p.TokenEnv
	case p.TokenCommand != "":
		shown.Token = "from " + p.TokenCommand
	case p.Keyring:
		shown.Token = "in the keyring"
	}
	return shown
}

func (p shownProfile) target() string { return cmp.Or(p.DB, p.URL) }

func (p shownProfile) print(w io.Writer) error {
	_, err := fmt.Fprintf(w, "name       %s\ntarget     %s\ntoken      %s\ndatabase   %d\nconfirm    %s\nread-only  %s\ncolor      %s\nin use     %s\n",
		p.Name, p.target(), p.Token, p.Database, p.Confirm, yesNo(p.ReadOnly), cmp.Or(p.Color, "none"), yesNo(p.InUse))
	return err
}

func yesNo(yes bool) string {
	if yes {
		return "yes"
	}
	return "no"
}
