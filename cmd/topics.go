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
		topic("targets", "Where commands go, and how to say so", targetsTopic),
		topic("profiles", "Names for targets, and how careful to be there", profilesHelp),
		topic("formats", "The forms that replies are printed in", formatsTopic),
		topic("environment", "The variables that meowdis reads", environmentTopic),
		topic("exit-codes", "What the exit codes mean", exitCodesTopic),
		topic("agents", "For coding agents: what to run, and what not", agentsTopic),
	}
}

const targetsTopic = `The target is where commands go: the first of these that is given.

  1. an argument: TARGET, SOURCE, DESTINATION, A or B in the usage line
  2. --db FILE, --url URL, --storage-url URL or --profile NAME
  3. MEOWDIS_DB, MEOWDIS_URL, MEOWDIS_STORAGE_URL or MEOWDIS_PROFILE
  4. UPSTASH_REDIS_REST_URL, then KV_REST_API_URL, then REDIS_URL
  5. the profile in use: "meowdis profile use NAME"
  6. the default file, in the data directory that "meowdis paths" prints

"meowdis status" says which it is, and why. An argument is a file, a URL or
@NAME of a profile; NAME alone is the profile when no file is called that. A
URL is

  redis://user:password@host:6379/2  a Redis server; 2 is the database
  rediss://…                         the same over TLS
  unix:///path/to/socket?db=2        the same by a unix socket
  https://… and http://…             a REST endpoint, Upstash's or ours
  storage+https://…                  a storage: commands run here, on the
                                     tables there; --storage-url takes it
                                     without "storage+"

A token is that of --token, else MEOWDIS_TOKEN, UPSTASH_REDIS_REST_TOKEN or
KV_REST_API_TOKEN, whichever belongs to the URL; of a storage --storage-token or
MEOWDIS_STORAGE_TOKEN. Others can see the command line: a profile keeps a token
elsewhere.

A file that is missing is made by the first command that writes; its directory
must be there. Until then it is empty to a script and at the prompt, but one
command that only reads, on a file that was named, is an error: the name was
mistyped. A file that may not be written is read. Several processes may use one
file. :memory: is empty each time.

Over TLS, --cacert FILE trusts other authorities than the system's, --cert FILE
and --key FILE are a client certificate, --sni HOST is the name to ask for, and
--insecure trusts anybody; "meowdis profile add" keeps them.

--read-only refuses commands that write, and those that meowdis does not know,
before they are sent; a file is opened for reading only.`

const formatsTopic = `-o FORMAT chooses how replies are printed, and -3 and -2 whether maps, sets and
doubles are shown as such.

  typed   what redis-cli shows on a terminal: the type of each value,
          strings quoted. The default on a terminal; --no-raw for short.
          Printable UTF-8 is shown as it is, --escape shows its bytes.
  raw     bytes as they are, the elements of an array one a line. The
          default into a pipe; --raw for short. -d changes what stands
          between elements, -D what follows a reply; --quoted quotes
          strings, so that each is one line and a command line can take it.
  csv     a line for each record, as RFC 4180 has it; --csv for short.
          --header prints the names of the columns first. A reply without
          records is one line, and so is a list without --header. nil is
          NULL. The fields of a stream's entries are columns under a
          header; without one each stands before its value. What is nested
          in a cell is JSON. With --escape the lines are those of
          redis-cli, which other programs cannot read.
  json    one JSON value a reply, always valid; --json for short. An error
          is {"error":"…"}, bytes that are not UTF-8 are {"base64":"…"},
          infinities are strings. Maps are objects and scores numbers
          wherever the reply comes from. The name of a field in an object
          is a string: one that is not UTF-8 is the text {"base64":"…"},
          and so is one that begins like that itself, so that no two names
          are one.
  ndjson  one JSON value a line: a record, or an element of a list. Fields
          of a stream's entry are an object, or a list where one stands
          twice.
  table   a table of the records, for people; other replies as typed. On a
          terminal wide cells are cut.

Records are the fields of a hash, scored members, entries of a stream, pages of
a scan, and arrays of arrays or maps such as SLOWLOG GET and XINFO GROUPS
answer. Where a scan goes on is said under a table, and on stderr beside csv
and ndjson.

Colours are for terminals. --color always or never decides; then NO_COLOR,
CLICOLOR_FORCE and CLICOLOR=0, in this order.`

