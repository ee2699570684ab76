package translator

import (
	"github.com/meowdis/meowdis/resp"
	"github.com/meowdis/meowdis/store"
)

var stringCommands = []Command{
	{
		Name: "GET", Group: "string", Since: "1.0.0", Arity: 2, Flags: ReadOnly | Fast,
		Summary: "Returns the string at a key, nil when there is none",
		Syntax:  "key", Keys: []KeySpec{oneKey(RO, 1)},
		Translate: func(c *Call) Plan { return read(decodeString, c.stmt(sqlGet, c.Args[1])) },
	},
	{
		Name: "SET", Group: "string", Since: "1.0.0", Arity: -3, Flags: Write | DenyOOM,
		Summary: "Sets a key to a string, whatever it held before",
		Syntax:  "key value [NX|XX] [GET] [EX seconds|PX milliseconds|EXAT unix-time-seconds|PXAT unix-time-milliseconds|KEEPTTL]",
		Keys:    []KeySpec{oneKey(RW, 1)}, Translate: set,
	},
	{
		Name: "SETNX", Group: "string", Since: "1.0.0", Arity: 3, Flags: Write | DenyOOM | Fast,
		Summary: "Sets a key to a string only when it does not exist",
		Syntax:  "key value", Keys: []KeySpec{oneKey(OW, 1)}, Translate: setnx,
	},
	{
		Name: "SETEX", Group: "string", Since: "2.0.0", Arity: 4, Flags: Write | DenyOOM,
		Summary: "Sets a key to a string that expires after some seconds",
		Syntax:  "key seconds value", Keys: []KeySpec{oneKey(OW, 1)}, Translate: setex(true),
	},
	{
		Name: "PSETEX", Group: "string", Since: "2.6.0", Arity: 4, Flags: Write | DenyOOM,
		Summary: "Sets a key to a string that expires after some milliseconds",
		Syntax:  "key milliseconds value", Keys: []KeySpec{oneKey(OW, 1)}, Translate: setex(false),
	},
	{
		Name: "GETSET", Group: "string", Since: "1.0.0", Arity: 3, Flags: Write | DenyOOM | Fast,
		Summary: "Sets a key to a string and returns the old one",
		Syntax:  "key value", Keys: []KeySpec{oneKey(RW, 1)}, Translate: getset,
	},
	{
		Name: "INCR", Group: "string", Since: "1.0.0", Arity: 2, Flags: Write | DenyOOM | Fast,
		Summary: "Adds one to the integer at a key, which starts at 0",
		Syntax:  "key", Keys: []KeySpec{oneKey(RW, 1)}, Translate: incr(1),
	},
	{
		Name: "DECR", Group: "string", Since: "1.0.0", Arity: 2, Flags: Write | DenyOOM | Fast,
		Summary: "Subtracts one from the integer at a key, which starts at 0",
		Syntax:  "key", Keys: []KeySpec{oneKey(RW, 1)}, Translate: incr(-1),
	},
	{
		Name: "INCRBY", Group: "string", Since: "1.0.0", Arity: 3, Flags: Write | DenyOOM | Fast,
		Summary: "Adds a number to the integer at a key, which starts at 0",
		Syntax:  "key increment", Keys: []KeySpec{oneKey(RW, 1)}, Translate: incrby(1),
	},
	{
		Name: "DECRBY", Group: "string", Since: "1.0.0", Arity: 3, Flags: Write | DenyOOM | Fast,
		Summary: "Subtracts a number from the integer at a key, which starts at 0",
		Syntax:  "key decrement", Keys: []KeySpec{oneKey(RW, 1)}, Translate: incrby(-1),
	},
}

// sqlGet returns a row for a live key, with NULL in it when the key is no
// string.
const sqlGet = `SELECT s.value FROM keys k LEFT JOIN strings s ON s.key_id = k.id WHERE ` + live

// decodeString shapes the reply of sqlGet.
func decodeString(r *store.Result) resp.Value {
	if len(r.Rows[0]) == 0 {
		return resp.Nil
	}
	v := r.Rows[0][0][0]
	if v.IsNull() {
		return wrongType
	}
	return resp.MakeBulk(v.Bytes())
}
