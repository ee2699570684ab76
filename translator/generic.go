package translator

import (
	"strings"

	"github.com/meowdis/meowdis/redis/commands"
	"github.com/meowdis/meowdis/redis/resp"
	"github.com/meowdis/meowdis/store"
)

var genericTranslations = translations{
	{"DEL", del},
	{"UNLINK", del},
	{"EXISTS", exists},
	{"TOUCH", exists},
	{"TYPE", typeCommand},
	{"KEYS", keys},
	{"SCAN", scan},
	{"RANDOMKEY", randomKey},
	{"RENAME", rename},
	{"RENAMENX", renamenx},
	{"MOVE", move},
	{"COPY", copyCommand},
	{"EXPIRE", expire(true, false)},
	{"PEXPIRE", expire(false, false)},
	{"EXPIREAT", expire(true, true)},
	{"PEXPIREAT", expire(false, true)},
	{"TTL", ttl(true, false)},
	{"PTTL", ttl(false, false)},
	{"EXPIRETIME", ttl(true, true)},
	{"PEXPIRETIME", ttl(false, true)},
	{"PERSIST", persist},
	{"WAIT", wait},
	{"WAITAOF", waitaof},
	{"OBJECT ENCODING", objectEncoding},
	{"OBJECT FREQ", objectFreq},
	{"OBJECT IDLETIME", objectIdletime},
	{"OBJECT REFCOUNT", objectRefcount},
	{"OBJECT HELP", help},
}

// sqlDel reports for each deleted key whether it was live.
var sqlDel = keyListSQL{json: `DELETE FROM keys WHERE db = ?1 AND key IN (SELECT unhex(j.value) FROM json_each(?2) j)
	RETURNING dies_at IS NULL OR dies_at > ?3`}

const sqlDelOne = `DELETE FROM keys WHERE ` + live

// del translates DEL and UNLINK.
func del(c *Call) Plan {
	if len(c.Args) == 2 {
		purge := c.purge(c.Args[1])
		purge.SkipIf = somethingChanged
		return write(changed(0), c.stmt(sqlDelOne, c.Args[1]), purge)
	}
	stmt := sqlDel.stmt(c, c.Args[1:])
	return write(func(r *store.Result) resp.Value {
		n := int64(0)
		for _, row := range r.Rows[0] {
			n += row[0].Int()
		}
		return resp.MakeInt(n)
	}, stmt)
}

var sqlExists = keyListSQL{json: `SELECT count(*) FROM json_each(?2) j CROSS JOIN keys k
	ON k.db = ?1 AND k.key = unhex(j.value) AND (k.dies_at IS NULL OR k.dies_at > ?3)`}

const sqlExistsOne = `SELECT 1 FROM keys WHERE ` + live

// exists translates EXISTS and TOUCH.
func exists(c *Call) Plan {
	if len(c.Args) == 2 {
		return read(countRows, c.stmt(sqlExistsOne, c.Args[1]))
	}
	return read(intOf(0), sqlExists.stmt(c, c.Args[1:]))
}

// list returns the arguments of a statement about many keys: database, keys, now.
func (c *Call) list(keys [][]byte) []store.Value {
	return []store.Value{store.Int(int64(c.Env.DB)), hexList(keys), store.Int(c.Env.Now)}
}

func typeCommand(c *Call) Plan {
	return read(func(r *store.Result) resp.Value {
		if len(r.Rows[0]) == 0 {
			return resp.MakeStatus("none")
		}
		return resp.MakeStatus(string(r.Rows[0][0][0].Bytes()))
	}, c.typeOf(c.Args[1]))
}

// wait counts at once: the engine waits, outside MULTI and scripts.
func wait(c *Call) Plan {
	if _, ok := parseInt(c.Args[1]); !ok {
		return fail(errNotInteger)
	}
	if _, bad := c.milliseconds(2); bad != "" {
		return fail(bad)
	}
	return answer(resp.MakeInt(c.acknowledged(false)))
}

// acknowledged returns the number of replicas that have all writes, with aof on their disks.
func (c *Call) acknowledged(aof bool) int64 {
	if c.Env.Server.Acknowledged == nil {
		return 0
	}
	return c.Env.Server.Acknowledged(aof)
}

// waitaof refuses to wait for an append-only file here, since none exists: redis.io/commands/waitaof.
func waitaof(c *Call) Plan {
	local, ok1 := parseInt(c.Args[1])
	replicas, ok2 := parseInt(c.Args[2])
	_, bad := c.milliseconds(3)
	switch {
	case !ok1:
		return fail(errNotInteger)
	case local < 0 || local > 1:
		return fail("ERR value is out of range, value must between 0 and 1")
	case !ok2 || replicas < 0:
		return fail(errMustBePositive)
	case bad != "":
		return fail(bad)
	case local == 1:
		return fail("ERR WAITAOF cannot be used when numlocal is set but appendonly is disabled.")
	}
	return answer(resp.MakeArray(resp.Zero, resp.MakeInt(c.acknowledged(true))))
}

// help replies to a container's HELP, from the table.
func help(c *Call) Plan {
	parent, _, _ := strings.Cut(c.Command.Name, " ")
	return answer(HelpOf(parent))
}

// HelpOf lists the subcommands of a container, from the table.
func HelpOf(parent string) resp.Value {
	reply := resp.MakeArray(resp.MakeStatus(parent + " <subcommand> [<arg> [value] [opt] ...]. Subcommands are:"))
	for _, sub := range commands.All() {
		if word, ok := strings.CutPrefix(sub.Name, parent+" "); ok {
			reply.Elems = append(reply.Elems, resp.MakeStatus(strings.TrimSpace(word+" "+sub.Syntax)), resp.MakeStatus("    "+sub.Summary+"."))
		}
	}
	return reply
}
