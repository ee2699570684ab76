package translator

import (
	"strconv"
	"strings"

	"github.com/meowdis/meowdis/commands"
	"github.com/meowdis/meowdis/resp"
	"github.com/meowdis/meowdis/schema"
	"github.com/meowdis/meowdis/store"
)

// RedisVersion is the version of Redis whose answers are ours: clients ask for it
// to know which commands they may use.
const RedisVersion = "8.0.2"

// sqlKeyspace reads for each database its keys, how many of them expire, and how
// long these have left on average, and the hashes with fields that expire. The plus keeps
// SQLite to the index of the expiring keys, which has all that is asked of them.
const sqlKeyspace = `WITH partly(db, hashes) AS MATERIALIZED (SELECT k.db, count(*)
		FROM (SELECT DISTINCT key_id FROM hashes WHERE expires_at > ?1) h JOIN keys k ON k.id = h.key_id GROUP BY k.db)
	SELECT d.db, d.keys - (SELECT count(*) FROM ` + oldestDead + ` WHERE db = d.db), count(k.expires_at),
	CAST(coalesce(avg(k.expires_at - ?1), 0) AS INTEGER), ifnull((SELECT hashes FROM partly WHERE db = d.db), 0)
	FROM dbs d LEFT JOIN (SELECT db, expires_at FROM keys WHERE ` + schema.DiesAt + ` > ?1) k ON +k.db = d.db
	WHERE d.keys > 0 GROUP BY d.db`

// Facts are lines for INFO's sections that the translator cannot know, such as
// memory or uptime, by the name of the section.
type Facts map[string][]string

// section is one part of INFO's reply. It has only what a client may rely on.
type section struct {
	name  string
	lines func(*Call, *store.Result) []string // nil when there are only Facts
}

func facts(lines ...string) func(*Call, *store.Result) []string {
	return func(*Call, *store.Result) []string { return lines }
}

var sections = []section{
	{"Server", serverLines},
	{"Clients", nil},
	{"Memory", facts("maxmemory:0", "maxmemory_human:0B", "maxmemory_policy:noeviction")},
	{"Persistence", persistenceLines},
	{"Stats", nil},
	{"Replication", facts("role:master", "connected_slaves:0", "master_failover_state:no-failover", "master_repl_offset:0",
		"second_repl_offset:-1", "repl_backlog_active:0")},
	{"CPU", nil},
	{"Modules", facts("module:name=vectorset,ver=1,api=1,filters=0,usedby=[],using=[],options=[handle-io-errors|handle-repl-async-load]")},
	{"Cluster", facts("cluster_enabled:0")},
	{"Keyspace", keyspaceLines},
}

func serverLines(c *Call, _ *store.Result) []string {
	return []string{
		"redis_version:" + RedisVersion,
		"redis_mode:standalone",
		"arch_bits:64",
		"server_time_usec:" + strconv.FormatInt(c.Env.Now*1000, 10),
		"meowdis:schema=" + strconv.Itoa(schema.Version) + ",databases=" + strconv.Itoa(commands.Databases),
	}
}

// persistenceLines say what tools look at to warn: every commit is in the file, so that the
// last save is now and went well.
func persistenceLines(c *Call, _ *store.Result) []string {
	return []string{
		"loading:0", "async_loading:0",
		"rdb_changes_since_last_save:0", "rdb_bgsave_in_progress:0", "rdb_last_save_time:" + strconv.FormatInt(c.Env.Now/1000, 10),
		"rdb_last_bgsave_status:ok", "rdb_last_bgsave_time_sec:-1", "rdb_current_bgsave_time_sec:-1",
		"aof_enabled:0", "aof_rewrite_in_progress:0", "aof_rewrite_scheduled:0", "aof_last_bgrewrite_status:ok", "aof_last_write_status:ok",
	}
}

func keyspaceLines(_ *Call, r *store.Result) []string {
	var lines []string
	for _, row := range r.Rows[0] {
		if row[1].Int() == 0 {
			continue
		}
		n := func(i int) string { return strconv.FormatInt(row[i].Int(), 10) }
		lines = append(lines, "db"+n(0)+":keys="+n(1)+",expires="+n(2)+",avg_ttl="+n(3)+",subexpiry="+n(4))
	}
	return lines
}

func info(c *Call) Plan {
	var wanted []section
	for _, s := range sections {
		if c.wants(s) && (s.lines != nil || len(c.Env.Facts[s.name]) > 0) {
			wanted = append(wanted, s)
		}
	}
	text := func(r *store.Result) resp.Value {
		var parts []string
		for _, s := range wanted {
			lines := []string{"# " + s.name}
			if s.lines != nil {
				lines = append(lines, s.lines(c, r)...)
			}
			lines = append(lines, c.Env.Facts[s.name]...)
			parts = append(parts, strings.Join(lines, "\r\n")+"\r\n")
		}
		return resp.Value{Kind: resp.Verbatim, Str: []byte(strings.Join(parts, "\r\n"))}
	}
	if n := len(wanted); n == 0 || wanted[n-1].name != "Keyspace" {
		return answer(text(nil))
	}
	return read(text, store.Stmt{SQL: sqlKeyspace, Args: []store.Value{store.Int(c.Env.Now)}})
}

// wants reports whether the call asks for the section. Unknown names are ignored.
func (c *Call) wants(s section) bool {
	for i := 1; i < len(c.Args); i++ {
		if c.is(i, "ALL") || c.is(i, "EVERYTHING") || c.is(i, "DEFAULT") || c.is(i, strings.ToUpper(s.name)) {
			return true
		}
	}
	return len(c.Args) == 1
}
