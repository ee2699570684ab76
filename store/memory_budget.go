package store

import (
	"fmt"
	"sync/atomic"

	"github.com/meowdis/meowdis/redis/resp"
)

// Pool limits the memory that the requests of all clients hold together, in bytes. A nil Pool has no limit.
type Pool struct {
	limit  int64
	used   atomic.Int64
	parent *Pool // the pool that contains it, or nil

	// See Watch.
	step    int64
	told    atomic.Int64
	changed func()
}

// NewPool returns a pool of limit bytes.
func NewPool(limit int64) *Pool { return &Pool{limit: limit} }

// SubPool returns a pool of limit bytes that also count in p.
func (p *Pool) SubPool(limit int64) *Pool { return &Pool{limit: limit, parent: p} }

// Watch calls changed when the used bytes have grown or shrunk by step since the last call. Call Watch before the pool is
// used.
func (p *Pool) Watch(step int64, changed func()) { p.step, p.changed = step, changed }

// tell calls changed if used differs enough.
func (p *Pool) tell(used int64) {
	if p.changed == nil {
		return
	}
	if told := p.told.Load(); max(used-told, told-used) >= p.step && p.told.CompareAndSwap(told, used) {
		p.changed()
	}
}

// Used returns the number of bytes that are held now.
func (p *Pool) Used() int64 { return p.used.Load() }

// take adds n bytes, which may be negative, unless that exceeds the limit.
func (p *Pool) take(n int64) bool {
	if p == nil {
		return true
	}
	used := p.used.Add(n)
	if used > p.limit && n > 0 || !p.parent.take(n) {
		p.used.Add(-n)
		return false
	}
	p.tell(used)
	return true
}

// charge adds n bytes, even beyond the limit.
func (p *Pool) charge(n int64) {
	for ; p != nil; p = p.parent {
		p.tell(p.used.Add(n))
	}
}

const (
	// poolFree is the number of bytes that each request may hold outside the pool, so that small requests always
	// work.
	poolFree = 64 << 10
	// poolStep is the number of bytes that a request takes from the pool at a time.
	poolStep = 256 << 10
)

// Budget limits the memory of one request's rows and replies, in bytes. Rows are counted while they are read,
// so that an excess is refused before it is in memory. A nil Budget has no limit. Only one goroutine may use it
// at a time.
type Budget struct {
	pool        *Pool
	limit       int64
	fullFrom    int64
	used        int64
	drawn       int64 // bytes taken from the pool
	noFlag      bool  // see NoFlag
	poolRefused bool  // the last refusal came from the pool
}

// NewBudget returns a budget of limit bytes, which it takes from pool. From piece bytes on it is full: the
// caller sends the replies so far before it makes more. With a piece of 0 it is never full.
func NewBudget(pool *Pool, limit, piece int64) *Budget {
	return &Budget{pool: pool, limit: limit, fullFrom: piece}
}

// Take adds n bytes, unless that exceeds the budget or its pool.
func (b *Budget) Take(n int64) bool {
	if b == nil {
		return true
	}
	b.poolRefused = false
	if n > b.limit-b.used {
		return false
	}
	if b.poolRefused = !b.draw(b.used + n); b.poolRefused {
		return false
	}
	b.used += n
	return true
}

// draw takes enough bytes from the pool for used bytes.
func (b *Budget) draw(used int64) bool {
	need := max(0, used-poolFree+poolStep-1) / poolStep * poolStep
	more := need - b.drawn
	if b.pool == nil || more == 0 {
		return true
	}
	if !b.pool.take(more) {
		return false
	}
	b.drawn = need
	return true
}

// Used returns the number of counted bytes.
func (b *Budget) Used() int64 {
	if b == nil {
		return 0
	}
	return b.used
}

// Rewind returns to the count that Used returned earlier.
func (b *Budget) Rewind(used int64) {
	if b != nil {
		b.used = used
		b.draw(used)
	}
}

// Charge adds n bytes that are in memory already, even beyond the limit.
func (b *Budget) Charge(n int64) {
	if b == nil || b.Take(n) {
		return
	}
	n = min(n, b.limit) // a part that the reply repeats is in memory once
	b.used += n
	if b.pool != nil {
		b.pool.charge(n)
		b.drawn += n
	}
}

// Full reports whether the replies so far should be sent. A store stops after the batch that makes the budget
// full.
func (b *Budget) Full() bool { return b != nil && b.fullFrom > 0 && b.used >= b.fullFrom }

// Remaining returns the number of bytes that may still be added, 0 for no limit.
func (b *Budget) Remaining() int64 {
	if b == nil {
		return 0
	}
	return max(1, b.limit-b.used)
}

// Empty returns an empty budget with the limits of b, for data that is held longer.
func (b *Budget) Empty() *Budget {
	another := NewBudget(b.pool, b.limit, 0)
	another.noFlag = b.noFlag
	return another
}

// NoFlag marks a budget that no flag changes. Its refusal names the limit in place of the flag.
func (b *Budget) NoFlag() *Budget {
	b.noFlag = true
	return b
}

// Refusal returns the error reply for the last refusal of Take.
func (b *Budget) Refusal() resp.Value {
	switch {
	case b != nil && b.noFlag:
		return resp.MakeError(fmt.Sprintf("ERR request memory limit exceeded (%d MB): ask for less at a time", b.limit>>20))
	case b != nil && b.poolRefused:
		return serverFull
	}
	return RequestTooLarge
}

// RequestTooLarge is the error of a request above its own limit, and serverFull the error if other requests hold the rest
// of the pool.
var (
	RequestTooLarge = resp.MakeError("ERR request memory limit exceeded (serve --max-request-memory): ask for less at a time")
	serverFull      = resp.MakeError("OOM server memory limit reached (serve --max-memory); try again later")
)

// TooManyRows reports a request whose rows exceed the limit of another process, which has its own flags.
var TooManyRows = resp.MakeError("ERR request memory limit exceeded: ask for less at a time")

// Weight returns the approximate bytes of memory of a reply.
func Weight(v *resp.Value) int64 {
	n := int64(ValueBytes+len(v.Str)) + v.Packed.Size()
	for i := range v.Elems {
		n += Weight(&v.Elems[i])
	}
	if v.RESP3 != nil {
		n += Weight(v.RESP3)
	}
	return n
}

// The memory of a value of a reply, of a row, and of each cell, in bytes.
const (
	ValueBytes = 88
	RowBytes   = 32
	CellBytes  = 48
)
