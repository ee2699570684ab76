package translator

import (
	"strconv"

	"github.com/meowdis/meowdis/resp"
	"github.com/meowdis/meowdis/schema"
	"github.com/meowdis/meowdis/store"
)

var serverCommands = []Command{
	{
		Name: "DBSIZE", Group: "server", Since: "1.0.0", Arity: 1, Flags: ReadOnly | Fast,
		Summary: "Returns the number of keys in the database", Translate: dbsize,
		Categories: []string{"keyspace"},
		Tips:       []string{"request_policy:all_shards", "response_policy:agg_sum"},
	},
	{
		Name: "FLUSHDB", Group: "server", Since: "1.0.0", Arity: -1, Flags: Write,
		Summary: "Deletes all keys of the database",
		Syntax:  "[ASYNC|SYNC]", Translate: flush(false),
		Categories: []string{"keyspace", "dangerous"},
		Tips:       []string{"request_policy:all_shards", "response_policy:all_succeeded"},
	},
	{
		Name: "FLUSHALL", Group: "server", Since: "1.0.0", Arity: -1, Flags: Write,
		Summary: "Deletes all keys of all databases",
		Syntax:  "[ASYNC|SYNC]", Translate: flush(true),
		Categories: []string{"keyspace", "dangerous"},
		Tips:       []string{"request_policy:all_shards", "response_policy:all_succeeded"},
	},
	{
		Name: "SWAPDB", Group: "server", Since: "4.0.0", Arity: 3, Flags: Write | Fast,
		Summary: "Exchanges the keys of two databases",
		Syntax:  "index1 index2", Translate: swapdb,
		Categories: []string{"keyspace", "dangerous"},
	},
	{
		Name: "TIME", Group: "server", Since: "2.6.0", Arity: 1, Flags: Loading | Stale | Fast,
		Summary: "Returns the Unix time in seconds, and the microseconds of the current one", Translate: timeCommand,
		Tips: []string{"nondeterministic_output"},
	},
	{
		Name: "INFO", Group: "server", Since: "1.0.0", Arity: -1, Flags: Loading | Stale,
		Summary: "Returns facts about the server and the databases, as lines of name:value",
		Syntax:  "[section [section ...]]", Translate: info, WantsFacts: true,
		Categories: []string{"dangerous"},
		Tips:       []string{"nondeterministic_output", "request_policy:all_shards", "response_policy:special"},
	},
	{
		Name: "LOLWUT", Group: "server", Since: "5.0.0", Arity: -1, Flags: ReadOnly | Fast,
		Summary: "Draws a cat and names the version",
		Syntax:  "[VERSION version]", Translate: lolwut,
	},
	{
		Name: "MODULE", Group: "server", Since: "4.0.0", Arity: -2,
		Summary: "Holds the commands about modules, of which there are none",
	},
	{
		Name: "MODULE HELP", Group: "server", Since: "5.0.0", Arity: 2, Flags: Loading | Stale,
		Summary: "Lists the subcommands of MODULE", Translate: help,
	},
	{
		Name: "MODULE LIST", Group: "server", Since: "4.0.0", Arity: 2, Flags: Admin | NoScript,
		Summary: "Answers an empty list: nothing is loaded", Translate: func(*Call) Plan { return answer(resp.EmptyArray) },
		Tips: []string{"nondeterministic_output_order"},
	},
	{
		Name: "COMMAND", Group: "server", Since: "2.8.13", Arity: -1, Flags: Loading | Stale,
		Summary: "Describes all commands", Translate: commandInfo,
		Categories: []string{"connection"}, Tips: []string{"nondeterministic_output_order"},
	},
	{
		Name: "COMMAND COUNT", Group: "server", Since: "2.8.13", Arity: 2, Flags: Loading | Stale,
		Summary: "Returns the number of commands", Translate: commandCount,
		Categories: []string{"connection"},
	},
	{
		Name: "COMMAND DOCS", Group: "server", Since: "7.0.0", Arity: -2, Flags: Loading | Stale,
		Summary: "Documents commands, all without names",
		Syntax:  "[command-name [command-name ...]]", Translate: commandDocs,
		Categories: []string{"connection"}, Tips: []string{"nondeterministic_output_order"},
	},
	{
		Name: "COMMAND GETKEYS", Group: "server", Since: "2.8.13", Arity: -4, Flags: Loading | Stale,
		Summary: "Returns the keys of a call",
		Syntax:  "command arg [arg ...]", Translate: commandGetkeys(false),
		Categories: []string{"connection"},
	},
	{
		Name: "COMMAND GETKEYSANDFLAGS", Group: "server", Since: "7.0.0", Arity: -4, Flags: Loading | Stale,
		Summary: "Returns the keys of a call and what it does with them",
		Syntax:  "command arg [arg ...]", Translate: commandGetkeys(true),
		Categories: []string{"connection"},
	},
	{
		Name: "COMMAND HELP", Group: "server", Since: "5.0.0", Arity: 2, Flags: Loading | Stale,
		Summary: "Lists the subcommands of COMMAND", Translate: help,
		Categories: []string{"connection"},
	},
	{
		Name: "COMMAND INFO", Group: "server", Since: "2.8.13", Arity: -2, Flags: Loading | Stale,
		Summary: "Describes commands, all without names",
		Syntax:  "[command-name [command-name ...]]", Translate: commandInfo,
		Categories: []string{"connection"}, Tips: []string{"nondeterministic_output_order"},
	},
	{
		Name: "COMMAND LIST", Group: "server", Since: "7.0.0", Arity: -2, Flags: Loading | Stale,
		Summary: "Returns the names of the commands, or of those of a kind",
		Syntax:  "[FILTERBY <MODULE module-name|ACLCAT category|PATTERN pattern>]", Translate: commandList,
		Categories: []string{"connection"}, Tips: []string{"nondeterministic_output_order"},
	},
}

