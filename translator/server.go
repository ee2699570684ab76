package translator

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/meowdis/meowdis/redis/commands"
	"github.com/meowdis/meowdis/redis/resp"
	"github.com/meowdis/meowdis/store"
	"github.com/meowdis/meowdis/store/schema"
)

var serverTranslations = translations{
	{"DBSIZE", dbsize},
	{"FLUSHDB", flush(false)},
	{"FLUSHALL", flush(true)},
	{"SWAPDB", swapdb},
	{"TIME", timeCommand},
	{"INFO", info},
	{"LOLWUT", lolwut},
	{"ACL HELP", help},
	{"PUBSUB HELP", help},
	{"MODULE HELP", help},
	{"MODULE LIST", func(*Call) Plan { return answer(Modules) }},
	{"COMMAND", commandInfo},
	{"COMMAND COUNT", commandCount},
	{"COMMAND DOCS", commandDocs},
	{"COMMAND GETKEYS", commandGetkeys(false)},
	{"COMMAND GETKEYSANDFLAGS", commandGetkeys(true)},
	{"COMMAND HELP", help},
	{"COMMAND INFO", commandInfo},
	{"COMMAND LIST", commandList},
}

// The counter of a database includes keys that have expired but not been swept. oldestExpired selects the keys to
// subtract (expired at ?1, now), at most 10,000, so that counting is quick even if the sweeper is late. The count then
// includes some expired keys, as Redis's own DBSIZE does.
const (
	oldestExpired = `(SELECT db FROM keys WHERE ` + schema.DiesAt + ` <= ?1 ORDER BY ` + schema.DiesAt + ` LIMIT 10000)`
	sqlDBSize     = `SELECT coalesce((SELECT keys FROM dbs WHERE db = ?2), 0) - (SELECT count(*) FROM ` + oldestExpired + ` WHERE db = ?2)`
)

func dbsize(c *Call) Plan {
	return read(intOf(0), store.Stmt{SQL: sqlDBSize, Args: []store.Value{store.Int(c.Env.Now), store.Int(int64(c.Env.DB))}})
}

// Two databases may have keys with the same names, so the keys of one of them move to database -1 first: the database
// with fewer keys, which receives or gives the keys of the next statement. The versions increase for WATCH: a key that
// is swapped away and back has changed.
const (
	smallerDB = `(SELECT iif(ifnull((SELECT keys FROM dbs WHERE db = ?1), 0) <= ifnull((SELECT keys FROM dbs WHERE db = ?2), 0), ?1, ?2))`

	sqlSwapOut    = `UPDATE keys SET db = -1 WHERE db = ` + smallerDB
	sqlSwapAcross = `UPDATE keys SET db = ` + smallerDB + `, version = version + 1 WHERE db = ?1 + ?2 - ` + smallerDB
	sqlSwapIn     = `UPDATE keys SET db = ` + smallerDB + `, version = version + 1 WHERE db = -1`
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
	both := []store.Value{store.Int(first), store.Int(second)}
	return write(decodeOK,
		store.Stmt{SQL: sqlSwapOut, Args: both}, store.Stmt{SQL: sqlSwapAcross, Args: both}, store.Stmt{SQL: sqlSwapIn, Args: both})
}

func timeCommand(c *Call) Plan {
	seconds, micros := c.Env.Now/1000, c.Env.Now%1000*1000
	return answer(resp.MakeArray(resp.MakeString(strconv.FormatInt(seconds, 10)), resp.MakeString(strconv.FormatInt(micros, 10))))
}

// lolwut accepts any arguments, as Redis does, but a version must be a number.
func lolwut(c *Call) Plan {
	if len(c.Args) > 2 && c.is(1, "VERSION") {
		if _, ok := parseInt(c.Args[2]); !ok {
			return fail(errNotInteger)
		}
	}
	eyes := []string{"o.o", "-.-", "^.^", "O.o", "=.="}[c.Random()%5]
	return answer(resp.Value{Kind: resp.Verbatim, Str: []byte(" /\\_/\\\n( " + eyes + " )\n > ^ <\n\nRedis ver. " + RedisVersion + "\n")})
}

// module describes a module of Redis 8.0 whose commands exist here.
type module struct {
	name     string
	version  int64
	prefixes []string // of its commands
	options  string   // in INFO
}

var modules = slices.DeleteFunc([]module{
	{"vectorset", 1, []string{"V"}, "handle-io-errors|handle-repl-async-load"},
	{"ReJSON", 80001, []string{"JSON."}, "handle-io-errors"},
	{"search", 80002, []string{"FT."}, "handle-io-errors"},
	{"timeseries", 80001, []string{"TS."}, ""},
	{"bf", 80001, []string{"BF.", "CF.", "CMS.", "TOPK.", "TDIGEST."}, ""},
}, func(m module) bool { return m.name == "search" && !hasSearch })

// has reports whether a command belongs to the module.
func (m module) has(cmd *commands.Command) bool {
	return cmd.Flags&commands.Module != 0 && slices.ContainsFunc(m.prefixes, func(prefix string) bool { return strings.HasPrefix(cmd.Name, prefix) })
}

// Modules is the reply of MODULE LIST.
var Modules = func() resp.Value {
	all := resp.EmptyArray
	for _, m := range modules {
		all.Elems = append(all.Elems, resp.MakeMap(
			resp.MakeString("name"), resp.MakeString(m.name), resp.MakeString("ver"), resp.MakeInt(m.version),
			resp.MakeString("path"), resp.EmptyBulk, resp.MakeString("args"), resp.EmptyArray))
	}
	return all
}()

// moduleLines returns the lines of INFO about the modules.
func moduleLines() (lines []string) {
	for _, m := range modules {
		lines = append(lines, fmt.Sprintf("module:name=%s,ver=%d,api=1,filters=0,usedby=[],using=[],options=[%s]", m.name, m.version, m.options))
	}
	return lines
}
