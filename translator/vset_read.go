package translator

import (
	"math"

	"github.com/meowdis/meowdis/redis/commands"
	"github.com/meowdis/meowdis/redis/resp"
	"github.com/meowdis/meowdis/store"
	"github.com/meowdis/meowdis/translator/vector"
)

// sqlRecord reads the slot, the record and the attributes of an element.
const sqlRecord = `SELECT v.slot, substr(b.records, v.slot % s.per * s.size + 1, s.size), v.attributes
	FROM vectors v JOIN vector_sets s ON s.key_id = v.key_id JOIN vector_blocks b ON b.key_id = v.key_id AND b.block = v.slot / s.per
	WHERE v.key_id = ` + liveID + ` AND v.element = ?4`

// record reads the vector set and one of its elements.
func (c *Call) record(key, element []byte) []store.Stmt {
	return []store.Stmt{c.stmt(sqlVectorSet, key), c.stmt(sqlRecord, key, store.Bytes(element))}
}

func vemb(c *Call) Plan {
	raw := false
	for i := 3; i < len(c.Args); i++ {
		if !c.is(i, "RAW") {
			return fail("ERR invalid option")
		}
		raw = true
	}
	return read(func(r *store.Result) resp.Value {
		s, bad := vectorSetOf(r.Rows[0])
		switch {
		case bad.IsError():
			return bad
		case len(r.Rows[1]) == 0:
			return resp.Nil
		}
		record := r.Rows[1][0][1].Bytes()
		if raw {
			return s.rawReply(record)
		}
		reply := resp.EmptyArray
		for _, f := range s.kind.Decode(record, s.dim) {
			reply.Elems = append(reply.Elems, resp.MakeDouble(float64(f)))
		}
		return reply
	}, c.record(c.Args[1], c.Args[2])...)
}

// rawReply returns the stored record: the kind, the components, the length of the original vector, and the range of an
// int8 vector.
func (s vectorSet) rawReply(record []byte) resp.Value {
	reply := resp.MakeArray(resp.MakeStatus(s.kind.String()), resp.MakeBulk(vector.Components(record)),
		resp.MakeDouble(float64(vector.Length(record))))
	if s.kind == vector.Int8 {
		reply.Elems = append(reply.Elems, resp.MakeDouble(float64(vector.Range(record))))
	}
	return reply
}

const (
	sqlAttributesOf = `SELECT type, v.attributes FROM keys k LEFT JOIN vectors v ON v.key_id = k.id AND v.element = ?4 WHERE ` + live
	sqlHasElement   = `SELECT type, EXISTS (SELECT 1 FROM vectors WHERE key_id = keys.id AND element = ?4) FROM keys WHERE ` + live
)

func vgetattr(c *Call) Plan {
	return read(decodeCell(vectorSetType, resp.Nil, bulk), c.stmt(sqlAttributesOf, c.Args[1], store.Bytes(c.Args[2])))
}

func vismember(c *Call) Plan {
	return read(decodeCell(vectorSetType, boolean(false), func(v store.Value) resp.Value { return boolean(v.Int() != 0) }),
		c.stmt(sqlHasElement, c.Args[1], store.Bytes(c.Args[2])))
}

// A range of names begins at ?4 and ends below ?6, if it has an end.
const (
	sqlElementsFrom  = `SELECT element FROM vectors WHERE key_id = ` + liveID + ` AND element >= ?4 ORDER BY element LIMIT CAST(?5 AS INTEGER)`
	sqlElementsRange = `SELECT element FROM vectors WHERE key_id = ` + liveID + ` AND element >= ?4 AND element < ?6 ORDER BY element LIMIT CAST(?5 AS INTEGER)`
)

