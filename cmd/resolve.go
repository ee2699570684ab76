package cmd

import (
	"errors"

	"github.com/joho/godotenv"
	"github.com/spf13/pflag"

	"github.com/meowdis/meowdis/commands"
	"github.com/meowdis/meowdis/local"
	"github.com/meowdis/meowdis/profile"
)

// candidate is something that can name the target.
type candidate struct {
	source string // a flag, a variable, …
	given  string // what it names; empty when it names nothing
	file   bool   // it can name a file only
	target func() (target, error)
}

// resolve finds the target: the first candidate that names one.
func (o *targetOptions) resolve(getenv func(string) string) (target, error) {
	found, err := o.candidates(getenv)
	if err != nil {
		return target{}, err
	}
	winner := o.winner(found)
	if winner < 0 {
		return target{}, usagef("--token needs a URL: give --url or MEOWDIS_URL")
	}
	t, err := found[winner].target()
	return t, errors.Join(err, t.hasDatabase(o.flags, "database", o.database))
}

// winner is the index of the candidate that is chosen: the first that is given.
// A token is for a URL, so that a file somebody did not ask for just now is
// passed over; -1 when nothing else is given.
func (o *targetOptions) winner(found []candidate) int {
	for i, c := range found {
		if c.given != "" && !(c.file && o.token != "" && !o.asks()) {
			return i
		}
	}
	return -1
}

// asks reports whether the command line itself names the target.
func (o *targetOptions) asks() bool {
	return o.spec != "" || o.db != "" || o.url != "" || o.profile != ""
}

// candidates lists what can name the target, in order of precedence.
func (o *targetOptions) candidates(getenv func(string) string) ([]candidate, error) {
	if err := errors.Join(o.onlyOne(), checkDatabase(o.flags, "database", o.database)); err != nil {
		return nil, err
	}
	variables, err := o.variables()
	if err != nil {
		return nil, err
	}
	p := profiles{token: o.token, getenv: func(name string) string { return firstOf(variables[name], getenv(name)) }}
	p.config, p.broken = profile.Load(configFile())
	found := o.asked(p)
	if o.envFile != "" {
		found = append(found, o.environment(" in "+o.envFile, func(name string) string { return variables[name] }, p)...)
	}
	found = append(found, o.environment("", getenv, p)...)
	return append(found, p.inUse(), candidate{
		source: "default file", given: defaultFile(), file: true,
		target: func() (target, error) { return target{path: defaultFile(), source: defaultSource}, nil },
	}), nil
}

// onlyOne refuses a command line that names two targets, or one that is empty: a
// variable that is not set must not lead to another target.
func (o *targetOptions) onlyOne() error {
	for _, name := range []string{"db", "url", "profile"} {
		if f := o.flags; f != nil && f.Changed(name) && f.Lookup(name).Value.String() == "" {
			return usagef("--%s is empty", name)
		}
	}
	n := 0
	for _, given := range []string{o.spec, o.db, o.url, o.profile} {
		if given != "" {
			n++
		}
	}
	if n > 1 {
		return usagef("give one target: a FILE or URL, --db, --url or --profile")
	}
	return nil
}

// checkDatabase refuses a flag that is given and names no database of any target.
func checkDatabase(flags *pflag.FlagSet, name string, n int) error {
	if f := flags; f == nil || !f.Changed(name) || n >= 0 {
		return nil
	}
	return usagef("%s %d: databases have the numbers from 0 on", flagNames(flags.Lookup(name)), n)
}

// hasDatabase refuses a flag that is given and names no database of a file. A server is
// asked.
func (t target) hasDatabase(flags *pflag.FlagSet, name string, n int) error {
	if flags == nil || flags.Lookup(name) == nil || t.url != nil || n < commands.Databases {
		return nil
	}
	return usagef("%s %d: a file has the databases 0 to %d", flagNames(flags.Lookup(name)), n, commands.Databases-1)
}

// variables reads the file of --env-file, the only one that is ever read.
func (o *targetOptions) variables() (map[string]string, error) {
	if o.envFile == "" {
		return nil, nil
	}
	variables, err := godotenv.Read(o.envFile)
	if err != nil {
		return nil, usagef("--env-file %s: %w", o.envFile, local.Pathless(err))
	}
	return variables, nil
}

// asked are the candidates of the command line.
func (o *targetOptions) asked(p profiles) []candidate {
	return []candidate{
		{source: "argument", given: o.spec, target: func() (target, error) { return named(p.getenv, o.spec, o.token) }},
		fileCandidate("--db", o.db),
		o.remote("--url", o.url, p.getenv("MEOWDIS_TOKEN")),
		p.candidate("--profile", o.profile),
	}
}

// environment are the candidates of the variables that get reads; where says
// which ones those are.
func (o *targetOptions) environment(where string, get func(string) string, p profiles) []candidate {
	return []candidate{
		fileCandidate("MEOWDIS_DB"+where, get("MEOWDIS_DB")),
		o.remote("MEOWDIS_URL"+where, get("MEOWDIS_URL"), get("MEOWDIS_TOKEN")),
		p.candidate("MEOWDIS_PROFILE"+where, get("MEOWDIS_PROFILE")),
		o.remote("UPSTASH_REDIS_REST_URL"+where, get("UPSTASH_REDIS_REST_URL"), get("UPSTASH_REDIS_REST_TOKEN")),
		o.remote("KV_REST_API_URL"+where, get("KV_REST_API_URL"), get("KV_REST_API_TOKEN")),
		o.remote("REDIS_URL"+where, get("REDIS_URL"), ""),
	}
}

func fileCandidate(source, path string) candidate {
	return candidate{source: source, given: path, file: true, target: func() (target, error) {
		return target{path: path, source: source}, nil
	}}
}

// remote is the candidate of a URL. The token that comes with it is for a REST
// endpoint; --token is for whatever the URL names.
func (o *targetOptions) remote(source, raw, token string) candidate {
	return candidate{source: source, given: shownURL(raw), target: func() (target, error) {
		t, err := remoteTarget(raw, o.token, source)
		if t.isREST() {
			t.token = firstOf(o.token, token)
		}
		return t, err
	}}
}

// profiles makes the candidates that are profiles. A broken configuration is an
// error only for who needs it.
type profiles struct {
	config *profile.File
	broken error
	token  string
	getenv func(string) string
}

func (p profiles) candidate(source, name string) candidate {
	c := candidate{source: source, given: name, target: func() (target, error) {
		return namedProfile(p.getenv, name, p.token, source)
	}}
	if p.broken == nil {
		c.file = p.config.Profiles[name].DB != ""
	}
	return c
}

func (p profiles) inUse() candidate {
	const source = "profile in use"
	if p.broken != nil {
		return candidate{source: source, given: configFile(), target: func() (target, error) { return target{}, p.broken }}
	}
	return p.candidate(source, p.config.InUse)
}

// file is the target of a verb that works on a file only. Servers are passed
// over, unless the command line asks for one.
func (o *targetOptions) file(getenv func(string) string) (target, error) {
	found, err := o.candidates(getenv)
	if err != nil {
		return target{}, err
	}
	for _, c := range found {
		if c.given != "" && (c.file || o.asks()) {
			t, err := c.target()
			if err == nil {
				err = t.hasDatabase(o.flags, "database", o.database)
			}
			if err == nil && t.url != nil {
				err = usagef("%s is a %s, and this works on files; dump, copy and diff work on any target", t, t.kind())
			}
			return t, err
		}
	}
	return target{}, nil // not reached: the default file is given
}
