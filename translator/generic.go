package translator

import (
	"strings"

	"github.com/meowdis/meowdis/resp"
	"github.com/meowdis/meowdis/store"
)

var genericCommands = []Command{
	{
		Name: "DEL", Group: "generic", Since: "1.0.0", Arity: -2, Flags: Write,
		Summary: "Deletes keys and returns how many there were",
		Syntax:  "key [key ...]", Keys: []KeySpec{keysFrom(RM, 1, -1, 1)}, Translate: del,
		Tips: []string{"request_policy:multi_shard", "response_policy:agg_sum"},
	},
	{
		Name: "UNLINK", Group: "generic", Since: "4.0.0", Arity: -2, Flags: Write | Fast,
		Summary: "Deletes keys as DEL does",
		Syntax:  "key [key ...]", Keys: []KeySpec{keysFrom(RM, 1, -1, 1)}, Translate: del,
		Tips: []string{"request_policy:multi_shard", "response_policy:agg_sum"},
	},
	{
		Name: "EXISTS", Group: "generic", Since: "1.0.0", Arity: -2, Flags: ReadOnly | Fast,
		Summary: "Counts the keys that exist, one that is named twice twice",
		Syntax:  "key [key ...]", Keys: []KeySpec{keysFrom(RO|Metadata, 1, -1, 1)}, Translate: exists,
		Tips: []string{"request_policy:multi_shard", "response_policy:agg_sum"},
	},
	{
		Name: "TOUCH", Group: "generic", Since: "3.2.1", Arity: -2, Flags: ReadOnly | Fast,
		Summary: "Counts the keys that exist, as EXISTS does; the time of access is not kept",
		Syntax:  "key [key ...]", Keys: []KeySpec{keysFrom(RO|Metadata, 1, -1, 1)}, Translate: exists,
		Tips: []string{"request_policy:multi_shard", "response_policy:agg_sum"},
	},
	{
		Name: "TYPE", Group: "generic", Since: "1.0.0", Arity: 2, Flags: ReadOnly | Fast,
		Summary: "Returns the type of the value at a key, none when there is none",
		Syntax:  "key", Keys: []KeySpec{oneKey(RO|Metadata, 1)}, Translate: typeCommand,
	},
	{
		Name: "KEYS", Group: "generic", Since: "1.0.0", Arity: 2, Flags: ReadOnly,
		Summary: "Returns all keys that match a glob pattern",
		Syntax:  "pattern", Translate: keys, Categories: []string{"keyspace", "dangerous"},
		Tips: []string{"request_policy:all_shards", "nondeterministic_output_order"},
	},
	{
		Name: "SCAN", Group: "generic", Since: "2.8.0", Arity: -2, Flags: ReadOnly,
		Summary: "Returns the keys page by page: the cursor of the next one, 0 at the end, and the keys",
		Syntax:  "cursor [MATCH pattern] [COUNT count] [TYPE type] [WITHTYPE]", Translate: scan,
		Tips: []string{"nondeterministic_output", "request_policy:special"},
	},
	{
		Name: "RANDOMKEY", Group: "generic", Since: "1.0.0", Arity: 1, Flags: ReadOnly,
		Summary: "Returns some key, nil in an empty database", Translate: randomKey,
		Tips: []string{"request_policy:all_shards", "nondeterministic_output"},
	},
	{
		Name: "RENAME", Group: "generic", Since: "1.0.0", Arity: 3, Flags: Write,
		Summary: "Gives a key another name, which takes that of a key that has it",
		Syntax:  "key newkey", Translate: rename,
		Keys: []KeySpec{oneKey(RW|Returns|Deletes, 1), oneKey(OW, 2)},
	},
	{
		Name: "RENAMENX", Group: "generic", Since: "1.0.0", Arity: 3, Flags: Write | Fast,
		Summary: "Gives a key another name unless a key has it",
		Syntax:  "key newkey", Translate: renamenx,
		Keys: []KeySpec{oneKey(RW|Returns|Deletes, 1), oneKey(OW|Inserts, 2)},
	},
	{
		Name: "MOVE", Group: "generic", Since: "1.0.0", Arity: 3, Flags: Write | Fast,
		Summary: "Moves a key to another database unless a key has its name there",
		Syntax:  "key db", Keys: []KeySpec{oneKey(RW|Returns|Updates, 1)}, Translate: move,
	},
	{
		Name: "COPY", Group: "generic", Since: "6.2.0", Arity: -3, Flags: Write | DenyOOM,
		Summary: "Copies the value and the time to live of a key to another",
		Syntax:  "source destination [DB destination-db] [REPLACE]", Translate: copyCommand,
		Keys: []KeySpec{oneKey(RO, 1), oneKey(OW, 2)},
	},
	{
		Name: "EXPIRE", Group: "generic", Since: "1.0.0", Arity: -3, Flags: Write | Fast,
		Summary: "Makes a key expire after some seconds",
		Syntax:  "key seconds [NX|XX|GT|LT]", Keys: []KeySpec{oneKey(RW, 1)}, Translate: expire(true, false),
	},
	{
		Name: "PEXPIRE", Group: "generic", Since: "2.6.0", Arity: -3, Flags: Write | Fast,
		Summary: "Makes a key expire after some milliseconds",
		Syntax:  "key milliseconds [NX|XX|GT|LT]", Keys: []KeySpec{oneKey(RW, 1)}, Translate: expire(false, false),
	},
	{
		Name: "EXPIREAT", Group: "generic", Since: "1.2.0", Arity: -3, Flags: Write | Fast,
		Summary: "Makes a key expire at a Unix time",
		Syntax:  "key unix-time-seconds [NX|XX|GT|LT]", Keys: []KeySpec{oneKey(RW, 1)}, Translate: expire(true, true),
	},
	{
		Name: "PEXPIREAT", Group: "generic", Since: "2.6.0", Arity: -3, Flags: Write | Fast,
		Summary: "Makes a key expire at a Unix time in milliseconds",
		Syntax:  "key unix-time-milliseconds [NX|XX|GT|LT]", Keys: []KeySpec{oneKey(RW, 1)}, Translate: expire(false, true),
	},
	{
		Name: "TTL", Group: "generic", Since: "1.0.0", Arity: 2, Flags: ReadOnly | Fast,
		Summary: "Returns the seconds that a key has left, -1 when it does not expire, -2 when it is missing",
		Syntax:  "key", Keys: []KeySpec{oneKey(RO, 1)}, Translate: ttl(true, false),
		Tips: []string{"nondeterministic_output"},
	},
	{
		Name: "PTTL", Group: "generic", Since: "2.6.0", Arity: 2, Flags: ReadOnly | Fast,
		Summary: "Returns the milliseconds that a key has left, -1 when it does not expire, -2 when it is missing",
		Syntax:  "key", Keys: []KeySpec{oneKey(RO, 1)}, Translate: ttl(false, false),
		Tips: []string{"nondeterministic_output"},
	},
	{
		Name: "EXPIRETIME", Group: "generic", Since: "7.0.0", Arity: 2, Flags: ReadOnly | Fast,
		Summary: "Returns the Unix time at which a key expires, -1 when it does not, -2 when it is missing",
		Syntax:  "key", Keys: []KeySpec{oneKey(RO, 1)}, Translate: ttl(true, true),
	},
	{
		Name: "PEXPIRETIME", Group: "generic", Since: "7.0.0", Arity: 2, Flags: ReadOnly | Fast,
		Summary: "Returns the Unix time in milliseconds at which a key expires, -1 when it does not, -2 when it is missing",
		Syntax:  "key", Keys: []KeySpec{oneKey(RO, 1)}, Translate: ttl(false, true),
	},
	{
		Name: "PERSIST", Group: "generic", Since: "2.2.0", Arity: 2, Flags: Write | Fast,
		Summary: "Makes a key stay for good",
		Syntax:  "key", Keys: []KeySpec{oneKey(RW, 1)}, Translate: persist,
	},
	{
		Name: "WAIT", Group: "generic", Since: "3.0.0", Arity: 3, Flags: NoScript,
		Summary: "Returns 0 at once: there are no replicas to wait for",
		Syntax:  "numreplicas timeout", Translate: wait, Categories: []string{"connection"},
		Tips: []string{"request_policy:all_shards", "response_policy:agg_min"},
	},
	{
		Name: "WAITAOF", Group: "generic", Since: "7.2.0", Arity: 4, Flags: Blocking,
		Summary: "Answers what a server without an append-only file and replicas answers",
		Syntax:  "numlocal numreplicas timeout", Translate: waitaof, Categories: []string{"connection"},
		Tips: []string{"request_policy:all_shards", "response_policy:agg_min"},
	},
	{
		Name: "OBJECT", Group: "generic", Since: "2.2.3", Arity: -2,
		Summary: "Tells how Redis would hold a value",
	},
	{
		Name: "OBJECT ENCODING", Group: "generic", Since: "2.2.3", Arity: 3, Flags: ReadOnly,
		Summary: "Returns the encoding that Redis would choose for the value at a key",
		Syntax:  "key", Keys: []KeySpec{oneKey(RO|Metadata, 2)}, Translate: objectEncoding,
		Tips: []string{"nondeterministic_output"},
	},
	{
		Name: "OBJECT FREQ", Group: "generic", Since: "4.0.0", Arity: 3, Flags: ReadOnly,
		Summary: "Answers the error of a server that does not count accesses",
		Syntax:  "key", Keys: []KeySpec{oneKey(RO|Metadata, 2)}, Translate: objectFreq,
		Tips: []string{"nondeterministic_output"},
	},
	{
		Name: "OBJECT IDLETIME", Group: "generic", Since: "2.2.3", Arity: 3, Flags: ReadOnly,
		Summary: "Returns the seconds since a key was last written",
		Syntax:  "key", Keys: []KeySpec{oneKey(RO|Metadata, 2)}, Translate: objectIdletime,
		Tips: []string{"nondeterministic_output"},
	},
	{
		Name: "OBJECT REFCOUNT", Group: "generic", Since: "2.2.3", Arity: 3, Flags: ReadOnly,
		Summary: "Returns the number of references that Redis would hold to the value at a key",
		Syntax:  "key", Keys: []KeySpec{oneKey(RO|Metadata, 2)}, Translate: objectRefcount,
		Tips: []string{"nondeterministic_output"},
	},
	{
		Name: "OBJECT HELP", Group: "generic", Since: "6.2.0", Arity: 2, Flags: Loading | Stale,
		Summary: "Lists the subcommands of OBJECT", Translate: help,
	},
}

