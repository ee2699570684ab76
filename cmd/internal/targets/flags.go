package targets

import (
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/meowdis/meowdis/cmd/internal/exit"
	"github.com/meowdis/meowdis/cmd/internal/flags"
	"github.com/meowdis/meowdis/redis/commands"
)

// Options holds the flags that choose a target, the same for every verb.
type Options struct {
	Spec     string // an argument that names the target; not a flag
	DB       string
	url      string
	storage  string
	Secret   string // the storage's token
	Token    string
	profile  string
	envFile  string
	Database int
	readOnly bool
	Verbose  bool
	Full     bool
	Reach    Reach

	Flags *pflag.FlagSet // nil without flags
}

// AddFlags adds the flags of a verb that works on any target.
func (o *Options) AddFlags(cmd *cobra.Command) {
	f := cmd.Flags()
	o.Flags = f
	f.StringVar(&o.DB, "db", "", "SQLite `FILE`; :memory: is a new empty database")
	f.StringVar(&o.url, "url", "", "`URL` of a Redis server (redis://, rediss://, unix://) or an Upstash REST endpoint (https://)")
	f.StringVar(&o.Token, "token", "", "`TOKEN` of the endpoint, or the server's password; other users can see flags")
	o.AddStorageURL(cmd)
	f.StringVar(&o.Secret, "storage-token", "", "`TOKEN` of the storage")
	f.StringVar(&o.profile, "profile", "", "`NAME` of a profile: see \"meowdis help profiles\"")
	f.StringVar(&o.envFile, "env-file", "", envFileUsage)
	f.IntVarP(&o.Database, "database", "n", 0, "`NUMBER` of the database, as in SELECT")
	f.BoolVar(&o.readOnly, "read-only", false, "refuse commands that write, before they are sent")
	f.BoolVarP(&o.Verbose, "verbose", "v", false, "print the target on stderr")
	f.BoolVar(&o.Full, "full", false, "make each commit to a file survive a power cut (slower)")
	o.Reach.AddFlags(cmd)
	cmd.MarkFlagFilename("db", "sqlite", "db")
	cmd.RegisterFlagCompletionFunc("url", cobra.NoFileCompletions)
	cmd.RegisterFlagCompletionFunc("token", cobra.NoFileCompletions)
	cmd.RegisterFlagCompletionFunc("storage-token", cobra.NoFileCompletions)
	cmd.RegisterFlagCompletionFunc("profile", CompleteProfiles)
}

// AddStorageURL adds the flag that chooses a remote storage.
func (o *Options) AddStorageURL(cmd *cobra.Command) {
	cmd.Flags().StringVar(&o.storage, "storage-url", "", "`URL` of a storage: commands run here, on the tables there")
	cmd.RegisterFlagCompletionFunc("storage-url", cobra.NoFileCompletions)
}

// AddStorageFlags adds the flags of a verb that connects to no other server than a storage.
func (o *Options) AddStorageFlags(cmd *cobra.Command) {
	o.AddStorageURL(cmd)
	cmd.Flags().StringVar(&o.Reach.tls.CACert, "storage-cacert", "", "trust only the authorities in `FILE` (PEM) for --storage-url")
	cmd.MarkFlagFilename("storage-cacert", "pem", "crt")
}

// AddReadFlags adds the target flags to a verb that does not write.
func (o *Options) AddReadFlags(cmd *cobra.Command) {
	o.AddFlags(cmd)
	cmd.Flags().Lookup("full").Hidden = true
}

// AddFileFlags adds the flags that choose the file of a verb that works only on files. what completes the help of
// --db.
func (o *Options) AddFileFlags(cmd *cobra.Command, what string) {
	f := cmd.Flags()
	o.Flags = f
	f.StringVar(&o.DB, "db", "", "SQLite `FILE` "+what)
	f.StringVar(&o.profile, "profile", "", "`NAME` of a profile with a file")
	f.StringVar(&o.envFile, "env-file", "", envFileUsage)
	cmd.MarkFlagFilename("db", "sqlite", "db")
	cmd.RegisterFlagCompletionFunc("profile", CompleteProfiles)
}

const envFileUsage = "`FILE` with variables, which override the environment"

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
