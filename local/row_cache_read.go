package local

import (
	"context"
	"math"

	"github.com/meowdis/meowdis/store"
)

// readCached serves batches from the row cache, and reads the remaining batches from SQLite.
func (s *Store) readCached(ctx context.Context, batches []store.Batch) ([]store.Result, error) {
	results := make([]store.Result, len(batches))
	var first lookup
	n := 0
	for ; n < len(batches); n++ {
		if first = s.rowCache.get(&batches[n]); !first.take(&batches[n], &results[n]) {
			break
		}
		if batches[n].Budget.Full() {
			return results[:n+1], nil
		}
	}
	rest := batches[n:]
	s.rowCache.sqliteReads.Add(int64(len(rest)))
	switch len(rest) {
	case 0:
		return results, nil
	case 1:
		read, err := s.read(ctx, rest, []lookup{first})
		copy(results[n:], read)
		return results, err
	default:
		read, err := s.readRest(ctx, rest, results[n:], first)
		return results[:n+read], err
	}
}

// readRest continues readCached at the first batch that is not cached. All results must be from one moment, the
// moment when the missing batches are read. So rows that were found before must still be valid after it.
func (s *Store) readRest(ctx context.Context, batches []store.Batch, results []store.Result, first lookup) (int, error) {
	used := usedBy(batches)
	all := make([]lookup, len(batches))
	missing, of, places := make([]store.Batch, 0, len(batches)), make([]lookup, 0, len(batches)), make([]int, 0, len(batches))
	all[0] = first
	for i := range batches {
		if i > 0 {
			all[i] = s.rowCache.get(&batches[i])
		}
		if !all[i].take(&batches[i], &results[i]) {
			missing, of, places = append(missing, batches[i]), append(of, all[i]), append(places, i)
		} else if batches[i].Budget.Full() {
			batches = batches[:i+1]
			break
		}
	}
	read, err := s.read(ctx, missing, of)
	if err != nil {
		return 0, err
	}
	whole := len(batches)
	if len(read) < len(missing) { // the batches that were read fill the budget
		whole = places[len(read)]
	}
	for i := range read {
		results[places[i]] = read[i]
	}
	for i := range all[:whole] {
		if all[i].rows != nil && !s.rowCache.valid(&all[i]) {
			batches[0].Budget.Rewind(used)
			read, err = s.read(ctx, batches, nil)
			return copy(results, read), err
		}
	}
	return whole, nil
}

// take sets the result of b to the cached rows. It reports whether rows were found and fit in the budget.
func (a *lookup) take(b *store.Batch, r *store.Result) bool {
	if a.rows == nil || !b.Budget.Take(a.rows.weight) {
		a.rows = nil
		return false
	}
	r.Rows = cloneLists(a.rows.rows)
	return true
}

// sqlExpiry selects when a key dies, and how many of its fields expire on their own.
const sqlExpiry = `SELECT dies_at, volatile FROM keys WHERE db = ?1 AND key = ?2`

// findExpiry finds out how long the rows of b are valid; they were read in the same snapshot. The rows of a missing
// key are valid until a write creates it.
func (c *conn) findExpiry(b *store.Batch, a *lookup) error {
	rows, _, err := c.run(store.Stmt{SQL: sqlExpiry, Args: []store.Value{b.Stmts[0].Args[0], store.Bytes(b.Keys[0])}})
	if err != nil {
		return err
	}
	a.diesAt = math.MaxInt64
	if len(rows) > 0 {
		dies, volatile := rows[0][0], rows[0][1].Int()
		if !dies.IsNull() {
			a.diesAt = dies.Int()
		}
		a.keep = volatile == 0 && a.diesAt > b.Stmts[0].Args[clockArg].Int()
	}
	return nil
}
