package translator

import (
	"strconv"

	"github.com/meowdis/meowdis/commands"
	"github.com/meowdis/meowdis/resp"
	"github.com/meowdis/meowdis/schema"
	"github.com/meowdis/meowdis/store"
)

var serverTranslations = translations{
	"DBSIZE":                  dbsize,
	"FLUSHDB":                 flush(false),
	"FLUSHALL":                flush(true),
	"SWAPDB":                  swapdb,
	"TIME":                    timeCommand,
	"INFO":                    info,
	"LOLWUT":                  lolwut,
	"MODULE HELP":             help,
	"MODULE LIST":             func(*Call) Plan { return answer(Modules) },
	"COMMAND":                 commandInfo,
	"COMMAND COUNT":           commandCount,
	"COMMAND DOCS":            commandDocs,
	"COMMAND GETKEYS":         commandGetkeys(false),
	"COMMAND GETKEYSANDFLAGS": commandGetkeys(true),
	"COMMAND HELP":            help,
	"COMMAND INFO":            commandInfo,
	"COMMAND LIST":            commandList,
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
	`DELETE FROM stream_pending`, `DELETE FROM stream_consumers`, `DELETE FROM stream_groups`, `DELETE FROM stream_entries`, `DELETE FROM stream_nodes`, `DELETE FROM streams`,
	`DELETE FROM stream_iids`, `DELETE FROM stream_idmp`,
	`DELETE FROM documents`, `DELETE FROM arrays`, `DELETE FROM array_cursors`,
	`DELETE FROM vector_sets`, `DELETE FROM vectors`, `DELETE FROM vector_blocks`, `DELETE FROM dbs`, `DELETE FROM keys`,
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
	case min(first, second) < 0 || max(first, second) >= commands.Databases:
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

// Modules are those of a Redis 8.0 to which nobody has added any: one is built in.
var Modules = resp.MakeArray(resp.MakeMap(
	resp.MakeString("name"), resp.MakeString("vectorset"), resp.MakeString("ver"), resp.One,
	resp.MakeString("path"), resp.EmptyBulk, resp.MakeString("args"), resp.EmptyArray))
