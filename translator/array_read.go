package translator

import (
	"math"
	"slices"
	"strconv"

	"github.com/meowdis/meowdis/redis/commands"
	"github.com/meowdis/meowdis/redis/resp"
	"github.com/meowdis/meowdis/store"
)

const sqlSlot = `SELECT type, a.value FROM keys k LEFT JOIN arrays a ON a.key_id = k.id AND a.pos = ?4 WHERE ` + live

func arget(c *Call) Plan {
	index, ok := parseIndex(c.Args[2])
	if !ok {
		return c.failArray(errArrayIndex)
	}
	return read(decodeCell(arrayType, resp.Nil, bulk), c.stmt(sqlSlot, c.Args[1], pos(index)))
}

// places returns the JSON argument of a list of indexes.
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

const sqlEachSlot = `SELECT a.value, j.key FROM json_each(?4) j LEFT JOIN arrays a ON a.key_id = ` + liveID + ` AND a.pos = j.value`

func armget(c *Call) Plan {
	places, ok := c.places(c.Args[2:])
	if !ok {
		return c.failArray(errArrayIndex)
	}
	key := c.Args[1]
	return read(func(r *store.Result) resp.Value {
		values := bulks(bySeq(r.Rows[1]))
		return checkType(arrayType, values, always(values))(r)
	}, c.typeOf(key), c.stmt(sqlEachSlot, key, places))
}

// maxSlots limits the slots that ARGETRANGE returns, and ARLASTITEMS if some of them are empty.
const maxSlots = 1_000_000

func argetrange(c *Call) Plan {
	s, ok := parseSlotRange(c.Args[2], c.Args[3])
	if !ok {
		return fail(errArrayIndex)
	}
	if s.to-s.from >= maxSlots {
		return c.failArray("ERR range exceeds maximum of 1000000 items")
	}
	key := c.Args[1]
	return read(func(r *store.Result) resp.Value {
		filled := func(*store.Result) resp.Value {
			r.Work.Grow(int64(s.to-s.from+1) * store.ValueBytes)
			return resp.Value{Kind: resp.Array, Elems: s.fill(r.Rows[1])}
		}
		return checkType(arrayType, filled(r), filled)(r)
	}, c.typeOf(key), c.slots(key, s, maxSlots))
}

// fill returns every slot of the range in order, with the values in rows.
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

// parseLimit parses the value of a LIMIT; msg is the error.
func parseLimit(arg []byte) (n int64, msg string) {
	n, ok := parseInt(arg)
	switch {
	case !ok:
		return 0, errNotInteger
	case n <= 0:
		return 0, "ERR LIMIT must be positive"
	}
	return n, ""
}

func arscan(c *Call) Plan {
	s, ok := parseSlotRange(c.Args[2], c.Args[3])
	if !ok {
		return fail(errArrayIndex)
	}
	limit := int64(math.MaxInt64)
	switch n := len(c.Args); {
	case n == 4:
	case n != 6:
		return answer(commands.WrongArity(c.Command))
	case !c.is(4, "LIMIT"):
		return fail(errSyntax)
	default:
		var msg string
		if limit, msg = parseLimit(c.Args[5]); msg != "" {
			return fail(msg)
		}
	}
	key := c.Args[1]
	return read(checkType(arrayType, resp.EmptyArray, func(r *store.Result) resp.Value {
		found := make([]resp.Value, len(r.Rows[1]))
		for i, row := range r.Rows[1] {
			found[i] = slotReply(row)
		}
		return resp.MakeArray(found...)
	}), c.typeOf(key), c.slots(key, s, limit))
}

// arlastitems reads backwards from the last append; before index 0 it continues at the end of the array. It reads from
// the end of the array if nothing was appended, or if the cursor is beyond the values.
func arlastitems(c *Call) Plan {
	count, ok := parseInt(c.Args[2])
	rev := len(c.Args) == 4 && c.is(3, "REV")
	switch {
	case !ok:
		return fail("ERR invalid COUNT")
	case count <= 0:
		return answer(resp.EmptyArray)
	case len(c.Args) > 4:
		return answer(commands.WrongArity(c.Command))
	case len(c.Args) == 4 && !rev:
		return fail(errSyntax)
	}
	key := c.Args[1]
	return readThen(func(r *store.Result) Plan {
		a, bad := arrayOf(r.Rows[0])
		n := min(uint64(count), a.length)
		switch {
		case bad.IsError():
			return answer(bad)
		case n > maxSlots && n > uint64(a.count):
			return fail("ERR count exceeds maximum of 1000000 items")
		case n == 0:
			return answer(resp.EmptyArray)
		}
		ranges := a.last(n)
		var stmts []store.Stmt
		for _, s := range ranges {
			stmts = append(stmts, c.slots(key, s, math.MaxInt64))
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

// last returns the ranges of the last n slots, the newest first. The array must have at least n.
func (a array) last(n uint64) []slotRange {
	end := a.next
	if end == 0 || end > a.length {
		end = a.length
	}
	if n <= end {
		return []slotRange{{end - n, end - 1, true}}
	}
	rest := n - end
	return []slotRange{{0, end - 1, true}, {a.length - rest, a.length - 1, true}}
}
