package profile

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// Profile is a named target. It has either a file or a URL.
type Profile struct {
	DB  string `toml:"db,omitempty" json:"db,omitempty"`
	URL string `toml:"url,omitempty" json:"url,omitempty"`

	// The token of a REST endpoint, or the password of a Redis server, is in the keyring, in an environment variable,
	// or in this file.
	Keyring  bool   `toml:"keyring,omitempty" json:"-"`
	TokenEnv string `toml:"token_env,omitempty" json:"-"`
	Token    string `toml:"token,omitempty" json:"-"`
	// TokenCommand prints the token, each time that a new one is needed.
	TokenCommand string `toml:"token_command,omitempty" json:"-"`

	TLS

	Database int     `toml:"database,omitempty" json:"database"`
	Confirm  Confirm `toml:"confirm,omitempty" json:"confirm"`
	ReadOnly bool    `toml:"read_only,omitempty" json:"read_only"`
	Color    string  `toml:"color,omitempty" json:"color,omitempty"`
}

// TLS holds the settings of TLS connections: paths of PEM files, the expected server name, and whether to trust any
// certificate.
type TLS struct {
	CACert    string `toml:"cacert,omitempty" json:"cacert,omitempty"`
	CACertDir string `toml:"cacertdir,omitempty" json:"cacertdir,omitempty"`
	Cert      string `toml:"cert,omitempty" json:"cert,omitempty"`
	Key       string `toml:"key,omitempty" json:"key,omitempty"`
	SNI       string `toml:"sni,omitempty" json:"sni,omitempty"`
	Insecure  bool   `toml:"insecure,omitempty" json:"insecure,omitempty"`
}

// Confirm is the answer that a user must give before a dangerous command runs.
type Confirm string

const (
	ConfirmNone Confirm = "none" // nothing
	ConfirmYes  Confirm = "yes"  // y; the default
	ConfirmName Confirm = "name" // the name of the profile
)

// Level returns c, or ConfirmYes if it is empty.
func (c Confirm) Level() Confirm {
	if c == "" {
		return ConfirmYes
	}
	return c
}

// Colors lists the colours that a profile may have in a prompt, in the terminal's order.
var Colors = []string{"red", "green", "yellow", "blue", "magenta", "cyan"}

// validName matches valid names of profiles, which cannot be taken for a path or a URL.
var validName = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_.-]*$`)
})

// check returns an error if the profile or its name is invalid.
func (p Profile) check(name string) error {
	switch {
	case !validName().MatchString(name):
		return fmt.Errorf("invalid profile name %q: use letters, digits, _, - and .", name)
	case (p.DB == "") == (p.URL == ""):
		return fmt.Errorf("profile %s: give either db or url", name)
	case p.TokenCommand != "" && (p.Keyring || p.Token != "" || p.TokenEnv != ""):
		return fmt.Errorf("profile %s: token_command is in place of keyring, token_env and token", name)
	case p.TokenCommand != "" && p.URL == "":
		return fmt.Errorf("profile %s: a file has no token", name)
	case p.URL == "" && p.TLS != TLS{}:
		return fmt.Errorf("profile %s: a file has no certificates", name)
	case !slices.Contains([]Confirm{ConfirmNone, ConfirmYes, ConfirmName}, p.Confirm.Level()):
		return fmt.Errorf("profile %s: confirm %q: give none, yes or name", name, p.Confirm)
	case p.Color != "" && !slices.Contains(Colors, p.Color):
		return fmt.Errorf("profile %s: color %q: give one of %s", name, p.Color, strings.Join(Colors, ", "))
	}
	return nil
}
