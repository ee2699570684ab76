package translator

import (
	"math/big"

	"github.com/meowdis/meowdis/resp"
	"github.com/meowdis/meowdis/store"
)

// The commands that may wait for an element. They take what is there at once; in
// a transaction, where nothing waits, they answer nil when there is nothing.
var blockingCommands = []Command{
	{
		Name: "BLPOP", Group: "list", Since: "2.0.0", Arity: -3, Flags: Write | NoScript | Blocking,
		Summary: "Removes and returns the first element of the first list that has one",
		Syntax:  "key [key ...] timeout", Keys: []KeySpec{keysFrom(RW|Returns|Deletes, 1, -2, 1)}, Translate: bpop(head),
	},
	{
		Name: "BRPOP", Group: "list", Since: "2.0.0", Arity: -3, Flags: Write | NoScript | Blocking,
		Summary: "Removes and returns the last element of the first list that has one",
		Syntax:  "key [key ...] timeout", Keys: []KeySpec{keysFrom(RW|Returns|Deletes, 1, -2, 1)}, Translate: bpop(tail),
	},
	{
		Name: "BLMPOP", Group: "list", Since: "7.0.0", Arity: -5, Flags: Write | Blocking | MovableKeys,
		Summary: "Removes and returns elements of the first list that has any",
		Syntax:  "timeout numkeys key [key ...] <LEFT|RIGHT> [COUNT count]",
		Keys:    []KeySpec{numKeys(RW|Returns|Deletes, 2)}, Translate: bmpop(lmpop),
	},
	{
		Name: "BLMOVE", Group: "list", Since: "6.2.0", Arity: 6, Flags: Write | DenyOOM | NoScript | Blocking,
		Summary: "Moves an element from an end of a list to an end of another",
		Syntax:  "source destination <LEFT|RIGHT> <LEFT|RIGHT> timeout",
		Keys:    []KeySpec{oneKey(RW|Returns|Deletes, 1), oneKey(RW|Inserts, 2)}, Translate: blmove,
	},
	{
		Name: "BRPOPLPUSH", Group: "list", Since: "2.2.0", Arity: 4, Flags: Write | DenyOOM | NoScript | Blocking,
		Summary:   "Moves the last element of a list to the front of another",
		Syntax:    "source destination timeout",
		Keys:      []KeySpec{oneKey(RW|Returns|Deletes, 1), oneKey(RW|Inserts, 2)},
		Translate: func(c *Call) Plan { return c.bmove(3, tail, head) },
	},
	{
		Name: "BZPOPMIN", Group: "sorted-set", Since: "5.0.0", Arity: -3, Flags: Write | NoScript | Blocking | Fast,
		Summary: "Removes and returns the member with the lowest score of the first sorted set that has one",
		Syntax:  "key [key ...] timeout", Keys: []KeySpec{keysFrom(RW|Returns|Deletes, 1, -2, 1)}, Translate: bzpop(false),
	},
	{
		Name: "BZPOPMAX", Group: "sorted-set", Since: "5.0.0", Arity: -3, Flags: Write | NoScript | Blocking | Fast,
		Summary: "Removes and returns the member with the highest score of the first sorted set that has one",
		Syntax:  "key [key ...] timeout", Keys: []KeySpec{keysFrom(RW|Returns|Deletes, 1, -2, 1)}, Translate: bzpop(true),
	},
	{
		Name: "BZMPOP", Group: "sorted-set", Since: "7.0.0", Arity: -5, Flags: Write | Blocking | MovableKeys,
		Summary: "Removes and returns members of the first sorted set that has any",
		Syntax:  "timeout numkeys key [key ...] <MIN|MAX> [COUNT count]",
		Keys:    []KeySpec{numKeys(RW|Returns|Deletes, 2)}, Translate: bmpop(zmpop),
	},
}

// timeout checks the seconds that argument i says, and returns the error. What
// overflows in milliseconds is negative, as in Redis 7.0.
func (c *Call) timeout(i int) (bad string) {
	seconds, ok := parseLongDouble(c.Args[i])
	if !ok {
		return "ERR timeout is not a float or out of range"
	}
	ms := new(big.Float).Mul(seconds, big.NewFloat(1000))
	if ms.Cmp(big.NewFloat(-1)) <= 0 || ms.Cmp(big.NewFloat(1<<63)) >= 0 {
		return "ERR timeout is negative"
	}
	return ""
}

// nothing is the answer when there is nothing to take: null in a transaction. On
// its own the command would have to wait now.
func (c *Call) nothing(null resp.Value) resp.Value {
	if c.Env.InMulti {
		return null
	}
	return resp.MakeError("ERR there is nothing to take, and " + c.Command.Name + " cannot wait for it here")
}

// orNothing is p with nothing for a nil.
func (c *Call) orNothing(p Plan) Plan {
	switch next, decode := p.Then, p.Decode; {
	case next != nil:
		p.Then = func(r *store.Result) Plan { return c.orNothing(next(r)) }
	case decode != nil:
		p.Decode = func(r *store.Result) resp.Value {
			v := decode(r)
			if v.IsNull() {
				v = c.nothing(v)
			}
			return v
		}
	case p.Reply.IsNull():
		p.Reply = c.nothing(p.Reply)
	}
	return p
}

// bpop is BLPOP and BRPOP.
func bpop(e end) func(*Call) Plan {
	return func(c *Call) Plan {
		last := len(c.Args) - 1
		if bad := c.timeout(last); bad != "" {
			return fail(bad)
		}
		return c.orNothing(c.popFirst(c.Args[1:last], e, 1, func(key store.Value, popped resp.Value) resp.Value {
			return resp.MakeArray(bulk(key), popped.Elems[0])
		}))
	}
}

// bmpop is BLMPOP and BZMPOP: the call without its timeout is that of the twin,
// whose errors come first.
func bmpop(twin func(*Call) Plan) func(*Call) Plan {
	return func(c *Call) Plan {
		rest := *c
		rest.Args = c.Args[1:]
		p := twin(&rest)
		if bad := c.timeout(1); bad != "" && !p.Reply.IsError() {
			return fail(bad)
		}
		return c.orNothing(p)
	}
}

func blmove(c *Call) Plan {
	from, ok1 := c.endAt(3)
	to, ok2 := c.endAt(4)
	if !ok1 || !ok2 {
		return fail(errSyntax)
	}
	return c.bmove(5, from, to)
}

// bmove is BLMOVE and BRPOPLPUSH, with the timeout in argument i.
func (c *Call) bmove(i int, from, to end) Plan {
	if bad := c.timeout(i); bad != "" {
		return fail(bad)
	}
	return c.move(from, to, c.nothing(resp.Nil))
}

// bzpop is BZPOPMIN and BZPOPMAX.
func bzpop(max bool) func(*Call) Plan {
	return func(c *Call) Plan {
		last := len(c.Args) - 1
		if bad := c.timeout(last); bad != "" {
			return fail(bad)
		}
		return c.orNothing(c.zpopFirst(c.Args[1:last], max, 1, func(key []byte, rows []store.Row) resp.Value {
			return resp.MakeArray(resp.MakeBulk(key), bulk(rows[0][0]), score(rows[0][1]))
		}))
	}
}
