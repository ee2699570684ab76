package translator

import (
	"slices"
	"strings"

	"github.com/meowdis/meowdis/redis/resp"
	"github.com/meowdis/meowdis/store"
	"github.com/meowdis/meowdis/store/keytype"
	"github.com/meowdis/meowdis/store/schema"
	"github.com/meowdis/meowdis/translator/document"
)

// Deleting keys deletes their elements, or leaves them to the sweep. Triggers update the counters.
const (
	sqlFlushDB  = `DELETE FROM keys WHERE db = ?1`
	sqlFlushAll = `DELETE FROM keys`
)

// sqlFlushing reads whether the database is too large for a quick deletion row by row, whether databases other than ?1
// have keys or indexes, and, if they have few keys and nothing else, the types of these keys.
const (
	hasIndexes  = `(EXISTS (SELECT 1 FROM search_indexes) OR EXISTS (SELECT 1 FROM search_aliases))`
	otherDBs    = `(db > ?1 OR db >= 0 AND db < ?1)`
	rowsOfKeys  = `(SELECT total(min(256, iif(type = 'string', count / ` + schema.PartBytes + `, count))) FROM keys`
	sqlFlushing = `SELECT (SELECT total(keys) FROM dbs) > 1000 OR ` + rowsOfKeys + `) > 5000,
		EXISTS (SELECT 1 FROM dbs WHERE ` + otherDBs + ` AND keys > 0) OR ?1 <> 0 AND ` + hasIndexes + `,
		CASE WHEN (SELECT total(keys) FROM dbs WHERE ` + otherDBs + `) <= 1000 AND NOT ` + hasIndexes + ` AND NOT EXISTS (SELECT 1 FROM series_rules)
			THEN iif(` + rowsOfKeys + ` WHERE ` + otherDBs + `) <= 5000, (SELECT json_group_array(DISTINCT type) FROM keys WHERE ` + otherDBs + `), NULL) END`
)

// If other databases have few keys, tables of their own keep these keys while the tables are remade. sqlGuardKept
// refuses the batch if since sqlFlushing a key of a type that is not in ?2, an index or a rule has been created: the
// batch does not keep them.
const (
	sqlGuardKept = `INSERT INTO guard SELECT NULL WHERE ` + hasIndexes + ` OR EXISTS (SELECT 1 FROM series_rules)
		OR EXISTS (SELECT 1 FROM keys WHERE ` + otherDBs + ` AND type NOT IN (SELECT value FROM json_each(?2)))`
	keptColumns  = `id, db, key, hash, type, version, count, seq, expires_at, created_at, updated_at, volatile, last_field, value`
	sqlKeepKeys  = `INSERT INTO kept_keys SELECT ` + keptColumns + ` FROM keys WHERE ` + otherDBs
	keptElements = ` WHERE key_id IN (SELECT id FROM kept_keys)`
)

// remakeAround returns the statements that delete all keys but the keys of other databases, which have the types in
// the JSON array.
func remakeAround(db, types store.Value) []store.Stmt {
	names, err := document.Parse(types.Bytes(), func(int64) {})
	if err != nil {
		panic(err)
	}
	stmts := []store.Stmt{
		{SQL: sqlGuardKept, Args: []store.Value{db, types}, Refused: &otherDBWritten},
		{SQL: `CREATE TABLE kept_keys AS SELECT ` + keptColumns + ` FROM keys WHERE 0`}, {SQL: sqlKeepKeys, Args: []store.Value{db}},
	}
	back := statements([]string{`INSERT INTO keys(` + keptColumns + `) SELECT ` + keptColumns + ` FROM kept_keys`, `DROP TABLE kept_keys`})
	for _, name := range names.Elems {
		for _, t := range keytype.Of(name.Str).Tables {
			columns, kept := strings.Join(t.Columns, ", "), `kept_`+t.Name
			stmts = append(stmts, statements([]string{
				`CREATE TABLE ` + kept + ` AS SELECT ` + columns + ` FROM ` + t.Name + ` WHERE 0`,
				`INSERT INTO ` + kept + ` SELECT ` + columns + ` FROM ` + t.Name + keptElements,
			})...)
			back = append(back, statements([]string{
				`INSERT INTO ` + t.Name + `(` + columns + `) SELECT ` + columns + ` FROM ` + kept, `DROP TABLE ` + kept,
			})...)
		}
	}
	return append(append(stmts, statements(schema.Remake())...), back...)
}

// sqlGuardOtherDBs refuses to clear the tables for one database if other databases have keys or indexes: on a store
// without transactions another client may have created them after sqlFlushing.
const sqlGuardOtherDBs = `INSERT INTO guard SELECT NULL WHERE EXISTS (SELECT 1 FROM dbs WHERE ` + otherDBs + ` AND keys > 0) OR ?1 <> 0 AND ` + hasIndexes

var otherDBWritten = resp.MakeError("TRYAGAIN another client wrote to another database; try again")

// flush translates FLUSHDB and FLUSHALL.
func flush(all bool) func(*Call) Plan {
	return func(c *Call) Plan {
		if len(c.Args) > 2 || len(c.Args) == 2 && !c.is(1, "ASYNC") && !c.is(1, "SYNC") {
			return fail(errSyntax)
		}
		db := []store.Value{store.Int(int64(c.Env.DB))}
		return readThen(func(r *store.Result) Plan {
			row := r.Rows[0][0]
			switch large, others := row[0].Int() != 0, row[1].Int() != 0; {
			case !all && large && others && !row[2].IsNull():
				return write(decodeOK, remakeAround(db[0], row[2])...)
			case !all && (others || !large):
				return write(decodeOK, append([]store.Stmt{{SQL: sqlFlushDB, Args: db}}, flushIndexes(c.Env.DB)...)...)
			case !all:
				guard := store.Stmt{SQL: sqlGuardOtherDBs, Args: db, Refused: &otherDBWritten}
				return write(decodeOK, append([]store.Stmt{guard}, statements(schema.Remake())...)...)
			case large:
				return write(decodeOK, statements(schema.Remake())...)
			}
			return write(decodeOK, append([]store.Stmt{{SQL: sqlFlushAll}}, flushIndexes(0)...)...)
		}, store.Stmt{SQL: sqlFlushing, Args: db})
	}
}

// flushIndexes returns the statements that delete the indexes of FT.CREATE if the database is 0. As in Redis, they go with
// their keys.
func flushIndexes(db int) []store.Stmt {
	if db != 0 {
		return nil
	}
	return statements(slices.Concat(searchTables, schema.DropSearchTriggers))
}

var searchTables = []string{
	`DELETE FROM search_indexes`, `DELETE FROM search_aliases`, `DELETE FROM search_pending`, `DELETE FROM search_dictionaries`,
	`DELETE FROM search_documents`, `DELETE FROM search_deleted`, `DELETE FROM search_postings`, `DELETE FROM search_segments`, `DELETE FROM search_pages`,
	`DELETE FROM search_numbers`, `DELETE FROM search_dropped`,
}

// statements converts SQL without arguments.
func statements(all []string) []store.Stmt {
	stmts := make([]store.Stmt, len(all))
	for i, sql := range all {
		stmts[i].SQL = sql
	}
	return stmts
}
