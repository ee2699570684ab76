package local

import (
	"context"
	"errors"
	"time"

	"modernc.org/libc"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/meowdis/meowdis/store"
)

// workLimit is one piece of work on a connection, and what may end it early. SQLite asks
// it every so many steps of its machine (progress), and each statement asks before it
// begins, so that nothing has to be started or stopped for the many that are short.
type workLimit struct {
	ctx           context.Context
	life          context.Context // the store's
	limit         time.Duration   // of a batch, or a transaction; 0 for none
	promoteToLong func() error    // called once a read is no longer a short one; nil for others
	short         shortness       // what a short one takes at most
	ended         error           // why it ended early

	began       time.Time     // the batch that runs
	asked       time.Time     // when it was asked last
	batch, work time.Duration // how long the batch that runs has worked, and those before it
}

// stepsAsked are the steps of SQLite's machine after which it asks whether to go on:
// some ten microseconds.
const stepsAsked = 1000

// errLong ends a read in the lane of the short ones, so that it runs again in the other.
var errLong = errors.New("the read is a long one")

// aMoment is the most that counts between two readings of the clock: on a busy machine
// more of it may be waiting for the processor, which makes no read a long one.
const aMoment = 5 * time.Millisecond

// newWorkLimit begins a visit that ends with ctx, with the store, or at the time limit.
func (s *Store) newWorkLimit(ctx context.Context) *workLimit {
	now := time.Now()
	return &workLimit{ctx: ctx, life: s.life, limit: time.Duration(s.limit.Load()), began: now, asked: now}
}

// err is why the visit must end, nil as long as it may go on. A nil one has no end.
func (v *workLimit) err() error {
	if v == nil || v.ended != nil {
		return v.reason()
	}
	if v.ended = v.ctx.Err(); v.ended != nil {
		return v.ended
	}
	now := time.Now()
	v.batch += min(now.Sub(v.asked), aMoment)
	v.asked = now
	switch {
	case v.life.Err() != nil:
		v.ended = errAbandoned
	case v.limit > 0 && now.Sub(v.began) > v.limit:
		v.ended = &store.TooLong{Limit: v.limit}
	case v.promoteToLong != nil && (v.batch > v.short.one || v.work+v.batch > v.short.all):
		v.ended = v.promoteToLong()
		v.promoteToLong = nil
	}
	return v.ended
}

// next says that another batch begins, which has a time limit of its own.
func (v *workLimit) next() {
	v.work += v.batch
	v.batch, v.began = 0, time.Now()
	if _, late := v.ended.(*store.TooLong); late {
		v.ended = nil
	}
}

// clear takes back that the visit has ended, for what others ask of it.
func (v *workLimit) clear() {
	if v.life.Err() == nil {
		v.ended = nil
	}
}

func (v *workLimit) reason() error {
	if v == nil {
		return nil
	}
	return v.ended
}

// on runs fn with the visit on c, and returns its panic as an error.
func (v *workLimit) on(c *conn, fn func(*conn) error) (err error) {
	c.visit = v
	defer func() { c.visit = nil }()
	defer store.Catch(&err)
	return fn(c)
}

// progress is what SQLite calls; another result than 0 interrupts the statement.
func progress(_ *libc.TLS, p uintptr) int32 {
	if handled[*conn](p).visit.err() != nil {
		return 1
	}
	return 0
}

// interrupted is err, or why the visit ended when that is what it reports.
func (c *conn) interrupted(err error) error {
	if ended := c.visit.reason(); ended != nil && isOneOf(err, sqlite3.SQLITE_INTERRUPT) {
		return ended
	}
	return err
}
