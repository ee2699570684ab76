package cmd

import (
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/adrg/xdg"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/meowdis/meowdis/local"
	"github.com/meowdis/meowdis/profile"
	"github.com/meowdis/meowdis/remote"
)

// targetHelp is what every verb says of targets.
const targetHelp = `The target is the first of these that is given:
  --db FILE, --url URL with --token TOKEN, or --profile NAME; an argument that the
    usage line calls TARGET, SOURCE, DESTINATION, A or B: a FILE, a URL, or @NAME
  MEOWDIS_DB, MEOWDIS_URL with MEOWDIS_TOKEN, or MEOWDIS_PROFILE
  UPSTASH_REDIS_REST_URL with UPSTASH_REDIS_REST_TOKEN
  KV_REST_API_URL with KV_REST_API_TOKEN
  REDIS_URL
  the profile in use: see "meowdis help profiles"
  the default file, in the data directory that "meowdis paths" prints
URLs: http:// and https:// (Upstash REST), redis://, rediss:// and unix://.`

// targetOptions are the flags that choose a target, the same for every verb.
type targetOptions struct {
	spec     string // an argument that names the target; no flag
	db       string
	url      string
	token    string
	profile  string
	envFile  string
	database int
	readOnly bool
	verbose  bool
	full     bool
	reach    reachOptions

	flags *pflag.FlagSet // nil where there are none
}

func (o *targetOptions) addFlags(cmd *cobra.Command) {
	f := cmd.Flags()
	o.flags = f
	f.StringVar(&o.db, "db", "", "SQLite `FILE` to work on; :memory: forgets everything")
	f.StringVar(&o.url, "url", "", "`URL` of a REST endpoint or a Redis server to work on")
	f.StringVar(&o.token, "token", "", "`TOKEN` of the REST endpoint, or password of the server")
	f.StringVar(&o.profile, "profile", "", "`NAME` of the profile to work on")
	f.StringVar(&o.envFile, "env-file", "", envFileUsage)
	f.IntVarP(&o.database, "database", "n", 0, "database `NUMBER`")
	f.BoolVar(&o.readOnly, "read-only", false, "refuse commands that write, before they are sent")
	f.BoolVarP(&o.verbose, "verbose", "v", false, "say on stderr which target is used")
	f.BoolVar(&o.full, "full", false, "make each commit to the file survive a power cut (slower)")
	o.reach.addFlags(cmd)
	cmd.MarkFlagFilename("db", "sqlite", "db")
	cmd.RegisterFlagCompletionFunc("url", cobra.NoFileCompletions)
	cmd.RegisterFlagCompletionFunc("token", cobra.NoFileCompletions)
	cmd.RegisterFlagCompletionFunc("profile", completeProfiles)
}

// addFileFlags adds the flags that choose the file of a verb that works on nothing
// else; what says what it does there.
func (o *targetOptions) addFileFlags(cmd *cobra.Command, what string) {
	f := cmd.Flags()
	o.flags = f
	f.StringVar(&o.db, "db", "", "SQLite `FILE` "+what)
	f.StringVar(&o.profile, "profile", "", "`NAME` of the profile whose file it is")
	f.StringVar(&o.envFile, "env-file", "", envFileUsage)
	cmd.MarkFlagFilename("db", "sqlite", "db")
	cmd.RegisterFlagCompletionFunc("profile", completeProfiles)
}

const envFileUsage = "`FILE` of variables that go before the environment's"

// target is a place where commands go: a file, or a server.
type target struct {
	path   string // of a file; empty for a server
	url    *url.URL
	token  string
	spare  string // a password for a Redis server, should it want one
	source string // what chose it, for people

	profile  string          // its name, when it is one
	settings profile.Profile // of it
}

// defaultSource is what chose the default file, whose directory is made when it
// is missing.
const defaultSource = "default"

