package doctor

import (
	"fmt"
	"strings"
)

// kind is a type of key and the tables that hold its elements.
type kind struct {
	typ  string
	rows []string // a row in one of these means that there is such a key
	more []string // rows that hang on those
}

var kinds = []kind{
	{typ: "string", rows: []string{"strings", "string_parts"}},
	{typ: "hash", rows: []string{"hashes"}},
	{typ: "list", rows: []string{"lists"}},
	{typ: "set", rows: []string{"sets"}},
	{typ: "zset", rows: []string{"zsets"}},
	{typ: "stream", rows: []string{"streams", "stream_entries", "stream_groups"}, more: []string{"stream_consumers", "stream_pending", "stream_nodes", "stream_idmp", "stream_iids"}},
	{typ: "array", rows: []string{"arrays"}, more: []string{"array_cursors"}},
	{typ: "vectorset", rows: []string{"vectors"}, more: []string{"vector_sets", "vector_blocks"}},
	{typ: "ReJSON-RL", rows: []string{"documents"}},
}

// each calls fn for the tables of rows.
func each(fn func(typ, table string) string) []string {
	var all []string
	for _, k := range kinds {
		for _, table := range k.rows {
			all = append(all, fn(k.typ, table))
		}
	}
	return all
}

// held tells of the row of keys named k whether it has elements of its type.
var held = func() string {
	sql := "CASE k.type"
	for _, k := range kinds {
		var any []string
		for _, table := range k.rows {
			any = append(any, "EXISTS (SELECT 1 FROM "+table+" WHERE key_id = k.id)")
		}
		sql += " WHEN '" + k.typ + "' THEN " + strings.Join(any, " OR ")
	}
	return sql + " ELSE 0 END"
}()

// orphans are elements whose key is not there.
var orphans = each(func(typ, table string) string {
	return fmt.Sprintf("SELECT '%s', key_id, count(*) FROM %s WHERE key_id NOT IN (SELECT id FROM keys) GROUP BY key_id", table, table)
})

// strangers are elements whose key is of another type.
var strangers = each(func(typ, table string) string {
	return fmt.Sprintf("SELECT '%s', k.db, k.key, k.type, count(*) FROM %s JOIN keys k ON k.id = key_id WHERE k.type <> '%s' GROUP BY key_id", table, table, typ)
})

// savedName is the name of a key that is made for the elements under key_id.
const savedName = `CAST(?1 || '%s:' || key_id AS BLOB)`

// newKey are the columns of such a key behind its name: the hash is put right
// later, with those of all names, and so are the counts.
const newKey = `0, '%s', random() & 2251799813685247, unixepoch('subsec') * 1000, unixepoch('subsec') * 1000`

// adopt makes keys for orphans, under the ids that their elements have.
var adopt = each(func(typ, table string) string {
	return fmt.Sprintf(`INSERT INTO keys(id, db, key, hash, type, version, created_at, updated_at)
		SELECT key_id, 0, `+savedName+`, `+newKey+` FROM (SELECT DISTINCT key_id FROM %s WHERE key_id NOT IN (SELECT id FROM keys))`, typ, typ, table)
})

// part gives a key without elements of its own the type of those that it has,
// and every other stranger a key of its own.
var part = func() (all []string) {
	for _, k := range kinds {
		const stranger = ` EXISTS (SELECT 1 FROM keys k WHERE k.id = key_id AND k.type <> '%s')`
		for _, table := range k.rows {
			all = append(all,
				fmt.Sprintf(`UPDATE keys AS k SET type = '%s' WHERE k.type <> '%s' AND NOT (%s) AND EXISTS (SELECT 1 FROM %s WHERE key_id = k.id)`, k.typ, k.typ, held, table),
				fmt.Sprintf(`INSERT OR IGNORE INTO keys(db, key, hash, type, version, created_at, updated_at)
					SELECT 0, `+savedName+`, `+newKey+` FROM (SELECT DISTINCT key_id FROM %s WHERE`+stranger+`)`, k.typ, k.typ, table, k.typ))
		}
		for _, table := range append(append([]string{}, k.rows...), k.more...) {
			all = append(all, fmt.Sprintf(`UPDATE %s SET key_id = (SELECT id FROM keys WHERE db = 0 AND key = `+savedName+`) WHERE`+stranger, table, k.typ, k.typ))
		}
	}
	return all
}()
