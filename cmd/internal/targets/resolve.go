package targets

import (
	"cmp"
	"errors"
	"fmt"
	"io"

	"github.com/joho/godotenv"

	"github.com/meowdis/meowdis/cmd/internal/exit"
	"github.com/meowdis/meowdis/cmd/internal/profile"
	"github.com/meowdis/meowdis/internal/atomicfile"
)

// Candidate is a source that can name the target.
type Candidate struct {
	Source string // a flag, a variable, …
	Given  string // the target that it names; empty if none
	file   bool   // it can name only a file
	store  bool   // it can name only a storage
	target func() (Target, error)
}

// Resolve returns the target of the first candidate that names one.
func (o *Options) Resolve(getenv func(string) string) (Target, error) {
	found, winner, err := o.Candidates(getenv)
	if err != nil {
		return Target{}, err
	}
	if winner < 0 && o.isLocalServer() {
		t, err := o.serverTarget(getenv, "-a")
		return t, errors.Join(err, t.HasDatabase(o.Flags, "database", o.Database))
	}
	if winner < 0 {
		return Target{}, exit.Usagef("--token needs a URL: give -t URL or MEOWDIS_URL")
	}
	t, err := found[winner].target()
	return t, errors.Join(err, t.HasDatabase(o.Flags, "database", o.Database))
}

// Find is Resolve; with --verbose it also writes the target to notes.
func (o *Options) Find(getenv func(string) string, notes io.Writer) (Target, error) {
	t, err := o.Resolve(getenv)
	if err == nil {
		o.Announce(t, notes)
	}
	return t, err
}

// Anywhere returns the options for a target that the user names later. They choose no database.
func (o *Options) Anywhere() *Options {
	other := *o
	other.Database, other.Flags = 0, nil
	return &other
}

// Other returns the options for another target, named by an argument. They leave out tokens, certificates and the
// database, which are for this target.
func (o *Options) Other(spec string) *Options {
	return &Options{Spec: spec, envFile: o.envFile, readOnly: o.readOnly, Full: o.Full, Reach: Reach{timeout: o.Reach.timeout, thisNode: o.Reach.thisNode, replicas: o.Reach.replicas, mapped: o.Reach.mapped}}
}

// Announce writes the target to notes if --verbose is set.
func (o *Options) Announce(t Target, notes io.Writer) {
	if o.Verbose {
		fmt.Fprintf(notes, "target: %s (%s)\n", t, t.source)
	}
}

// Candidates lists the sources that can name the target, in order of precedence. winner is the index of the first
// that does, or -1.
func (o *Options) Candidates(getenv func(string) string) (found []Candidate, winner int, err error) {
	if found, err = o.candidates(getenv); err != nil {
		return nil, -1, err
	}
	for i, c := range found {
		// A token is for a URL, so with --token a file must be named on the command line.
		if c.Given != "" && !(c.file && o.hasCredentials() && !o.namesTarget()) {
			return found, i, nil
		}
	}
	return found, -1, nil
}

// namesTarget reports whether the command line itself names the target.
func (o *Options) namesTarget() bool {
	return o.Spec != "" || o.serverFlag() != ""
}

func (o *Options) candidates(getenv func(string) string) ([]Candidate, error) {
	if err := errors.Join(o.onlyOne(), o.checkServer(), CheckDatabase(o.Flags, "database", o.Database)); err != nil {
		return nil, err
	}
	variables, err := o.Variables()
	if err != nil {
		return nil, err
	}
	p := profiles{token: o.Token, getenv: func(name string) string { return cmp.Or(variables[name], getenv(name)) }}
	p.config, p.broken = profile.Load(ConfigFile())
	found := o.flagCandidates(p)
	if o.envFile != "" {
		found = append(found, o.variableCandidates(" in "+o.envFile, func(name string) string { return variables[name] }, p)...)
	}
	found = append(found, o.variableCandidates("", getenv, p)...)
	return append(found, p.inUse(), Candidate{
		Source: "default file", Given: DefaultFile(), file: true,
		target: defaultTarget,
	}), nil
}

// onlyOne refuses a command line that names two targets, or an empty one: an unset variable must not select another
// target.
func (o *Options) onlyOne() error {
	if f := o.Flags; f != nil && f.Changed("target") && o.Spec == "" {
		return exit.Usagef("-t is empty")
	}
	if o.Spec != "" && o.serverFlag() != "" {
		return exit.Usagef("give one target: %s, or redis-cli's flags -h, -p, -s and -u", ShownArg(o.Spec))
	}
	return nil
}

// Variables reads the file of --env-file. No other such file is ever read.
func (o *Options) Variables() (map[string]string, error) {
	if o.envFile == "" {
		return nil, nil
	}
	variables, err := godotenv.Read(o.envFile)
	if err != nil {
		return nil, exit.Usagef("--env-file %s: %w", o.envFile, atomicfile.Pathless(err))
	}
	return variables, nil
}

