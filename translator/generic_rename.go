package translator

import (
	"bytes"
	"strings"
	"sync"

	"github.com/meowdis/meowdis/redis/commands"
	"github.com/meowdis/meowdis/redis/resp"
	"github.com/meowdis/meowdis/store"
	"github.com/meowdis/meowdis/store/keytype"
	"github.com/meowdis/meowdis/store/schema"
)

// Renaming and moving change the row of keys. They never touch the elements, which refer to its id. A new name gets a
// random new version, since version + 1 might be the version of the replaced key.
const (
	sqlRename = `UPDATE keys SET key = ?4, hash = ?5, version = ?6, updated_at = ?3 WHERE db = ?1 AND key = ?2`
	// sqlRenameFree does nothing if the name is taken.
	sqlRenameFree = sqlRename + ` AND NOT EXISTS (SELECT 1 FROM keys WHERE db = ?1 AND key = ?4)`

	sqlPurgeDestination = `DELETE FROM keys WHERE db = ?4 AND key = ?2 AND dies_at <= ?3`
	sqlMoveKey          = `UPDATE keys SET db = ?4, version = version + 1, updated_at = ?3 WHERE ` + live + `
		AND NOT EXISTS (SELECT 1 FROM keys WHERE db = ?4 AND key = ?2)`
)

func rename(c *Call) Plan {
	key, to := c.Args[1], c.Args[2]
	present := c.guardPresent(key, &noSuchKey)
	if bytes.Equal(key, to) {
		return write(decodeOK, present)
	}
	return write(decodeOK, present, c.drop(to), c.stmt(sqlRename, key, store.Bytes(to), hashValue(to), c.newVersion()))
}

func renamenx(c *Call) Plan {
	key, to := c.Args[1], c.Args[2]
	present := c.guardPresent(key, &noSuchKey)
	if bytes.Equal(key, to) {
		return write(always(resp.Zero), present)
	}
	return write(changed(2), present, c.purge(to), c.stmt(sqlRenameFree, key, store.Bytes(to), hashValue(to), c.newVersion()))
}

func move(c *Call) Plan {
	db, bad := databaseArg(c.Args[2])
	if bad.IsError() {
		return answer(bad)
	}
	if db == c.Env.DB {
		return fail(errSameObject)
	}
	key, there := c.Args[1], store.Int(int64(db))
	return write(changed(1), c.stmt(sqlPurgeDestination, key, there), c.stmt(sqlMoveKey, key, there))
}

// databaseArg parses the database of MOVE and COPY.
func databaseArg(arg []byte) (int, resp.Value) {
	n, bad := parseInt32(arg)
	switch {
	case bad.IsError():
		return 0, bad
	case n < 0 || n >= commands.Databases:
		return 0, resp.MakeError(errDBIndex)
	}
	return n, resp.Value{}
}

// parseInt32 parses an argument that Redis stores in a C int.
func parseInt32(arg []byte) (int, resp.Value) {
	n, ok := parseInt(arg)
	switch {
	case !ok:
		return 0, notInteger
	case int64(int32(n)) != n:
		return 0, resp.MakeError("ERR value is out of range, value must between -2147483648 and 2147483647")
	}
	return int(n), resp.Value{}
}

// The arguments of a copy are ?1 db, ?2 key, ?3 now, ?4 the target's db, ?5 its key, ?6 its new version, ?7 its hash.
// The version is random, so it identifies a target that sqlCopyKey created. Without that target no elements are copied.
const (
	sqlDropTarget  = `DELETE FROM keys WHERE db = ?4 AND key = ?5 AND EXISTS (SELECT 1 FROM keys WHERE ` + live + `)`
	sqlPurgeTarget = `DELETE FROM keys WHERE db = ?4 AND key = ?5 AND dies_at <= ?3`
	sqlCopyKey     = `INSERT INTO keys(db, key, hash, type, version, count, seq, expires_at, created_at, updated_at, volatile, last_field, value)
		SELECT ?4, ?5, ?7, type, ?6, count, seq, expires_at, ?3, ?3, volatile, last_field, value FROM keys WHERE ` + live + `
		AND NOT EXISTS (SELECT 1 FROM keys WHERE db = ?4 AND key = ?5)`

	// copiedRows joins an element e of the source and the target's row t.
	copiedRows = ` e JOIN keys t ON t.db = ?4 AND t.key = ?5 AND t.version = ?6
		WHERE e.key_id = (SELECT id FROM keys WHERE db = ?1 AND key = ?2)`
)

