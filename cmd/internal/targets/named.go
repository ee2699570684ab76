package targets

import (
	"cmp"
	"errors"
	"io/fs"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/meowdis/meowdis/cmd/internal/exit"
	"github.com/meowdis/meowdis/cmd/internal/profile"
	"github.com/meowdis/meowdis/remote"
)

// named returns the target that spec names: @NAME is a profile, a text with :// a URL, and any other the path of a
// file, or a profile if no such file exists.
func named(getenv func(string) string, spec, token, source string) (Target, error) {
	name, isProfile := strings.CutPrefix(spec, "@")
	switch {
	case isProfile:
		return namedProfile(getenv, name, token, source)
	case strings.Contains(spec, "://"):
		return FromURL(spec, token, source)
	}
	if _, err := os.Stat(spec); errors.Is(err, fs.ErrNotExist) {
		config, err := profile.Load(ConfigFile())
		if err != nil {
			return Target{}, err
		}
		if p, err := config.Get(spec); err == nil {
			return profileTarget(getenv, spec, p, token, source)
		}
		if hostAndPort.MatchString(spec) {
			return Target{}, exit.Usagef("%s is neither a URL nor a file: give redis://%[1]s", spec)
		}
	}
	return Target{Path: spec, source: source}, nil
}

// hostAndPort matches an address without a scheme.
var hostAndPort = regexp.MustCompile(`^[A-Za-z0-9.-]+:[0-9]+$`)

// namedProfile returns the target of the profile called name.
func namedProfile(getenv func(string) string, name, token, source string) (Target, error) {
	config, err := profile.Load(ConfigFile())
	if err != nil {
		return Target{}, err
	}
	p, err := config.Get(name)
	if err != nil {
		return Target{}, exit.Usage(err)
	}
	return profileTarget(getenv, name, p, token, source)
}

// profileTarget returns the target of a profile. It does not read the profile's token if another is given.
func profileTarget(getenv func(string) string, name string, p profile.Profile, token, source string) (t Target, err error) {
	if p.DB != "" {
		return Target{Path: p.DB, source: source, Profile: name, Settings: p}, nil
	}
	if token == "" {
		if token, err = p.ReadToken(name, getenv); err != nil {
			return t, err
		}
	}
	command := p.TokenCommand
	if token != "" {
		command = "" // the user gave another token
	}
	t, err = FromURL(p.URL, token, source)
	t.Profile, t.Settings = name, p
	if err == nil && command != "" {
		if t.IsStorage() {
			return t, exit.Usagef("profile %s: token_command is for servers, and %s is a storage: give token_env", name, t)
		}
		t.credentials = &tokenCommand{profile: name, command: command}
	}
	return t, err
}

// FromURL returns the target of a URL. The token is the password of a Redis server, unless the URL has one.
func FromURL(raw, token, source string) (Target, error) {
	if strings.HasPrefix(raw, sshScheme) {
		return fromSSH(raw, token, source)
	}
	u, err := url.Parse(raw)
	if err != nil || !strings.Contains(raw, "://") {
		return Target{}, exit.Usagef("%s is not a URL: give one such as redis://HOST:6379 or https://HOST", source)
	}
	if n, err := strconv.Atoi(u.Port()); u.Port() != "" && (err != nil || n < 1 || n > 65535) {
		return Target{}, exit.Usagef("%s: ports are numbers from 1 to 65535", source)
	}
	switch {
	case stores[u.Scheme] != nil:
		return Target{URL: u, token: token, source: source}, nil
	case u.Scheme == "http" || u.Scheme == "https":
		return Target{URL: u, token: token, source: source}, nil
	case slices.Contains(schemes(), u.Scheme):
		if _, has := u.User.Password(); token != "" && !has {
			u.User = url.UserPassword(u.User.Username(), token)
		}
		for _, one := range servers(u) {
			if err := remote.CheckURL(one); err != nil {
				return Target{}, exit.Usagef("%s: %w", source, err)
			}
		}
		return Target{URL: u, source: source}, nil
	}
	return Target{}, exit.Usagef("%s: unknown scheme %s://: use http://, https://, redis://, rediss://, cluster://, unix:// or ssh://", source, u.Scheme)
}

// Named returns the target of an argument, with the token of its own flag, or else of --token. A Redis server gets
// --token only if it asks for a password, because the token may be for the other side. A REST endpoint without a
// token gets the environment's.
func (o *Tokens) Named(getenv func(string) string, spec, token string) (Target, error) {
	t, err := named(getenv, spec, cmp.Or(token, o.Both), spec)
	switch {
	case t.IsREST() && t.token == "":
		t.token = getenv("MEOWDIS_TOKEN")
	case t.IsStorage() && t.token == "":
		t.token = getenv("MEOWDIS_STORAGE_TOKEN")
	case t.IsServer() && !t.IsREST() && token == "" && t.URL.User.Username() == "":
		if password, _ := t.URL.User.Password(); password == o.Both {
			t.URL.User, t.fallbackPassword = nil, o.Both
		}
	}
	return t, err
}
