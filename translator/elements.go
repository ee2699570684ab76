package translator

import (
	"cmp"
	"slices"
	"strconv"

	"github.com/meowdis/meowdis/redis/resp"
	"github.com/meowdis/meowdis/store"
)

// Hashes and sets store their elements in the order of a hash (name_hash.go), with the order of insertion in seq.

// liveKey selects the row of the key, for joins with the rows of its elements.
const liveKey = `(SELECT id, type, count FROM keys WHERE ` + live + `)`

// A statement about several elements or keys reads them from json_each AS j, with the argument of hashedJSON: [hash,
// name, value …].
const (
	itemHash = `j.value ->> 0`
	itemName = `unhex(j.value ->> 1)`
)

// hashedJSON returns the JSON argument of a list of fields, members or keys, each of width words. The first word is the
// name, and the hash is computed from it.
func hashedJSON(list [][]byte, width int) store.Value {
	n := 2
	for _, b := range list {
		n += 2*len(b) + 3 + 20
	}
	out := append(make([]byte, 0, n), '[')
	for i, b := range list {
		if i%width == 0 {
			if i > 0 {
				out = append(out, ']', ',')
			}
			out = strconv.AppendInt(append(out, '['), HashOf(b), 10)
		}
		out = appendHex(append(out, ','), b)
	}
	return store.TextBytes(append(out, ']', ']'))
}

// countAddedWithSeq is countAdded for elements with a seq: it advances the key's counter by all n given elements,
// including existing ones, so that no two elements ever get the same seq.
const sqlCountAddedWithSeq = `UPDATE keys SET count = count + changes(), seq = seq + ?4, version = version + 1, updated_at = ?3
	WHERE db = ?1 AND key = ?2 AND changes() > 0`

func (c *Call) countAddedWithSeq(key []byte, n int) store.Stmt {
	return c.account(sqlCountAddedWithSeq, key, store.Int(int64(n)))
}

// decodeCell decodes the row of a live key: its type and one cell. The reply is missing for a missing key, and
// WRONGTYPE for a type other than want.
func decodeCell(want string, missing resp.Value, shape func(store.Value) resp.Value) func(*store.Result) resp.Value {
	return checkType(want, missing, func(r *store.Result) resp.Value { return shape(r.Rows[0][0][1]) })
}

// integer returns a cell as an integer.
func integer(v store.Value) resp.Value { return resp.MakeInt(v.Int()) }

// setOf returns every row's first cell as a set of bulk strings.
func setOf(rows []store.Row) resp.Value {
	v := bulks(rows)
	v.Kind = resp.Set
	return v
}

// repeated returns an array of n times v.
func repeated(v resp.Value, n int) resp.Value {
	elems := make([]resp.Value, n)
	for i := range elems {
		elems[i] = v
	}
	return resp.MakeArray(elems...)
}

// bySeq sorts rows by their last cell, the elements' seq. Sorting in SQLite would need several copies of each row in
// memory.
func bySeq(rows []store.Row) []store.Row {
	slices.SortFunc(rows, compareSeq)
	return rows
}

func compareSeq(a, b store.Row) int { return cmp.Compare(a[len(a)-1].Int(), b[len(b)-1].Int()) }

// listing translates "NAME key". The rows of sql are the elements of a key of the type, and end with their seq.
func listing(typ, sql string, missing resp.Value, shape func([]store.Row) resp.Value) func(*Call) Plan {
	return func(c *Call) Plan {
		stmt, width := c.stmt(sql, c.Args[1]), 1
		if missing.Kind == resp.Map {
			width = 2
		}
		packed := c.pack(&stmt, width, true)
		return c.readElements(typ, missing, func(r *store.Result) resp.Value {
			if v, ok := packed.reply(missing.Kind, r.Work); ok {
				return v
			}
			return shape(bySeq(r.Rows[0]))
		}, c.Args[1], stmt)
	}
}

// byName translates "NAME key name". The cell of sql belongs to one field or member.
func byName(typ, sql string, missing resp.Value, shape func(store.Value) resp.Value) func(*Call) Plan {
	return func(c *Call) Plan {
		return read(decodeCell(typ, missing, shape),
			c.stmt(sql, c.Args[1], hashValue(c.Args[2]), store.Bytes(c.Args[2])))
	}
}

// byEachName translates "NAME key name [name …]": the first cell of sql for each field or member, in order.
func byEachName(typ string, sql *nameSQL, missing resp.Value, shape func([]store.Row) resp.Value) func(*Call) Plan {
	return func(c *Call) Plan { return c.readEach(typ, c.Args[2:], *sql, missing, shape) }
}

// readEach plans a read of sql for each name; shape makes the reply from its rows.
func (c *Call) readEach(typ string, names [][]byte, sql nameSQL, missing resp.Value, shape func([]store.Row) resp.Value) Plan {
	stmts := c.stmtsForNames(c.Args[1], names, sql)
	return read(
		checkType(typ, repeated(missing, len(names)), func(r *store.Result) resp.Value { return shape(nameRows(r, 1, len(stmts))) }),
		append([]store.Stmt{c.typeOf(c.Args[1])}, stmts...)...)
}
