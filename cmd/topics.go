package cmd

import (
	"github.com/spf13/cobra"

	"github.com/meowdis/meowdis/internal/target"
)

// topics are the texts of "meowdis help TOPIC" that belong to no verb.
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

const targetsTopic = target.Help + `

An argument that names a target is @NAME for a profile, a URL, or the path of a
file; a word that is no file but a profile is the profile, too.

A file that is missing is made by the first command that writes; its directory must
be there. Until then it is empty to a script and at the prompt, but one command that
only reads, on a file that was named, is an error: the name was mistyped. A file that
may not be written is read. Several processes may use one file. :memory: is empty each
time.

redis:// and rediss:// (TLS) take user, password, host, port and database:
redis://user:password@host:6379/2. unix:///path/to/socket?db=2 is a socket. A
password on the command line can be seen by others: a profile keeps it elsewhere.
For TLS, also of https://, --cacert FILE trusts other authorities than the system's,
--cert FILE and --key FILE are a client certificate, --sni HOST is the name to ask
for, --insecure trusts anybody; "meowdis profile add" keeps them. --timeout gives a
server up that does not answer.

--read-only refuses commands that write, and those that meowdis does not know,
before they are sent; a file is opened for reading only. "meowdis status" tells
which target is used and why, and whether it answers.`

const formatsTopic = `-o FORMAT chooses how replies are printed, and -3 and -2 whether maps, sets and
doubles are shown as such.

  typed   what redis-cli shows on a terminal: the type of each value, strings
          quoted. The default on a terminal; --no-raw for short. Printable UTF-8
          is shown as it is, --escape shows its bytes.
  raw     bytes as they are, the elements of an array one a line. The default
          into a pipe; --raw for short. -d changes what stands between elements,
          -D what follows a reply; --quoted quotes strings, so that each is one
          line and a command line can take it.
  csv     a line for each record, as RFC 4180 has it; --csv for short. --header
          prints the names of the columns first. A reply without records is one
          line, and so is a list without --header. nil is NULL. The fields of a
          stream's entries are columns under a header; without one each stands
          before its value. What is nested in a cell is JSON. With --escape the
          lines are those of redis-cli, which other programs cannot read.
  json    one JSON value a reply, always valid; --json for short. An error is
          {"error":"…"}, bytes that are not UTF-8 are {"base64":"…"}, infinities
          are strings. Maps are objects and scores numbers wherever the reply
          comes from. The name of a field in an object is a string: one that is
          not UTF-8 is the text {"base64":"…"}, and so is one that begins like
          that itself, so that no two names are one.
  ndjson  one JSON value a line: a record, or an element of a list. Fields of a
          stream's entry are an object, or a list where one stands twice.
  table   a table of the records, for people; other replies as typed. On a
          terminal wide cells are cut.

Records are the fields of a hash, scored members, entries of a stream, pages of a
scan, and arrays of arrays or maps such as SLOWLOG GET and XINFO GROUPS answer.
Where a scan goes on is said under a table, and on stderr beside csv and ndjson.

Colours are for terminals. --color always or never decides; then NO_COLOR,
CLICOLOR_FORCE and CLICOLOR=0, in this order.`

const environmentTopic = `  MEOWDIS_DB                the file to work on
  MEOWDIS_URL               the URL to work on, and
  MEOWDIS_TOKEN             the token of it, where it is a REST endpoint; also the
                            token of --url, and of "meowdis serve"
  MEOWDIS_REQUIREPASS       the password that "meowdis serve" wants of Redis clients
  MEOWDIS_PROFILE           the profile to work on
  UPSTASH_REDIS_REST_URL    as Upstash's SDKs know them
  UPSTASH_REDIS_REST_TOKEN
  KV_REST_API_URL           as Vercel names them
  KV_REST_API_TOKEN
  REDIS_URL                 as Heroku and many libraries name it; any URL will do
  MEOWDIS_KEYRING=off       keep the tokens of profiles out of the system's keyring
  NO_COLOR                  no colours, when not empty
  CLICOLOR_FORCE            colours also where no terminal is, unless 0
  CLICOLOR=0                no colours
  TERM=dumb                 no colours, and nothing that moves the cursor
  PAGER                     what repl --pager shows long replies in; less -FRX
  VISUAL, EDITOR            what repl edits texts in
  XDG_DATA_HOME, XDG_STATE_HOME, XDG_CONFIG_HOME
                            where the default file, the history and config.toml
                            are; "meowdis paths" prints the places

--env-file FILE reads variables from a file, which go before those of the
environment. No such file is read unless it is named.`

const exitCodesTopic = exitCodesHelp + `

1 is also the code of a script that ended inside MULTI, held a line that is no
command or broke off in the middle of one of the Redis protocol, of a command that
was refused because the target is read-only or was not confirmed. The reply is
printed; scripts also say the number of the line on stderr.

A file that is damaged or cut off is 3, whichever verb reads it, and so is one that
cannot be opened; so is a server that wants a password or refuses the one given,
but for exec, which prints NOAUTH as the reply to the command that it is: 1. A
number of a database, a port or a flag that cannot be is 2. What Ctrl-C ended says
what was done and how to go on.

"meowdis diff" ends with 1 when something differs, "meowdis doctor" when something
is wrong with the file, damage included, and "meowdis status" with 3 when the target
does not answer.`

const agentsTopic = `For agents that work in a shell. "meowdis mcp" has tools instead.

Name the target in each command: --db FILE, --url URL or --profile NAME; "meowdis
status --json" says which it would be. Give --read-only unless you are to change
keys: what may write is then refused before it is sent. Flags stand before the
command of exec.

Look around; no size is too large for these:
  meowdis stats --json --limit 10000 --db cats.sqlite   # types, prefixes, largest keys
  meowdis keys --json --limit 100 --db cats.sqlite 'cat:*'
  meowdis peek --json --db cats.sqlite cat:1            # type, TTL, size, first elements
  meowdis scan --json --limit 100 --db cats.sqlite cat:1

Run commands of Redis; each is a process, and replies are JSON:
  meowdis exec --json --read-only --db cats.sqlite HGETALL cat:1
  meowdis exec --json --db cats.sqlite SET greeting 'hello there' EX 60
  printf 'SET a 1\nINCR a\n' | meowdis exec --json --transaction --db cats.sqlite
  meowdis exec --dry-run --db cats.sqlite DEL a         # what it would do
  meowdis help ZADD                                     # the syntax of a command

Before you delete or overwrite much, keep it:
  meowdis dump --db cats.sqlite --match 'cat:*' cats.jsonl

Do not ask for KEYS *, or all of a key whose size you have not seen: see peek first.
Do not give --yes or --force unless you were told to. Do not write to the file with
sqlite3: its tables have rules that only commands keep.

Exit codes: 0 done; 1 a command was answered with an error, which is in the reply;
2 the command line was wrong; 3 the target could not be reached or failed. Bytes that
are not UTF-8 are {"base64":"..."} in JSON. Nearly every verb has --json.`
