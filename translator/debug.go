package translator

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/meowdis/meowdis/redis/commands"
	"github.com/meowdis/meowdis/redis/rdb"
	"github.com/meowdis/meowdis/redis/resp"
	"github.com/meowdis/meowdis/store"
)

var debugTranslations = translations{
	{"DEBUG AOF-FLUSH-SLEEP", debugNothing},
	{"DEBUG DICT-RESIZING", debugNothing},
	{"DEBUG ERROR", func(c *Call) Plan { return fail(commands.OneLine(string(c.Args[2]))) }},
	{"DEBUG HELP", help},
	{"DEBUG LOADAOF", debugNothing},
	{"DEBUG OBJECT", debugObject},
	{"DEBUG PROTOCOL", debugProtocol},
	{"DEBUG QUICKLIST-PACKED-THRESHOLD", debugNothing},
	{"DEBUG RELOAD", debugReload},
	{"DEBUG PAUSE-CRON", debugNothing},
	{"DEBUG SET-DISABLE-DENY-SCRIPTS", debugNothing},
	{"DEBUG SET-SKIP-CHECKSUM-VALIDATION", debugNothing},
}

func debugNothing(*Call) Plan { return answer(resp.OK) }

func debugReload(c *Call) Plan {
	for i := 2; i < len(c.Args); i++ {
		if !c.is(i, "MERGE") && !c.is(i, "NOFLUSH") && !c.is(i, "NOSAVE") {
			return fail("ERR DEBUG RELOAD only supports the MERGE, NOFLUSH and NOSAVE options.")
		}
	}
	return answer(resp.OK)
}

// debugObject reports no address and no access time, since neither exists.
func debugObject(c *Call) Plan {
	key := c.Args[2]
	return read(func(r *store.Result) resp.Value {
		rows := r.Rows[len(dumped)]
		if len(rows) == 0 {
			return noSuchKey
		}
		o, length := objectOf(rows[0]), 0
		if v := valueOf(o.typ, r.Rows, r.Work); v != nil {
			const around = 1 + 2 + 8 // the type, the version and the checksum
			length = len(rdb.Dump(v, r.Work.Step)) - around
		}
		return resp.MakeStatus(fmt.Sprintf("Value at:0x0 refcount:%d encoding:%s serializedlength:%d lru:0 lru_seconds_idle:%d",
			o.refcount(), o.encoding(c.limits()), length, o.idle(c.Env.Now)))
	}, append(c.dumpStmts(key), c.objectStmt(key))...)
}

// debugProtocol sends no attribute and no push message before the replies that mention them, since no other reply here
// has any.
func debugProtocol(c *Call) Plan {
	three := []resp.Value{resp.Zero, resp.One, resp.MakeInt(2)}
	var v resp.Value
	switch strings.ToLower(string(c.Args[2])) {
	case "string":
		v = resp.MakeString("Hello World")
	case "integer":
		v = resp.MakeInt(12345)
	case "double":
		v = resp.MakeDouble(3.141)
	case "null":
		v = resp.Nil
	case "array":
		v = resp.MakeArray(three...)
	case "set":
		v = resp.Value{Kind: resp.Set, Elems: three}
	case "map":
		v = resp.EmptyMap
		for i, n := range three {
			v.Elems = append(v.Elems, n, resp.Value{Kind: resp.Bool, Int: int64(i & 1)})
		}
	case "verbatim":
		v = resp.Value{Kind: resp.Verbatim, Str: []byte("This is a verbatim\nstring")}
	case "true", "false":
		truth, _ := strconv.ParseBool(strings.ToLower(string(c.Args[2])))
		v = resp.Value{Kind: resp.Bool}
		if truth {
			v.Int = 1
		}
	case "attrib":
		v = resp.MakeString("Some real reply following the attribute")
	case "push":
		reply := resp.MakeString("Some real reply following the push reply")
		v = resp.MakeError("ERR RESP2 is not supported by this command")
		v.RESP3 = &reply
	case "bignum":
		v = resp.Value{Kind: resp.BigNumber, Str: []byte("1234567999999999999999999999999999999")}
	default:
		return fail("ERR Wrong protocol type name. Please use one of the following: string|integer|double|bignum|null|array|set|map|attrib|push|verbatim|true|false")
	}
	return answer(v)
}
