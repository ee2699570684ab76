package cmd

import (
	"encoding/json"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/meowdis/meowdis/profile"
)

const profilesHelp = `A profile is a name for a target: a file or a URL, with its token and with how
careful to be there. Wherever a verb takes a target, @NAME is the profile, and so
is NAME when no file is called that; --profile NAME, MEOWDIS_PROFILE and "meowdis
profile use NAME" choose one, too.

Profiles are in config.toml, whose place "meowdis paths" prints:

  profile = "dev"              # the one in use

  [profiles.dev]
  db = "/home/me/dev.sqlite"
  confirm = "none"

  [profiles.prod]
  url = "https://example.com"  # or redis://, rediss://, unix://
  keyring = true               # the token is in the system's keyring; else
  # token_env = "PROD_TOKEN"   # the variable it is in, or
  # token = "…"                # the token itself
  database = 0
  confirm = "name"
  read_only = false
  color = "red"                # of the name in the prompt

confirm says what to do about commands that destroy much at once, or change the
server (FLUSHALL, FLUSHDB, SWAPDB, DEL of 10 keys and more, CONFIG SET, SHUTDOWN,
…), and about copy, restore, import, vacuum, migrate and doctor --fix, which write by
themselves: "none" runs them, "yes" asks for a y, "name" asks for the name of the
profile. A file that is not there yet is made without a question.
Where nobody can be asked, in scripts and pipes, --yes lets them run. Without
confirm it is "yes"; a target that is no profile is not asked about.

read_only, like --read-only, refuses commands that write before they are sent,
and those that meowdis does not know. A file is then opened for reading only.

A token is kept in the system's keyring where there is one, else in config.toml,
which only you can read. MEOWDIS_KEYRING=off keeps it out of the keyring.`

func newProfile(s *streams) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "profile",
		GroupID: groupSetUp,
		Short:   "Name targets, with their tokens and how careful to be there",
		Long:    profilesHelp,
		Example: `  meowdis profile add dev --db dev.sqlite --confirm none
  meowdis profile add prod --url https://example.com --confirm name --color red
  meowdis profile use dev
  meowdis exec --profile prod DBSIZE`,
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
			config, err := profile.Load(configFile())
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
		Short:             "Make a profile the target when nothing else is said",
		Example:           "  meowdis profile use dev\n  meowdis profile use --none",
		Args:              usageArgs(cobra.MaximumNArgs(1)),
		ValidArgsFunction: completeProfiles,
		RunE: func(_ *cobra.Command, args []string) error {
			if none != (len(args) == 0) {
				return usagef("give the NAME of a profile, or --none")
			}
			config, err := profile.Load(configFile())
			if err != nil {
				return err
			}
			config.InUse = ""
			if !none {
				if _, err := config.Get(args[0]); err != nil {
					return usageError{err}
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
		ValidArgsFunction: completeProfiles,
		RunE: func(_ *cobra.Command, args []string) error {
			config, err := profile.Load(configFile())
			if err != nil {
				return err
			}
			name := config.InUse
			if len(args) > 0 {
				name = args[0]
			} else if name == "" {
				return usagef("no profile is in use: give the NAME of one")
			}
			if _, err := config.Get(name); err != nil {
				return usageError{err}
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
		Short:             "Forget a profile and its token; the target itself is left alone",
		Args:              usageArgs(cobra.ExactArgs(1)),
		ValidArgsFunction: completeProfiles,
		RunE: func(_ *cobra.Command, args []string) error {
			config, err := profile.Load(configFile())
			if err != nil {
				return err
			}
			p, err := config.Get(args[0])
			if err != nil {
				return usageError{err}
			}
			if p.Keyring && s.getenv("MEOWDIS_KEYRING") != "off" {
				if err := profile.Forget(args[0]); err != nil {
					return fmt.Errorf("%w; MEOWDIS_KEYRING=off removes the profile and leaves the keyring alone", err)
				}
			}
			config.Remove(args[0])
			return config.Save()
		},
	}
}

// shownProfile is a profile as it may be seen.
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
		shown.URL = shownURL(p.URL)
	}
	switch {
	case p.Token != "":
		shown.Token = "in config.toml"
	case p.TokenEnv != "":
		shown.Token = "in $" + p.TokenEnv
	case p.Keyring:
		shown.Token = "in the keyring"
	}
	return shown
}

func (p shownProfile) target() string { return firstOf(p.DB, p.URL) }

func (p shownProfile) print(w io.Writer) error {
	_, err := fmt.Fprintf(w, "name       %s\ntarget     %s\ntoken      %s\ndatabase   %d\nconfirm    %s\nread-only  %s\ncolor      %s\nin use     %s\n",
		p.Name, p.target(), p.Token, p.Database, p.Confirm, yesNo(p.ReadOnly), firstOf(p.Color, "none"), yesNo(p.InUse))
	return err
}

func yesNo(yes bool) string {
	if yes {
		return "yes"
	}
	return "no"
}

// printJSON writes v for people and programs.
func printJSON(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(v)
}
