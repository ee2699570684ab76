package doctor

import (
	"fmt"
	"slices"
	"strings"

	"github.com/meowdis/meowdis/store/keytype"
	"github.com/meowdis/meowdis/store/schema"
)

// each calls fn for each table whose rows imply a key, and returns the results.
func each(fn func(typ, table string) string) []string {
	var all []string
	for _, t := range keytype.Types {
		for _, table := range t.Tables {
			if table.Holds() {
				all = append(all, fn(t.Name, table.Name))
			}
		}
	}
	return all
}

// hasElements returns an SQL condition: the row k of keys has elements of its type.
func hasElements() string {
	any := map[string][]string{}
	each(func(typ, table string) string {
		any[typ] = append(any[typ], "EXISTS (SELECT 1 FROM "+table+" WHERE key_id = k.id)")
		return ""
	})
	return "CASE k.type" + whens(func(t *keytype.Type) string {
		if t.InKey {
			any[t.Name] = append(any[t.Name], "k.value IS NOT NULL")
		}
		return strings.Join(any[t.Name], " OR ")
	}) + " ELSE 0 END"
}

// whens returns the branches of a CASE over the types.
func whens(of func(t *keytype.Type) string) (sql string) {
	for _, t := range keytype.Types {
		if of := of(t); of != "" {
			sql += " WHEN '" + t.Name + "' THEN " + of
		}
	}
	return sql
}

// isPublished matches the row k of keys unless the key is under construction. Such a key is complete
// when it is published, and is deleted when it expires.
const isPublished = `k.db <> ` + schema.Hidden

// inNoDatabase matches a row of keys that is in no database.
const inNoDatabase = `(typeof(db) <> 'integer' OR db NOT BETWEEN 0 AND 15 AND (db <> ` + schema.Hidden + ` OR expires_at IS NULL))`

// orphan matches an element whose key is neither in keys nor in pending_deletes.
const orphan = `key_id NOT IN (SELECT id FROM keys) AND key_id NOT IN (SELECT id FROM pending_deletes)`

// orphans returns queries for such elements.
func orphans() []string {
	return each(func(typ, table string) string {
		return fmt.Sprintf("SELECT '%s', key_id, count(*) FROM %s WHERE "+orphan+" GROUP BY key_id", table, table)
	})
}

// isWrongPendingDelete returns an SQL condition: a row of pending_deletes has the ID of an existing key, or an unknown type.
func isWrongPendingDelete() string {
	var types []string
	for _, t := range keytype.Types {
		types = append(types, "'"+t.Name+"'")
	}
	return `(id IN (SELECT id FROM keys) OR type NOT IN (` + strings.Join(types, ", ") + `))`
}

// deletePending returns statements that delete all elements listed in pending_deletes, in an order that the tables allow.
func deletePending() (all []string) {
	for _, t := range keytype.Types {
		for _, table := range slices.Backward(t.Tables) {
			all = append(all, `DELETE FROM `+table.Name+` WHERE key_id IN (SELECT id FROM pending_deletes WHERE type = '`+t.Name+`')`)
		}
	}
	return append(all, `DELETE FROM pending_deletes`)
}

// mismatched returns queries for elements whose key has another type.
func mismatched() []string {
	return append(each(func(typ, table string) string {
		return fmt.Sprintf("SELECT '%s', k.db, k.key, k.type, count(*) FROM %s JOIN keys k ON k.id = key_id WHERE k.type <> '%s' GROUP BY key_id", table, table, typ)
	}), "SELECT 'keys', db, key, type, 1 FROM keys WHERE "+mismatchedValue)
}

// mismatchedValue matches a row of keys that has a value although it is not a string.
const mismatchedValue = `value IS NOT NULL AND type <> '` + keytype.String + `'`

// savedName names the key that a repair creates for the elements under key_id.
const savedName = `CAST(?1 || '%s:' || key_id AS BLOB)`

// newKey lists the columns of such a key after its name. Hashes and counts are corrected later, for all keys.
const newKey = `0, '%s', random() & 2251799813685247, unixepoch('subsec') * 1000, unixepoch('subsec') * 1000`

// adoptOrphans returns statements that create keys for orphans, under the IDs that their elements have.
func adoptOrphans() []string {
	return each(func(typ, table string) string {
		return fmt.Sprintf(`INSERT INTO keys(id, db, key, hash, type, version, created_at, updated_at)
		SELECT key_id, 0, `+savedName+`, `+newKey+` FROM (SELECT DISTINCT key_id FROM %s WHERE `+orphan+`)`, typ, typ, table)
	})
}

// splitMismatched returns statements that give a key without elements of its own type the type of its elements,
// and move all other mismatched elements to new keys.
func splitMismatched() (all []string) {
	const stranger = ` EXISTS (SELECT 1 FROM keys k WHERE k.id = key_id AND k.type <> '%s')`
	held := hasElements()
	all = append(all, `UPDATE keys AS k SET type = 'string', count = 0 WHERE `+mismatchedValue+` AND NOT (`+held+`)`,
		fmt.Sprintf(`INSERT OR IGNORE INTO keys(db, key, hash, type, version, created_at, updated_at, value)
			SELECT 0, `+savedName+`, `+newKey+`, value FROM (SELECT id AS key_id, value FROM keys WHERE `+mismatchedValue+`)`, "string", "string"),
		`UPDATE keys SET value = NULL WHERE `+mismatchedValue)
	for _, t := range keytype.Types {
		for _, table := range t.Tables {
			if !table.Holds() {
				continue
			}
			all = append(all,
				fmt.Sprintf(`UPDATE keys AS k SET type = '%s' WHERE k.type <> '%s' AND NOT (%s) AND EXISTS (SELECT 1 FROM %s WHERE key_id = k.id)`, t.Name, t.Name, held, table.Name),
				fmt.Sprintf(`INSERT OR IGNORE INTO keys(db, key, hash, type, version, created_at, updated_at)
					SELECT 0, `+savedName+`, `+newKey+` FROM (SELECT DISTINCT key_id FROM %s WHERE`+stranger+`)`, t.Name, t.Name, table.Name, t.Name))
		}
		for _, table := range t.Tables {
			all = append(all, fmt.Sprintf(`UPDATE %s SET key_id = (SELECT id FROM keys WHERE db = 0 AND key = `+savedName+`) WHERE`+stranger, table.Name, t.Name, t.Name))
		}
	}
	return all
}