// flagCandidates returns the candidates of the command line.
func (o *Options) flagCandidates(p profiles) []Candidate {
	source := "argument, -t"
	if f := o.Flags; f != nil && f.Changed("target") {
		source = "-t"
	} else if o.Spec != "" {
		source = "argument"
	}
	return []Candidate{
		{Source: source, Given: ShownArg(o.Spec), target: func() (Target, error) { return o.given(source, p) }},
		o.serverCandidate(p.getenv),
	}
}

// given returns the target of -t or of an argument. An endpoint or a storage without a token gets the environment's.
func (o *Options) given(source string, p profiles) (Target, error) {
	if source != "-t" {
		source = o.Spec
	}
	t, err := named(p.getenv, o.Spec, o.Token, source)
	switch {
	case err != nil || t.token != "" || t.Profile != "":
	case t.IsREST():
		t.token = p.getenv("MEOWDIS_TOKEN")
	case t.IsStorage():
		t.token = cmp.Or(o.Secret, p.getenv("MEOWDIS_STORAGE_TOKEN"))
	}
	return o.asServer(p.getenv, t), err
}

// variableCandidates returns the candidates of the variables that get reads. where is added to the names of their
// sources.
func (o *Options) variableCandidates(where string, get func(string) string, p profiles) []Candidate {
	return []Candidate{
		fileCandidate("MEOWDIS_DB"+where, get("MEOWDIS_DB")),
		o.urlCandidate("MEOWDIS_URL"+where, get("MEOWDIS_URL"), get("MEOWDIS_TOKEN")),
		o.storageCandidate("MEOWDIS_STORAGE_URL"+where, get("MEOWDIS_STORAGE_URL"), get),
		p.candidate("MEOWDIS_PROFILE"+where, get("MEOWDIS_PROFILE")),
		o.urlCandidate("UPSTASH_REDIS_REST_URL"+where, get("UPSTASH_REDIS_REST_URL"), get("UPSTASH_REDIS_REST_TOKEN")),
		o.urlCandidate("KV_REST_API_URL"+where, get("KV_REST_API_URL"), get("KV_REST_API_TOKEN")),
		o.urlCandidate("REDIS_URL"+where, get("REDIS_URL"), ""),
	}
}

func fileCandidate(source, path string) Candidate {
	return Candidate{Source: source, Given: path, file: true, target: func() (Target, error) {
		return Target{Path: path, source: source}, nil
	}}
}

// urlCandidate returns the candidate of a URL. The token is only for a REST endpoint; --token is for any server.
func (o *Options) urlCandidate(source, raw, token string) Candidate {
	return Candidate{Source: source, Given: ShownURL(raw), target: func() (Target, error) {
		t, err := FromURL(raw, o.Token, source)
		if t.IsREST() {
			t.token = cmp.Or(o.Token, token)
		}
		return t, err
	}}
}

// storageCandidate returns the candidate of a storage URL.
func (o *Options) storageCandidate(source, raw string, getenv func(string) string) Candidate {
	return Candidate{Source: source, Given: ShownURL(raw), store: true, target: func() (Target, error) {
		return fromStorageURL(raw, cmp.Or(o.Secret, getenv("MEOWDIS_STORAGE_TOKEN")), source)
	}}
}

// profiles returns the candidates that are profiles. A broken configuration file is an error only if a profile is
// chosen.
type profiles struct {
	config *profile.File
	broken error
	token  string
	getenv func(string) string
}

func (p profiles) candidate(source, name string) Candidate {
	c := Candidate{Source: source, Given: name, target: func() (Target, error) {
		return namedProfile(p.getenv, name, p.token, source)
	}}
	if p.broken == nil {
		c.file = p.config.Profiles[name].DB != ""
		c.store = isStorageURL(p.config.Profiles[name].URL)
	}
	return c
}

func (p profiles) inUse() Candidate {
	const source = "profile in use"
	if p.broken != nil {
		return Candidate{Source: source, Given: ConfigFile(), target: func() (Target, error) { return Target{}, p.broken }}
	}
	return p.candidate(source, p.config.InUse)
}

// File returns the target of a verb that works only on files. It skips other candidates, unless the command line
// names one.
func (o *Options) File(getenv func(string) string) (Target, error) {
	return o.noServer(getenv, false)
}

// FileOrStorage returns the target of a verb that runs commands itself. It skips servers, unless the command line
// names one.
func (o *Options) FileOrStorage(getenv func(string) string) (Target, error) {
	return o.noServer(getenv, true)
}

func (o *Options) noServer(getenv func(string) string, storage bool) (Target, error) {
	found, err := o.candidates(getenv)
	if err != nil {
		return Target{}, err
	}
	for _, c := range found {
		if c.Given != "" && (c.file || storage && c.store || o.namesTarget()) {
			t, err := c.target()
			if err == nil {
				err = t.HasDatabase(o.Flags, "database", o.Database)
			}
			switch {
			case err != nil || t.URL == nil || storage && t.IsStorage():
			case storage:
				err = exit.Usagef("%s is a %s, and this verb works on files and storages", t, t.Kind())
			default:
				err = exit.Usagef("%s is a %s, and this verb works on files; dump, copy and diff work on any target", t, t.Kind())
			}
			return t, err
		}
	}
	return Target{}, nil // not reached: the default file is always a candidate
}
