//go:build !wasip1 || search

package translator

import (
	"fmt"
	"math"

	"github.com/meowdis/meowdis/redis/resp"
	"github.com/meowdis/meowdis/store"
)

// defaultCursorRows counts the rows of a page without COUNT.
const defaultCursorRows = 1000

// parseCursor parses the options of WITHCURSOR.
func (q *aggregateCall) parseCursor(d *definition, s *searchSettings) (bad string) {
	q.cursor = &rowCursor{count: defaultCursorRows, idle: s.cursorIdle}
	for {
		switch {
		case d.is("COUNT"):
			if q.cursor.count, bad = positiveNumber(d, "COUNT"); bad != "" {
				return bad
			}
		case d.is("MAXIDLE"):
			n, bad := positiveNumber(d, "MAXIDLE")
			if bad != "" {
				return bad
			}
			q.cursor.idle = min(n, s.cursorIdle)
		default:
			return ""
		}
	}
}

// positiveNumber parses the number of an option, which must be positive and whole, but may be written as 10000.0, as redis-py
// does.
func positiveNumber(d *definition, option string) (n int64, bad string) {
	if !d.more() {
		return 0, badArgument(option, noArgument)
	}
	arg := d.next()
	n, ok := parseInt(arg)
	if !ok {
		f, isNumber := parseFloat(arg)
		if n = int64(f); !isNumber || float64(n) != f || math.Abs(f) >= 1<<53 {
			return 0, badArgument(option, wrongArgument)
		}
	}
	if n < 1 {
		return 0, badArgument(option, outOfBounds)
	}
	return n, ""
}

// maxCursorID bounds ids to integers that every client reads exactly: JavaScript has doubles only.
const maxCursorID = 1<<53 - 1

// withCursor returns the first rows of a reply, and keeps the other rows.
func (c *Call) withCursor(ix *searchIndex, q *rowCursor, w *store.Work) resp.Value {
	first := *q
	first.rows = q.rows[:min(q.count, int64(len(q.rows)))]
	if len(first.rows) == len(q.rows) || c.Env.Search == nil {
		first.rows = q.rows
		return first.reply(0)
	}
	id, refused := c.openCursor(ix, q, q.rows[len(first.rows):], w)
	if refused.IsError() {
		return refused
	}
	return first.reply(id)
}

// openCursor keeps rows for a cursor like q, and returns its id, 0 without a state of the process, or an error reply.
func (c *Call) openCursor(ix *searchIndex, q *rowCursor, rows []resp.Value, w *store.Work) (id int64, refused resp.Value) {
	if c.Env.Search == nil {
		return 0, refused
	}
	kept := *q
	kept.db, kept.index = c.Env.DB, ix.id
	// The rows are copied, since the bytes of the reply belong to the call.
	for _, row := range rows {
		n := valueBytes(row)
		w.Grow(n)
		kept.bytes += n
	}
	kept.rows = make([]resp.Value, 0, len(rows))
	for _, row := range rows {
		kept.rows = append(kept.rows, copyValue(row))
	}
	s := c.searchSettings()
	id = int64(c.Random()&maxCursorID) | 1
	switch c.Env.Search.open(id, &kept, c.Env.Now, s.maxCursors) {
	case tooManyCursors:
		return 0, resp.MakeError(fmt.Sprintf("INDEX_CURSOR_LIMIT of %d has been reached for an index", s.maxCursors))
	case cursorsTooLarge:
		return 0, resp.MakeError(fmt.Sprintf("The rows of open cursors exceed %d MB: read or close them, or use LIMIT", maxCursorBytes>>20))
	}
	return id, refused
}

// valueBytes estimates the memory of a value.
func valueBytes(v resp.Value) int64 {
	n := int64(128 + len(v.Str))
	for _, e := range v.Elems {
		n += valueBytes(e)
	}
	return n
}

func copyValue(v resp.Value) resp.Value {
	v.Str = append([]byte(nil), v.Str...)
	if v.Elems == nil {
		return v
	}
	elems := make([]resp.Value, len(v.Elems))
	for i, e := range v.Elems {
		elems[i] = copyValue(e)
	}
	v.Elems = elems
	return v
}

// reply returns the reply of FT.AGGREGATE with the rows and the id of the cursor, 0 after the last row.
func (q *rowCursor) reply(id int64) resp.Value {
	v := q.rowsReply()
	in3 := resp.MakeArray(*v.RESP3, resp.MakeInt(id))
	v.RESP3 = nil
	v = resp.MakeArray(v, resp.MakeInt(id))
	v.RESP3 = &in3
	return v
}

// cursorCall holds what READ and DEL of FT.CURSOR share: the index, the id of the cursor, and the words after it.
type cursorCall struct {
	*Call
	ix    *searchIndex
	id    int64
	words [][]byte
}

// ftCursor translates a subcommand of FT.CURSOR that plan plans.
func ftCursor(plan func(*cursorCall) Plan) func(*Call) Plan {
	return func(c *Call) Plan {
		return c.withIndex(c.Args[2], noSuchIndex(c.Args[2]), func(ix *searchIndex, _ *store.Work) Plan {
			if !c.mayQuery(ix) {
				return answer(noSearchPermission)
			}
			id, ok := parseInt(c.Args[3])
			if !ok {
				return fail("Bad cursor ID")
			}
			return plan(&cursorCall{c, ix, id, c.Args[4:]})
		})
	}
}

func (c *cursorCall) missing() Plan { return fail(fmt.Sprintf("Cursor not found, id: %d", c.id)) }

func (c *cursorCall) unknown(word []byte) Plan {
	return fail(fmt.Sprintf("Unknown argument `%s`", word))
}

func (c *cursorCall) close() Plan {
	switch {
	case len(c.words) > 0:
		return c.unknown(c.words[0])
	case c.Env.Search == nil || !c.Env.Search.close(c.id, c.Env.DB, c.ix.id, c.Env.Now):
		return c.missing()
	}
	return answer(resp.OK)
}

func (c *cursorCall) read() Plan {
	n, d := int64(0), &definition{words: c.words}
	if d.is("COUNT") {
		var bad string
		if n, bad = positiveNumber(d, "COUNT"); bad != "" {
			return fail(bad)
		}
	}
	if d.more() {
		return c.unknown(d.next())
	}
	if c.Env.Search == nil {
		return c.missing()
	}
	c.use(c.ix)
	part, more, ok := c.Env.Search.take(c.id, c.Env.DB, c.ix.id, n, c.Env.Now)
	switch {
	case !ok:
		return c.missing()
	case !more:
		return answer(part.reply(0))
	}
	return answer(part.reply(c.id))
}

// ftCursorGC translates FT.CURSOR GC, which returns how many idle cursors it has closed.
func ftCursorGC(c *Call) Plan {
	if c.Env.Search == nil {
		return answer(resp.Zero)
	}
	return answer(resp.MakeInt(int64(c.Env.Search.collect(c.Env.Now))))
}
