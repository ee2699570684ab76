package translator

import (
	"github.com/meowdis/meowdis/commands"
	"github.com/meowdis/meowdis/longdouble"
	"github.com/meowdis/meowdis/resp"
	"github.com/meowdis/meowdis/store"
)

// A write begins with the purge of the key, or else of its expired fields, so
// that what follows finds live ones only. The statement after that takes them off
// the count.
const (
	sqlPurgeFields  = `DELETE FROM hashes WHERE key_id = ` + liveID + ` AND expires_at <= ?3`
	sqlPurgedFields = `UPDATE keys SET count = count - changes() WHERE db = ?1 AND key = ?2 AND changes() > 0`

	sqlEnsureHash = `INSERT INTO keys(db, key, hash, type, version, created_at, updated_at) VALUES(?1, ?2, ?5, 'hash', ?4, ?3, ?3)
		ON CONFLICT(db, key) DO UPDATE SET type = iif(type = 'hash', type, NULL), count = count - changes()`
	sqlUpsertHash = sqlEnsureHash + `, version = version + 1, updated_at = ?3`
)

// openHash begins a write that makes the hash when it is missing and refuses a
// key of another type. sql is sqlUpsertHash for one that changes the hash
// whenever it succeeds, otherwise sqlEnsureHash.
func (c *Call) openHash(key []byte, sql string) []store.Stmt {
	upsert := c.stmt(sql, key, c.newVersion(), hashValue(key))
	upsert.Refused = &wrongType
	return []store.Stmt{c.purge(key), c.stmt(sqlPurgeFields, key), upsert}
}

// New fields first, then the values of those that were there. A field that gets a
// new value loses its expiry, and keeps it when the value is computed from the
// old one.
const (
	itemValue = `unhex(j.value ->> 2)`

	sqlAddFields = `INSERT INTO hashes(key_id, hash, field, value, seq)
		SELECT k.id, ` + itemHash + `, ` + itemName + `, ` + itemValue + `, k.seq + j.key
		FROM (SELECT id, seq FROM keys WHERE ` + live + `) k CROSS JOIN json_each(?4) j WHERE true
		ON CONFLICT DO NOTHING`
	sqlSetFields = `INSERT INTO hashes(key_id, hash, field, value, seq)
		SELECT k.id, ` + itemHash + `, ` + itemName + `, ` + itemValue + `, 0
		FROM ` + liveKey + ` k CROSS JOIN json_each(?4) j WHERE true
		ON CONFLICT DO UPDATE SET value = excluded.value, expires_at = NULL`
	sqlSetField = `UPDATE hashes SET value = ?6 WHERE key_id = ` + liveID + ` AND hash = ?4 AND field = ?5`

	// The same for a field that is large, or whose value is.
	sqlAddField = `INSERT INTO hashes(key_id, hash, field, value, seq)
		VALUES(` + liveID + `, ?4, ?5, ?6, (SELECT seq FROM keys WHERE ` + live + `)) ON CONFLICT DO NOTHING`
	sqlReplaceField = `UPDATE hashes SET value = ?6, expires_at = NULL WHERE key_id = ` + liveID + ` AND hash = ?4 AND field = ?5`
)

// addFields are the statements that add those of the fields that the open hash
// lacks; every second one returns how many.
func (c *Call) addFields(key []byte, fields [][]byte) (stmts []store.Stmt) {
	for piece, alone := range pieces(fields, 2) {
		var add store.Stmt
		if alone {
			add = c.stmt(sqlAddField, key, hashValue(piece[0]), store.Bytes(piece[0]), store.Bytes(piece[1]))
		} else {
			add = c.stmt(sqlAddFields, key, hashed(piece, 2))
		}
		stmts = append(stmts, add, c.added(key, len(piece)/2))
	}
	return stmts
}

// setting is the statements that set fields: several that are there, whose list is ?4, and
// a large one, or that add it. more follows their other arguments.
type setting struct {
	several, one, add string
	more              []store.Value
}

// putFields are the statements that add the fields that the open hash lacks, of which every
// second one returns how many, and, from set on, those that set all of them. A large one is
// written once: it is set if it is there, and otherwise added with its value.
func (c *Call) putFields(key []byte, fields [][]byte, how setting) (stmts []store.Stmt, set int) {
	var sets []store.Stmt
	for piece, alone := range pieces(fields, 2) {
		if isLarge(piece...) {
			args := c.key(key, append([]store.Value{hashValue(piece[0]), store.Bytes(piece[0]), store.Bytes(piece[1])}, how.more...)...)
			stmts = append(stmts, store.Stmt{SQL: how.one, Args: args}, c.stmt(sqlTouchedOnChange, key),
				store.Stmt{SQL: how.add, Args: args}, c.added(key, 1))
			continue
		}
		var add, put store.Stmt
		if alone {
			field := c.key(key, hashValue(piece[0]), store.Bytes(piece[0]), store.Bytes(piece[1]))
			add = store.Stmt{SQL: sqlAddField, Args: field}
			put = store.Stmt{SQL: how.one, Args: append(field[:len(field):len(field)], how.more...)}
		} else {
			add = c.stmt(sqlAddFields, key, hashed(piece, 2))
			put = store.Stmt{SQL: how.several, Args: append(add.Args[:4:4], how.more...)}
		}
		stmts = append(stmts, add, c.added(key, len(piece)/2))
		sets = append(sets, put)
	}
	return append(stmts, sets...), len(stmts)
}

