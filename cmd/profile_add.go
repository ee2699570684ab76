package cmd

import (
	"fmt"
	"io"
	"net/url"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/meowdis/meowdis/local"
	"github.com/meowdis/meowdis/profile"
)

// profileAddOptions are the flags and the argument of profile add.
type profileAddOptions struct {
	name       string
	settings   profile.Profile
	confirm    string
	tokenStdin bool
}

func newProfileAdd(s *streams) *cobra.Command {
	o := &profileAddOptions{}
	cmd := &cobra.Command{
		Use:   "add NAME (--db FILE | --url URL) [FLAGS]",
		Short: "Name a target",
		Long: `Names a file or a URL. The token of a REST endpoint, or the password of a Redis
server, is asked for on a terminal; a password in the URL is kept as one that was
asked for. It goes into the system's keyring where there is one.`,
		Example: `  meowdis profile add dev --db dev.sqlite --confirm none
  meowdis profile add prod --url https://example.com --confirm name --color red
  meowdis profile add cache --url rediss://me@example.com:6380 --token-stdin < secret
  meowdis profile add ci --url https://example.com --token-env CI_TOKEN --read-only`,
		Args: usageArgs(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := checkDatabase(cmd.Flags(), "database", o.settings.Database); err != nil {
				return err
			}
			if o.settings.DB != "" {
				if err := (target{}).hasDatabase(cmd.Flags(), "database", o.settings.Database); err != nil {
					return err
				}
			}
			o.name = args[0]
			return o.run(s)
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.settings.DB, "db", "", "SQLite `FILE`")
	f.StringVar(&o.settings.URL, "url", "", "`URL` of a REST endpoint or a Redis server")
	f.BoolVar(&o.tokenStdin, "token-stdin", false, "read the token from stdin")
	f.StringVar(&o.settings.TokenEnv, "token-env", "", "take the token from the variable `VAR`, each time it is needed")
	f.IntVarP(&o.settings.Database, "database", "n", 0, "database `NUMBER` to start in")
	f.StringVar(&o.confirm, "confirm", "yes", "what to ask before a dangerous command: `none|yes|name`")
	f.BoolVar(&o.settings.ReadOnly, "read-only", false, "refuse commands that write")
	f.StringVar(&o.settings.Color, "color", "", "`COLOR` of the name in the prompt: "+strings.Join(profile.Colors, ", "))
	addTLSFlags(cmd, &o.settings.TLS)
	cmd.MarkFlagFilename("db", "sqlite", "db")
	cmd.RegisterFlagCompletionFunc("url", cobra.NoFileCompletions)
	cmd.RegisterFlagCompletionFunc("token-env", cobra.NoFileCompletions)
	cmd.RegisterFlagCompletionFunc("confirm", cobra.FixedCompletions([]string{"none", "yes", "name"}, cobra.ShellCompDirectiveNoFileComp))
	cmd.RegisterFlagCompletionFunc("color", cobra.FixedCompletions(profile.Colors, cobra.ShellCompDirectiveNoFileComp))
	return cmd
}

func (o *profileAddOptions) run(s *streams) error {
	p := &o.settings
	p.Confirm = profile.Confirm(o.confirm)
	token, err := o.target()
	if err != nil {
		return err
	}
	config, err := profile.Load(configFile())
	if err != nil {
		return err
	}
	// What is wrong with it is said before anybody types a token.
	if err := config.Add(o.name, *p); err != nil {
		return usageError{err}
	}
	if token == "" && p.URL != "" {
		if token, err = o.token(s); err != nil {
			return err
		}
	}
	where := ""
	switch {
	case token != "":
		where = o.keep(s, token)
	case p.URL != "" && p.TokenEnv == "" && s.inTerminal:
		where = "No token was stored."
	case p.URL != "" && p.TokenEnv == "":
		where = "No token was stored, since nobody could be asked: --token-stdin reads one, --token-env names a variable."
	}
	config.Profiles[o.name] = *p
	if err := config.Save(); err != nil || where == "" {
		return err
	}
	_, err = fmt.Fprintln(s.err, where)
	return err
}

// target checks where the profile leads, and takes the password out of a URL.
func (o *profileAddOptions) target() (password string, err error) {
	p := &o.settings
	switch {
	case o.tokenStdin && p.TokenEnv != "":
		return "", usagef("give only one of --token-stdin and --token-env")
	case p.DB != "" && (o.tokenStdin || p.TokenEnv != ""):
		return "", usagef("a file has no token")
	case p.DB == local.Memory:
		return "", usagef("%s forgets everything: a profile needs a file", local.Memory)
	case p.DB != "":
		p.DB, err = filepath.Abs(p.DB)
		return "", err
	case p.URL == "":
		return "", nil
	}
	if _, err := remoteTarget(p.URL, "", "--url"); err != nil {
		return "", err
	}
	for _, path := range []*string{&p.CACert, &p.Cert, &p.Key} {
		if *path != "" {
			if *path, err = filepath.Abs(*path); err != nil {
				return "", err
			}
		}
	}
	if err := (&reachOptions{tls: p.TLS}).to(target{}).TLS.Check(); err != nil {
		return "", usageError{err}
	}
	u, err := url.Parse(p.URL)
	if err != nil {
		return "", err
	}
	password, has := u.User.Password()
	if has && (o.tokenStdin || p.TokenEnv != "") {
		return "", usagef("the URL has a password already")
	}
	if has {
		u.User = url.User(u.User.Username())
		if u.User.Username() == "" {
			u.User = nil
		}
		p.URL = u.String()
	}
	return password, nil
}

// token reads the token from where the flags say, or asks.
func (o *profileAddOptions) token(s *streams) (string, error) {
	var text string
	var err error
	switch {
	case o.settings.TokenEnv != "":
		return "", nil
	case o.tokenStdin:
		var all []byte
		all, err = io.ReadAll(s.in)
		text = string(all)
	case s.inTerminal:
		text, err = s.askSecret("Token or password of " + shownURL(o.settings.URL) + " (Enter for none): ")
	}
	if err != nil {
		return "", fmt.Errorf("reading the token: %w", err)
	}
	token := strings.TrimSpace(text)
	if o.tokenStdin && token == "" {
		return "", usagef("there is no token on stdin")
	}
	return token, nil
}

// keep puts the token where it will be found again, and says where that is.
func (o *profileAddOptions) keep(s *streams, token string) (where string) {
	why := "MEOWDIS_KEYRING is off"
	if s.getenv("MEOWDIS_KEYRING") != "off" {
		err := profile.Keep(o.name, token)
		if err == nil {
			o.settings.Keyring = true
			return "The token is in the system's keyring."
		}
		why = "the system's keyring cannot be used: " + err.Error()
	}
	o.settings.Token = token
	return fmt.Sprintf("The token is in %s, which only you can read (%s).", configFile(), why)
}
