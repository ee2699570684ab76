package cmd

import (
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"github.com/adrg/xdg"
	"github.com/spf13/cobra"
)

const targetHelp = `Where commands go, the first of these that is given:
  --db FILE, or --url URL with --token TOKEN
  MEOWDIS_DB, or MEOWDIS_URL with MEOWDIS_TOKEN
  UPSTASH_REDIS_REST_URL with UPSTASH_REDIS_REST_TOKEN
  KV_REST_API_URL with KV_REST_API_TOKEN
  the default file, in the data directory that "meowdis paths" prints
URLs: http:// and https:// (Upstash REST), redis://, rediss:// and unix://.`

// targetOptions are the flags that choose a target, the same for every verb.
type targetOptions struct {
	db       string
	url      string
	token    string
	database int
	verbose  bool
	full     bool
}

func (o *targetOptions) addFlags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&o.db, "db", "", "SQLite `FILE` to work on; :memory: forgets everything")
	f.StringVar(&o.url, "url", "", "`URL` of a REST endpoint or a Redis server to work on")
	f.StringVar(&o.token, "token", "", "`TOKEN` of the REST endpoint")
	f.IntVarP(&o.database, "database", "n", 0, "database `NUMBER`")
	f.BoolVarP(&o.verbose, "verbose", "v", false, "say on stderr which target is used")
	f.BoolVar(&o.full, "full", false, "make each commit to the file survive a power cut (slower)")
	cmd.MarkFlagFilename("db", "sqlite", "db")
	cmd.RegisterFlagCompletionFunc("url", cobra.NoFileCompletions)
	cmd.RegisterFlagCompletionFunc("token", cobra.NoFileCompletions)
}

// target is a place where commands go: a file, or a server.
type target struct {
	path   string // of a file; empty for a server
	url    *url.URL
	token  string
	source string // what chose it, for people
}

// resolve finds the target: flags before environment, the default file last.
func (o *targetOptions) resolve(getenv func(string) string) (target, error) {
	switch {
	case o.db != "" && o.url != "":
		return target{}, usagef("give --db or --url, not both")
	case o.db != "" || o.url == "" && o.token == "" && getenv("MEOWDIS_DB") != "":
		return o.file(getenv), nil
	case o.url != "":
		return remoteTarget(o.url, firstOf(o.token, getenv("MEOWDIS_TOKEN")), "--url")
	}
	for _, name := range [][2]string{
		{"MEOWDIS_URL", "MEOWDIS_TOKEN"},
		{"UPSTASH_REDIS_REST_URL", "UPSTASH_REDIS_REST_TOKEN"},
		{"KV_REST_API_URL", "KV_REST_API_TOKEN"},
	} {
		if raw := getenv(name[0]); raw != "" {
			return remoteTarget(raw, firstOf(o.token, getenv(name[1])), name[0])
		}
	}
	if o.token != "" {
		return target{}, usagef("--token needs a URL: give --url or MEOWDIS_URL")
	}
	return o.file(getenv), nil
}

// file is the target of a verb that works on a file only.
func (o *targetOptions) file(getenv func(string) string) target {
	switch {
	case o.db != "":
		return target{path: o.db, source: "--db"}
	case getenv("MEOWDIS_DB") != "":
		return target{path: getenv("MEOWDIS_DB"), source: "MEOWDIS_DB"}
	}
	return target{path: defaultFile(), source: defaultSource}
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

// named is the target that an argument means: a URL, or else the path of a file.
func named(spec, token string) (target, error) {
	if strings.Contains(spec, "://") {
		return remoteTarget(spec, token, spec)
	}
	return target{path: spec, source: spec}, nil
}

func remoteTarget(raw, token, source string) (target, error) {
	u, err := url.Parse(raw)
	if err != nil || u.Scheme == "" {
		return target{}, usagef("%s is not a URL", source)
	}
	switch u.Scheme {
	case "http", "https", "redis", "rediss", "unix":
		return target{url: u, token: token, source: source}, nil
	}
	return target{}, usagef("%s: meowdis speaks http://, https://, redis://, rediss:// and unix://, not %s://", source, u.Scheme)
}

func defaultFile() string { return filepath.Join(xdg.DataHome, "meowdis", "meowdis.sqlite") }

func historyFile() string { return filepath.Join(xdg.StateHome, "meowdis", "history") }

// isREST tells whether the target is a REST endpoint.
func (t target) isREST() bool {
	return t.url != nil && (t.url.Scheme == "http" || t.url.Scheme == "https")
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

// label is the target in few letters, for a prompt.
func (t target) label() string {
	switch {
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
