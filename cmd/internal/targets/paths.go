package targets

import (
	"errors"
	"os"
	"path/filepath"

	"github.com/adrg/xdg"
)

// DefaultFile is the file that is worked on when nothing chooses a target.
func DefaultFile() string { return filepath.Join(xdg.DataHome, "meowdis", "meowdis.sqlite") }

var errHomeless = errors.New("HOME is not set, so there is no directory for the default file: name a file with --db FILE")

// defaultTarget returns the default file. Without a home directory that would be a file in the root directory.
func defaultTarget() (Target, error) {
	if _, err := os.UserHomeDir(); err != nil && os.Getenv("XDG_DATA_HOME") == "" {
		return Target{}, errHomeless
	}
	return Target{Path: DefaultFile(), source: defaultSource}, nil
}

// HistoryFile is where repl keeps what was typed.
func HistoryFile() string { return filepath.Join(xdg.StateHome, "meowdis", "history") }

// UndoDirectory is where inspect keeps what its changes overwrite.
func UndoDirectory() string { return filepath.Join(xdg.StateHome, "meowdis", "undo") }

// RecallDirectory is where inspect keeps the names of keys that were opened and bookmarked.
func RecallDirectory() string { return filepath.Join(xdg.StateHome, "meowdis", "keys") }

// ConfigFile is where profiles are.
func ConfigFile() string { return filepath.Join(xdg.ConfigHome, "meowdis", "config.toml") }

// CertificateDirectory is where serve keeps the certificate that it has made.
func CertificateDirectory() string { return filepath.Join(xdg.StateHome, "meowdis", "tls") }