func firstOf(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

// named is the target that an argument means: @NAME is a profile, anything with
// :// a URL, and any other word the path of a file, or a profile when there is
// no such file.
func named(getenv func(string) string, spec, token string) (target, error) {
	name, isProfile := strings.CutPrefix(spec, "@")
	switch {
	case isProfile:
		return namedProfile(getenv, name, token, spec)
	case strings.Contains(spec, "://"):
		return remoteTarget(spec, token, spec)
	}
	if _, err := os.Stat(spec); errors.Is(err, fs.ErrNotExist) {
		config, err := profile.Load(configFile())
		if err != nil {
			return target{}, err
		}
		if p, err := config.Get(spec); err == nil {
			return profileTarget(getenv, spec, p, token, spec)
		}
	}
	return target{path: spec, source: spec}, nil
}

// namedProfile is the target of the profile called name.
func namedProfile(getenv func(string) string, name, token, source string) (target, error) {
	config, err := profile.Load(configFile())
	if err != nil {
		return target{}, err
	}
	p, err := config.Get(name)
	if err != nil {
		return target{}, usageError{err}
	}
	return profileTarget(getenv, name, p, token, source)
}

// profileTarget is the target of a profile. Its own token is not asked for when
// another is given.
func profileTarget(getenv func(string) string, name string, p profile.Profile, token, source string) (t target, err error) {
	if p.DB != "" {
		return target{path: p.DB, source: source, profile: name, settings: p}, nil
	}
	if token == "" {
		if token, err = p.Secret(name, getenv); err != nil {
			return t, err
		}
	}
	t, err = remoteTarget(p.URL, token, source)
	t.profile, t.settings = name, p
	return t, err
}

// remoteTarget is the target of a URL. The token of a Redis server is its
// password, unless the URL has one.
func remoteTarget(raw, token, source string) (target, error) {
	u, err := url.Parse(raw)
	if err != nil || !strings.Contains(raw, "://") {
		return target{}, usagef("%s is not a URL: give one such as redis://HOST:6379 or https://HOST; the path of a file is for --db", source)
	}
	if n, err := strconv.Atoi(u.Port()); u.Port() != "" && (err != nil || n < 1 || n > 65535) {
		return target{}, usagef("%s: ports are numbers from 1 to 65535", source)
	}
	switch u.Scheme {
	case "http", "https":
		return target{url: u, token: token, source: source}, nil
	case "redis", "rediss", "unix":
		if _, has := u.User.Password(); token != "" && !has {
			u.User = url.UserPassword(u.User.Username(), token)
		}
		if err := remote.CheckURL(raw); err != nil {
			return target{}, usagef("%s: %w", source, err)
		}
		return target{url: u, source: source}, nil
	}
	return target{}, usagef("%s: meowdis speaks http://, https://, redis://, rediss:// and unix://, not %s://", source, u.Scheme)
}

func defaultFile() string { return filepath.Join(xdg.DataHome, "meowdis", "meowdis.sqlite") }

func historyFile() string { return filepath.Join(xdg.StateHome, "meowdis", "history") }

// undoDirectory is where inspect keeps what its changes overwrite.
func undoDirectory() string { return filepath.Join(xdg.StateHome, "meowdis", "undo") }

func configFile() string { return filepath.Join(xdg.ConfigHome, "meowdis", "config.toml") }

// isREST reports whether the target is a REST endpoint.
func (t target) isREST() bool {
	return t.url != nil && (t.url.Scheme == "http" || t.url.Scheme == "https")
}

// isNew reports whether the target is a file that is not there yet.
func (t target) isNew() bool {
	if t.url != nil || t.path == local.Memory {
		return false
	}
	_, err := os.Stat(t.path)
	return errors.Is(err, fs.ErrNotExist)
}

// String is the target without its secrets.
func (t target) String() string {
	if t.url == nil {
		return t.path
	}
	shown := *t.url
	shown.User, shown.RawQuery = nil, ""
	return shown.String()
}

// shownURL is a URL without its secrets, "" for none. One that cannot be read is
// not shown, since nobody knows what is where in it.
func shownURL(raw string) string {
	u, err := url.Parse(raw)
	switch {
	case raw == "":
		return ""
	case err != nil || u.Scheme == "" || u.Host == "" && u.Path == "":
		return "(not a URL)"
	}
	return target{url: u}.String()
}

// label is the target in few letters, for a prompt.
func (t target) label() string {
	switch {
	case t.profile != "":
		return t.profile
	case t.url != nil && t.url.Host != "":
		return t.url.Host
	case t.url != nil:
		return t.url.Path
	}
	path := t.path
	if home, err := os.UserHomeDir(); err == nil && home != "/" && strings.HasPrefix(path, home+string(filepath.Separator)) {
		path = "~" + path[len(home):]
	}
	if len(path) > 30 {
		path = filepath.Base(path)
	}
	return path
}

// tell says which target is used, when it was asked to.
func (o *targetOptions) tell(t target, s *streams) {
	if o.verbose {
		fmt.Fprintf(s.err, "target: %s (%s)\n", t, t.source)
	}
}
