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

// Target is a place where commands go: a file, a storage, or a server.
type Target struct {
	Path   string // of a file; empty for anything else
	URL    *url.URL
	token  string
	spare  string // a password for a Redis server, should it want one
	source string // what chose it, for people

	Profile  string          // its name, when it is one
	Settings profile.Profile // of it
}

// defaultSource is what chose the default file, whose directory is made when it
// is missing.
const defaultSource = "default"

// IsREST reports whether the target is a REST endpoint.
func (t Target) IsREST() bool {
	return t.URL != nil && (t.URL.Scheme == "http" || t.URL.Scheme == "https")
}

// IsNew reports whether the target is a file that is not there yet.
func (t Target) IsNew() bool {
	if t.URL != nil || t.Path == local.Memory {
		return false
	}
	_, err := os.Stat(t.Path)
	return errors.Is(err, fs.ErrNotExist)
}

// String is the target without its secrets.
func (t Target) String() string {
	if t.URL == nil {
		return t.Path
	}
	shown := *t.URL
	shown.User, shown.RawQuery = nil, ""
	return shown.String()
}

// ShownURL is a URL without its secrets, "" for none. One that cannot be read is
// not shown, since a secret may stand anywhere in it.
func ShownURL(raw string) string {
	u, err := url.Parse(raw)
	switch {
	case raw == "":
		return ""
	case err != nil || u.Scheme == "" || u.Host == "" && u.Path == "":
		return "(not a URL)"
	}
	return Target{URL: u}.String()
}

// Label is the target in few letters, for a prompt.
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

// IsDefault reports whether nothing chose the target.
func (t Target) IsDefault() bool { return t.source == defaultSource }

// Identity is what no other target has, without its secrets. Memory has another one
// each time.
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

// Args are the arguments of a shell command that choose the target, without its
// secrets.
func (t Target) Args() string {
	if t.Profile != "" {
		return "--profile " + shellWords(t.Profile)
	}
	if t.URL != nil {
		return "--url " + shellWords(t.String())
	}
	return "--db " + shellWords(t.Path)
}

// Kind is what a target is, for people.
func (t Target) Kind() string {
	switch {
	case t.IsREST():
		return "REST endpoint"
	case t.IsStorage():
		return "storage"
	case t.URL != nil:
		return "Redis server"
	case t.Path == local.Memory:
		return "memory"
	}
	return "SQLite file"
}

// SameFile reports whether two targets are one file.
func SameFile(a, b Target) bool {
	if a.URL != nil || b.URL != nil {
		return false
	}
	one, err1 := os.Stat(a.Path)
	other, err2 := os.Stat(b.Path)
	return err1 == nil && err2 == nil && os.SameFile(one, other)
}
