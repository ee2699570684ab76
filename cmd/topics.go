package cmd

import (
	"github.com/spf13/cobra"
)

// topics returns the help topics, which are not verbs.
func topics() []*cobra.Command {
	topic := func(name, short, long string) *cobra.Command {
		return &cobra.Command{Use: name, Short: short, Long: long, DisableFlagsInUseLine: true}
	}
	return []*cobra.Command{
		topic("targets", "How to choose the target of commands", targetsTopic),
		topic("moving", "Which keys to move, and how to change them", movingTopic),
		topic("profiles", "Named targets, with tokens and confirmations", profilesHelp),
		topic("formats", "The output formats of replies", formatsTopic),
		topic("environment", "The variables that meowdis reads", environmentTopic),
		topic("exit-codes", "The meaning of the exit codes", exitCodesTopic),
		topic("agents", "For coding agents: what to run, and what to avoid", agentsTopic),
	}
}

const targetsTopic = `A target is the place where commands go:

  cats.sqlite                        a SQLite file; :memory: is empty
  @prod                              a profile: see "meowdis help profiles"
  redis://user:password@host:6379/2  a Redis server; 2 is the database
  rediss://…                         the same over TLS
  unix:///path/to/socket?db=2        the same over a unix socket
  https://… and http://…             a REST endpoint, Upstash's or ours
  ssh://jump/redis://host:6379       a server that jump reaches, with ssh
  ssh://user@host/srv/cats.sqlite    a file there, where meowdis serves it
  storage+https://…, rqlite://…      a storage: commands run here, on the
                                     tables there

All verbs take it in the same way:

  meowdis VERB TARGET …              first, if the verb looks at one place
  meowdis VERB -t TARGET …           or as a flag, which exec needs
  meowdis VERB SOURCE TARGET         if the verb moves keys

An argument is the target if it is a URL, @PROFILE or the name of a database
file. After -t all arguments are the verb's own. Where only a target may stand,
NAME is the profile if no file has that name.

Without a target on the command line, it is the first of these:

  1. MEOWDIS_DB, MEOWDIS_URL, MEOWDIS_STORAGE_URL or MEOWDIS_PROFILE
  2. UPSTASH_REDIS_REST_URL, then KV_REST_API_URL, then REDIS_URL
  3. the profile in use: "meowdis profile use NAME"
  4. the default file, in the data directory that "meowdis paths" prints

"meowdis status" shows which one is used, and why.

redis-cli's flags work on exec, repl and monitor: -h HOST, -p PORT, -s SOCKET,
-u URL, -a PASSWORD, --pass PASSWORD, --user NAME, --askpass, --tls; and the
variable REDISCLI_AUTH. There -h is not the help.

Without --token the token comes from MEOWDIS_TOKEN, MEOWDIS_STORAGE_TOKEN,
UPSTASH_REDIS_REST_TOKEN or KV_REST_API_TOKEN, whichever belongs to the URL.

The first command that writes creates a missing file; its directory must exist.
A single command that only reads fails on a missing file that you named. Several
processes can use one file. A file without write permission is opened for
reading.`

const movingTopic = `copy, dump, restore, import and export move keys. Each key keeps its type, its
database and its expiry, unless a flag changes it:

  meowdis copy prod.sqlite dev.sqlite --match 'user:*' --ttl 12h
  meowdis copy @prod dev.sqlite -n 0 --to-database 5 --prefix user:=copy:
  meowdis dump prod.sqlite queues.jsonl --type list --dry-run

A key is written whole or not at all. Both sides may be in use: a key is moved
as it is when it is read, and a key that changed while it was read is named on
stderr. An existing key stops the verb, unless you give --replace or --skip; the
keys written before it are kept. After Ctrl-C or a lost connection the verb
prints how to continue.

The exit code is 3 if some keys were left out: each is named on stderr.`

const formatsTopic = `-o FORMAT chooses the output format of replies. -3 shows maps, sets and doubles
with their types, -2 as arrays and strings.

  typed   as redis-cli on a terminal: the type of each value, and strings
          in quotes. The default on a terminal; --no-raw for short.
          Printable UTF-8 is shown unchanged, --escape shows its bytes.
  raw     bytes unchanged, and one line per element of an array. The
          default into a pipe; --raw for short. -d sets the text between
          elements, -D the text after a reply. --quoted quotes strings, so
          that each is one line that you can paste into a command line.
  csv     one line per record, as in RFC 4180; --csv for short. --header
          prints the column names first. A reply without records is one
          line, and so is a list without --header. nil is NULL. With a
          header the fields of a stream's entries are columns; without
          one, each field precedes its value. A nested value is JSON. With
          --escape the lines are as in redis-cli, which other programs
          cannot read.
  json    one JSON value per reply, always valid; --json for short. An
          error is {"error":"…"}, bytes that are not UTF-8 are
          {"base64":"…"}, and infinities are strings. Maps are objects and
          scores are numbers, for every target. A field name that is not
          UTF-8 is the string {"base64":"…"}. A name that begins like that
          is encoded, too, so that names remain distinct.
  ndjson  one JSON value per line: a record, or an element of a list. The
          fields of a stream's entry are an object, or a list if a field
          occurs twice.
  table   a table of the records, for people; other replies as typed. On a
          terminal wide cells are cut.

Records are the fields of a hash, scored members, entries of a stream, pages of
a scan, and arrays of arrays or maps, such as the replies to SLOWLOG GET and
XINFO GROUPS. The next cursor of a scan is printed below a table, and on stderr
for csv and ndjson.

Colours are for terminals. --color always or never decides; then NO_COLOR,
CLICOLOR_FORCE and CLICOLOR=0, in this order.`

