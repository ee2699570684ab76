package translator

import (
	"github.com/meowdis/meowdis/redis/commands"
	"github.com/meowdis/meowdis/redis/longdouble"
	"github.com/meowdis/meowdis/redis/resp"
	"github.com/meowdis/meowdis/store"
)

// A write begins with the purge of the key, or of its expired fields, so that the following statements find live fields
// only. The next statement adjusts the count.
const (
	sqlPurgeFields  = `DELETE FROM hashes WHERE key_id = ` + liveID + ` AND expires_at <= ?3`
	sqlPurgedFields = `UPDATE keys SET count = count - changes() WHERE db = ?1 AND key = ?2 AND changes() > 0`
)

// hashOpening counts the statements that begin a write to a hash.
const hashOpening = 5

// openHash begins a write that creates a missing hash and refuses a key of another type; keyRead is statement 0.
func (c *Call) openHash(keyRead store.Stmt, key []byte) []store.Stmt {
	return append(c.openOrCreate(keyRead, key, hashType), c.purgeFields(key)...)
}

// openFields begins a write that does not create the hash. The following statements find only live fields.
func (c *Call) openFields(key []byte) []store.Stmt {
	return append(c.openExisting(c.readKey(key), key, hashType), c.purgeFields(key)...)
}

func (c *Call) purgeFields(key []byte) []store.Stmt {
	return []store.Stmt{
		{SQL: sqlPurgeFields, Args: c.sharedKey(key), SkipIf: noFieldExpires},
		{SQL: sqlPurgedFields, Args: c.sharedKey(key)[:2:2], SkipIf: nothingChanged},
	}
}

// noFieldExpires reports whether the first statement found no field with an expiry.
func noFieldExpires(before store.Result) bool {
	row := liveRow(before.Rows)
	return row == nil || row[rowVolatile].Int() == 0
}

// New fields are inserted first, then existing fields get their values. A field with a new value loses its expiry; a
// value computed from the old one keeps it.
const (
	itemValue = `unhex(j.value ->> 2)`

	sqlSetField = `UPDATE hashes SET value = ?6 WHERE key_id = ` + liveID + ` AND hash = ?4 AND field = ?5`

	// The same for a field with a large name or value.
	sqlAddField = `INSERT INTO hashes(key_id, hash, field, value, seq)
		VALUES(` + liveID + `, ?4, ?5, ?6, (SELECT seq FROM keys WHERE ` + live + `)) ON CONFLICT DO NOTHING`
	sqlReplaceField = `UPDATE hashes SET value = ?6, expires_at = NULL WHERE key_id = ` + liveID + ` AND hash = ?4 AND field = ?5`
)

// addFields returns the statements that add the missing fields to the open hash. Every second statement, from the first
// on, inserts.
func (c *Call) addFields(key []byte, fields [][]byte) (stmts []store.Stmt) {
	for piece, alone := range pieces(fields, 2) {
		var add store.Stmt
		if alone {
			add = c.stmt(sqlAddField, key, hashValue(piece[0]), store.Bytes(piece[0]), store.Bytes(piece[1]))
		} else {
			add = sqlAddFields.stmt(c, key, piece)
		}
		stmts = append(stmts, add, c.countAddedWithSeq(key, len(piece)/2))
	}
	return stmts
}

var (
	sqlAddFields = newListSQL(2, `INSERT INTO hashes(key_id, hash, field, value, seq)
		SELECT `+liveID+`, `+itemHash+`, `+itemName+`, `+itemValue+`, (SELECT seq FROM keys WHERE `+live+`) + j.key FROM json_each(?4) j WHERE true
		ON CONFLICT DO NOTHING`)
	sqlSetFields = newListSQL(2, `INSERT INTO hashes(key_id, hash, field, value, seq)
		SELECT `+liveID+`, `+itemHash+`, `+itemName+`, `+itemValue+`, 0 FROM json_each(?4) j WHERE true
		ON CONFLICT DO UPDATE SET value = excluded.value, expires_at = NULL`)
)

// setting holds the statements that set existing fields: several of them, or one. made is for a large field that was
// just added; it is "" if nothing remains to be done. The arguments in more come after their other arguments, for made
// after the name.
type setting struct {
	several   *listSQL
	one, made string
	more      []store.Value
}

