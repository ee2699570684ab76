package translator

import (
	"github.com/meowdis/meowdis/redis/commands"
	"github.com/meowdis/meowdis/redis/hyperloglog"
	"github.com/meowdis/meowdis/redis/resp"
	"github.com/meowdis/meowdis/store"
)

var hyperloglogDebugTranslations = translations{
	{"PFDEBUG", pfdebug},
	{"PFSELFTEST", pfselftest},
}

// sqlOtherForm stores another encoding of the same value. WATCH does not notice this change.
const sqlOtherForm = `UPDATE keys SET value = ?3 WHERE db = ?1 AND key = ?2`

// pfdebug checks the key before the subcommand. As in Redis, GETREG makes the value dense.
func pfdebug(c *Call) Plan {
	key := c.Args[2]
	return readThen(func(r *store.Result) Plan {
		h, bad := loadHLL(r.Rows[0])
		switch {
		case bad.IsError():
			return answer(bad)
		case h == nil:
			return fail("ERR The specified key does not exist")
		}
		sparse := !h.IsDense()
		switch {
		case c.is(1, "ENCODING") && sparse:
			return answer(resp.MakeStatus("sparse"))
		case c.is(1, "ENCODING"):
			return answer(resp.MakeStatus("dense"))
		case c.is(1, "DECODE") && sparse:
			return answer(resp.MakeString(h.Operations()))
		case c.is(1, "DECODE"):
			return fail("ERR HLL encoding is not sparse")
		case !c.is(1, "GETREG") && !c.is(1, "TODENSE"):
			return fail("ERR Unknown PFDEBUG subcommand '" + commands.Quote(c.Args[1]) + "'")
		}
		if err := h.ToDense(); err != nil {
			return fail(err.Error())
		}
		reply := resp.Zero
		switch {
		case c.is(1, "GETREG"):
			reply = registersReply(h)
		case sparse:
			reply = resp.One
		}
		if !sparse {
			return answer(reply)
		}
		return write(always(reply), store.Stmt{SQL: sqlOtherForm, Args: append(c.key(key)[:2], store.Bytes(h))})
	}, c.stmt(sqlGet, key))
}

func registersReply(h hyperloglog.Sketch) resp.Value {
	all := resp.Value{Kind: resp.Array, Elems: make([]resp.Value, hyperloglog.Registers)}
	for i := range all.Elems {
		all.Elems[i] = resp.MakeInt(int64(h.Register(i)))
	}
	return all
}

func pfselftest(c *Call) Plan {
	if bad := hyperloglog.SelfTest(c.Random); bad != "" {
		return fail("TESTFAILED " + bad)
	}
	return answer(resp.OK)
}
