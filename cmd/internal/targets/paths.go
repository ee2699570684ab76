package targets

import (
	"errors"
	"os"
	"path/filepath"

	"github.com/adrg/xdg"
)

// DefaultFile returns the path of the file that is used if no target is chosen.
func DefaultFile() string { return filepath.Join(xdg.DataHome, "meowdis", "meowdis.sqlite") }

// homeless returns why the user has no home directory, or "". Containers set HOME to the root directory for users that
// the system does not know; nothing is saved there.
func homeless() (why string) {
	switch home, err := os.UserHomeDir(); {
	case err != nil:
		return "HOME is not set"
	case home == "/":
		return "HOME is /"
	}
	return ""
}

// defaultTarget returns the default file, or an error without a home directory.
func defaultTarget() (Target, error) {
	if why := homeless(); why != "" && os.Getenv("XDG_DATA_HOME") == "" {
		return Target{}, errors.New(why + ", so the default file has no directory: name a file, as in -t cats.sqlite")
	}
	return Target{Path: DefaultFile(), source: defaultSource}, nil
}

// own returns a path in a directory that variable sets, or that is in the home directory; "" without either.
func own(directory, variable string, path ...string) string {
	if homeless() != "" && os.Getenv(variable) == "" {
		return ""
	}
	return filepath.Join(append([]string{directory, "meowdis"}, path...)...)
}

// HistoryFile returns the path of repl's history, or "".
func HistoryFile() string { return own(xdg.StateHome, "XDG_STATE_HOME", "history") }

// UndoDirectory returns the directory that inspect saves overwritten values in, or "".
func UndoDirectory() string { return own(xdg.StateHome, "XDG_STATE_HOME", "undo") }

// RecentsDirectory returns the directory that inspect saves the names of opened and bookmarked keys in, or "".
func RecentsDirectory() string { return own(xdg.StateHome, "XDG_STATE_HOME", "keys") }

// ConfigFile returns the path of the configuration file, which holds the profiles, or "".
func ConfigFile() string { return own(xdg.ConfigHome, "XDG_CONFIG_HOME", "config.toml") }

// CertificateDirectory returns the directory that serve saves its own certificate in, or "".
func CertificateDirectory() string { return own(xdg.StateHome, "XDG_STATE_HOME", "tls") }

// cachedCommands returns the path of a cached list of a server's commands, or "".
func cachedCommands(name string) string {
	return own(xdg.CacheHome, "XDG_CACHE_HOME", "commands", name)
}
