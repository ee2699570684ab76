package translator

import (
	"math"
	"math/big"

	"github.com/meowdis/meowdis/longdouble"
	"github.com/meowdis/meowdis/resp"
	"github.com/meowdis/meowdis/store"
)

var blockingTranslations = translations{
	"BLPOP":      bpop(head),
	"BRPOP":      bpop(tail),
	"BLMPOP":     bmpop(lmpop),
	"BLMOVE":     blmove,
	"BRPOPLPUSH": func(c *Call) Plan { return c.bmove(3, tail, head) },
	"BZPOPMIN":   bzpop(false),
	"BZPOPMAX":   bzpop(true),
	"BZMPOP":     bmpop(zmpop),
}

// timeout checks the seconds that argument i says, and returns the error.
func (c *Call) timeout(i int) (bad string) {
	seconds, ok := longdouble.Parse(c.Args[i])
	if !ok {
		return "ERR timeout is not a float or out of range"
	}
	ms := new(big.Float).Mul(seconds, big.NewFloat(1000))
	latest := new(big.Float).SetInt64(math.MaxInt64 - c.Env.Now)
	switch {
	case ms.Cmp(big.NewFloat(-1)) <= 0:
		return "ERR timeout is negative"
	case ms.Cmp(latest) > 0:
		return "ERR timeout is out of range"
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
