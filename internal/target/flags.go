package target

import (
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/meowdis/meowdis/commands"
	"github.com/meowdis/meowdis/internal/exit"
	"github.com/meowdis/meowdis/internal/flags"
)

// Help is what every verb says of targets.
const Help = `The target is the first of these that is given:
  --db FILE, --url URL with --token TOKEN, --storage-url URL with --storage-token
    TOKEN, or --profile NAME; an argument that the usage line calls TARGET, SOURCE,
    DESTINATION, A or B: a FILE, a URL, or @NAME
  MEOWDIS_DB, MEOWDIS_URL with MEOWDIS_TOKEN, MEOWDIS_STORAGE_URL with
    MEOWDIS_STORAGE_TOKEN, or MEOWDIS_PROFILE
  UPSTASH_REDIS_REST_URL with UPSTASH_REDIS_REST_TOKEN
  KV_REST_API_URL with KV_REST_API_TOKEN
  REDIS_URL
  the profile in use: see "meowdis help profiles"
  the default file, in the data directory that "meowdis paths" prints
URLs: http:// and https:// (Upstash REST), redis://, rediss:// and unix://; a storage is
storage+http:// or storage+https://, of which --storage-url needs no "storage+".`

// Options are the flags that choose a target, the same for every verb.
type Options struct {
	Spec     string // an argument that names the target; no flag
	DB       string
	url      string
	storage  string
	Secret   string // of the storage
	Token    string
	profile  string
	envFile  string
	Database int
	readOnly bool
	Verbose  bool
	Full     bool
	Reach    Reach

	Flags *pflag.FlagSet // nil where there are none
}

// AddFlags adds the flags of a verb that works on any target.
func (o *Options) AddFlags(cmd *cobra.Command) {
	f := cmd.Flags()
	o.Flags = f
	f.StringVar(&o.DB, "db", "", "SQLite `FILE` to work on; :memory: forgets everything")
	f.StringVar(&o.url, "url", "", "`URL` of a REST endpoint or a Redis server to work on")
	f.StringVar(&o.Token, "token", "", "`TOKEN` of the REST endpoint, or password of the server")
	o.AddStorageURL(cmd)
	f.StringVar(&o.Secret, "storage-token", "", "`TOKEN` of the storage")
	f.StringVar(&o.profile, "profile", "", "`NAME` of the profile to work on")
	f.StringVar(&o.envFile, "env-file", "", envFileUsage)
	f.IntVarP(&o.Database, "database", "n", 0, "database `NUMBER`")
	f.BoolVar(&o.readOnly, "read-only", false, "refuse commands that write, before they are sent")
	f.BoolVarP(&o.Verbose, "verbose", "v", false, "say on stderr which target is used")
	f.BoolVar(&o.Full, "full", false, "make each commit to the file survive a power cut (slower)")
	o.Reach.AddFlags(cmd)
	cmd.MarkFlagFilename("db", "sqlite", "db")
	cmd.RegisterFlagCompletionFunc("url", cobra.NoFileCompletions)
	cmd.RegisterFlagCompletionFunc("token", cobra.NoFileCompletions)
	cmd.RegisterFlagCompletionFunc("storage-token", cobra.NoFileCompletions)
	cmd.RegisterFlagCompletionFunc("profile", CompleteProfiles)
}

// AddStorageURL adds the flag that chooses a store which is no file.
func (o *Options) AddStorageURL(cmd *cobra.Command) {
	cmd.Flags().StringVar(&o.storage, "storage-url", "", "`URL` of a storage, whose tables commands that run here work on")
	cmd.RegisterFlagCompletionFunc("storage-url", cobra.NoFileCompletions)
}

// AddStorageFlags adds the flags of a verb that reaches no other server than a storage.
func (o *Options) AddStorageFlags(cmd *cobra.Command) {
	o.AddStorageURL(cmd)
	cmd.Flags().StringVar(&o.Reach.tls.CACert, "storage-cacert", "", "trust only the authorities in `FILE` (PEM) for --storage-url https://")
	cmd.MarkFlagFilename("storage-cacert", "pem", "crt")
}

// AddReadFlags adds the flags of the target to a verb that writes nothing.
func (o *Options) AddReadFlags(cmd *cobra.Command) {
	o.AddFlags(cmd)
	cmd.Flags().Lookup("full").Hidden = true
}

// AddFileFlags adds the flags that choose the file of a verb that works on nothing
// else; what says what it does there.
func (o *Options) AddFileFlags(cmd *cobra.Command, what string) {
	f := cmd.Flags()
	o.Flags = f
	f.StringVar(&o.DB, "db", "", "SQLite `FILE` "+what)
	f.StringVar(&o.profile, "profile", "", "`NAME` of the profile whose file it is")
	f.StringVar(&o.envFile, "env-file", "", envFileUsage)
	cmd.MarkFlagFilename("db", "sqlite", "db")
	cmd.RegisterFlagCompletionFunc("profile", CompleteProfiles)
}

const envFileUsage = "`FILE` of variables that go before the environment's"

// Tokens are the flags with the tokens of two targets.
type Tokens struct {
	Both, First, Second string
}

// AddFlags adds --token and the flags with these names.
func (o *Tokens) AddFlags(cmd *cobra.Command, first, second string) {
	f := cmd.Flags()
	f.StringVar(&o.Both, "token", "", "`TOKEN` of whichever wants one")
	f.StringVar(&o.First, first, "", "`TOKEN` of the first one, when they differ")
	f.StringVar(&o.Second, second, "", "`TOKEN` of the second one")
	for _, name := range []string{"token", first, second} {
		cmd.RegisterFlagCompletionFunc(name, cobra.NoFileCompletions)
	}
}

// CheckDatabase refuses a flag that is given and names no database of any target.
func CheckDatabase(given *pflag.FlagSet, name string, n int) error {
	if given == nil || !given.Changed(name) || n >= 0 {
		return nil
	}
	return exit.Usagef("%s %d: databases have the numbers from 0 on", flags.Names(given.Lookup(name)), n)
}

// HasDatabase refuses a flag that is given and names no database of a file. A server is
// asked.
func (t Target) HasDatabase(given *pflag.FlagSet, name string, n int) error {
	if given == nil || given.Lookup(name) == nil || t.IsServer() || n < commands.Databases {
		return nil
	}
	return exit.Usagef("%s %d: a file has the databases 0 to %d", flags.Names(given.Lookup(name)), n, commands.Databases-1)
}
