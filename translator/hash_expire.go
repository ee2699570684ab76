package translator

import (
	"github.com/meowdis/meowdis/resp"
	"github.com/meowdis/meowdis/store"
)

var hashExpireTranslations = translations{
	"HEXPIRE":      hexpire(true, false),
	"HPEXPIRE":     hexpire(false, false),
	"HEXPIREAT":    hexpire(true, true),
	"HPEXPIREAT":   hexpire(false, true),
	"HTTL":         httl(true, false),
	"HPTTL":        httl(false, false),
	"HEXPIRETIME":  httl(true, true),
	"HPEXPIRETIME": httl(false, true),
	"HPERSIST":     hpersist,
}

// maxFieldExpiry is the latest time at which a field may expire: 46 bits.
const maxFieldExpiry = 1<<46 - 1

const errFieldExpiry = "ERR invalid expire time, must be >= 0"

// failHash answers the error msg, but WRONGTYPE when the key is no hash: these
// commands look at the key before their arguments.
func (c *Call) failHash(msg string) Plan {
	bad := resp.MakeError(msg)
	return c.failTyped(c.Args[1], hashType, bad, bad)
}

// fieldExpiry is the absolute time that argument i means; msg is the error when
// it is none. Unlike a key's it may be 0 or past.
func (c *Call) fieldExpiry(i int, seconds, absolute bool) (at int64, msg string) {
	n, ok := parseInt(c.Args[i])
	switch {
	case !ok:
		return 0, errNotInteger
	case n < 0:
		return 0, errFieldExpiry
	}
	at, ok = c.expireAt(n, seconds, absolute)
	if !ok || at > maxFieldExpiry {
		return 0, string(invalidExpire(c).Reply.Str)
	}
	return at, ""
}

const fewFields = "ERR Number of fields must be a positive integer"

// trailingFields reads "FIELDS numfields field …", which begins at argument i and ends
// the call; msg is the error when it does not, which is few for a numfields that is no
// positive number.
func (c *Call) trailingFields(i int, few string) (fields [][]byte, msg string) {
	if i >= len(c.Args) || !c.is(i, "FIELDS") {
		return nil, "ERR Mandatory argument FIELDS is missing or not at the right position"
	}
	if i+1 == len(c.Args) {
		return nil, few // Redis 8.0 reads what is after the call
	}
	n, ok := parseInt(c.Args[i+1])
	fields = c.Args[i+2:]
	switch {
	case !ok || n < 1:
		return nil, few
	case n != int64(len(fields)):
		return nil, "ERR The `numfields` parameter must match the number of arguments"
	}
	return fields, ""
}

// openFields begins a write that does not make the hash: what follows finds its
// live fields only, and the key if it has any.
func (c *Call) openFields(key []byte) []store.Stmt {
	return []store.Stmt{
		c.guardType(key, hashType), c.purge(key),
		c.stmt(sqlPurgeFields, key), {SQL: sqlPurgedFields, Args: c.key(key)[:2]},
	}
}

// The fields of json_each(?4) j that the hash has.
const (
	chosenFields = ` WHERE key_id = ` + liveID + ` AND (hash, field) IN (SELECT ` + itemHash + `, ` + itemName + ` FROM json_each(?4) j)`
	eachField    = ` FROM json_each(?4) j LEFT JOIN hashes h
		ON h.key_id = ` + liveID + ` AND h.hash = ` + itemHash + ` AND h.field = ` + itemName + ` AND ` + liveField + ` ORDER BY j.key`
)

// fieldDue are the conditions ?6 of HEXPIRE on a field of the table h that is to
// expire at ?5.
const (
	fieldDue = `(?6 & 1 = 0 OR h.expires_at IS NULL)
		AND (?6 & 2 = 0 OR h.expires_at IS NOT NULL)
		AND (?6 & 4 = 0 OR ifnull(h.expires_at < CAST(?5 AS INTEGER), 0))
		AND (?6 & 8 = 0 OR h.expires_at IS NULL OR h.expires_at > CAST(?5 AS INTEGER))`
	sqlFieldsDue     = `SELECT CASE WHEN h.field IS NULL THEN -2 ELSE ` + fieldDue + ` END` + eachField
	sqlExpireDue     = `UPDATE hashes AS h SET expires_at = ?5` + chosenFields + ` AND ` + fieldDue
	sqlRemoveDue     = `DELETE FROM hashes AS h` + chosenFields + ` AND ` + fieldDue
	sqlFieldExpiries = `SELECT h.field IS NOT NULL, CAST(h.expires_at AS TEXT)` + eachField
	sqlPersistFields = `UPDATE hashes SET expires_at = NULL` + chosenFields + ` AND expires_at IS NOT NULL`
	sqlSetExpiries   = `UPDATE hashes SET expires_at = ?5` + chosenFields
)

