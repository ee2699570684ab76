package translator

import (
	"strconv"
	"strings"

	"github.com/meowdis/meowdis/redis/commands"
	"github.com/meowdis/meowdis/redis/resp"
	"github.com/meowdis/meowdis/store"
	"github.com/meowdis/meowdis/store/schema"
)

// RedisVersion is the emulated version of Redis. Clients use it to select commands.
const RedisVersion = "8.0.2"

// sqlKeyspace reads for each database the number of keys, the number of keys with an expiry and their average TTL, and
// the number of hashes with expiring fields. The plus sign makes SQLite use only the index of the expiring keys, which
// has all needed columns.
const sqlKeyspace = `WITH partly(db, hashes) AS MATERIALIZED (SELECT k.db, count(*)
		FROM (SELECT DISTINCT key_id FROM hashes WHERE expires_at > ?1) h JOIN keys k ON k.id = h.key_id GROUP BY k.db)
	SELECT d.db, d.keys - (SELECT count(*) FROM ` + oldestExpired + ` WHERE db = d.db), count(k.expires_at),
	CAST(coalesce(avg(k.expires_at - ?1), 0) AS INTEGER), ifnull((SELECT hashes FROM partly WHERE db = d.db), 0)
	FROM dbs d LEFT JOIN (SELECT db, expires_at FROM keys WHERE ` + schema.DiesAt + ` > ?1) k ON +k.db = d.db
	WHERE d.keys > 0 AND d.db >= 0 GROUP BY d.db`

// Facts returns the lines of a section of INFO that the server has, to replace the translator's lines. ok is false for
// a section without facts.
type Facts func(section string) (lines []string, ok bool)

// section is one part of INFO's reply. It contains only facts that clients may rely on.
type section struct {
	name  string
	lines func(*Call, *store.Result) []string // nil if all lines come from Facts
	reads string                              // the statement that reads the rows for lines, with the argument now
	extra extra
}

// extra selects the calls that include a section without naming it.
type extra byte

const (
	byDefault extra = iota
	inAll           // ALL and EVERYTHING
	named           // no calls
)

func facts(lines ...string) func(*Call, *store.Result) []string {
	return func(*Call, *store.Result) []string { return lines }
}

var sections = []section{
	{name: "Server", lines: serverLines},
	{name: "Clients"},
	{name: "Memory", lines: facts("maxmemory:0", "maxmemory_human:0B", "maxmemory_policy:noeviction")},
	{name: "Persistence", lines: persistenceLines},
	{name: "Threads"},
	{name: "Stats"},
	{name: "Replication", lines: facts("role:master", "connected_slaves:0", "master_failover_state:no-failover", "master_repl_offset:0",
		"second_repl_offset:-1", "repl_backlog_active:0")},
	{name: "CPU"},
	{name: "Modules", lines: facts(moduleLines()...)},
	{name: "Commandstats", extra: inAll},
	{name: "Errorstats"},
	{name: "Latencystats", extra: inAll},
	{name: "Cluster", lines: facts("cluster_enabled:0")},
	{name: "Keyspace", lines: keyspaceLines, reads: sqlKeyspace},
	// It reads all keys, so plain INFO, which tools call often, omits it.
	{name: "Keysizes", lines: keysizesLines, reads: sqlKeysizes, extra: named},
}

func serverLines(c *Call, _ *store.Result) []string { return ServerLines(c.Env.Now*1000, "standalone") }

// ServerLines returns the lines of the section Server that exist with and without a server. now is in Unix µs.
func ServerLines(now int64, mode string) []string {
	return []string{
		"redis_version:" + RedisVersion,
		"redis_mode:" + mode,
		"arch_bits:64",
		"server_time_usec:" + strconv.FormatInt(now, 10),
		"meowdis:schema=" + strconv.Itoa(schema.Version) + ",databases=" + strconv.Itoa(commands.Databases),
	}
}

// persistenceLines returns the lines that tools check for warnings. Every commit is in the file, so the last save is
// now and succeeded.
func persistenceLines(c *Call, _ *store.Result) []string {
	return []string{
		"loading:0", "async_loading:0",
		"current_cow_peak:0", "current_cow_size:0", "current_cow_size_age:0", "current_fork_perc:0.00",
		"current_save_keys_processed:0", "current_save_keys_total:0",
		"rdb_changes_since_last_save:0", "rdb_bgsave_in_progress:0", "rdb_last_save_time:" + strconv.FormatInt(c.Env.Now/1000, 10),
		"rdb_last_bgsave_status:ok", "rdb_last_bgsave_time_sec:-1", "rdb_current_bgsave_time_sec:-1",
		"rdb_saves:0", "rdb_last_cow_size:0", "rdb_last_load_keys_expired:0", "rdb_last_load_keys_loaded:0",
		"aof_enabled:0", "aof_rewrite_in_progress:0", "aof_rewrite_scheduled:0", "aof_last_rewrite_time_sec:-1",
		"aof_current_rewrite_time_sec:-1", "aof_last_bgrewrite_status:ok", "aof_rewrites:0", "aof_rewrites_consecutive_failures:0",
		"aof_last_write_status:ok", "aof_last_cow_size:0", "module_fork_in_progress:0", "module_fork_last_cow_size:0",
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
	var reads []store.Stmt
	for _, s := range sections {
		if !c.wants(s) {
			continue
		}
		known := false
		if c.Env.Server.Facts != nil {
			var lines []string
			if lines, known = c.Env.Server.Facts(s.name); known {
				s.lines = facts(lines...)
			}
		}
		if s.lines == nil {
			continue
		}
		if s.reads != "" && !known {
			reads = append(reads, store.Stmt{SQL: s.reads, Args: []store.Value{store.Int(c.Env.Now)}})
		}
		wanted = append(wanted, s)
	}
	text := func(r *store.Result) resp.Value {
		var parts []string
		at := 0
		for _, s := range wanted {
			of := r
			if s.reads != "" {
				of = &store.Result{Rows: r.Rows[at : at+1]}
				at++
			}
			parts = append(parts, strings.Join(append([]string{"# " + s.name}, s.lines(c, of)...), "\r\n")+"\r\n")
		}
		return resp.Value{Kind: resp.Verbatim, Str: []byte(strings.Join(parts, "\r\n"))}
	}
	if len(reads) == 0 {
		return answer(text(nil))
	}
	return read(text, reads...)
}

// wants reports whether the call asks for the section. Unknown names are ignored.
func (c *Call) wants(s section) bool {
	for i := 1; i < len(c.Args); i++ {
		switch {
		case c.is(i, strings.ToUpper(s.name)):
			return true
		case c.is(i, "DEFAULT"):
			if s.extra == byDefault {
				return true
			}
		case c.is(i, "ALL") || c.is(i, "EVERYTHING"):
			if s.extra != named {
				return true
			}
		}
	}
	return len(c.Args) == 1 && s.extra == byDefault
}
