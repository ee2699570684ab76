package doctor

import (
	"fmt"
	"slices"
	"strings"

	"github.com/meowdis/meowdis/store/keytype"
	"github.com/meowdis/meowdis/store/schema"
)

// each calls fn for the tables of whose rows one means that there is such a key.
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

// held reports of the row of keys named k whether it has elements of its type.
func held() string {
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

// whens are the branches of a CASE of types.
func whens(of func(t *keytype.Type) string) (sql string) {
	for _, t := range keytype.Types {
		if of := of(t); of != "" {
			sql += " WHEN '" + t.Name + "' THEN " + of
		}
	}
	return sql
}

// shown is of a row k of keys that is not being made: such a one is complete when it is published, and
// goes when it has expired.
const shown = `k.db <> ` + schema.Hidden

// nowhere is of a row of keys in no database.
const nowhere = `(typeof(db) <> 'integer' OR db NOT BETWEEN 0 AND 15 AND (db <> ` + schema.Hidden + ` OR expires_at IS NULL))`

// orphan is of elements whose key is not there, and not in its grave either.
const orphan = `key_id NOT IN (SELECT id FROM keys) AND key_id NOT IN (SELECT id FROM graves)`

// orphans are such elements.
func orphans() []string {
	return each(func(typ, table string) string {
		return fmt.Sprintf("SELECT '%s', key_id, count(*) FROM %s WHERE "+orphan+" GROUP BY key_id", table, table)
	})
}

// noGrave is of a row of graves with the id of a key, or of no type.
func noGrave() string {
	var types []string
	for _, t := range keytype.Types {
		types = append(types, "'"+t.Name+"'")
	}
	return `(id IN (SELECT id FROM keys) OR type NOT IN (` + strings.Join(types, ", ") + `))`
}

// bury deletes all that is in graves, in the order in which the elements of a type may go.
func bury() (all []string) {
	for _, t := range keytype.Types {
		for _, table := range slices.Backward(t.Tables) {
			all = append(all, `DELETE FROM `+table.Name+` WHERE key_id IN (SELECT id FROM graves WHERE type = '`+t.Name+`')`)
		}
	}
	return append(all, `DELETE FROM graves`)
}

// strangers are elements whose key is of another type.
func strangers() []string {
	return append(each(func(typ, table string) string {
		return fmt.Sprintf("SELECT '%s', k.db, k.key, k.type, count(*) FROM %s JOIN keys k ON k.id = key_id WHERE k.type <> '%s' GROUP BY key_id", table, table, typ)
	}), "SELECT 'keys', db, key, type, 1 FROM keys WHERE "+strangeValue)
}

// strangeValue is of a row of keys with a value that is not its type's.
const strangeValue = `value IS NOT NULL AND type <> '` + keytype.String + `'`

// savedName is the name of a key that is made for the elements under key_id.
const savedName = `CAST(?1 || '%s:' || key_id AS BLOB)`

// newKey are the columns of such a key after its name: the hash is put right
// later, with those of all names, and so are the counts.
const newKey = `0, '%s', random() & 2251799813685247, unixepoch('subsec') * 1000, unixepoch('subsec') * 1000`

// adopt makes keys for orphans, under the ids that their elements have.
func adopt() []string {
	return each(func(typ, table string) string {
		return fmt.Sprintf(`INSERT INTO keys(id, db, key, hash, type, version, created_at, updated_at)
		SELECT key_id, 0, `+savedName+`, `+newKey+` FROM (SELECT DISTINCT key_id FROM %s WHERE `+orphan+`)`, typ, typ, table)
	})
}

// part gives a key without elements of its own the type of those that it has,
// and every other stranger a key of its own.
func part() (all []string) {
	const stranger = ` EXISTS (SELECT 1 FROM keys k WHERE k.id = key_id AND k.type <> '%s')`
	held := held()
	all = append(all, `UPDATE keys AS k SET type = 'string', count = 0 WHERE `+strangeValue+` AND NOT (`+held+`)`,
		fmt.Sprintf(`INSERT OR IGNORE INTO keys(db, key, hash, type, version, created_at, updated_at, value)
			SELECT 0, `+savedName+`, `+newKey+`, value FROM (SELECT id AS key_id, value FROM keys WHERE `+strangeValue+`)`, "string", "string"),
		`UPDATE keys SET value = NULL WHERE `+strangeValue)
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