// What these commands answer of a field.
const (
	fieldMissing = -2
	fieldStays   = -1
	fieldUnmet   = 0 // a condition
	fieldChanged = 1
	fieldDeleted = 2
)

// hexpire is HEXPIRE, HPEXPIRE, HEXPIREAT and HPEXPIREAT. A time that has passed
// deletes the fields.
func hexpire(seconds, absolute bool) func(*Call) Plan {
	return func(c *Call) Plan {
		at, msg := c.fieldExpiry(2, seconds, absolute)
		if msg != "" {
			return c.failHash(msg)
		}
		condition, first := c.fieldCondition(3), 3
		if condition != 0 {
			first++
		}
		fields, msg := c.trailingFields(first, "ERR Parameter `numFields` should be greater than 0")
		if msg != "" {
			return c.failHash(msg)
		}
		key, past := c.Args[1], at <= c.Env.Now
		args := []store.Value{hashed(fields, 1), store.Digits(at), store.Int(condition)}
		stmts := append(c.openFields(key), c.stmt(sqlFieldsDue, key, args...))
		if past {
			stmts = append(stmts, c.stmt(sqlRemoveDue, key, args...), c.shrunk(key), c.dropEmpty(key))
		} else {
			stmts = append(stmts, c.stmt(sqlExpireDue, key, args...), c.stmt(sqlTouchedOnChange, key))
		}
		return write(eachOf(4, fields, func(row store.Row) int64 {
			if n := row[0].Int(); n != fieldChanged || !past {
				return n
			}
			return fieldDeleted
		}, func(n int64) int64 {
			switch {
			case n == fieldDeleted:
				return fieldMissing
			case n == fieldChanged && condition&^ifSome != 0:
				return fieldUnmet
			}
			return n
		}), stmts...)
	}
}

// fieldCondition is the bit of the condition at argument i, 0 for another word.
func (c *Call) fieldCondition(i int) int64 {
	for bit, word := range []string{"NX", "XX", "GT", "LT"} {
		if c.is(i, word) {
			return 1 << bit
		}
	}
	return 0
}

// eachOf answers an integer for each of the fields: what code makes of its row of
// statement i. A field that is named once more meets what was done to it the first
// time, and again makes the one code of the other.
func eachOf(i int, fields [][]byte, code func(store.Row) int64, again func(int64) int64) func(*store.Result) resp.Value {
	return func(r *store.Result) resp.Value {
		elems := make([]resp.Value, len(fields))
		seen := make(map[string]bool, len(fields))
		for k, row := range r.Rows[i] {
			n := code(row)
			if name := string(fields[k]); seen[name] {
				n = again(n)
			} else {
				seen[name] = true
			}
			elems[k] = resp.MakeInt(n)
		}
		return resp.MakeArray(elems...)
	}
}

// httl is HTTL, HPTTL, HEXPIRETIME and HPEXPIRETIME. Seconds are rounded up.
func httl(seconds, absolute bool) func(*Call) Plan {
	return func(c *Call) Plan {
		fields, msg := c.trailingFields(2, fewFields)
		if msg != "" {
			return c.failHash(msg)
		}
		left := func(at int64) int64 {
			if !absolute {
				at -= c.Env.Now
			}
			if seconds {
				at = (at + 999) / 1000
			}
			return at
		}
		return read(typed(hashType, repeated(resp.MakeInt(fieldMissing), len(fields)), func(r *store.Result) resp.Value {
			elems := make([]resp.Value, len(fields))
			for i, row := range r.Rows[1] {
				switch {
				case row[0].Int() == 0:
					elems[i] = resp.MakeInt(fieldMissing)
				case row[1].IsNull():
					elems[i] = resp.MakeInt(fieldStays)
				default:
					elems[i] = resp.MakeInt(left(row[1].Int()))
				}
			}
			return resp.MakeArray(elems...)
		}), c.typeOf(c.Args[1]), c.stmt(sqlFieldExpiries, c.Args[1], hashed(fields, 1)))
	}
}

func hpersist(c *Call) Plan {
	fields, msg := c.trailingFields(2, fewFields)
	if msg != "" {
		return c.failHash(msg)
	}
	key, list := c.Args[1], hashed(fields, 1)
	return write(eachOf(4, fields, func(row store.Row) int64 {
		switch {
		case row[0].Int() == 0:
			return fieldMissing
		case row[1].IsNull():
			return fieldStays
		}
		return fieldChanged
	}, func(n int64) int64 { return min(n, fieldStays) }),
		append(c.openFields(key), c.stmt(sqlFieldExpiries, key, list),
			c.stmt(sqlPersistFields, key, list), c.stmt(sqlTouchedOnChange, key))...)
}