const environmentTopic = `Variables that meowdis reads. A flag overrides its variable.

  MEOWDIS_DB                the file to use
  MEOWDIS_URL               the URL to use, and
  MEOWDIS_TOKEN             its token or password, also for -t URL; and the
                            token that clients must send to "serve"
  MEOWDIS_READ_ONLY_TOKEN   the token of clients of "serve" that only read
  MEOWDIS_REQUIREPASS       the password that Redis clients must send to it
  MEOWDIS_STORAGE_URL       the storage to use, and
  MEOWDIS_STORAGE_TOKEN     its token
  MEOWDIS_PROFILE           the profile to use
  UPSTASH_REDIS_REST_URL    as for Upstash's SDKs
  UPSTASH_REDIS_REST_TOKEN
  KV_REST_API_URL           as on Vercel
  KV_REST_API_TOKEN
  REDIS_URL                 as on Heroku and in many libraries; any URL
  REDISCLI_AUTH             the password of exec, repl and monitor for a
                            Redis server, as for redis-cli
  MEOWDIS_KEYRING=off       keep tokens out of the system's keyring
  AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_REGION, …
                            for s3://, as in AWS's own tools
  NO_COLOR                  no colours, unless empty
  CLICOLOR_FORCE            colours even without a terminal, unless 0
  CLICOLOR=0                no colours
  COLORFGBG                 inspect's background, light or dark, if the
                            terminal does not report it
  TERM=dumb                 no colours, and no cursor movement
  PAGER                     the pager of repl
  VISUAL, EDITOR            the editor of repl for texts, and of inspect
                            for values
  INPUTRC                   readline's file, for repl (default ~/.inputrc)
  XDG_DATA_HOME, XDG_STATE_HOME, XDG_CONFIG_HOME
                            directories of the default file, the history
                            and the profiles: see "meowdis paths"

--env-file FILE reads variables from a file, which override the environment. No
such file is read unless you name it.`

const exitCodesTopic = exitCodesHelp + `

1 is also the code of a script that ends inside MULTI, has an invalid line, or
stops in the middle of a command; and of a command that was refused, because the
target is read-only or you did not confirm it. The reply is printed, and a
script's line number on stderr.

3 is also the code of a damaged file, whichever verb reads it, and of a server
that needs another password; "meowdis exec" prints the server's NOAUTH as the
reply to its command, which is 1. A database, port or flag out of range is 2.

After Ctrl-C a verb prints its progress and how to continue.

"meowdis diff" exits with 1 if something differs, "meowdis doctor" if it finds
an error or a warning, damage included, and "meowdis status" with 3 if the
target does not respond.`

const agentsTopic = `For agents that work in a shell. "meowdis mcp" offers tools instead.

Name the target in each command: a file, a URL or @PROFILE, after -t or first;
"meowdis status --json" shows which one is used. Give --read-only unless you
have to change keys: commands that may write are then refused before they are
sent. Flags come before the command of exec.

Explore the keys; no database is too large for these:
  meowdis stats cats.sqlite --json --limit 10000      # types, prefixes
  meowdis keys cats.sqlite --json --limit 100 'cat:*'
  meowdis peek cats.sqlite --json cat:1               # its first elements
  meowdis scan cats.sqlite --json --limit 100 cat:1

Run Redis commands; each is a process, and replies are JSON:
  meowdis exec --json --read-only -t cats.sqlite HGETALL cat:1
  meowdis exec --json -t cats.sqlite SET greeting 'hello there' EX 60
  printf 'SET a 1\nINCR a\n' | meowdis exec --json -t cats.sqlite
  meowdis exec --dry-run -t cats.sqlite DEL a         # its effect
  meowdis help ZADD                              # its syntax

Before you delete or overwrite many keys, save them:
  meowdis dump cats.sqlite cats.jsonl --match 'cat:*'

Do not run KEYS *, and do not read a whole key before you know its size: use
peek first. Do not give --yes or --force unless you were told to. Do not write
to the file with sqlite3: only commands keep its tables consistent.

Exit codes: 0 done; 1 a command returned an error, which is in the reply; 2
invalid command line; 3 the target could not be reached or failed. Bytes that
are not UTF-8 are {"base64":"..."} in JSON. Nearly every verb has --json.`
