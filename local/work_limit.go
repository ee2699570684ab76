package local

import (
	"context"
	"errors"
	"time"

	"modernc.org/libc"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/meowdis/meowdis/store"
)

// workLimit limits one piece of work on a connection. SQLite checks it every progressSteps steps (progress), and
// each statement checks it before it begins, so short work starts no timer.
type workLimit struct {
	ctx           context.Context
	life          context.Context // the store's
	clock         func() time.Time
	limit         time.Duration // of one batch or transaction; 0 for none
	promoteToLong func() error  // called once when a read is no longer short; nil except for short reads
	short         readLimits    // limits of a short read
	small         bool          // a value above smallValue ends the work with errLong
	most          int32         // the limit of values without small
	reasonEnded   error         // why the work must end; nil until then

	began       time.Time     // when the current batch began
	checked     time.Time     // the last check
	batch, work time.Duration // time used by the current batch, and by the batches before it
}

// progressSteps sets the number of virtual machine steps between two calls of progress, about ten microseconds.
const progressSteps = 1000

// errLong ends a read in the short lane; it then runs again in the long lane.
var errLong = errors.New("the read exceeds the limit of short reads")

// maxClockGap limits the time counted between two clock readings. On a busy machine, a longer gap may be time spent
// waiting for a processor, which does not make a read long.
const maxClockGap = 5 * time.Millisecond

// newWorkLimit starts a limit that ends with ctx, when the store is abandoned, or at the time limit.
func (s *Store) newWorkLimit(ctx context.Context) *workLimit {
	now := s.clock()
	v := &workLimit{ctx: ctx, life: s.life, clock: s.clock, began: now, checked: now}
	if store.WriteWaitOf(ctx).HasTimeLimit() {
		v.limit = time.Duration(s.limit.Load())
	}
	return v
}

// err returns why the work must end, or nil. A nil workLimit never ends the work.
func (v *workLimit) err() error {
	if v == nil || v.reasonEnded != nil {
		return v.reason()
	}
	if v.reasonEnded = v.ctx.Err(); v.reasonEnded != nil {
		return v.reasonEnded
	}
	now := v.clock()
	v.batch += min(now.Sub(v.checked), maxClockGap)
	v.checked = now
	switch {
	case v.life.Err() != nil:
		v.reasonEnded = errAbandoned
	case v.limit > 0 && now.Sub(v.began) > v.limit:
		v.reasonEnded = &store.TooLong{Limit: v.limit}
	case v.promoteToLong != nil && (v.batch > v.short.one || v.work+v.batch > v.short.all):
		v.reasonEnded = v.promoteToLong()
		v.promoteToLong = nil
	}
	return v.reasonEnded
}

// nextBatch starts the next batch, with a time limit of its own, and returns the time.
func (v *workLimit) nextBatch() time.Time {
	v.work += v.batch
	v.batch, v.began = 0, v.clock()
	if _, late := v.reasonEnded.(*store.TooLong); late {
		v.reasonEnded = nil
	}
	return v.began
}

// suspend lifts the time limit until the returned function is called.
func (v *workLimit) suspend() (resume func()) {
	limit := v.limit
	v.limit = 0
	return func() { v.limit = limit }
}

// clear resets an ended limit for the next part, unless the store is abandoned.
func (v *workLimit) clear() {
	if v.life.Err() == nil {
		v.reasonEnded = nil
	}
}

func (v *workLimit) reason() error {
	if v == nil {
		return nil
	}
	return v.reasonEnded
}

// smallValue is the size of a value that SQLite reads in about a millisecond. It reads a value in one step of its
// machine, which nothing interrupts.
const smallValue = 1 << 20

// begin limits the work on c until end is called.
func (v *workLimit) begin(c *conn) {
	if c.workLimit = v; v.small {
		v.most = sqlite3.Xsqlite3_limit(c.tls, c.db, sqlite3.SQLITE_LIMIT_LENGTH, smallValue)
	}
}

func (v *workLimit) end(c *conn) {
	if c.workLimit = nil; v.small {
		sqlite3.Xsqlite3_limit(c.tls, c.db, sqlite3.SQLITE_LIMIT_LENGTH, v.most)
	}
}

// run runs fn on c under the limit, and returns its panic as an error.
func (v *workLimit) run(c *conn, fn func(*conn) error) (err error) {
	v.begin(c)
	defer v.end(c)
	defer store.Catch(&err)
	return fn(c)
}

// progress is SQLite's progress callback; a nonzero result interrupts the statement.
func progress(_ *libc.TLS, p uintptr) int32 {
	if handled[*conn](p).workLimit.err() != nil {
		return 1
	}
	return 0
}

// interrupted returns err, or the reason of the limit if err reports an interrupt.
func (c *conn) interrupted(err error) error {
	if ended := c.workLimit.reason(); ended != nil && isOneOf(err, sqlite3.SQLITE_INTERRUPT) {
		return ended
	}
	if c.workLimit != nil && c.workLimit.small && isOneOf(err, sqlite3.SQLITE_TOOBIG) {
		return errLong
	}
	return err
}
