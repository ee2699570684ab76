package targets

import (
	"errors"
	"os"
	"path/filepath"

	"github.com/adrg/xdg"
)

// DefaultFile returns the path of the file that is used if no target is chosen.
func DefaultFile() string { return filepath.Join(xdg.DataHome, "meowdis", "meowdis.sqlite") }

var errHomeless = errors.New("HOME is not set, so the default file has no directory: name a file with -t FILE")

// defaultTarget returns the default file. It refuses to use the root directory without a home directory.
func defaultTarget() (Target, error) {
	if _, err := os.UserHomeDir(); err != nil && os.Getenv("XDG_DATA_HOME") == "" {
		return Target{}, errHomeless
	}
	return Target{Path: DefaultFile(), source: defaultSource}, nil
}

// HistoryFile returns the path of repl's history.
func HistoryFile() string { return filepath.Join(xdg.StateHome, "meowdis", "history") }

// UndoDirectory returns the directory that inspect saves overwritten values in.
func UndoDirectory() string { return filepath.Join(xdg.StateHome, "meowdis", "undo") }

// RecentsDirectory returns the directory that inspect saves the names of opened and bookmarked keys in.
func RecentsDirectory() string { return filepath.Join(xdg.StateHome, "meowdis", "keys") }

// ConfigFile returns the path of the configuration file, which holds the profiles.
func ConfigFile() string { return filepath.Join(xdg.ConfigHome, "meowdis", "config.toml") }

// CertificateDirectory returns the directory that serve saves its own certificate in.
func CertificateDirectory() string { return filepath.Join(xdg.StateHome, "meowdis", "tls") }
