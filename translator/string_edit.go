package translator

import (
	"github.com/meowdis/meowdis/resp"
	"github.com/meowdis/meowdis/store"
)

// maxString is the longest string that Redis allows by default, and we do.
const maxString = 512 << 20

// Both answer the new length. Appending refuses a sum beyond maxString. The substr
// of an empty blob is NULL.
const (
	sqlAppend = `INSERT INTO strings(key_id, value) SELECT id, ?3 FROM keys WHERE db = ?1 AND key = ?2
		ON CONFLICT(key_id) DO UPDATE SET value = iif(length(value) + length(excluded.value) <= 536870912,
			CAST(value || excluded.value AS BLOB), NULL)
		RETURNING length(value)`
	sqlSetRange = `INSERT INTO strings(key_id, value) SELECT id, CAST(zeroblob(?4) || ?3 AS BLOB) FROM keys WHERE db = ?1 AND key = ?2
		ON CONFLICT(key_id) DO UPDATE SET value = CAST(
			coalesce(substr(value, 1, ?4), '') || zeroblob(max(0, ?4 - length(value))) || ?3 ||
			coalesce(substr(value, ?4 + length(?3) + 1), '') AS BLOB)
		RETURNING length(value)`
)

var stringTooLong = resp.MakeError(errStringTooLong)

func appendValue(c *Call) Plan {
	key := c.Args[1]
	add := store.Stmt{SQL: sqlAppend, Args: append(c.key(key)[:2], store.Bytes(c.Args[2])), Refused: &stringTooLong}
	return write(intOf(2), c.purge(key), c.upsertKey(key, stringType), add)
}

func setrange(c *Call) Plan {
	key, value := c.Args[1], c.Args[3]
	offset, ok := parseInt(c.Args[2])
	switch {
	case !ok:
		return fail(errNotInteger)
	case offset < 0:
		return fail(errOffset)
	case len(value) == 0:
		return c.strlen(key)
	case offset > maxString-int64(len(value)):
		return c.failTyped(key, stringType, stringTooLong, stringTooLong)
	}
	set := store.Stmt{SQL: sqlSetRange, Args: append(c.key(key)[:2], store.Bytes(value), store.Int(offset))}
	return write(intOf(2), c.purge(key), c.upsertKey(key, stringType), set)
}
