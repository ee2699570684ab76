package translator

import (
	"github.com/meowdis/meowdis/redis/resp"
	"github.com/meowdis/meowdis/store"
)

// live selects the row of the key ?2 in the database ?1, unless it has expired at ?3 (now).
const live = `db = ?1 AND key = ?2 AND (dies_at IS NULL OR dies_at > ?3)`

// liveID selects the id of that row.
const liveID = `(SELECT id FROM keys WHERE ` + live + `)`

// sqlTypeOf is statement 0 of a read with several rows: it reads the key's type.
const sqlTypeOf = `SELECT type FROM keys WHERE ` + live

func (c *Call) typeOf(key []byte) store.Stmt { return c.stmt(sqlTypeOf, key) }

// A write begins with purge, which deletes the key if it has expired.
const sqlPurge = `DELETE FROM keys WHERE db = ?1 AND key = ?2 AND dies_at <= ?3`

func (c *Call) purge(key []byte) store.Stmt { return c.stmt(sqlPurge, key) }

// A command that creates a missing key continues with ensure. It refuses a key of another type: the upsert sets the
// type to NULL, which a constraint rejects.
const sqlEnsure = `INSERT INTO keys(db, key, hash, type, version, created_at, updated_at) VALUES(?1, ?2, ?6, ?4, ?5, ?3, ?3)
	ON CONFLICT(db, key) DO UPDATE SET type = iif(type = excluded.type, type, NULL)`

func (c *Call) ensure(key []byte, typ string) store.Stmt {
	s := c.stmt(sqlEnsure, key, store.String(typ), c.newVersion(), hashValue(key))
	s.Refused = &wrongType
	return s
}

// ensureOne is ensure for a write that adds one element. A new key already counts it. A later statement may share the
// first four arguments to detect a new key, which has the version ?4.
const sqlEnsureOne = `INSERT INTO keys(db, key, hash, type, version, count, seq, created_at, updated_at) VALUES(?1, ?2, ?6, ?5, ?4, 1, 1, ?3, ?3)
	ON CONFLICT(db, key) DO UPDATE SET type = iif(type = excluded.type, type, NULL)`

func (c *Call) ensureOne(key []byte, typ string) store.Stmt {
	s := c.stmt(sqlEnsureOne, key, c.newVersion(), store.String(typ), hashValue(key))
	s.Refused = &wrongType
	return s
}

// countAddedOne is countAdded after ensureOne. It does nothing if ensureOne has created the key.
func (c *Call) countAddedOne(ensure store.Stmt, skip func(store.Result) bool) store.Stmt {
	return store.Stmt{SQL: sqlCountAddedOne, Args: ensure.Args[:4:4], SkipIf: skip}
}

// upsertKey is ensure for a command that changes the key whenever it succeeds.
const sqlUpsertKey = `INSERT INTO keys(db, key, hash, type, version, created_at, updated_at) VALUES(?1, ?2, ?6, ?4, ?5, ?3, ?3)
	ON CONFLICT(db, key) DO UPDATE SET type = iif(type = excluded.type, type, NULL), version = version + 1, updated_at = ?3`

func (c *Call) upsertKey(key []byte, typ string) store.Stmt {
	s := c.stmt(sqlUpsertKey, key, store.String(typ), c.newVersion(), hashValue(key))
	s.Refused = &wrongType
	return s
}

// ensureString is ensure for a string. A new string is empty.
const sqlEnsureString = `INSERT INTO keys(db, key, hash, type, version, created_at, updated_at, value) VALUES(?1, ?2, ?5, 'string', ?4, ?3, ?3, x'')
	ON CONFLICT(db, key) DO UPDATE SET type = iif(type = 'string', type, NULL)`

func (c *Call) ensureString(key []byte) store.Stmt {
	s := c.stmt(sqlEnsureString, key, c.newVersion(), hashValue(key))
	s.Refused = &wrongType
	return s
}