const environmentTopic = `Variables that meowdis reads; a flag goes before its variable.

  MEOWDIS_DB                the file to work on
  MEOWDIS_URL               the URL to work on, and
  MEOWDIS_TOKEN             its token or password, also that of --url; and
                            the token that clients must send to "serve"
  MEOWDIS_READ_ONLY_TOKEN   the token of clients of "serve" that only read
  MEOWDIS_REQUIREPASS       the password that Redis clients must give it
  MEOWDIS_STORAGE_URL       the storage to work on, and
  MEOWDIS_STORAGE_TOKEN     its token
  MEOWDIS_PROFILE           the profile to work on
  UPSTASH_REDIS_REST_URL    as Upstash's SDKs know them
  UPSTASH_REDIS_REST_TOKEN
  KV_REST_API_URL           as Vercel names them
  KV_REST_API_TOKEN
  REDIS_URL                 as Heroku and many libraries name it; any URL
  MEOWDIS_KEYRING=off       keep tokens out of the system's keyring
  AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_REGION, …
                            for s3://, as AWS's own tools read them
  NO_COLOR                  no colours, when not empty
  CLICOLOR_FORCE            colours also where no terminal is, unless 0
  CLICOLOR=0                no colours
  COLORFGBG                 whether inspect's background is light or dark,
                            where the terminal does not say
  TERM=dumb                 no colours, and nothing that moves the cursor
  PAGER                     what repl --pager shows long replies in
  VISUAL, EDITOR            what repl edits texts in, and inspect values
  INPUTRC                   readline's file, for repl (default ~/.inputrc)
  XDG_DATA_HOME, XDG_STATE_HOME, XDG_CONFIG_HOME
                            where the default file, the history and the
                            profiles are: see "meowdis paths"

--env-file FILE reads variables from a file, which go before those of the
environment. No such file is read unless it is named.`

const exitCodesTopic = exitCodesHelp + `

1 is also the code of a script that ends inside MULTI, has a line that is no
command, or breaks off in the middle of one; and of a command that was refused,
because the target is read-only or it was not confirmed. The reply is printed,
and a script's line number on stderr.

3 is also the code of a damaged file, whichever verb reads it, and of a server
that wants another password; "meowdis exec" prints the server's NOAUTH as the
reply to its command, which is 1. A database, port or flag out of range is 2.
After Ctrl-C a verb says what was done and how to go on.

"meowdis diff" ends with 1 when something differs, "meowdis doctor" when
something is wrong with the file, damage included, and "meowdis status" with 3
when the target does not answer.`

const agentsTopic = `For agents that work in a shell. "meowdis mcp" has tools instead.

Name the target in each command: --db FILE, --url URL or --profile NAME;
"meowdis status --json" says which it would be. Give --read-only unless you are
to change keys: what may write is then refused before it is sent. Flags stand
before the command of exec.

Look around; no size is too large for these:
  meowdis stats --json --limit 10000 --db cats.sqlite # types, prefixes
  meowdis keys --json --limit 100 --db cats.sqlite 'cat:*'
  meowdis peek --json --db cats.sqlite cat:1          # its first elements
  meowdis scan --json --limit 100 --db cats.sqlite cat:1

Run commands of Redis; each is a process, and replies are JSON:
  meowdis exec --json --read-only --db cats.sqlite HGETALL cat:1
  meowdis exec --json --db cats.sqlite SET greeting 'hello there' EX 60
  printf 'SET a 1\nINCR a\n' | meowdis exec --json --db cats.sqlite
  meowdis exec --dry-run --db cats.sqlite DEL a         # what it would do
  meowdis help ZADD                              # its syntax

Before you delete or overwrite much, keep it:
  meowdis dump --db cats.sqlite --match 'cat:*' cats.jsonl

Do not ask for KEYS *, or all of a key whose size you have not seen: see peek
first. Do not give --yes or --force unless you were told to. Do not write to
the file with sqlite3: its tables have rules that only commands keep.

Exit codes: 0 done; 1 a command was answered with an error, which is in the
reply; 2 the command line was wrong; 3 the target could not be reached or
failed. Bytes that are not UTF-8 are {"base64":"..."} in JSON. Nearly every
verb has --json.`
