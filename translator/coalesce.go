package translator

import (
	"bytes"

	"github.com/meowdis/meowdis/store"
)

// Clients often add many elements to one key, or pop them, with one command for each. A store runs consecutive commands
// as one batch, which reads and updates the key's row once. The batch changes nothing unless the key exists and has the
// type, so that only the usual case is written twice.

// maxCoalescedBytes limits an element of a coalesced batch.
const maxCoalescedBytes = 1 << 10

// coalescer implements store.Coalescer for the batches of one command, whose first statement has the arguments of
// Call.key.
type coalescer struct {
	coalesce func(batches []*store.Batch) []store.Stmt
	split    func(r *store.Result, batches []*store.Batch, results []*store.Result) bool
}

func (*coalescer) Fits(first, b *store.Batch) bool {
	one, other := first.Stmts[0].Args, b.Stmts[0].Args
	return one[0].Int() == other[0].Int() && bytes.Equal(one[1].Bytes(), other[1].Bytes())
}

func (c *coalescer) Coalesce(batches []*store.Batch) store.Batch {
	return store.Batch{Keys: batches[0].Keys, Stmts: c.coalesce(batches)}
}

func (c *coalescer) Split(r *store.Result, batches []*store.Batch, results []*store.Result) bool {
	return c.split(r, batches, results)
}

// keyOf returns the arguments ?1 to ?3 of Call.key, with the latest time of the batches.
func keyOf(batches []*store.Batch) []store.Value {
	args := append(make([]store.Value, 0, 5), batches[0].Stmts[0].Args[:3]...)
	for _, b := range batches[1:] {
		if now := b.Stmts[0].Args[2]; now.Int() > args[2].Int() {
			args[2] = now
		}
	}
	return args
}

// rowsFor returns room for the rows of the statements of each result.
func rowsFor(results []*store.Result, stmts int) func(i int) [][]store.Row {
	rows := make([][]store.Row, len(results)*stmts)
	return func(i int) [][]store.Row { return rows[i*stmts : (i+1)*stmts : (i+1)*stmts] }
}