// A command that does not create a key continues with guardType instead. It refuses a key of another type and accepts a
// missing key.
const sqlGuardType = `INSERT INTO guard SELECT NULL FROM keys WHERE ` + live + ` AND type <> ?4`

func (c *Call) guardType(key []byte, typ string) store.Stmt {
	s := c.stmt(sqlGuardType, key, store.String(typ))
	s.Refused = &wrongType
	return s
}

// guardPresent refuses a missing key with the reply refused, and guardAbsent a live one.
const (
	sqlGuardPresent = `INSERT INTO guard SELECT NULL WHERE NOT EXISTS (SELECT 1 FROM keys WHERE ` + live + `)`
	sqlGuardAbsent  = `INSERT INTO guard SELECT NULL FROM keys WHERE ` + live
)

func (c *Call) guardPresent(key []byte, refused *resp.Value) store.Stmt {
	s := c.stmt(sqlGuardPresent, key)
	s.Refused = refused
	return s
}

func (c *Call) guardAbsent(key []byte, refused *resp.Value) store.Stmt {
	s := c.stmt(sqlGuardAbsent, key)
	s.Refused = refused
	return s
}

// A statement that updates the key's row follows a change of elements: countAdded after an INSERT, countRemoved after a
// DELETE, and touchIfChanged after a change that keeps the number of elements. It does nothing if the change affected
// no rows.
const (
	sqlCountAdded = `UPDATE keys SET count = count + changes(), seq = seq + changes(), version = version + 1, updated_at = ?3
		WHERE db = ?1 AND key = ?2 AND changes() > 0`
	sqlCountRemoved = `UPDATE keys SET count = count - changes(), version = version + 1, updated_at = ?3
		WHERE db = ?1 AND key = ?2 AND changes() > 0`
	sqlCountAddedOne  = sqlCountAdded + ` AND version <> ?4`
	sqlTouch          = `UPDATE keys SET version = version + 1, updated_at = ?3 WHERE db = ?1 AND key = ?2`
	sqlTouchIfChanged = sqlTouch + ` AND changes() > 0`
)

func (c *Call) countAdded(key []byte) store.Stmt     { return c.account(sqlCountAdded, key) }
func (c *Call) countRemoved(key []byte) store.Stmt   { return c.account(sqlCountRemoved, key) }
func (c *Call) touchIfChanged(key []byte) store.Stmt { return c.account(sqlTouchIfChanged, key) }

func (c *Call) account(sql string, key []byte, more ...store.Value) store.Stmt {
	s := c.stmt(sql, key, more...)
	s.SkipIf = nothingChanged
	return s
}

// nothingChanged reports whether the previous statement changed no rows.
func nothingChanged(before store.Result) bool { return before.Changes[len(before.Changes)-1] == 0 }

// touch updates the version and the time of the last change, without a condition.
func (c *Call) touch(key []byte) store.Stmt { return c.stmt(sqlTouch, key) }

// A command that removes elements ends with dropEmpty: a list, hash, set, zset, array or vector set without elements
// does not exist.
const sqlDropEmpty = `DELETE FROM keys WHERE db = ?1 AND key = ?2 AND count = 0 AND type IN ('list', 'hash', 'set', 'zset', 'array', 'vectorset', 'trietype0')`

func (c *Call) dropEmpty(key []byte) store.Stmt {
	return store.Stmt{SQL: sqlDropEmpty, Args: c.sharedKey(key)[:2:2]}
}

// drop deletes the key, whatever its type.
const sqlDrop = `DELETE FROM keys WHERE db = ?1 AND key = ?2`

func (c *Call) drop(key []byte) store.Stmt {
	return store.Stmt{SQL: sqlDrop, Args: c.sharedKey(key)[:2:2]}
}

// newVersion returns the version of a key that this call creates: a random number below 2^51, so that centuries of
// increments keep it below 2^53.
func (c *Call) newVersion() store.Value { return store.Int(int64(c.Random() >> 13)) }
