package translator

import (
	"cmp"
	"strconv"

	"github.com/meowdis/meowdis/internal/smallsort"
	"github.com/meowdis/meowdis/redis/commands"
	"github.com/meowdis/meowdis/redis/resp"
	"github.com/meowdis/meowdis/store"
)

// New slots are inserted first, to count them, then existing slots get their values: json_each(?4) has pairs of pos and
// value in hex.
const (
	sqlAddSlots = `INSERT INTO arrays(key_id, pos, value)
		SELECT k.id, j.value ->> 0, unhex(j.value ->> 1) FROM ` + liveKey + ` k CROSS JOIN json_each(?4) j WHERE true
		ON CONFLICT DO NOTHING`
	sqlSetSlots = `INSERT INTO arrays(key_id, pos, value)
		SELECT k.id, j.value ->> 0, unhex(j.value ->> 1) FROM ` + liveKey + ` k CROSS JOIN json_each(?4) j WHERE true
		ON CONFLICT DO UPDATE SET value = excluded.value WHERE value <> excluded.value`

	// The same for a large value.
	sqlAddSlot = `INSERT INTO arrays(key_id, pos, value) VALUES(` + liveID + `, CAST(?4 AS INTEGER), x'') ON CONFLICT DO NOTHING`
	sqlSetSlot = `UPDATE arrays SET value = ?5 WHERE key_id = ` + liveID + ` AND pos = CAST(?4 AS INTEGER) AND value <> ?5`
)

// slotList holds the slots that putSlots writes.
type slotList []slot

type slot struct {
	index uint64
	value []byte
}

func (l *slotList) add(index uint64, value []byte) { *l = append(*l, slot{index, value}) }

// json returns the list as an argument.
func (l slotList) json() store.Value {
	n := 2
	for _, s := range l {
		n += 2*len(s.value) + 26
	}
	out := append(make([]byte, 0, n), '[')
	for i, s := range l {
		if i > 0 {
			out = append(out, ',')
		}
		out = strconv.AppendInt(append(out, '['), int64(s.index^signBit), 10)
		out = append(appendHex(append(out, ','), s.value), ']')
	}
	return store.TextBytes(append(out, ']'))
}

// putSlots returns the statements that write the slots of an existing array. Before the index set, every second
// statement, from the first on, writes slots that were empty.
func (c *Call) putSlots(key []byte, list slotList) (stmts []store.Stmt, set int) {
	var sets []store.Stmt
	several := func(list slotList) {
		if len(list) > 0 {
			add := c.stmt(sqlAddSlots, key, list.json())
			stmts = append(stmts, add, c.countAdded(key))
			sets = append(sets, store.Stmt{SQL: sqlSetSlots, Args: add.Args})
		}
	}
	start := 0
	for i, s := range list {
		if isLarge(s.value) {
			several(list[start:i])
			stmts = append(stmts, c.stmt(sqlAddSlot, key, pos(s.index)), c.countAdded(key))
			sets = append(sets, c.stmt(sqlSetSlot, key, pos(s.index), store.Bytes(s.value)))
			start = i + 1
		}
	}
	several(list[start:])
	return append(stmts, sets...), len(stmts)
}

// setSlots plans a write of slots and replies with the number of slots that were empty.
func (c *Call) setSlots(key []byte, list slotList) Plan {
	stmts := []store.Stmt{c.purge(key), c.upsertKey(key, arrayType)}
	first := len(stmts)
	put, set := c.putSlots(key, list)
	return write(changedEach(first, first+set), append(stmts, put...)...)
}

func arset(c *Call) Plan {
	first, ok := parseIndex(c.Args[2])
	values := c.Args[3:]
	switch {
	case !ok:
		return fail(errArrayIndex)
	case maxIndex-first < uint64(len(values)-1):
		return fail("ERR array index overflow")
	}
	var list slotList
	for i, value := range values {
		list.add(first+uint64(i), value)
	}
	return c.setSlots(c.Args[1], list)
}

func armset(c *Call) Plan {
	if len(c.Args)%2 != 0 {
		return answer(commands.WrongArity(c.Command))
	}
	var list slotList
	for i := 2; i < len(c.Args); i += 2 {
		index, ok := parseIndex(c.Args[i])
		if !ok {
			return fail(errArrayIndex)
		}
		list.add(index, c.Args[i+1])
	}
	return c.setSlots(c.Args[1], list)
}

