package translator

import (
	"math"

	"github.com/meowdis/meowdis/redis/resp"
	"github.com/meowdis/meowdis/store"
)

func hrandfield(c *Call) Plan {
	return hashSampler.withPairs(c, "WITHVALUES", func(rows []store.Row) resp.Value { return pairs(resp.Scored, rows) })
}

// withPairs translates HRANDFIELD and ZRANDMEMBER. Their option word adds the second cell of each element, which shape
// puts into the reply.
func (l *sampler) withPairs(c *Call, word string, shape func([]store.Row) resp.Value) Plan {
	if len(c.Args) == 2 {
		return l.one(c)
	}
	count, bad, ok := parseDraws(c.Args[2])
	if !ok {
		return bad
	}
	both := len(c.Args) > 3
	switch {
	case len(c.Args) > 4 || both && !c.is(3, word):
		return fail(errSyntax)
	case both && max(count, -count) > math.MaxInt64/2:
		return fail(errOutOfRange)
	case !both:
		shape = bulks
	}
	return l.some(c, count, resp.EmptyArray, func(_ int64, rows, _ []store.Row) Plan { return answer(shape(rows)) })
}
