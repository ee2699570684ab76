package cmd

import (
	"bytes"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/meowdis/meowdis/cmd/internal/exit"
	"github.com/meowdis/meowdis/cmd/internal/profile"
	"github.com/meowdis/meowdis/cmd/internal/targets"
	"github.com/meowdis/meowdis/local"
)

// profileAddOptions holds the flags and arguments of profile add.
type profileAddOptions struct {
	name, spec string
	settings   profile.Profile
	confirm    string
	tokenStdin bool
}

func newProfileAdd(s *streams) *cobra.Command {
	o := &profileAddOptions{}
	cmd := &cobra.Command{
		Use:   "add NAME TARGET [FLAGS]",
		Short: "Add a profile",
		Long: `Adds a profile for a file or a URL. On a terminal it asks for the token of a
REST endpoint, or the password of a Redis server. A password in the URL is
stored in the same way: in the system's keyring if there is one.`,
		Example: `  meowdis profile add dev dev.sqlite --confirm none
  meowdis profile add prod https://example.com --confirm name
  meowdis profile add cache rediss://me@host --token-stdin < secret
  meowdis profile add ci https://example.com --token-env CI_TOKEN`,
		Args:              usageArgs(cobra.RangeArgs(1, 2)),
		ValidArgsFunction: completeSecond,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := o.setTarget(args); err != nil {
				return err
			}
			if err := targets.CheckDatabase(cmd.Flags(), "database", o.settings.Database); err != nil {
				return err
			}
			if o.settings.DB != "" {
				if err := (targets.Target{}).HasDatabase(cmd.Flags(), "database", o.settings.Database); err != nil {
					return err
				}
			}
			o.name = args[0]
			return o.run(s)
		},
	}
	f := cmd.Flags()
	targets.AddTarget(cmd, &o.spec, "`TARGET`: a file or a URL")
	f.BoolVar(&o.tokenStdin, "token-stdin", false, "read the token from stdin")
	f.StringVar(&o.settings.TokenEnv, "token-env", "", "read the token from the variable `VAR`, each time it is needed")
	f.StringVar(&o.settings.TokenCommand, "token-command", "", "read the token from the output of `COMMAND`, again when it expires or is refused")
	f.IntVarP(&o.settings.Database, "database", "n", 0, "database `NUMBER` to start in")
	f.StringVar(&o.confirm, "confirm", "yes", "confirmation before a dangerous command: `none|yes|name`")
	f.BoolVar(&o.settings.ReadOnly, "read-only", false, "refuse commands that write")
	f.StringVar(&o.settings.Color, "color", "", "`COLOR` of the name in the prompt: "+strings.Join(profile.Colors, ", "))
	targets.AddTLSFlags(cmd, &o.settings.TLS)
	cmd.RegisterFlagCompletionFunc("token-env", cobra.NoFileCompletions)
	cmd.RegisterFlagCompletionFunc("token-command", cobra.NoFileCompletions)
	cmd.RegisterFlagCompletionFunc("confirm", cobra.FixedCompletions([]string{"none", "yes", "name"}, cobra.ShellCompDirectiveNoFileComp))
	cmd.RegisterFlagCompletionFunc("color", cobra.FixedCompletions(profile.Colors, cobra.ShellCompDirectiveNoFileComp))
	return cmd
}

// setTarget sets the file or the URL of the profile.
func (o *profileAddOptions) setTarget(args []string) error {
	switch {
	case len(args) == 2 && o.spec != "":
		return exit.Usagef("give one target: %s or -t", targets.ShownArg(args[1]))
	case len(args) == 2:
		o.spec = args[1]
	}
	if strings.Contains(o.spec, "://") {
		o.settings.URL = o.spec
	} else {
		o.settings.DB = o.spec
	}
	return nil
}

// completeSecond completes the target after the name of a new profile.
func completeSecond(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	if len(args) == 1 {
		return nil, cobra.ShellCompDirectiveDefault
	}
	return nil, cobra.ShellCompDirectiveNoFileComp
}

func (o *profileAddOptions) run(s *streams) error {
	p := &o.settings
	p.Confirm = profile.Confirm(o.confirm)
	token, err := o.target()
	if err != nil {
		return err
	}
	config, err := profile.Load(targets.ConfigFile())
	if err != nil {
		return err
	}
	// Reject an invalid profile before the user types a token.
	if err := config.Add(o.name, *p); err != nil {
		return exit.Usage(err)
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
	case p.URL != "" && !o.elsewhere() && s.inTerminal:
		where = "No token was stored."
	case strings.HasPrefix(p.URL, "http") && !o.elsewhere(): // other servers often have no password
		where = "No token was stored, because stdin is not a terminal: give --token-stdin or --token-env."
	}
	config.Profiles[o.name] = *p
	if err := config.Save(); err != nil || where == "" {
		return err
	}
	_, err = fmt.Fprintln(s.err, where)
	return err
}

