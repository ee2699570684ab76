package rqlite

import (
	"sync"

	"github.com/meowdis/meowdis/remote/lane"
	"github.com/meowdis/meowdis/store"
)

// call is one call of Apply.
type call struct {
	lane.Entry
	batches []store.Batch
	forms   [][]*form // one per statement
	results []store.Result
	err     error

	mu   sync.Mutex // the caller may leave before the call is done, and take its budget with it
	gone bool
	used int64 // bytes of the budget used before the call

	filling int // index of the batch whose rows are being read, in a call that only reads
	cut     int // index of the first batch after the one that filled the budget
}

func newCall(batches []store.Batch, forms [][]*form) *call {
	return &call{Entry: lane.NewEntry(weight(batches)), batches: batches, forms: forms}
}

// withBudget calls fn with the batch's budget unless the caller has left.
func (c *call) withBudget(at int, fn func(*store.Budget)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.gone && c.batches[at].Budget != nil {
		fn(c.batches[at].Budget)
	}
}

func (c *call) leave() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.gone = true
}

// weight estimates the bytes it takes to send batches.
func weight(batches []store.Batch) (n int) {
	for i := range batches {
		n += weigh(&batches[i])
	}
	return n
}

func weigh(b *store.Batch) (n int) {
	for _, s := range b.Stmts {
		n += len(s.SQL) + 100
		for _, v := range s.Args {
			n += 8 + 2*len(v.Bytes())
		}
	}
	return n
}

// maxGroupBytes bounds the size of a group, unless a single call is larger.
const maxGroupBytes = 2 << 20
