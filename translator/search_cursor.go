//go:build !wasip1

package translator

import (
	"fmt"

	"github.com/meowdis/meowdis/redis/resp"
	"github.com/meowdis/meowdis/store"
)

// parseCursor parses the options of WITHCURSOR. They are checked only: the first reply has every row.
func (q *aggregateCall) parseCursor(d *definition) (bad string) {
	q.cursor = true
	for {
		var option string
		switch {
		case d.is("COUNT"):
			option = "COUNT"
		case d.is("MAXIDLE"):
			option = "MAXIDLE"
		default:
			return ""
		}
		if !d.more() {
			return badArgument(option, noArgument)
		}
		if n, ok := parseInt(d.next()); !ok {
			return badArgument(option, wrongArgument)
		} else if n < 1 {
			return badArgument(option, outOfBounds)
		}
	}
}

// withCursor adds the cursor 0 to a reply of FT.AGGREGATE: it has ended.
func withCursor(v resp.Value) resp.Value {
	in3 := resp.MakeArray(*v.RESP3, resp.MakeInt(0))
	v.RESP3 = nil
	v = resp.MakeArray(v, resp.MakeInt(0))
	v.RESP3 = &in3
	return v
}

// ftCursor translates FT.CURSOR READ and FT.CURSOR DEL, which find no cursor.
func ftCursor(c *Call) Plan {
	return c.withIndex(c.Args[2], noSuchIndex(c.Args[2]), func(*searchIndex, *store.Work) Plan {
		id, ok := parseInt(c.Args[3])
		if !ok {
			return fail("Bad cursor ID")
		}
		return fail(fmt.Sprintf("Cursor not found, id: %d", id))
	})
}
