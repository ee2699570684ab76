package targets

import (
	"net"
	"net/url"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/meowdis/meowdis/cmd/internal/exit"
)

// Server holds redis-cli's flags for a connection: https://redis.io/docs/latest/develop/tools/cli/.
type Server struct {
	host, socket, uri, user string
	port                    int
	tls, askpass            bool
}

// AddServerFlags adds redis-cli's flags to a verb. Its -h is --host, so its help is only --help.
func (o *Options) AddServerFlags(cmd *cobra.Command) {
	f, s := cmd.Flags(), &o.server
	f.Bool("help", false, "print this help")
	f.StringVarP(&s.host, "host", "h", "127.0.0.1", "`HOST` of a Redis server")
	f.IntVarP(&s.port, "port", "p", 6379, "its `PORT`")
	f.StringVarP(&s.socket, "socket", "s", "", "`PATH` of its unix socket")
	f.StringVarP(&s.uri, "uri", "u", "", "its `URL`, instead")
	f.StringVarP(&o.Token, "pass", "a", "", "its `PASSWORD` (default $REDISCLI_AUTH)")
	f.StringVar(&s.user, "user", "", "`NAME` of the user of that password")
	f.BoolVar(&s.askpass, "askpass", false, "ask for the password")
	f.BoolVar(&s.tls, "tls", false, "connect to it over TLS")
	f.Bool("no-auth-warning", false, "without effect: -a causes no warning")
	for _, name := range []string{"host", "port", "socket", "uri", "pass", "user", "askpass", "tls", "no-auth-warning"} {
		f.Lookup(name).Hidden = true // the help topic has them all in one line
	}
}

// AskPassword asks for the password if --askpass is given.
func (o *Options) AskPassword(ask func(question string) (string, error)) (err error) {
	if !o.server.askpass {
		return nil
	}
	if o.Token, err = ask("Please input password: "); err != nil {
		return exit.Usagef("--askpass needs a terminal: %w", err)
	}
	return nil
}

// serverFlag returns the flag of redis-cli that names the target, or "".
func (o *Options) serverFlag() string {
	f := o.Flags
	if f == nil {
		return ""
	}
	for _, name := range []string{"uri", "socket", "host", "port"} {
		if f.Changed(name) {
			return "-" + f.Lookup(name).Shorthand
		}
	}
	if o.server.tls && o.Spec == "" {
		return "--tls"
	}
	return ""
}

// hasCredentials reports whether the user gave a token, a password or a user. They are for a server.
func (o *Options) hasCredentials() bool { return o.Token != "" || o.server.user != "" }

// isLocalServer reports whether only redis-cli's flags for a password are given: then the target is the server on
// this machine, as in redis-cli.
func (o *Options) isLocalServer() bool {
	return o.Flags != nil && (o.Flags.Changed("pass") || o.server.askpass || o.server.user != "")
}

// serverCandidate returns the candidate of redis-cli's flags.
func (o *Options) serverCandidate(getenv func(string) string) Candidate {
	c := Candidate{Source: "-h, -p, -s, -u"}
	if flag := o.serverFlag(); flag != "" {
		c.Source, c.Given = flag, ShownURL(o.serverURL())
	}
	c.target = func() (Target, error) { return o.serverTarget(getenv, c.Source) }
	return c
}

func (o *Options) serverTarget(getenv func(string) string, source string) (Target, error) {
	t, err := FromURL(o.serverURL(), o.Token, source)
	if err != nil {
		return t, err
	}
	return o.asServer(getenv, t), nil
}

// serverURL returns the URL of the server that redis-cli's flags name.
func (o *Options) serverURL() string {
	s := &o.server
	switch {
	case s.uri != "":
		return s.uri
	case s.socket != "":
		return (&url.URL{Scheme: "unix", Path: s.socket}).String()
	}
	return "redis://" + net.JoinHostPort(s.host, strconv.Itoa(s.port))
}

// asServer returns t with redis-cli's --tls, --user and REDISCLI_AUTH, if it is a Redis server without them.
func (o *Options) asServer(getenv func(string) string, t Target) Target {
	if o.Flags == nil || o.Flags.Lookup("host") == nil || !t.IsServer() || t.IsREST() {
		return t
	}
	u := *t.URL
	if o.server.tls && u.Scheme == "redis" {
		u.Scheme = "rediss"
	}
	password, has := u.User.Password()
	if auth := getenv("REDISCLI_AUTH"); !has && !o.server.askpass && auth != "" {
		password, has = auth, true
	}
	if name := u.User.Username(); has && name == "" && (o.server.user != "" || u.User == nil) {
		u.User = url.UserPassword(o.server.user, password)
	} else if has && name != "" {
		u.User = url.UserPassword(name, password)
	}
	t.URL = &u
	return t
}

// checkServer refuses two of redis-cli's flags that name different servers.
func (o *Options) checkServer() error {
	f := o.Flags
	if f == nil || f.Lookup("host") == nil {
		return nil
	}
	var given []string
	for _, names := range [][]string{{"uri"}, {"socket"}, {"host", "port"}} {
		for _, name := range names {
			if f.Changed(name) {
				given = append(given, "-"+f.Lookup(name).Shorthand)
				break
			}
		}
	}
	switch {
	case len(given) > 1:
		return exit.Usagef("give only one of %s", strings.Join(given, " and "))
	case o.server.port < 0 || o.server.port > 65535:
		return exit.Usagef("-p %d: ports are numbers from 1 to 65535", o.server.port)
	}
	return nil
}