// elsewhere reports whether the token comes from a variable or a command.
func (o *profileAddOptions) elsewhere() bool {
	return o.settings.TokenEnv != "" || o.settings.TokenCommand != ""
}

// hidesPassword reports whether the URL that follows ssh://HOST/ has a password.
func hidesPassword(raw string) bool {
	_, inner, _ := strings.Cut(strings.TrimPrefix(raw, "ssh://"), "/")
	u, err := url.Parse(inner)
	if err != nil {
		return false
	}
	_, has := u.User.Password()
	return has
}

// target checks the file or URL of the profile, and removes the password from a URL and returns it.
func (o *profileAddOptions) target() (password string, err error) {
	p := &o.settings
	switch {
	case o.tokenStdin && o.elsewhere(), p.TokenEnv != "" && p.TokenCommand != "":
		return "", exit.Usagef("give only one of --token-stdin, --token-env and --token-command")
	case strings.HasPrefix(p.URL, "ssh://") && hidesPassword(p.URL):
		return "", exit.Usagef("leave out the password of a URL behind ssh://, and give --token-stdin")
	case p.DB != "" && (o.tokenStdin || o.elsewhere()):
		return "", exit.Usagef("a file has no token")
	case p.DB == local.Memory:
		return "", exit.Usagef("%s keeps nothing: a profile needs a file", local.Memory)
	case p.DB != "":
		p.DB, err = filepath.Abs(p.DB)
		return "", err
	case p.URL == "":
		return "", nil
	}
	if _, err := targets.FromURL(p.URL, "", "TARGET"); err != nil {
		return "", err
	}
	for _, path := range []*string{&p.CACert, &p.CACertDir, &p.Cert, &p.Key} {
		if *path != "" {
			if *path, err = filepath.Abs(*path); err != nil {
				return "", err
			}
		}
	}
	if err := targets.CheckTLS(p.TLS); err != nil {
		return "", exit.Usage(err)
	}
	u, err := url.Parse(p.URL)
	if err != nil {
		return "", err
	}
	password, has := u.User.Password()
	if has && (o.tokenStdin || o.elsewhere()) {
		return "", exit.Usagef("the URL already has a password")
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

// token reads the token from stdin or asks the user.
func (o *profileAddOptions) token(s *streams) (string, error) {
	var text string
	var err error
	switch {
	case o.elsewhere():
		return "", nil
	case o.tokenStdin:
		var all []byte
		all, err = io.ReadAll(s.in)
		text = string(all)
	case s.inTerminal:
		text, err = s.askSecret("Token or password of " + targets.ShownURL(o.settings.URL) + " (Enter for none): ")
	}
	if err != nil {
		return "", fmt.Errorf("reading the token: %w", err)
	}
	token := strings.TrimSpace(text)
	if o.tokenStdin && token == "" {
		return "", exit.Usagef("no token on stdin")
	}
	return token, nil
}

// keep stores the token in the keyring or the configuration file, and returns a sentence that says where.
func (o *profileAddOptions) keep(s *streams, token string) (where string) {
	why := "MEOWDIS_KEYRING is off"
	if s.getenv("MEOWDIS_KEYRING") != "off" {
		err := profile.SaveToken(o.name, token)
		if err == nil {
			o.settings.Keyring = true
			return "The token is in the system's keyring."
		}
		why = "the system's keyring cannot be used: " + err.Error()
	}
	o.settings.Token = token
	return fmt.Sprintf("The token is in %s, which only you can read (%s).", targets.ConfigFile(), why)
}

// askSecret asks on the terminal for a line without echo. It turns off the echo before it prints the question, so
// that a fast answer is hidden, too, and restores the terminal afterwards. After Ctrl-C it returns exit.StoppedBy.
func askSecret(question string) (string, error) {
	fd := int(os.Stdin.Fd())
	before, err := term.MakeRaw(fd)
	if err != nil {
		return "", err
	}
	defer term.Restore(fd, before)
	t := term.NewTerminal(secretTerminal{}, "")
	if width, height, err := term.GetSize(fd); err == nil {
		t.SetSize(width, height)
	}
	return t.ReadPassword(question)
}

// secretTerminal reads a secret from stdin and writes the question to stderr.
type secretTerminal struct{}

const ctrlC = 3

// Read reads a single byte: input after the line is for another reader.
func (secretTerminal) Read(p []byte) (int, error) {
	n, err := os.Stdin.Read(p[:min(len(p), 1)])
	if bytes.IndexByte(p[:n], ctrlC) >= 0 {
		io.WriteString(os.Stderr, "\r\n")
		return 0, exit.StoppedBy(syscall.SIGINT)
	}
	return n, err
}

func (secretTerminal) Write(p []byte) (int, error) { return os.Stderr.Write(p) }
