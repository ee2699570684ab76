package translator

import (
	"github.com/meowdis/meowdis/redis/resp"
	"github.com/meowdis/meowdis/store"
)

var hashExpireTranslations = translations{
	{"HEXPIRE", hexpire(true, false)},
	{"HPEXPIRE", hexpire(false, false)},
	{"HEXPIREAT", hexpire(true, true)},
	{"HPEXPIREAT", hexpire(false, true)},
	{"HTTL", httl(true, false)},
	{"HPTTL", httl(false, false)},
	{"HEXPIRETIME", httl(true, true)},
	{"HPEXPIRETIME", httl(false, true)},
	{"HPERSIST", hpersist},
}

// maxFieldExpiry limits the expiry of a field to 46 bits.
const maxFieldExpiry = 1<<46 - 1

const errFieldExpiry = "ERR invalid expire time, must be >= 0"

// failHash replies with the error msg, or WRONGTYPE if the key is not a hash: these commands check the key before their
// arguments.
func (c *Call) failHash(msg string) Plan {
	bad := resp.MakeError(msg)
	return c.failTyped(c.Args[1], hashType, bad, bad)
}

// fieldExpiry parses argument i as an absolute expiry; msg is the error. Unlike a key's expiry it may be 0 or past.
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
		if c.Env.Rules.FarFieldExpiry {
			return maxFieldExpiry, ""
		}
		return 0, string(invalidExpire(c).Reply.Str)
	}
	return at, ""
}

const fewFields = "ERR Number of fields must be a positive integer"

// trailingFields parses "FIELDS numfields field …" from argument i to the end of the call; msg is the error, few for a
// numfields that is not positive.
func (c *Call) trailingFields(i int, few string) (fields [][]byte, msg string) {
	if i >= len(c.Args) || !c.is(i, "FIELDS") {
		return nil, "ERR Mandatory argument FIELDS is missing or not at the right position"
	}
	if i+1 == len(c.Args) {
		return nil, few // Redis 8.0 reads beyond the arguments here
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

// These fragments select the existing fields among several, and one field, with the arguments of nameSQL; and a row for
// each given field, missing or not.
const (
	chosenFields = ` WHERE key_id = ` + liveID + ` AND (hash, field) IN (SELECT ` + itemHash + `, ` + itemName + ` FROM json_each(?4) j)`
	oneField     = ` WHERE key_id = ` + liveID + ` AND hash = ?4 AND field = ?5`
	eachField    = `, j.key FROM json_each(?4) j LEFT JOIN hashes h
		ON h.key_id = ` + liveID + ` AND h.hash = ` + itemHash + ` AND h.field = ` + itemName + ` AND ` + liveField
	theField = `, 0 FROM (SELECT 1) LEFT JOIN hashes h ON h.key_id = ` + liveID + ` AND h.hash = ?4 AND h.field = ?5 AND ` + liveField
)

// fieldDue checks the conditions ?7 of HEXPIRE on a field of the table h, for the expiry ?6.
const (
	fieldDue = `(?7 & 1 = 0 OR h.expires_at IS NULL)
		AND (?7 & 2 = 0 OR h.expires_at IS NOT NULL)
		AND (?7 & 4 = 0 OR ifnull(h.expires_at < CAST(?6 AS INTEGER), 0))
		AND (?7 & 8 = 0 OR h.expires_at IS NULL OR h.expires_at > CAST(?6 AS INTEGER))`
	fieldIsDue   = `SELECT CASE WHEN h.hash IS NULL THEN -2 ELSE ` + fieldDue + ` END`
	expireField  = `UPDATE hashes AS h SET expires_at = ?6`
	removeField  = `DELETE FROM hashes AS h`
	fieldExpiry  = `SELECT h.hash IS NOT NULL, CAST(h.expires_at AS TEXT)`
	persistField = `UPDATE hashes SET expires_at = NULL`
	hasExpiry    = ` AND expires_at IS NOT NULL`
)

var (
	sqlFieldsDue     = nameSQL{newListSQL(1, fieldIsDue+eachField), fieldIsDue + theField}
	sqlExpireDue     = nameSQL{newListSQL(1, expireField+chosenFields+` AND `+fieldDue), expireField + oneField + ` AND ` + fieldDue}
	sqlRemoveDue     = nameSQL{newListSQL(1, removeField+chosenFields+` AND `+fieldDue), removeField + oneField + ` AND ` + fieldDue}
	sqlSetExpiries   = nameSQL{newListSQL(1, expireField+chosenFields), expireField + oneField}
	sqlFieldExpiries = nameSQL{newListSQL(1, fieldExpiry+eachField), fieldExpiry + theField}
	sqlPersistFields = nameSQL{newListSQL(1, persistField+chosenFields+hasExpiry), persistField + oneField + hasExpiry}
)

// These are the reply codes for a field.
const (
	fieldMissing  = -2
	fieldNoExpiry = -1
	fieldUnmet    = 0 // a condition is not met
	fieldChanged  = 1
	fieldDeleted  = 2
)

// hexpire translates HEXPIRE, HPEXPIRE, HEXPIREAT and HPEXPIREAT. A time that has passed deletes the fields.
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
		args := []store.Value{store.Digits(at), store.Int(condition)}
		due := c.stmtsForNames(key, fields, sqlFieldsDue, args...)
		codes := func(at int) func(*store.Result) resp.Value {
			return expiryCodes(past, condition, at, len(due), fields)
		}
		if c.Env.MayStage && !past {
			return c.stageFieldExpiry(key, fields, at, due, codes(1))
		}
		stmts := append(c.openFields(key), due...)
		if past {
			stmts = append(append(stmts, each(c.stmtsForNames(key, fields, sqlRemoveDue, args...), c.countRemoved(key))...), c.dropEmpty(key))
		} else {
			stmts = append(stmts, each(c.stmtsForNames(key, fields, sqlExpireDue, args...), c.touchIfChanged(key))...)
		}
		return write(codes(hashOpening), stmts...)
	}
}