func vrange(c *Call) Plan {
	if len(c.Args) > 5 {
		return answer(commands.WrongArity(c.Command))
	}
	count := int64(math.MaxInt64)
	if len(c.Args) == 5 {
		n, ok := parseInt(c.Args[4])
		if !ok {
			return fail("ERR invalid COUNT value")
		}
		if n >= 0 {
			count = n
		}
	}
	start, end := c.Args[2], c.Args[3]
	from, ok := nameBound(start, '(')
	if !ok {
		return fail("ERR invalid start range format")
	}
	to, ok := nameBound(end, '[')
	switch {
	case !ok:
		return fail("ERR invalid end range format")
	case string(start) == "+" || string(end) == "-":
		return fail("ERR '-' can only be used as first argument, '+' only as second")
	}
	key := c.Args[1]
	stmt := c.stmt(sqlElementsFrom, key, store.Bytes(from), store.Digits(count))
	if string(end) != "+" {
		stmt = c.stmt(sqlElementsRange, key, store.Bytes(from), store.Digits(count), store.Bytes(to))
	}
	return read(checkType(vectorSetType, resp.EmptyArray, func(r *store.Result) resp.Value { return bulks(r.Rows[1]) }), c.typeOf(key), stmt)
}

// nameBound parses an end of a range of names: "[name", "(name", or "-" and "+" for no bound. If the argument begins
// with beyond, the bound is the next possible name.
func nameBound(arg []byte, beyond byte) (bound []byte, ok bool) {
	switch {
	case string(arg) == "-" || string(arg) == "+":
		return nil, true
	case len(arg) < 2 || arg[0] != '[' && arg[0] != '(':
		return nil, false
	case arg[0] == beyond:
		return append(append([]byte{}, arg[1:]...), 0), true
	}
	return arg[1:], true
}

// sqlElementsAt reads the elements at the slots of a list, in its order.
const sqlElementsAt = `SELECT v.element, v.attributes FROM json_each(?4) j CROSS JOIN vectors v
	ON v.key_id = ` + liveID + ` AND v.slot = j.value ORDER BY j.key`

// elementsAt returns the statement that reads the elements at slots.
func (c *Call) elementsAt(key []byte, slots []int64) store.Stmt {
	list := []byte{'['}
	for i, slot := range slots {
		if i > 0 {
			list = append(list, ',')
		}
		list = append(list, resp.FormatInt(slot)...)
	}
	return c.stmt(sqlElementsAt, key, store.TextBytes(append(list, ']')))
}

// vrandmember draws slots, which have no gaps.
func vrandmember(c *Call) Plan {
	if len(c.Args) > 3 {
		return answer(commands.WrongArity(c.Command))
	}
	count, single := int64(1), len(c.Args) == 2
	if !single {
		var ok bool
		if count, ok = parseInt(c.Args[2]); !ok || count == math.MinInt64 {
			return fail("ERR COUNT value is not an integer")
		}
		if count == 0 {
			return answer(resp.EmptyArray)
		}
	}
	key := c.Args[1]
	return readThen(func(r *store.Result) Plan {
		s, bad := vectorSetOf(r.Rows[0])
		switch {
		case bad.IsError():
			return answer(bad)
		case s.count == 0 && single:
			return answer(resp.Nil)
		case s.count == 0:
			return answer(resp.EmptyArray)
		case -count > maxDrawn:
			return fail(errOutOfRange)
		}
		return read(func(r *store.Result) resp.Value {
			if single {
				return bulkOf(0)(r)
			}
			return bulks(r.Rows[0])
		}, c.elementsAt(key, c.drawSlots(s.count, count)))
	}, c.stmt(sqlVectorSet, key))
}

// drawSlots draws count distinct slots of n, or -count slots with repetition if count is negative.
func (c *Call) drawSlots(n, count int64) []int64 {
	var slots []int64
	if count < 0 {
		for range -count {
			slots = append(slots, int64(c.Random()%uint64(n)))
		}
		return slots
	}
	// Each step takes one of the remaining slots, which are at i and above.
	moved := map[int64]int64{}
	at := func(i int64) int64 {
		if to, ok := moved[i]; ok {
			return to
		}
		return i
	}
	for i := range min(count, n) {
		j := i + int64(c.Random()%uint64(n-i))
		slots = append(slots, at(j))
		moved[j] = at(i)
	}
	return slots
}