// An append starts at the cursor, in one batch. The greatest index that it can use is 2^64-2.
const (
	sqlGuardCursor = `INSERT INTO guard SELECT NULL FROM array_cursors
		WHERE key_id = ` + liveID + ` AND next > 9223372036854775807 - CAST(?4 AS INTEGER)`

	appended = ` INTO arrays(key_id, pos, value)
		SELECT k.id, coalesce((SELECT next FROM array_cursors WHERE key_id = k.id), ` + sqlFirstSlot + `) + j.key, unhex(j.value)
		FROM ` + liveKey + ` k CROSS JOIN json_each(?4) j WHERE true ON CONFLICT `
	sqlAppendNew = `INSERT` + appended + `DO NOTHING`
	sqlAppendAll = `INSERT` + appended + `DO UPDATE SET value = excluded.value WHERE value <> excluded.value`

	sqlAdvance = `INSERT INTO array_cursors(key_id, next)
		SELECT id, ` + sqlFirstSlot + ` + CAST(?4 AS INTEGER) FROM keys WHERE ` + live + `
		ON CONFLICT DO UPDATE SET next = next + CAST(?4 AS INTEGER) RETURNING CAST(next - 1 AS TEXT)`
)

var insertOverflow = resp.MakeError("ERR insert index overflow")

func arinsert(c *Call) Plan {
	key, values := c.Args[1], hexList(c.Args[2:])
	n := store.Digits(int64(len(c.Args) - 2))
	guard := c.stmt(sqlGuardCursor, key, n)
	guard.Refused = &insertOverflow
	return write(func(r *store.Result) resp.Value { return indexReply(indexOf(r.Rows[6][0][0])) },
		c.purge(key), c.upsertKey(key, arrayType), guard,
		c.stmt(sqlAppendNew, key, values), c.countAdded(key), c.stmt(sqlAppendAll, key, values),
		c.stmt(sqlAdvance, key, n))
}

// sqlSeek moves the cursor, unless its position would not change.
const (
	sqlSeek = `INSERT INTO array_cursors(key_id, next)
		SELECT id, CAST(?4 AS INTEGER) FROM keys WHERE ` + live + ` AND (CAST(?4 AS INTEGER) > ` + sqlFirstSlot + `
			OR EXISTS (SELECT 1 FROM array_cursors WHERE key_id = keys.id))
		ON CONFLICT DO UPDATE SET next = excluded.next WHERE next <> excluded.next`
	sqlPresent = `SELECT 1 FROM keys WHERE ` + live
)

// arseek also accepts the index after the greatest one, which makes appends fail.
func arseek(c *Call) Plan {
	index, ok := parseUnsigned(c.Args[2])
	if !ok {
		return fail(errArrayIndex)
	}
	key := c.Args[1]
	return write(intOf(4), c.purge(key), c.guardType(key, arrayType),
		c.stmt(sqlSeek, key, pos(index)), c.touchIfChanged(key), c.stmt(sqlPresent, key))
}

// Slots are deleted by a list of pos, or of ranges.
const (
	sqlDeleteSlots  = `DELETE FROM arrays WHERE key_id = ` + liveID + ` AND pos IN (SELECT value FROM json_each(?4))`
	sqlDeleteRanges = `DELETE FROM arrays WHERE key_id = ` + liveID + ` AND pos IN (SELECT a.pos FROM json_each(?4) j CROSS JOIN arrays a
		ON a.key_id = ` + liveID + ` AND a.pos BETWEEN (j.value ->> 0) AND (j.value ->> 1))`
)

// deleteSlots plans a deletion. The cursor does not move.
func (c *Call) deleteSlots(sql string, which store.Value) Plan {
	key := c.Args[1]
	return write(changed(2), c.purge(key), c.guardType(key, arrayType),
		c.stmt(sql, key, which), c.countRemoved(key), c.dropEmpty(key))
}

func ardel(c *Call) Plan {
	places, ok := c.places(c.Args[2:])
	if !ok {
		return fail(errArrayIndex)
	}
	return c.deleteSlots(sqlDeleteSlots, places)
}

func ardelrange(c *Call) Plan {
	if len(c.Args)%2 != 0 {
		return answer(commands.WrongArity(c.Command))
	}
	var ranges []slotRange
	for i := 2; i < len(c.Args); i += 2 {
		s, ok := parseSlotRange(c.Args[i], c.Args[i+1])
		if !ok {
			return fail(errArrayIndex)
		}
		ranges = append(ranges, s)
	}
	out := []byte{'['}
	for i, s := range mergeRanges(ranges) {
		if i > 0 {
			out = append(out, ',')
		}
		out = strconv.AppendInt(append(out, '['), int64(s.from^signBit), 10)
		out = strconv.AppendInt(append(out, ','), int64(s.to^signBit), 10)
		out = append(out, ']')
	}
	return c.deleteSlots(sqlDeleteRanges, store.TextBytes(append(out, ']')))
}

// mergeRanges joins overlapping ranges, so that no slot is read twice.
func mergeRanges(ranges []slotRange) []slotRange {
	smallsort.Sort(ranges, func(a, b slotRange) int { return cmp.Compare(a.from, b.from) })
	joined := ranges[:1]
	for _, s := range ranges[1:] {
		if last := &joined[len(joined)-1]; s.from <= last.to {
			last.to = max(last.to, s.to)
			continue
		}
		joined = append(joined, s)
	}
	return joined
}
