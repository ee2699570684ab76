package targets

import (
	"crypto/rand"
	"errors"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"github.com/meowdis/meowdis/cmd/internal/profile"
	"github.com/meowdis/meowdis/local"
)

// Target is a place to run commands: a file, a storage or a server.
type Target struct {
	Path             string // of a file; otherwise empty
	URL              *url.URL
	token            string
	fallbackPassword string        // a password for a Redis server that asks for one
	source           string        // the flag or variable that chose it
	credentials      *tokenCommand // nil without a token_command
	over             *overSSH      // nil without ssh

	Profile  string          // the profile's name, or ""
	Settings profile.Profile // of the profile
}

// defaultSource marks the default file. A missing directory of that file is created.
const defaultSource = "default"

// IsREST reports whether the target is a REST endpoint.
func (t Target) IsREST() bool {
	return t.URL != nil && (t.URL.Scheme == "http" || t.URL.Scheme == "https")
}

// IsNew reports whether the target is a file that does not exist yet.
func (t Target) IsNew() bool {
	if t.URL != nil || t.Path == local.Memory {
		return false
	}
	_, err := os.Stat(t.Path)
	return errors.Is(err, fs.ErrNotExist)
}

// String returns the target without its secrets.
func (t Target) String() string {
	if t.URL == nil {
		return t.Path
	}
	shown := *t.URL
	shown.User, shown.RawQuery = nil, ""
	if t.over != nil {
		return t.over.shown(shown.String())
	}
	return shown.String()
}

// ShownURL returns a URL without its secrets, "" for "". A URL that cannot be parsed is not shown, because it may
// contain a secret anywhere.
func ShownURL(raw string) string {
	if strings.HasPrefix(raw, sshScheme) {
		if t, err := fromSSH(raw, "", ""); err == nil {
			return t.String()
		}
		return "(not a URL)"
	}
	u, err := url.Parse(raw)
	switch {
	case raw == "":
		return ""
	case err != nil || u.Scheme == "" || u.Host == "" && u.Path == "":
		return "(not a URL)"
	}
	return Target{URL: u}.String()
}

// Label returns a short name of the target, for a prompt.
func (t Target) Label() string {
	switch {
	case t.Profile != "":
		return t.Profile
	case t.URL != nil && t.URL.Host != "":
		return t.URL.Host
	case t.URL != nil:
		return t.URL.Path
	}
	path := t.Path
	if home, err := os.UserHomeDir(); err == nil && home != "/" && strings.HasPrefix(path, home+string(filepath.Separator)) {
		path = "~" + path[len(home):]
	}
	if len(path) > 30 {
		path = filepath.Base(path)
	}
	return path
}

// IsDefault reports whether the target is the default file.
func (t Target) IsDefault() bool { return t.source == defaultSource }

// Identity returns a unique name of the target, without secrets. It is different each time for :memory:.
func (t Target) Identity() string {
	switch {
	case t.URL != nil:
		return t.String()
	case t.Path == local.Memory:
		return t.Path + rand.Text()
	}
	path, err := filepath.Abs(t.Path)
	if err != nil {
		return t.Path
	}
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	return path
}

// Args returns the command-line flags that choose the target, without its secrets.
func (t Target) Args() string {
	if t.Profile != "" {
		return "-t " + shellWords("@"+t.Profile)
	}
	return "-t " + shellWords(t.String())
}

// Kind returns the kind of target, as text.
func (t Target) Kind() string {
	switch {
	case t.over != nil && t.over.file != nil:
		return "SQLite file over SSH"
	case t.IsREST():
		return "REST endpoint"
	case t.IsStorage():
		return "storage"
	case isCluster(t.URL):
		return "Redis Cluster"
	case t.URL != nil:
		return "Redis server"
	case t.Path == local.Memory:
		return "memory"
	}
	return "SQLite file"
}

// SameFile reports whether two targets are the same file.
func SameFile(a, b Target) bool {
	if a.URL != nil || b.URL != nil {
		return false
	}
	one, err1 := os.Stat(a.Path)
	other, err2 := os.Stat(b.Path)
	return err1 == nil && err2 == nil && os.SameFile(one, other)
}