// expiryCodes replies to HEXPIRE from the count statements of sqlFieldsDue from i on.
func expiryCodes(past bool, condition int64, i, count int, fields [][]byte) func(*store.Result) resp.Value {
	return decodeFields(i, count, fields, func(row store.Row) int64 {
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
	})
}

// fieldCondition returns the bit of the condition at argument i, 0 for another word.
func (c *Call) fieldCondition(i int) int64 {
	for bit, word := range []string{"NX", "XX", "GT", "LT"} {
		if c.is(i, word) {
			return 1 << bit
		}
	}
	return 0
}

// decodeFields replies with an integer per field: code of its row, which the count statements from i on have read. A
// field that is named twice has been changed by its first occurrence; again converts the code for the other
// occurrences.
func decodeFields(i, count int, fields [][]byte, code func(store.Row) int64, again func(int64) int64) func(*store.Result) resp.Value {
	return func(r *store.Result) resp.Value {
		elems := make([]resp.Value, len(fields))
		seen := make(map[string]bool, len(fields))
		for k, row := range nameRows(r, i, count) {
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

// httl translates HTTL, HPTTL, HEXPIRETIME and HPEXPIRETIME. Seconds are rounded up.
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
		return c.readEach(hashType, fields, sqlFieldExpiries, resp.MakeInt(fieldMissing), func(rows []store.Row) resp.Value {
			elems := make([]resp.Value, len(fields))
			for i, row := range rows {
				switch {
				case row[0].Int() == 0:
					elems[i] = resp.MakeInt(fieldMissing)
				case row[1].IsNull():
					elems[i] = resp.MakeInt(fieldNoExpiry)
				default:
					elems[i] = resp.MakeInt(left(row[1].Int()))
				}
			}
			return resp.MakeArray(elems...)
		})
	}
}

func hpersist(c *Call) Plan {
	fields, msg := c.trailingFields(2, fewFields)
	if msg != "" {
		return c.failHash(msg)
	}
	key := c.Args[1]
	expiries := c.stmtsForNames(key, fields, sqlFieldExpiries)
	return write(decodeFields(hashOpening, len(expiries), fields, func(row store.Row) int64 {
		switch {
		case row[0].Int() == 0:
			return fieldMissing
		case row[1].IsNull():
			return fieldNoExpiry
		}
		return fieldChanged
	}, func(n int64) int64 { return min(n, fieldNoExpiry) }),
		append(append(c.openFields(key), expiries...),
			each(c.stmtsForNames(key, fields, sqlPersistFields), c.touchIfChanged(key))...)...)
}
