package store

import (
	"sync/atomic"

	"github.com/meowdis/meowdis/redis/resp"
)

// Pool is what the requests of all clients together may hold, in bytes. A nil one has
// no end.
type Pool struct {
	limit int64
	used  atomic.Int64
	whole *Pool // that it is a part of, nil for none
}

// NewPool makes a pool of limit bytes.
func NewPool(limit int64) *Pool { return &Pool{limit: limit} }

// Within makes a pool of limit bytes that are p's as well.
func (p *Pool) Within(limit int64) *Pool { return &Pool{limit: limit, whole: p} }

// Used is how many of its bytes are held now.
func (p *Pool) Used() int64 { return p.used.Load() }

// take counts n more bytes, which may be fewer than none, unless those are too many.
func (p *Pool) take(n int64) bool {
	if p == nil {
		return true
	}
	if p.used.Add(n) > p.limit && n > 0 || !p.whole.take(n) {
		p.used.Add(-n)
		return false
	}
	return true
}

// keep counts n bytes, however many there are.
func (p *Pool) keep(n int64) {
	for ; p != nil; p = p.whole {
		p.used.Add(n)
	}
}

const (
	// poolFree is what each request may hold beside the pool: small ones work always.
	poolFree = 64 << 10
	// poolStep is how much a request takes from the pool at a time.
	poolStep = 256 << 10
)

// Budget is what one request may hold of rows and replies, in bytes of memory. Rows
// are counted while they are read, so that what is too much is refused before it is
// there. A nil one has no end. It is for one goroutine at a time.
type Budget struct {
	pool  *Pool
	limit int64
	piece int64
	used  int64
	drawn int64 // of the pool
	short bool  // the pool was what refused last
}

// NewBudget makes a budget of limit bytes that come from pool. With piece bytes or
// more it is full: there is enough to hand over before more is made. A piece of 0 is
// never there.
func NewBudget(pool *Pool, limit, piece int64) *Budget {
	return &Budget{pool: pool, limit: limit, piece: piece}
}

// Take counts n more bytes, unless those are too many.
func (b *Budget) Take(n int64) bool {
	if b == nil {
		return true
	}
	b.short = false
	if n > b.limit-b.used {
		return false
	}
	if b.short = !b.draw(b.used + n); b.short {
		return false
	}
	b.used += n
	return true
}

// draw makes what is drawn from the pool enough for used bytes.
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

// Used is how many bytes are counted.
func (b *Budget) Used() int64 {
	if b == nil {
		return 0
	}
	return b.used
}

// Back gives back what was counted since Used was used.
func (b *Budget) Back(used int64) {
	if b != nil {
		b.used = used
		b.draw(used)
	}
}

// Keep counts n bytes that are there already, whether they are too many or not.
func (b *Budget) Keep(n int64) {
	if b == nil || b.Take(n) {
		return
	}
	n = min(n, b.limit) // what is in it more than once is in memory once
	b.used += n
	if b.pool != nil {
		b.pool.keep(n)
		b.drawn += n
	}
}

// Full reports whether there is enough to hand over. A store that is to apply
// batches stops after the one that made their budget full.
func (b *Budget) Full() bool { return b != nil && b.piece > 0 && b.used >= b.piece }

// Room is how many more bytes may be counted at most, 0 for any number.
func (b *Budget) Room() int64 {
	if b == nil {
		return 0
	}
	return max(1, b.limit-b.used)
}

// Another is a budget like b, for something that is held longer.
func (b *Budget) Another() *Budget { return NewBudget(b.pool, b.limit, 0) }

// Refusal is the error for what Take has refused last.
func (b *Budget) Refusal() resp.Value {
	if b.short {
		return allTaken
	}
	return TooMuch
}

// The errors for what a request may not hold: more than it may, and more than there
// is, as others hold the rest.
var (
	TooMuch  = resp.MakeError("ERR this takes more memory than one request may hold (serve --max-request-memory): ask for less at a time")
	allTaken = resp.MakeError("OOM what all clients together ask for takes the memory that it may (serve --max-memory): try again later")
)

// Weight is how many bytes of memory a reply takes, more or less.
func Weight(v *resp.Value) int64 {
	n := int64(ValueBytes + len(v.Str))
	for i := range v.Elems {
		n += Weight(&v.Elems[i])
	}
	if v.RESP3 != nil {
		n += Weight(v.RESP3)
	}
	return n
}

// What Go takes for a value of a reply, for a row and for each of its cells.
const (
	ValueBytes = 88
	RowBytes   = 32
	CellBytes  = 48
)