// sqlDel says of each deleted key whether it was live.
const sqlDel = `DELETE FROM keys WHERE db = ?1 AND key IN (SELECT unhex(j.value) FROM json_each(?2) j)
	RETURNING dies_at IS NULL OR dies_at > ?3`

// del is DEL and UNLINK.
func del(c *Call) Plan {
	stmt := store.Stmt{SQL: sqlDel, Args: c.list(c.Args[1:])}
	return write(func(r *store.Result) resp.Value {
		n := int64(0)
		for _, row := range r.Rows[0] {
			n += row[0].Int()
		}
		return resp.MakeInt(n)
	}, stmt)
}

const sqlExists = `SELECT count(*) FROM json_each(?2) j CROSS JOIN keys k
	ON k.db = ?1 AND k.key = unhex(j.value) AND (k.dies_at IS NULL OR k.dies_at > ?3)`

// exists is EXISTS and TOUCH.
func exists(c *Call) Plan {
	return read(intOf(0), store.Stmt{SQL: sqlExists, Args: c.list(c.Args[1:])})
}

// list is the arguments of a statement about many keys: database, keys, now.
func (c *Call) list(keys [][]byte) []store.Value {
	return []store.Value{store.Int(int64(c.Env.DB)), elements(keys), store.Int(c.Env.Now)}
}

