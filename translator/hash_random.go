package translator

import (
	"math"

	"github.com/meowdis/meowdis/resp"
	"github.com/meowdis/meowdis/store"
)

func hrandfield(c *Call) Plan {
	if len(c.Args) == 2 {
		return hashLottery.one(c)
	}
	count, bad, ok := parseDraws(c.Args[2])
	if !ok {
		return bad
	}
	values := len(c.Args) > 3
	switch {
	case len(c.Args) > 4 || values && !c.is(3, "WITHVALUES"):
		return fail(errSyntax)
	case values && max(count, -count) > math.MaxInt64/2:
		return fail(errOutOfRange)
	}
	return hashLottery.some(c, count, resp.EmptyArray, func(_ int64, rows []store.Row) Plan {
		if values {
			return answer(pairs(resp.Scored, rows))
		}
		return answer(bulks(rows))
	})
}
