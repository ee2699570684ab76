package translator

import (
	"github.com/meowdis/meowdis/resp"
	"github.com/meowdis/meowdis/store"
)

var listCommands = []Command{
	{
		Name: "LPUSH", Group: "list", Since: "1.0.0", Arity: -3, Flags: Write | DenyOOM | Fast,
		Summary: "Adds elements in front of a list, which is made when missing",
		Syntax:  "key element [element ...]", Keys: []KeySpec{oneKey(RW|Inserts, 1)}, Translate: push(head),
	},
	{
		Name: "RPUSH", Group: "list", Since: "1.0.0", Arity: -3, Flags: Write | DenyOOM | Fast,
		Summary: "Adds elements behind a list, which is made when missing",
		Syntax:  "key element [element ...]", Keys: []KeySpec{oneKey(RW|Inserts, 1)}, Translate: push(tail),
	},
	{
		Name: "LPUSHX", Group: "list", Since: "2.2.0", Arity: -3, Flags: Write | DenyOOM | Fast,
		Summary: "Adds elements in front of a list that exists",
		Syntax:  "key element [element ...]", Keys: []KeySpec{oneKey(RW|Inserts, 1)}, Translate: pushx(head),
	},
	{
		Name: "RPUSHX", Group: "list", Since: "2.2.0", Arity: -3, Flags: Write | DenyOOM | Fast,
		Summary: "Adds elements behind a list that exists",
		Syntax:  "key element [element ...]", Keys: []KeySpec{oneKey(RW|Inserts, 1)}, Translate: pushx(tail),
	},
	{
		Name: "LPOP", Group: "list", Since: "1.0.0", Arity: -2, Flags: Write | Fast,
		Summary: "Removes and returns the first elements of a list",
		Syntax:  "key [count]", Keys: []KeySpec{oneKey(RW|Returns|Deletes, 1)}, Translate: pop(head),
	},
	{
		Name: "RPOP", Group: "list", Since: "1.0.0", Arity: -2, Flags: Write | Fast,
		Summary: "Removes and returns the last elements of a list",
		Syntax:  "key [count]", Keys: []KeySpec{oneKey(RW|Returns|Deletes, 1)}, Translate: pop(tail),
	},
	{
		Name: "LMPOP", Group: "list", Since: "7.0.0", Arity: -4, Flags: Write | MovableKeys,
		Summary: "Removes and returns elements of the first list that is not empty",
		Syntax:  "numkeys key [key ...] <LEFT|RIGHT> [COUNT count]",
		Keys:    []KeySpec{numKeys(RW|Returns|Deletes, 1)}, Translate: lmpop,
	},
	{
		Name: "LMOVE", Group: "list", Since: "6.2.0", Arity: 5, Flags: Write | DenyOOM,
		Summary: "Moves an element from one end of a list to an end of another or the same",
		Syntax:  "source destination <LEFT|RIGHT> <LEFT|RIGHT>",
		Keys:    []KeySpec{oneKey(RW|Returns|Deletes, 1), oneKey(RW|Inserts, 2)}, Translate: lmove,
	},
	{
		Name: "LMOVEM", Group: "list", Since: "8.10.0", Arity: -5, Flags: Write | DenyOOM,
		Summary: "Moves elements from one end of a list to an end of another or the same",
		Syntax:  "source destination <LEFT|RIGHT> <LEFT|RIGHT> [<COUNT count|EXACTLY exactly> <OBO|BULK>]",
		Keys:    []KeySpec{oneKey(RW|Returns|Deletes, 1), oneKey(RW|Inserts, 2)}, Translate: lmovem,
	},
	{
		Name: "RPOPLPUSH", Group: "list", Since: "1.2.0", Arity: 3, Flags: Write | DenyOOM,
		Summary: "Moves the last element of a list to the front of another or the same",
		Syntax:  "source destination", Keys: []KeySpec{oneKey(RW|Returns|Deletes, 1), oneKey(RW|Inserts, 2)},
		Translate: func(c *Call) Plan { return c.move(tail, head, resp.Nil) },
	},
	{
		Name: "LLEN", Group: "list", Since: "1.0.0", Arity: 2, Flags: ReadOnly | Fast,
		Summary: "Returns the number of elements of a list",
		Syntax:  "key", Keys: []KeySpec{oneKey(RO|Metadata, 1)}, Translate: llen,
	},
	{
		Name: "LINDEX", Group: "list", Since: "1.0.0", Arity: 3, Flags: ReadOnly,
		Summary: "Returns the element at an index, nil when there is none",
		Syntax:  "key index", Keys: []KeySpec{oneKey(RO, 1)}, Translate: lindex,
	},
	{
		Name: "LRANGE", Group: "list", Since: "1.0.0", Arity: 4, Flags: ReadOnly,
		Summary: "Returns the elements from one index to another",
		Syntax:  "key start stop", Keys: []KeySpec{oneKey(RO, 1)}, Translate: lrange,
	},
	{
		Name: "LPOS", Group: "list", Since: "6.0.6", Arity: -3, Flags: ReadOnly,
		Summary: "Returns the indexes at which an element is",
		Syntax:  "key element [RANK rank] [COUNT num-matches] [MAXLEN len]",
		Keys:    []KeySpec{oneKey(RO, 1)}, Translate: lpos,
	},
	{
		Name: "LSET", Group: "list", Since: "1.0.0", Arity: 4, Flags: Write | DenyOOM,
		Summary: "Replaces the element at an index",
		Syntax:  "key index element", Keys: []KeySpec{oneKey(RW, 1)}, Translate: lset,
	},
	{
		Name: "LINSERT", Group: "list", Since: "2.2.0", Arity: 5, Flags: Write | DenyOOM,
		Summary: "Inserts an element before or after the first occurrence of another",
		Syntax:  "key <BEFORE|AFTER> pivot element", Keys: []KeySpec{oneKey(RW|Inserts, 1)}, Translate: linsert,
	},
	{
		Name: "LREM", Group: "list", Since: "1.0.0", Arity: 4, Flags: Write,
		Summary: "Removes occurrences of an element, from the front, the back or everywhere",
		Syntax:  "key count element", Keys: []KeySpec{oneKey(RW|Deletes, 1)}, Translate: lrem,
	},
	{
		Name: "LTRIM", Group: "list", Since: "1.0.0", Arity: 4, Flags: Write,
		Summary: "Removes all elements outside of a range of indexes",
		Syntax:  "key start stop", Keys: []KeySpec{oneKey(RW|Deletes, 1)}, Translate: ltrim,
	},
}