// putFields returns the statements that add missing fields to the open hash, with their indexes after openHash's
// statements, and the statements that set all fields. A large field is written once: it is set if it exists, otherwise
// added with its value.
func (c *Call) putFields(key []byte, fields [][]byte, how setting) (stmts []store.Stmt, adding []int) {
	var sets []store.Stmt
	for piece, alone := range pieces(fields, 2) {
		if isLarge(piece...) {
			args := c.key(key, append([]store.Value{hashValue(piece[0]), store.Bytes(piece[0]), store.Bytes(piece[1])}, how.more...)...)
			stmts = append(stmts, store.Stmt{SQL: how.one, Args: args}, c.touchIfChanged(key),
				store.Stmt{SQL: sqlAddField, Args: args[:6]}, c.countAddedWithSeq(key, 1))
			adding = append(adding, hashOpening+len(stmts)-2)
			if how.made != "" {
				sets = append(sets, store.Stmt{SQL: how.made, Args: append(args[:5:5], how.more...)})
			}
			continue
		}
		var add, put store.Stmt
		if alone {
			field := c.key(key, hashValue(piece[0]), store.Bytes(piece[0]), store.Bytes(piece[1]))
			add = store.Stmt{SQL: sqlAddField, Args: field}
			put = store.Stmt{SQL: how.one, Args: append(field[:len(field):len(field)], how.more...)}
		} else {
			add = sqlAddFields.stmt(c, key, piece)
			put = how.several.stmt(c, key, piece, how.more...)
		}
		adding = append(adding, hashOpening+len(stmts))
		stmts = append(stmts, add, c.countAddedWithSeq(key, len(piece)/2))
		sets = append(sets, put)
	}
	return append(stmts, sets...), adding
}

