package translator

import (
	"encoding/hex"

	"github.com/meowdis/meowdis/resp"
	"github.com/meowdis/meowdis/store"
)

// sqlGet returns a row for a live key, with NULL in it when the key is no
// string.
const sqlGet = `SELECT s.value FROM keys k LEFT JOIN strings s ON s.key_id = k.id WHERE ` + live

// decodeString shapes the reply of sqlGet.
func decodeString(r *store.Result) resp.Value {
	if len(r.Rows[0]) == 0 {
		return resp.Nil
	}
	v := r.Rows[0][0][0]
	if v.IsNull() {
		return wrongType
	}
	return resp.MakeBulk(v.Bytes())
}

func get(c *Call) Plan { return read(decodeString, c.stmt(sqlGet, c.Args[1])) }

// sqlMGet returns a row for each of the keys ?2, NULL for one that holds no
// string.
const sqlMGet = `SELECT s.value FROM json_each(?2) j
	LEFT JOIN keys k ON k.db = ?1 AND k.key = unhex(j.value) AND (k.dies_at IS NULL OR k.dies_at > ?3)
	LEFT JOIN strings s ON s.key_id = k.id ORDER BY j.key`

func mget(c *Call) Plan {
	return read(func(r *store.Result) resp.Value { return bulks(r.Rows[0]) },
		store.Stmt{SQL: sqlMGet, Args: c.list(c.Args[1:])})
}

func getdel(c *Call) Plan {
	key := c.Args[1]
	return write(decodeString, c.stmt(sqlGet, key), c.guardType(key, stringType), c.drop(key))
}

// sqlSetExpiry makes a live key expire at ?4.
const sqlSetExpiry = `UPDATE keys SET expires_at = ?4, version = version + 1, updated_at = ?3 WHERE ` + live

// getexOption reads the option that only GETEX has.
func (c *Call) getexOption(i int, o *options) (words int) {
	if !c.is(i, "PERSIST") || o.unit != 0 {
		return 0
	}
	o.persist = true
	return 1
}

// getex reads, and changes the expiry of a string; a time in the past deletes
// it. The time is judged only once there is a string.
func getex(c *Call) Plan {
	o, ok := c.parseOptions(2, c.getexOption)
	if !ok {
		return fail(errSyntax)
	}
	key := c.Args[1]
	exp, bad := c.expiry(o)
	var change store.Stmt
	switch {
	case bad.IsError():
		return read(func(r *store.Result) resp.Value {
			if v := decodeString(r); v.Kind != resp.Bulk {
				return v
			}
			return bad
		}, c.stmt(sqlGet, key))
	case o.persist:
		change = c.stmt(sqlPersist, key)
	case !exp.given:
		return get(c)
	case exp.at <= c.Env.Now:
		change = c.drop(key)
	default:
		change = c.stmt(sqlSetExpiry, key, store.Digits(exp.at))
	}
	return write(decodeString, c.stmt(sqlGet, key), c.guardType(key, stringType), change)
}

// sqlStrLen returns a row for a live key, with NULL in it when the key is no
// string.
const sqlStrLen = `SELECT length(s.value) FROM keys k LEFT JOIN strings s ON s.key_id = k.id WHERE ` + live

func (c *Call) strlen(key []byte) Plan {
	return read(func(r *store.Result) resp.Value {
		switch {
		case len(r.Rows[0]) == 0:
			return resp.Zero
		case r.Rows[0][0][0].IsNull():
			return wrongType
		}
		return resp.MakeInt(r.Rows[0][0][0].Int())
	}, c.stmt(sqlStrLen, key))
}

// sqlGetRange is like sqlGet for the bytes from ?4 to ?5. A part of a blob is
// computed, and travels as hex: some engines return only stored blobs unharmed.
const sqlGetRange = `SELECT CASE WHEN value IS NOT NULL THEN hex(substr(value, first + 1, max(0, last - first + 1))) END
	FROM (SELECT s.value,
		max(0, iif(CAST(?4 AS INTEGER) < 0, length(s.value) + CAST(?4 AS INTEGER), min(length(s.value), CAST(?4 AS INTEGER)))) AS first,
		max(0, iif(CAST(?5 AS INTEGER) < 0, length(s.value) + CAST(?5 AS INTEGER), min(length(s.value) - 1, CAST(?5 AS INTEGER)))) AS last
		FROM keys k LEFT JOIN strings s ON s.key_id = k.id WHERE ` + live + `)`

// getrange is GETRANGE and SUBSTR.
func getrange(c *Call) Plan {
	start, end, ok := c.intRange(2)
	if !ok {
		return fail(errNotInteger)
	}
	if start < 0 && end < 0 && start > end {
		// Clamping both to the first byte would make a range of this.
		start, end = 1, 0
	}
	return read(decodeRange, c.stmt(sqlGetRange, c.Args[1], store.Digits(start), store.Digits(end)))
}

func decodeRange(r *store.Result) resp.Value {
	if len(r.Rows[0]) == 0 {
		return resp.EmptyBulk
	}
	if r.Rows[0][0][0].IsNull() {
		return wrongType
	}
	digits := r.Rows[0][0][0].Bytes()
	b := make([]byte, hex.DecodedLen(len(digits)))
	hex.Decode(b, digits) // what SQL's hex() wrote
	return resp.MakeBulk(b)
}