// The counter of a database includes the keys that have expired and not been
// swept yet. oldestDead are those (at ?1, now) that have to be subtracted, and
// never more than 10,000, so that a count stays quick behind a late sweeper: then
// it includes some dead keys, as Redis's own DBSIZE does.
const (
	oldestDead = `(SELECT db FROM keys WHERE ` + schema.DiesAt + ` <= ?1 ORDER BY ` + schema.DiesAt + ` LIMIT 10000)`
	sqlDBSize  = `SELECT coalesce((SELECT keys FROM dbs WHERE db = ?2), 0) - (SELECT count(*) FROM ` + oldestDead + ` WHERE db = ?2)`
)

func dbsize(c *Call) Plan {
	return read(intOf(0), store.Stmt{SQL: sqlDBSize, Args: []store.Value{store.Int(c.Env.Now), store.Int(int64(c.Env.DB))}})
}

// The elements go with their keys, and the triggers keep the counters.
const sqlFlushDB = `DELETE FROM keys WHERE db = ?1`

// sqlFlushAll empties the tables of elements first, in order of dependence, which
// SQLite does by the page where no trigger looks on; so the triggers of keys find
// nothing. A new table of elements joins here.
var sqlFlushAll = []string{
	`DELETE FROM strings`, `DELETE FROM string_parts`, `DELETE FROM hashes`, `DELETE FROM lists`, `DELETE FROM sets`, `DELETE FROM zsets`,
	`DELETE FROM stream_pending`, `DELETE FROM stream_consumers`, `DELETE FROM stream_groups`, `DELETE FROM stream_entries`, `DELETE FROM streams`,
	`DELETE FROM stream_iids`, `DELETE FROM stream_idmp`,
	`DELETE FROM documents`, `DELETE FROM arrays`, `DELETE FROM array_cursors`, `DELETE FROM dbs`, `DELETE FROM keys`,
}

// flush is FLUSHDB and FLUSHALL.
func flush(all bool) func(*Call) Plan {
	return func(c *Call) Plan {
		if len(c.Args) > 2 || len(c.Args) == 2 && !c.is(1, "ASYNC") && !c.is(1, "SYNC") {
			return fail(errSyntax)
		}
		if all {
			stmts := make([]store.Stmt, len(sqlFlushAll))
			for i, sql := range sqlFlushAll {
				stmts[i].SQL = sql
			}
			return write(decodeOK, stmts...)
		}
		return write(decodeOK, store.Stmt{SQL: sqlFlushDB, Args: []store.Value{store.Int(int64(c.Env.DB))}})
	}
}

// Two databases may have keys of the same names, so that one of them steps aside
// first. The versions go up for WATCH: a key that is swapped away and back has
// changed.
const (
	sqlStepAside = `UPDATE keys SET db = -1 WHERE db = ?1`
	sqlStepOver  = `UPDATE keys SET db = ?2, version = version + 1 WHERE db = ?1`
)

func swapdb(c *Call) Plan {
	first, ok := parseInt(c.Args[1])
	if !ok || int64(int32(first)) != first {
		return fail("ERR invalid first DB index")
	}
	second, ok := parseInt(c.Args[2])
	switch {
	case !ok || int64(int32(second)) != second:
		return fail("ERR invalid second DB index")
	case min(first, second) < 0 || max(first, second) >= Databases:
		return fail(errDBIndex)
	case first == second:
		return answer(resp.OK)
	}
	a, b, aside := store.Int(first), store.Int(second), store.Int(-1)
	return write(decodeOK,
		store.Stmt{SQL: sqlStepAside, Args: []store.Value{a}},
		store.Stmt{SQL: sqlStepOver, Args: []store.Value{b, a}},
		store.Stmt{SQL: sqlStepOver, Args: []store.Value{aside, b}})
}

func timeCommand(c *Call) Plan {
	seconds, micros := c.Env.Now/1000, c.Env.Now%1000*1000
	return answer(resp.MakeArray(resp.MakeString(strconv.FormatInt(seconds, 10)), resp.MakeString(strconv.FormatInt(micros, 10))))
}

// lolwut takes any arguments as Redis does, but a version must be a number.
func lolwut(c *Call) Plan {
	if len(c.Args) > 2 && c.is(1, "VERSION") {
		if _, ok := parseInt(c.Args[2]); !ok {
			return fail(errNotInteger)
		}
	}
	eyes := []string{"o.o", "-.-", "^.^", "O.o", "=.="}[c.Random()%5]
	return answer(resp.Value{Kind: resp.Verbatim, Str: []byte(" /\\_/\\\n( " + eyes + " )\n > ^ <\n\nRedis ver. " + RedisVersion + "\n")})
}