// copyElements returns the statements that copy the rows of one key to another, one per table of elements.
var copyElements = sync.OnceValue(func() (all []string) {
	for _, t := range keytype.Types {
		for _, table := range t.Tables {
			columns := strings.Join(table.Columns[1:], ", ")
			all = append(all, insertAll+table.Name+`(key_id, `+columns+`) SELECT t.id, e.`+strings.Join(table.Columns[1:], ", e.")+
				` FROM `+table.Name+copiedRows)
		}
	}
	return all
})

func copyCommand(c *Call) Plan {
	db, replace := c.Env.DB, false
	for i := 3; i < len(c.Args); i++ {
		switch {
		case c.is(i, "REPLACE"):
			replace = true
		case c.is(i, "DB") && i+1 < len(c.Args):
			i++
			var bad resp.Value
			if db, bad = databaseArg(c.Args[i]); bad.IsError() {
				return answer(bad)
			}
		default:
			return fail(errSyntax)
		}
	}
	key, to := c.Args[1], c.Args[2]
	if db == c.Env.DB && bytes.Equal(key, to) {
		if c.Env.Rules.CopyToItself {
			return answer(resp.MakeInt(0))
		}
		return fail(errSameObject)
	}
	if c.Env.MayStage {
		return c.stageCopy(key, to, db, replace)
	}
	args := c.key(key, store.Int(int64(db)), store.Bytes(to), c.newVersion(), hashValue(to))
	stmts := make([]store.Stmt, 2, 2+len(copyElements()))
	stmts[0] = store.Stmt{SQL: sqlPurgeTarget, Args: args[:5]}
	if replace {
		stmts[0].SQL = sqlDropTarget
	}
	stmts[1] = store.Stmt{SQL: sqlCopyKey, Args: args}
	for _, sql := range copyElements() {
		stmts = append(stmts, store.Stmt{SQL: sql, Args: args[:6]})
	}
	return write(changed(1), stmts...)
}

// A staged copy gets the other properties of its source when it is published. Until then the version of the source has
// not changed.
const (
	sqlTargetExists = `SELECT 1 FROM keys WHERE db = ?4 AND key = ?5 AND (dies_at IS NULL OR dies_at > ?3)`
	sqlPublishCopy  = `UPDATE keys SET db = ?4, key = ?5, hash = ?7, version = ?6, created_at = ?3, updated_at = ?3,
		expires_at = (SELECT expires_at FROM keys WHERE ` + live + `) WHERE db = ` + schema.Hidden + ` AND key = ?8
		AND NOT EXISTS (SELECT 1 FROM keys WHERE db = ?4 AND key = ?5)`
)

// stageCopy plans a staged COPY.
func (c *Call) stageCopy(key, to []byte, db int, replace bool) Plan {
	there := store.Stmt{SQL: sqlTargetExists, Args: c.key(key, store.Int(int64(db)), store.Bytes(to))}
	return readThen(func(r *store.Result) Plan {
		if len(r.Rows[0]) == 0 || len(r.Rows[1]) > 0 && !replace {
			return answer(resp.Zero)
		}
		var k *keyCopy
		return Plan{Staged: c.stage(
			func(c *Call, hidden []byte) Plan {
				args := c.key(key, store.Int(int64(db)), store.Bytes(to), c.newVersion(), hashValue(to), store.Bytes(hidden))
				first := store.Stmt{SQL: sqlPurgeTarget, Args: args[:5]}
				if replace {
					first.SQL = sqlDropTarget
				}
				fields := k.fieldExpiryStmts()
				return write(changed(1+len(fields)), append(append([]store.Stmt{first}, fields...), store.Stmt{SQL: sqlPublishCopy, Args: args})...)
			},
			func(hidden *Call, name []byte) func(*store.Result, int) []store.Stmt {
				from := r.Rows[0][0]
				k = &keyCopy{hidden: hidden, name: name, from: from, tables: tableWalks()[string(from[copiedType].Bytes())]}
				return k.next
			})}
	}, c.stmt(sqlCopied, key), there)
}