func typeCommand(c *Call) Plan {
	return read(func(r *store.Result) resp.Value {
		if len(r.Rows[0]) == 0 {
			return resp.MakeStatus("none")
		}
		return resp.MakeStatus(string(r.Rows[0][0][0].Bytes()))
	}, c.typeOf(c.Args[1]))
}

func wait(c *Call) Plan {
	if _, ok := parseInt(c.Args[1]); !ok {
		return fail(errNotInteger)
	}
	if bad := badTimeout(c.Args[2]); bad != "" {
		return fail(bad)
	}
	return answer(resp.Zero)
}

// badTimeout is the error text for a timeout in milliseconds, "" for a good one.
func badTimeout(arg []byte) string {
	switch timeout, ok := parseInt(arg); {
	case !ok:
		return "ERR timeout is not an integer or out of range"
	case timeout < 0:
		return "ERR timeout is negative"
	}
	return ""
}

// waitaof has no append-only file to wait for: redis.io/commands/waitaof.
func waitaof(c *Call) Plan {
	local, ok1 := parseInt(c.Args[1])
	replicas, ok2 := parseInt(c.Args[2])
	bad := badTimeout(c.Args[3])
	switch {
	case !ok1 || !ok2:
		return fail(errNotInteger)
	case local < 0 || local > 1:
		return fail("ERR value is out of range, value must between 0 and 1")
	case replicas < 0:
		return fail(errMustBePositive)
	case bad != "":
		return fail(bad)
	case local == 1:
		return fail("ERR WAITAOF cannot be used when numlocal is set but appendonly is disabled.")
	}
	return answer(resp.MakeArray(resp.Zero, resp.Zero))
}

// help answers a container's HELP, from the table.
func help(c *Call) Plan {
	parent, _, _ := strings.Cut(c.Command.Name, " ")
	reply := resp.MakeArray(resp.MakeStatus(parent + " <subcommand> [<arg> [value] [opt] ...]. Subcommands are:"))
	for _, sub := range commands {
		if word, ok := strings.CutPrefix(sub.Name, parent+" "); ok {
			reply.Elems = append(reply.Elems, resp.MakeStatus(strings.TrimSpace(word+" "+sub.Syntax)), resp.MakeStatus("    "+sub.Summary+"."))
		}
	}
	return answer(reply)
}
