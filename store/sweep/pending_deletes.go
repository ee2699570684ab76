package sweep

import (
	"slices"
	"strings"
	"sync"

	"github.com/meowdis/meowdis/store"
	"github.com/meowdis/meowdis/store/keytype"
)

// A deleted key with more than a few elements leaves them behind (package schema), and the sweep deletes them
// in slices. Another process may do the same, so each statement checks again that ?1 is still in pending_deletes:
// its id may belong to a new key.
const (
	sqlPending = `SELECT id, type FROM pending_deletes WHERE id NOT IN (SELECT id FROM keys) LIMIT 1`
	sqlChanges = `SELECT changes()`
)

// perKey is the number of left-over rows that count as one key in a slice.
const perKey = 5

// sliceStmts holds the statements of a slice, by type: each deletes up to ?2 rows of a table, in its order, once
// the earlier tables are empty. Tables with references come first, because their rows must be deleted one by
// one. The last statement deletes the entry in pending_deletes when all tables are empty.
var sliceStmts = sync.OnceValue(func() map[string][]string {
	all := map[string][]string{}
	for _, t := range keytype.Types {
		listed := `SELECT id FROM pending_deletes WHERE id = ?1`
		for _, table := range slices.Backward(t.Tables) {
			all[t.Name] = append(all[t.Name], deleteStmts(table, listed)...)
			listed += ` AND NOT EXISTS (SELECT 1 FROM ` + table.Name + ` WHERE key_id = ?1)`
		}
		all[t.Name] = append(all[t.Name], `DELETE FROM pending_deletes WHERE id = (`+listed+`)`, sqlChanges)
	}
	return all
})

// deleteStmts returns the statements that delete the rows before row ?2, or all rows if there are fewer. SQLite
// evaluates a subquery once, but a condition for each row.
func deleteStmts(t keytype.Table, listed string) []string {
	all := `DELETE FROM ` + t.Name + ` WHERE key_id = (` + listed
	if t.SingleRow() {
		return []string{all + `)`, sqlChanges}
	}
	key := strings.Join(t.Key, ", ")
	some := all + `) AND (` + key + `) < (SELECT ` + key + ` FROM ` + t.Name + ` WHERE key_id = ?1 ORDER BY ` + key + ` LIMIT 1 OFFSET ?2)`
	return []string{some, sqlChanges, all + ` AND changes() = 0)`, sqlChanges}
}

// pendingBatch returns the batch for a slice of left-over elements, or none. limit counts keys.
func pendingBatch(look look, limit store.Value) ([]store.Batch, error) {
	pending, err := look(sqlPending)
	if err != nil || len(pending) == 0 {
		return nil, err
	}
	b := store.Batch{Keys: noKeys}
	id, typ := pending[0][0], string(pending[0][1].Bytes())
	for _, sql := range sliceStmts()[typ] {
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
