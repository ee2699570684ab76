package translator

import (
	"math"
	"slices"
	"strconv"

	"github.com/meowdis/meowdis/resp"
	"github.com/meowdis/meowdis/store"
)

const sqlSlot = `SELECT type, (SELECT value FROM arrays WHERE key_id = keys.id AND pos = ?4) FROM keys WHERE ` + live

func arget(c *Call) Plan {
	index, ok := parseIndex(c.Args[2])
	if !ok {
		return fail(errArrayIndex)
	}
	return read(cellOf(arrayType, resp.Nil, bulk), c.stmt(sqlSlot, c.Args[1], pos(index)))
}

// places is the JSON argument of a list of indexes.
func (c *Call) places(args [][]byte) (store.Value, bool) {
	out := []byte{'['}
	for i, arg := range args {
		index, ok := parseIndex(arg)
		if !ok {
			return store.Value{}, false
		}
		if i > 0 {
			out = append(out, ',')
		}
		out = strconv.AppendInt(out, int64(index^signBit), 10)
	}
	return store.TextBytes(append(out, ']')), true
}

const sqlEachSlot = `SELECT a.value FROM json_each(?4) j LEFT JOIN arrays a ON a.key_id = ` + liveID + ` AND a.pos = j.value ORDER BY j.key`

func armget(c *Call) Plan {
	places, ok := c.places(c.Args[2:])
	if !ok {
		return fail(errArrayIndex)
	}
	key := c.Args[1]
	return read(func(r *store.Result) resp.Value {
		return typed(arrayType, bulks(r.Rows[1]), func(*store.Result) resp.Value { return bulks(r.Rows[1]) })(r)
	}, c.typeOf(key), c.stmt(sqlEachSlot, key, places))
}

// maxSlots is how many slots ARGETRANGE returns at most.
const maxSlots = 1_000_000

func argetrange(c *Call) Plan {
	s, ok := parseSlotRange(c.Args[2], c.Args[3])
	if !ok {
		return fail(errArrayIndex)
	}
	if s.to-s.from >= maxSlots {
		return fail("ERR range exceeds maximum of 1000000 items")
	}
	key := c.Args[1]
	return read(func(r *store.Result) resp.Value {
		filled := func(*store.Result) resp.Value { return resp.Value{Kind: resp.Array, Elems: s.fill(r.Rows[1])} }
		return typed(arrayType, filled(r), filled)(r)
	}, c.typeOf(key), c.slots(key, s, maxSlots))
}

// fill is every slot of the range in order, with what the rows of slots have.
func (s slotRange) fill(rows []store.Row) []resp.Value {
	all := make([]resp.Value, s.to-s.from+1)
	for _, row := range rows {
		i := indexOf(row[0]) - s.from
		if s.back {
			i = s.to - indexOf(row[0])
		}
		all[i] = bulk(row[1])
	}
	return all
}

// parseLimit reads the value of a LIMIT.
func parseLimit(arg []byte) (int64, bool) {
	n, ok := parseInt(arg)
	return n, ok && n > 0
}

func arscan(c *Call) Plan {
	s, ok := parseSlotRange(c.Args[2], c.Args[3])
	if !ok {
		return fail(errArrayIndex)
	}
	limit := int64(math.MaxInt64)
	for i := 4; i < len(c.Args); i += 2 {
		if !c.is(i, "LIMIT") || i+1 == len(c.Args) {
			return fail(errSyntax)
		}
		if limit, ok = parseLimit(c.Args[i+1]); !ok {
			return fail(errMustBePositive)
		}
	}
	key := c.Args[1]
	return read(typed(arrayType, resp.EmptyArray, func(r *store.Result) resp.Value {
		found := make([]resp.Value, len(r.Rows[1]))
		for i, row := range r.Rows[1] {
			found[i] = slotReply(row)
		}
		return resp.MakeArray(found...)
	}), c.typeOf(key), c.slots(key, s, limit))
}

// arlastitems goes back from the last append, and from index 0 on to the end of
// the array, over as many slots as the array has values. An array that nothing
// was appended to is read from its end.
func arlastitems(c *Call) Plan {
	count, ok := parseInt(c.Args[2])
	if !ok || count < 0 {
		return fail(errMustBePositive)
	}
	rev := len(c.Args) == 4 && c.is(3, "REV")
	if len(c.Args) > 3 && !rev {
		return fail(errSyntax)
	}
	key := c.Args[1]
	return readThen(func(r *store.Result) Plan {
		a, bad := arrayOf(r.Rows[0])
		if bad.IsError() {
			return answer(bad)
		}
		ranges := a.last(uint64(min(count, a.count)))
		var stmts []store.Stmt
		for _, s := range ranges {
			stmts = append(stmts, c.slots(key, s, math.MaxInt64))
		}
		if stmts == nil {
			return answer(resp.EmptyArray)
		}
		return read(func(r *store.Result) resp.Value {
			var all []resp.Value
			for i, s := range ranges {
				all = append(all, s.fill(r.Rows[i])...)
			}
			if !rev {
				slices.Reverse(all)
			}
			return resp.MakeArray(all...)
		}, stmts...)
	}, c.stmt(sqlArray, key))
}

// last are the ranges that hold the last n slots, the newest first. The array
// has at least as many values.
func (a array) last(n uint64) []slotRange {
	if n == 0 {
		return nil
	}
	end := a.next
	if end == 0 {
		end = a.length
	}
	if n <= end {
		return []slotRange{{end - n, end - 1, true}}
	}
	rest := n - end
	return []slotRange{{0, end - 1, true}, {a.length - rest, a.length - 1, true}}
}