// lastOfEach drops the fields that are given again further on; what remains has
// the first one's place and the last one's value.
func lastOfEach(fields [][]byte) [][]byte {
	if len(fields) == 2 {
		return fields
	}
	at := make(map[string]int, len(fields)/2)
	kept := make([][]byte, 0, len(fields))
	for i := 0; i < len(fields); i += 2 {
		if k, again := at[string(fields[i])]; again {
			kept[k+1] = fields[i+1]
			continue
		}
		at[string(fields[i])] = len(kept)
		kept = append(kept, fields[i], fields[i+1])
	}
	return kept
}

// hset is HSET and HMSET, which differ in the reply.
func hset(ok bool) func(*Call) Plan {
	return func(c *Call) Plan {
		if len(c.Args)%2 != 0 {
			return answer(commands.WrongArity(c.Command))
		}
		key, fields := c.Args[1], lastOfEach(c.Args[2:])
		stmts := c.openHash(key, sqlUpsertHash)
		first := len(stmts) + 1
		put, set := c.putFields(key, fields, setting{several: sqlSetFields, one: sqlReplaceField, add: sqlAddField})
		if stmts = append(stmts, put...); ok {
			return write(decodeOK, stmts...)
		}
		return write(sumOf(first, first+set), stmts...)
	}
}

func hsetnx(c *Call) Plan {
	key := c.Args[1]
	return write(intOf(4), append(c.openHash(key, sqlEnsureHash), c.addFields(key, c.Args[2:])...)...)
}

var sqlRemoveFields = chosen{`DELETE FROM hashes` + chosenFields, `DELETE FROM hashes` + oneField}

func hdel(c *Call) Plan {
	key := c.Args[1]
	stmts := append(c.openFields(key), c.removeFields(key, c.Args[2:])...)
	return write(sumOf(5, len(stmts)), stmts...)
}

// An increment is one batch, as INCR's (string_incr.go).
const (
	sqlGuardIntegerField = `INSERT INTO guard SELECT NULL FROM hashes h
		WHERE h.key_id = ` + liveID + ` AND h.hash = ?4 AND h.field = ?5 AND ` + liveField + ` AND ` + noInteger
	sqlIncrField = `UPDATE hashes SET value = iif(typeof(` + plusDelta + `) = 'integer', ` + incremented + `, NULL)
		WHERE key_id = (SELECT id FROM keys WHERE db = ?1 AND key = ?2) AND hash = ?4 AND field = ?5 RETURNING value`
)

var (
	zeroText       = []byte("0")
	hashNotInteger = resp.MakeError("ERR hash value is not an integer")
)

func hincrby(c *Call) Plan {
	delta, ok := parseInt(c.Args[3])
	if !ok {
		return fail(errNotInteger)
	}
	key, field := c.Args[1], c.Args[2]
	hash, name := hashValue(field), store.Bytes(field)
	guard := c.stmt(sqlGuardIntegerField, key, hash, name)
	guard.Refused = &hashNotInteger
	incr := c.stmt(sqlIncrField, key, hash, name, store.Digits(delta))
	incr.Refused = &overflow
	stmts := append([]store.Stmt{guard}, c.openHash(key, sqlUpsertHash)...)
	stmts = append(stmts, c.addFields(key, [][]byte{field, zeroText})...)
	return write(intOf(6), append(stmts, incr)...)
}

// hincrbyfloat reads, computes and writes: SQL has no long double.
func hincrbyfloat(c *Call) Plan {
	delta, ok := longdouble.Parse(c.Args[3])
	switch {
	case !ok:
		return fail(errNotFloat)
	case delta.IsInf():
		return fail("ERR value is NaN or Infinity")
	}
	key, field := c.Args[1], c.Args[2]
	hash, name := hashValue(field), store.Bytes(field)
	return readThen(func(r *store.Result) Plan {
		old := cellOf(hashType, resp.Nil, bulk)(r)
		if old.IsError() {
			return answer(old)
		}
		sum := delta
		if !old.IsNull() {
			value, ok := longdouble.Parse(old.Str)
			if !ok {
				return fail("ERR hash value is not a float")
			}
			if sum, ok = longdouble.Add(value, delta); !ok {
				return fail(errIncrementInfinite)
			}
		}
		text := longdouble.Format(sum)
		stmts := append(c.openHash(key, sqlUpsertHash), c.addFields(key, [][]byte{field, text})...)
		stmts = append(stmts, c.stmt(sqlSetField, key, hash, name, store.Bytes(text)))
		return write(always(resp.MakeBulk(text)), stmts...)
	}, c.stmt(sqlField, key, hash, name))
}