// lastValues removes fields that are repeated later. The result has the first position and the last value of each
// field.
func lastValues(fields [][]byte) [][]byte {
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

// hset translates HSET and HMSET, which differ in the reply.
func hset(ok bool) func(*Call) Plan {
	return func(c *Call) Plan {
		if len(c.Args)%2 != 0 {
			return answer(commands.WrongArity(c.Command))
		}
		key, fields := c.Args[1], lastValues(c.Args[2:])
		if len(fields) == 2 && !isLarge(fields...) {
			return c.setField(key, fields[0], fields[1], ok)
		}
		if c.Env.MayStage {
			a := hashAddition(fields, nil)
			if ok {
				a.reply = func(_, _ int64) resp.Value { return resp.OK }
			}
			return c.stageAddition(key, a)
		}
		put, adding := c.putFields(key, fields, setting{several: sqlSetFields, one: sqlReplaceField})
		touched := c.touch(key)
		if n := int64(len(fields) / 2); len(put) == 3 { // one list: if all fields are new, none remains to be set
			allNew := func(before store.Result) bool { return before.Changes[hashOpening] == n }
			put[2].SkipIf, touched.SkipIf = allNew, allNew
		}
		stmts := append(append(c.openHash(c.readKey(key), key), put...), touched)
		if ok {
			return write(decodeOK, stmts...)
		}
		return write(func(r *store.Result) resp.Value { return resp.MakeInt(total(r, adding)) }, stmts...)
	}
}

// Most fields to set exist and have no expiry, or are new in a hash without expiring fields. The first statements are
// enough for these; the other statements are for the remaining cases.
const (
	sqlSetLasting = `UPDATE hashes SET value = ?6 WHERE key_id = ` + liveID + ` AND hash = ?4 AND field = ?5 AND expires_at IS NULL`
	sqlAddLasting = `INSERT INTO hashes(key_id, hash, field, value, seq)
		SELECT id, ?4, ?5, ?6, seq FROM keys WHERE ` + live + ` AND type = 'hash' AND volatile = 0 ON CONFLICT DO NOTHING`
	sqlSetExpiring = `UPDATE hashes SET value = ?6, expires_at = NULL
		WHERE key_id = ` + liveID + ` AND hash = ?4 AND field = ?5 AND expires_at IS NOT NULL`

	// If ensureOne creates the key, its seq already counts this field.
	sqlAddOne = `INSERT INTO hashes(key_id, hash, field, value, seq)
		SELECT id, ?4, ?5, ?6, seq - (version = ?7) FROM keys WHERE ` + live + ` ON CONFLICT DO NOTHING`
)

// setTryStmts counts the statements before the read of the key.
const setTryStmts = 4

func wasThere(before store.Result) bool { return before.Changes[0] > 0 }

func wasSet(before store.Result) bool { return before.Changes[0]+before.Changes[2] > 0 }

// orSet adapts the condition of a statement of openHash that follows the first try.
func orSet(skip func(store.Result) bool) func(store.Result) bool {
	return func(before store.Result) bool {
		return wasSet(before) || skip(store.Result{Rows: before.Rows[setTryStmts:], Changes: before.Changes[setTryStmts:]})
	}
}

// openHashSkips holds the conditions for the statements of openHash.
var openHashSkips = [hashOpening]func(store.Result) bool{
	wasSet, orSet(isNotExpired), orSet(skips[hashType].ofType), orSet(noFieldExpires), nothingChanged,
}

var wasCreatedOrSet = orSet(wasCreated)

// The statement at setAddIndex adds the field. The one at setAddIndex+2 sets it if it had an expiry.
const setAddIndex = setTryStmts + hashOpening

func wasSetOrAdded(before store.Result) bool {
	return wasSet(before) || before.Changes[setAddIndex] > 0
}

// setField sets one field. ok selects HMSET's reply.
func (c *Call) setField(key, field, value []byte, ok bool) Plan {
	ensure := c.ensureOne(key, hashType)
	args := c.key(key, hashValue(field), store.Bytes(field), store.Bytes(value), ensure.Args[3])
	one, touched := args[:6], c.touchIfChanged(key)
	stmts := append(make([]store.Stmt, 0, setAddIndex+4), store.Stmt{SQL: sqlSetLasting, Args: one}, touched,
		store.Stmt{SQL: sqlAddLasting, Args: one, SkipIf: wasThere}, c.countAdded(key), c.readKey(key), c.purge(key), ensure)
	stmts = append(stmts, c.purgeFields(key)...)
	for i, skip := range openHashSkips {
		stmts[setTryStmts+i].SkipIf = skip
	}
	stmts = append(stmts, store.Stmt{SQL: sqlAddOne, Args: args, SkipIf: wasSet}, c.countAddedOne(ensure, wasCreatedOrSet),
		store.Stmt{SQL: sqlSetExpiring, Args: one, SkipIf: wasSetOrAdded}, touched)
	if ok {
		return write(decodeOK, stmts...)
	}
	return write(changedEither(2, setAddIndex), stmts...)
}

func hsetnx(c *Call) Plan {
	key := c.Args[1]
	return write(changed(hashOpening), append(c.openHash(c.readKey(key), key), c.addFields(key, c.Args[2:])...)...)
}

var sqlRemoveFields = nameSQL{newListSQL(1, `DELETE FROM hashes`+chosenFields), `DELETE FROM hashes` + oneField}

func hdel(c *Call) Plan {
	key := c.Args[1]
	if c.Env.MayStage {
		return c.stageNamedRemoval(key, c.Args[2:], fieldRow)
	}
	stmts := append(c.openFields(key), c.removeFields(key, c.Args[2:])...)
	return write(changedEach(hashOpening, len(stmts)-1), stmts...)
}

// An increment is one batch, like INCR (string_incr.go). The first statement also reads the value of the field.
const (
	whereKeyField   = ` FROM keys k LEFT JOIN hashes h ON h.key_id = k.id AND h.hash = ?4 AND h.field = ?5 AND ` + liveField + whereKey
	sqlReadKeyValue = keyColumns + `, h.value` + whereKeyField

	sqlGuardIntegerField = `INSERT INTO guard SELECT NULL FROM hashes h
		WHERE h.key_id = ` + liveID + ` AND h.hash = ?4 AND h.field = ?5 AND ` + liveField + ` AND ` + noInteger
	sqlIncrField = `UPDATE hashes SET value = iif(typeof(` + plusDelta + `) = 'integer', ` + incremented + `, NULL)
		WHERE key_id = (SELECT id FROM keys WHERE db = ?1 AND key = ?2) AND hash = ?4 AND field = ?5`
)

var (
	zeroText       = []byte("0")
	hashNotInteger = resp.MakeError("ERR hash value is not an integer")
)

// oldValue returns the value that the first statement read, NULL if it is missing.
func oldValue(rows [][]store.Row) (v store.Value) {
	if row := liveRow(rows); isType(row, hashType) {
		v = row[rowExtra]
	}
	return v
}

func hasValue(before store.Result) bool { return !oldValue(before.Rows).IsNull() }

// isCounter reports whether the value is an integer, or missing.
func isCounter(before store.Result) bool {
	v := oldValue(before.Rows)
	_, ok := parseInt(v.Bytes())
	return v.IsNull() || ok
}

func hincrby(c *Call) Plan {
	delta, ok := parseInt(c.Args[3])
	if !ok {
		return fail(errNotInteger)
	}
	key, field := c.Args[1], c.Args[2]
	args := c.key(key, hashValue(field), store.Bytes(field), store.Digits(delta))
	guard := store.Stmt{SQL: sqlGuardIntegerField, Args: args[:5], Refused: &hashNotInteger, SkipIf: isCounter}
	opening := c.openHash(store.Stmt{SQL: sqlReadKeyValue, Args: args[:5]}, key)
	stmts := append(append(make([]store.Stmt, 0, 10), opening[0], guard), opening[1:]...)
	zero := store.Stmt{SQL: sqlAddField, Args: append(args[:5:5], store.Bytes(zeroText)), SkipIf: hasValue}
	return write(func(r *store.Result) resp.Value {
		old, _ := parseInt(oldValue(r.Rows).Bytes())
		return resp.MakeInt(old + delta)
	}, append(stmts, zero, c.countAdded(key), store.Stmt{SQL: sqlIncrField, Args: args, Refused: &overflow}, c.touch(key))...)
}

// hincrbyfloat computes in Go, since SQL has no long double.
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
		old := decodeCell(hashType, resp.Nil, bulk)(r)
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
		if !old.IsNull() {
			return write(always(resp.MakeBulk(text)), c.stmt(sqlSetField, key, hash, name, store.Bytes(text)), c.touch(key))
		}
		stmts := append(c.openHash(c.readKey(key), key), c.addFields(key, [][]byte{field, text})...)
		return write(always(resp.MakeBulk(text)), stmts...)
	}, c.stmt(sqlField, key, hash, name))
}
