package translator

import "github.com/meowdis/meowdis/store"

var (
	pushCoalescers = [...]*coalescer{head: {coalescePushes(head), splitPushes}, tail: {coalescePushes(tail), splitPushes}}
	popCoalescers  = [...]*coalescer{head: {coalescePops(head), splitPops}, tail: {coalescePops(tail), splitPops}}
)

func coalescePushes(e end) func(batches []*store.Batch) []store.Stmt {
	return func(batches []*store.Batch) []store.Stmt {
		elements := make([][]byte, len(batches))
		for i, b := range batches {
			elements[i] = b.Stmts[pushedAt].Args[2].Bytes()
		}
		args := keyOf(batches)
		key := args[:2:2]
		return []store.Stmt{
			{SQL: sqlPushKey, Args: append(args, store.Int(int64(len(batches))))},
			{SQL: sqlPush[e], Args: append(key, hexList(elements)), SkipIf: nothingChanged},
			{SQL: sqlCount, Args: key, SkipIf: nothingChanged},
		}
	}
}

// pushedAt indexes the statement of a push that adds the element; it follows the statements of pushKey. The last
// statement reads the count.
const pushedAt = 3

var pushedChanges = []int64{1, 0, 0, 1, 0}

// splitPushes sets the length of the list after each push.
func splitPushes(r *store.Result, batches []*store.Batch, results []*store.Result) bool {
	if r.Changes[0] == 0 {
		return false
	}
	before := r.Rows[2][0][0].Int() - int64(len(batches))
	rows := rowsFor(results, len(pushedChanges))
	for i := range results {
		own := rows(i)
		own[pushedAt+1] = []store.Row{{store.Int(before + int64(i) + 1)}}
		*results[i] = store.Result{Rows: own, Changes: pushedChanges}
	}
	return true
}

// sqlReadEndRows reads a row like that of sqlReadKeyEnd for each of the ?4 elements at an end of a list. An element of
// more than ?5 bytes is NULL.
const (
	readEndRows = keyColumns + `, iif(length(l.value) <= ?5, l.value, NULL) FROM keys k CROSS JOIN lists l ON l.key_id = k.id
		WHERE k.db = ?1 AND k.key = ?2 AND (k.dies_at IS NULL OR k.dies_at > ?3) AND k.type = 'list' ORDER BY l.pos`
	cutEndRows = `DELETE FROM lists WHERE key_id = ` + thisID + ` AND pos IN (SELECT pos FROM lists WHERE key_id = ` + thisID + ` ORDER BY pos`
)

var (
	sqlReadEndRows = [...]string{head: readEndRows + ` LIMIT ?4`, tail: readEndRows + ` DESC LIMIT ?4`}
	sqlCutEndRows  = [...]string{head: cutEndRows + ` LIMIT ?3)`, tail: cutEndRows + ` DESC LIMIT ?3)`}
)

// noneToPop reports whether the list does not exist, or one of the elements is long.
func noneToPop(before store.Result) bool {
	rows := before.Rows[0]
	for i := range rows {
		if rows[i][rowExtra].IsNull() {
			return true
		}
	}
	return len(rows) == 0
}

func coalescePops(e end) func(batches []*store.Batch) []store.Stmt {
	return func(batches []*store.Batch) []store.Stmt {
		args, n := keyOf(batches), store.Int(int64(len(batches)))
		key := args[:2:2]
		return []store.Stmt{
			{SQL: sqlReadEndRows[e], Args: append(args, n, store.Int(maxCoalescedBytes))},
			{SQL: sqlCutEndRows[e], Args: append(key, n), SkipIf: noneToPop},
			{SQL: sqlCountRemoved, Args: args[:3:3], SkipIf: noneToPop},
			{SQL: sqlDropEmpty, Args: key, SkipIf: func(before store.Result) bool {
				return noneToPop(before) || hasMoreThan(before, int64(len(batches)))
			}},
		}
	}
}

var poppedChanges, nonePoppedChanges = []int64{0, 0, 0, 1, 1, 0}, make([]int64, 6)

// splitPops gives each pop the row of its element, as popOne reads it. The list may have fewer.
func splitPops(r *store.Result, _ []*store.Batch, results []*store.Result) bool {
	if noneToPop(*r) {
		return false
	}
	popped, rows := r.Rows[0], rowsFor(results, len(poppedChanges))
	for i := range results {
		*results[i] = store.Result{Rows: rows(i), Changes: nonePoppedChanges}
		if i < len(popped) {
			results[i].Rows[0], results[i].Changes = popped[i:i+1:i+1], poppedChanges
		}
	}
	return true
}