const listType = "list"

// end is an end of a list. It indexes the statements that exist once for each.
type end int

const (
	head end = iota
	tail
)

// endAt reads LEFT or RIGHT from argument i.
func (c *Call) endAt(i int) (e end, ok bool) {
	switch {
	case c.is(i, "LEFT"):
		return head, true
	case c.is(i, "RIGHT"):
		return tail, true
	}
	return head, false
}

// Elements lie in the order of pos, 2^16 apart at first, which leaves room to
// insert between them (list_insert.go). A list is read and cut from its ends
// and its middle is reached from the nearer end, since an index is a distance
// that has to be walked.
const sqlGap = `65536`

// sqlAt names a live key k, with the index ?4 counted from the front in k.at.
const sqlAt = `WITH k AS (SELECT id, type, count,
	iif(CAST(?4 AS INTEGER) < 0, count + CAST(?4 AS INTEGER), CAST(?4 AS INTEGER)) AS at
	FROM keys WHERE ` + live + `) `

// sqlPosAt is the position of the element at index k.at, reached from the nearer
// end, and NULL when there is none.
const sqlPosAt = `(SELECT CASE
	WHEN at < 0 OR at >= count THEN NULL
	WHEN at < count / 2 THEN
		(SELECT pos FROM lists WHERE key_id = (SELECT id FROM k) ORDER BY pos LIMIT 1 OFFSET (SELECT at FROM k))
	ELSE
		(SELECT pos FROM lists WHERE key_id = (SELECT id FROM k) ORDER BY pos DESC LIMIT 1 OFFSET (SELECT count - 1 - at FROM k))
	END FROM k)`

const sqlLLen = `SELECT type, count FROM keys WHERE ` + live

func llen(c *Call) Plan {
	return read(typed(listType, resp.Zero, func(r *store.Result) resp.Value {
		return resp.MakeInt(r.Rows[0][0][1].Int())
	}), c.stmt(sqlLLen, c.Args[1]))
}

const sqlLIndex = sqlAt + `SELECT type, (SELECT value FROM lists WHERE key_id = k.id AND pos = ` + sqlPosAt + `) FROM k`

func lindex(c *Call) Plan {
	index, ok := parseInt(c.Args[2])
	if !ok {
		return c.failTyped(c.Args[1], listType, resp.Nil, notInteger)
	}
	return read(typed(listType, resp.Nil, func(r *store.Result) resp.Value { return bulk(r.Rows[0][0][1]) }),
		c.stmt(sqlLIndex, c.Args[1], store.Digits(index)))
}

// failTyped answers an argument error that Redis finds only after it has looked
// the key up: missing without a key, WRONGTYPE for one of another type, and the
// error otherwise.
func (c *Call) failTyped(key []byte, want string, missing, err resp.Value) Plan {
	return read(typed(want, missing, always(err)), c.typeOf(key))
}

// sqlLRange starts at the first element of the range and counts from there.
const sqlLRange = `WITH k AS (SELECT id, count,
	max(0, iif(CAST(?4 AS INTEGER) < 0, count + CAST(?4 AS INTEGER), CAST(?4 AS INTEGER))) AS at,
	min(count - 1, iif(CAST(?5 AS INTEGER) < 0, count + CAST(?5 AS INTEGER), CAST(?5 AS INTEGER))) AS last
	FROM keys WHERE ` + live + `)
	SELECT value FROM lists WHERE key_id = (SELECT id FROM k) AND pos >= ` + sqlPosAt + `
	ORDER BY pos LIMIT coalesce((SELECT max(0, last - at + 1) FROM k), 0)`

func lrange(c *Call) Plan {
	start, stop, ok := c.intRange(2)
	if !ok {
		return fail(errNotInteger)
	}
	return read(typed(listType, resp.EmptyArray, func(r *store.Result) resp.Value { return bulks(r.Rows[1]) }),
		c.typeOf(c.Args[1]), c.stmt(sqlLRange, c.Args[1], store.Digits(start), store.Digits(stop)))
}

// intRange reads two integers from argument i on.
func (c *Call) intRange(i int) (start, stop int64, ok bool) {
	start, ok1 := parseInt(c.Args[i])
	stop, ok2 := parseInt(c.Args[i+1])
	return start, stop, ok1 && ok2
}
