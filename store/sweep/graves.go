package sweep

import (
	"slices"
	"strings"
	"sync"

	"github.com/meowdis/meowdis/store"
	"github.com/meowdis/meowdis/store/keytype"
)

// A key with more than a few elements leaves them in its grave when it goes (schema), and they
// are deleted a slice at a time. Another process may do so, too: the grave ?1 is looked at with each
// statement, for its id may be a new key's.
const (
	sqlGrave = `SELECT id, type FROM graves WHERE id NOT IN (SELECT id FROM keys) LIMIT 1`
	sqlDug   = `SELECT changes()`
)

// perKey is how many rows of a grave count as one key in a slice.
const perKey = 5

// digging are the statements of a slice, by type: each deletes up to ?2 rows of a table, the first
// ones in its order, once those before it are empty. Tables that refer to others come first, as
// their rows must go one by one. The last statement deletes the grave when it is empty.
var digging = sync.OnceValue(func() map[string][]string {
	all := map[string][]string{}
	for _, t := range keytype.Types {
		grave := `SELECT id FROM graves WHERE id = ?1`
		for _, table := range slices.Backward(t.Tables) {
			all[t.Name] = append(all[t.Name], dig(table, grave)...)
			grave += ` AND NOT EXISTS (SELECT 1 FROM ` + table.Name + ` WHERE key_id = ?1)`
		}
		all[t.Name] = append(all[t.Name], `DELETE FROM graves WHERE id = (`+grave+`)`, sqlDug)
	}
	return all
})

// dig deletes all that is before row ?2, and all when there are fewer rows. A subquery is asked
// once, and a condition for each row.
func dig(t keytype.Table, grave string) []string {
	all := `DELETE FROM ` + t.Name + ` WHERE key_id = (` + grave
	if t.Single() {
		return []string{all + `)`, sqlDug}
	}
	key := strings.Join(t.Key, ", ")
	some := all + `) AND (` + key + `) < (SELECT ` + key + ` FROM ` + t.Name + ` WHERE key_id = ?1 ORDER BY ` + key + ` LIMIT 1 OFFSET ?2)`
	return []string{some, sqlDug, all + ` AND changes() = 0)`, sqlDug}
}

// dug is the batch of a slice of a grave, if there is one. limit is of keys.
func dug(look look, limit store.Value) ([]store.Batch, error) {
	graves, err := look(sqlGrave)
	if err != nil || len(graves) == 0 {
		return nil, err
	}
	b := store.Batch{Keys: noKeys}
	id, typ := graves[0][0], string(graves[0][1].Bytes())
	for _, sql := range digging()[typ] {
		var args []store.Value
		if strings.Contains(sql, "?1") {
			args = append(args, id)
		}
		if strings.Contains(sql, "?2") {
			args = append(args, store.Int(limit.Int()*perKey))
		}
		b.Stmts = append(b.Stmts, store.Stmt{SQL: sql, Args: args})
	}
	return []store.Batch{b}, nil
}
