package targets

import (
	"errors"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/meowdis/meowdis/cmd/internal/exit"
	"github.com/meowdis/meowdis/cmd/internal/flags"
	"github.com/meowdis/meowdis/redis/commands"
)

// Options holds the flags that choose a target, the same for every verb.
type Options struct {
	Spec     string // of -t, or an argument that names the target
	server   Server
	Token    string
	envFile  string
	Database int
	readOnly bool
	Verbose  bool
	Full     bool
	Reach    Reach

	// Secret is the token of a storage. serve has a flag for it, because its --token is for clients.
	Secret string

	Flags *pflag.FlagSet // nil without flags
}

// topic names the help topic with the flags of targets.
const topic = "targets"

// AddFlags adds the flags of a verb that works on any target.
func (o *Options) AddFlags(cmd *cobra.Command) {
	f := cmd.Flags()
	o.addTarget(cmd, "`TARGET`: a file, a URL or @PROFILE")
	f.StringVar(&o.Token, "token", "", "`TOKEN` of the endpoint, or the server's password; other users can see flags")
	f.IntVarP(&o.Database, "database", "n", 0, "`NUMBER` of the database, as in SELECT")
	f.BoolVar(&o.readOnly, "read-only", false, "refuse commands that write, before they are sent")
	f.BoolVarP(&o.Verbose, "verbose", "v", false, "print the target on stderr")
	f.BoolVar(&o.Full, "full", false, "commits to a file survive a power cut (slower)")
	o.Reach.AddFlags(cmd)
	flags.Alias(f, "storage-token", "token")
	flags.InTopic(f, topic, "token", "env-file", "verbose", "full", "read-only")
	cmd.RegisterFlagCompletionFunc("token", cobra.NoFileCompletions)
}

// addTarget adds -t and its old forms.
func (o *Options) addTarget(cmd *cobra.Command, usage string) {
	f := cmd.Flags()
	o.Flags = f
	AddTarget(cmd, &o.Spec, usage)
	f.StringVar(&o.envFile, "env-file", "", "`FILE` with variables, which override the environment")
	flags.OldForm(f, "profile", "target", func(name string) (string, error) { return "@" + name, nil })
	flags.OldForm(f, "storage-url", "target", storageSpec)
}

// AddTarget adds -t, and its old forms for a file and a URL.
func AddTarget(cmd *cobra.Command, spec *string, usage string) {
	f := cmd.Flags()
	f.VarP((*specValue)(spec), "target", "t", usage)
	flags.OldForm(f, "db", "target", func(path string) (string, error) { return FileSpec(path), nil })
	flags.OldForm(f, "url", "target", urlSpec)
	cmd.RegisterFlagCompletionFunc("target", CompleteTarget)
}

// ErrOneTarget reports a second target on the command line.
var ErrOneTarget = errors.New("give one target: a file, a URL or @PROFILE")

// specValue holds the value of -t, which may be given once.
type specValue string

func (v *specValue) String() string { return string(*v) }
func (v *specValue) Type() string   { return "string" }

func (v *specValue) Set(spec string) error {
	if *v != "" && string(*v) != spec { // completion parses flags twice
		return ErrOneTarget
	}
	*v = specValue(spec)
	return nil
}

// FileSpec returns the argument that names the file at path.
func FileSpec(path string) string {
	if strings.HasPrefix(path, "@") || strings.Contains(path, "://") || path != "" && !strings.ContainsAny(path, "./:") {
		return "./" + path // neither a profile nor a URL
	}
	return path
}

// urlSpec returns the argument for a URL of the old flag --url.
func urlSpec(raw string) (string, error) {
	if !strings.Contains(raw, "://") {
		return "", errors.New("a URL such as redis://HOST:6379 or https://HOST")
	}
	return raw, nil
}

// storageSpec returns the argument for a URL of the old flag --storage-url, where http and https are storage
// endpoints.
func storageSpec(raw string) (string, error) {
	if strings.HasPrefix(raw, "http://") || strings.HasPrefix(raw, "https://") {
		return storagePrefix + raw, nil
	}
	if !isStorageURL(raw) {
		return "", errors.New("the URL of a storage")
	}
	return raw, nil
}

// AddStorageFlags adds the flags of a verb that connects to no other server than a storage.
func (o *Options) AddStorageFlags(cmd *cobra.Command) {
	cmd.Flags().StringVar(&o.Reach.tls.CACert, "storage-cacert", "", "trust only the authorities in `FILE` (PEM) for a storage")
	cmd.MarkFlagFilename("storage-cacert", "pem", "crt")
}

// AddReadFlags adds the target flags to a verb that does not write.
func (o *Options) AddReadFlags(cmd *cobra.Command) {
	o.AddFlags(cmd)
	cmd.Flags().Lookup("full").Hidden = true
}

// AddFileFlags adds the flags that choose the file of a verb that works only on files. what completes the help of -t.
func (o *Options) AddFileFlags(cmd *cobra.Command, what string) {
	o.addTarget(cmd, "`TARGET` "+what+": a file or @PROFILE")
	flags.InTopic(cmd.Flags(), topic, "env-file")
}

// Tokens holds the flags with the tokens of two targets.
type Tokens struct {
	Both, First, Second string
}

// AddFlags adds --token and the flags with these names.
func (o *Tokens) AddFlags(cmd *cobra.Command, first, second string) {
	f := cmd.Flags()
	f.StringVar(&o.Both, "token", "", "`TOKEN` of both")
	f.StringVar(&o.First, first, "", "`TOKEN` of the first, if they differ")
	f.StringVar(&o.Second, second, "", "`TOKEN` of the second")
	for _, name := range []string{"token", first, second} {
		cmd.RegisterFlagCompletionFunc(name, cobra.NoFileCompletions)
	}
}

// CheckDatabase returns an error if the flag is given and its number is negative.
func CheckDatabase(given *pflag.FlagSet, name string, n int) error {
	if given == nil || !given.Changed(name) || n >= 0 {
		return nil
	}
	return exit.Usagef("%s %d: databases are numbered from 0", flags.Names(given.Lookup(name)), n)
}

// HasDatabase returns an error if the flag is given and names a database that a file does not have. A server checks
// the number itself.
func (t Target) HasDatabase(given *pflag.FlagSet, name string, n int) error {
	if given == nil || given.Lookup(name) == nil || t.IsServer() || n < commands.Databases {
		return nil
	}
	return exit.Usagef("%s %d: a file has the databases 0 to %d", flags.Names(given.Lookup(name)), n, commands.Databases-1)
}
