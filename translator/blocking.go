package translator

import (
	"slices"

	"github.com/meowdis/meowdis/redis/resp"
	"github.com/meowdis/meowdis/store"
)

var blockingTranslations = translations{
	{"BLPOP", bpop(head)},
	{"BRPOP", bpop(tail)},
	{"BLMPOP", bmpop(lmpop)},
	{"BLMOVE", blmove},
	{"BLMOVEM", blmovem},
	{"BRPOPLPUSH", func(c *Call) Plan { return c.bmove(3, tail, head) }},
	{"BZPOPMIN", bzpop(false)},
	{"BZPOPMAX", bzpop(true)},
	{"BZMPOP", bmpop(zmpop)},
}

// bpop translates BLPOP and BRPOP.
func bpop(e end) func(*Call) Plan {
	return func(c *Call) Plan {
		last := len(c.Args) - 1
		if _, bad := c.seconds(last); bad != "" {
			return fail(bad)
		}
		if last == 2 {
			return c.popOf(c.Args[1], e)
		}
		return c.popFirst(c.Args[1:last], e, 1, func(key store.Value, popped resp.Value) resp.Value {
			return resp.MakeArray(bulk(key), popped.Elems[0])
		})
	}
}

// popOf pops one element, and replies with the key and the element.
func (c *Call) popOf(key []byte, e end) Plan {
	p := c.popOne(key, e)
	popped := p.Decode
	p.Decode = func(r *store.Result) resp.Value {
		v := popped(r)
		if v.IsNull() {
			return resp.NilArray
		}
		return resp.MakeArray(resp.MakeBulk(key), v)
	}
	return p
}

// bmpop translates BLMPOP and BZMPOP: it calls twin without the timeout. Errors of twin precede an error in the
// timeout.
func bmpop(twin func(*Call) Plan) func(*Call) Plan {
	return func(c *Call) Plan {
		rest := *c
		rest.Args = c.Args[1:]
		p := twin(&rest)
		if _, bad := c.seconds(1); bad != "" && !p.Reply.IsError() {
			return fail(bad)
		}
		return p
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

// blmovem is LMOVEM with a timeout in the middle.
func blmovem(c *Call) Plan {
	rest := *c
	rest.Args = slices.Concat(c.Args[:5], c.Args[6:])
	p := lmovem(&rest)
	if _, bad := c.seconds(5); bad != "" && !p.Reply.IsError() {
		return fail(bad)
	}
	return p
}

// bmove translates BLMOVE and BRPOPLPUSH, with the timeout in argument i.
func (c *Call) bmove(i int, from, to end) Plan {
	if _, bad := c.seconds(i); bad != "" {
		return fail(bad)
	}
	return c.move(from, to, resp.Nil)
}

// bzpop translates BZPOPMIN and BZPOPMAX.
func bzpop(max bool) func(*Call) Plan {
	return func(c *Call) Plan {
		last := len(c.Args) - 1
		if _, bad := c.seconds(last); bad != "" {
			return fail(bad)
		}
		return c.zpopFirst(c.Args[1:last], max, 1, func(key []byte, rows []store.Row) resp.Value {
			return resp.MakeArray(resp.MakeBulk(key), bulk(rows[0][0]), score(rows[0][1]))
		})
	}
}
