package local

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"modernc.org/libc"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/meowdis/meowdis/store"
)

// checkpoints copy the log back to the file, which takes as long as some hundred writes, beside the connection
// that writes. There is one pass each time that the log has grown by pages; if nothing was written during it, the
// next commit begins the log anew. Under steady writes something always was: once the log has logMost times pages,
// pass follows pass, each of what was written during the one before, and then writers wait while the last pages
// are copied and the disk has them, which takes two calls that wait for the disk.
type checkpoints struct {
	pages   int          // of the log from which on it is copied back
	written atomic.Int64 // pages of the log, as of the last commit
	next    atomic.Int64 // pages of the log at which to try again
	due     chan struct{}
	failed  string     // why the last time was in vain
	passing sync.Mutex // held during a pass, by who does not have the writer
	under   sync.Mutex // held while the log is copied back
}

const (
	logTail     = 256 // pages that are left for the next time, or for writers to wait for
	logPasses   = 6   // before there are more of them
	logMost     = 4
	logPatience = 10 * time.Millisecond // of writers with reads that need the log
)

// begin has the commits of c tell how long the log is, in place of copying it back.
func (k *checkpoints) begin(c *conn, pages int) {
	k.pages, k.due = pages, make(chan struct{}, 1)
	k.next.Store(int64(pages))
	c.committed = func(pages int) {
		if int64(pages) < k.written.Swap(int64(pages)) { // the log has begun anew
			k.next.Store(int64(k.pages))
		}
		if int64(pages) >= k.next.Load() {
			select {
			case k.due <- struct{}{}:
			default:
			}
		}
	}
	sqlite3.Xsqlite3_wal_hook(c.tls, c.db, address(logGrew), c.handle)
}

// again has the log copied back at once when it is too long: a read that kept it has ended.
func (k *checkpoints) again() {
	if k.written.Load() < int64(logMost*k.pages) {
		return
	}
	select {
	case k.due <- struct{}{}:
	default:
	}
}

// logGrew is what SQLite calls after a commit.
func logGrew(_ *libc.TLS, c, _, _ uintptr, pages int32) int32 {
	handled[*conn](c).committed(int(pages))
	return sqlite3.SQLITE_OK
}

// copyBack copies the log back when it is due, until the store closes.
func (s *Store) copyBack() {
	defer s.done.Done()
	for {
		select {
		case <-s.checkpoints.due:
		case <-s.quit:
			return
		}
		k := &s.checkpoints
		k.under.Lock()
		whole := false
		err := store.Caught(func() (err error) {
			whole, err = s.checkpoint()
			return err
		})
		k.under.Unlock()
		k.says(s, err)
		if whole {
			k.next.Store(int64(k.pages))
		} else {
			k.next.Store(max(int64(k.pages), k.written.Load()+int64(k.pages)))
		}
	}
}

// Throttle is for who writes much that no other client waits for, between two slices of it. It waits while the
// log is copied back, so that little is written during a pass, and the last pages are few; and when others
// write, too, as long as the slice took, so that they have half of the time. Who sleeps in between is also
// less likely to lose the processor in the middle of a slice.
func (s *Store) Throttle(took time.Duration) {
	if k := &s.checkpoints; k.pages > 0 && k.written.Load() >= k.next.Load() {
		k.under.Lock()
		k.under.Unlock()
	}
	now := s.commits.Load()
	if now-s.eased.Swap(now) <= 1 {
		return
	}
	select {
	case <-time.After(min(took, sweepTime)):
	case <-s.quit:
	}
}

// says reports that the log is not copied back, once for a failure that goes on.
func (k *checkpoints) says(s *Store, err error) {
	now := ""
	if err != nil && !isGone(err) {
		now = err.Error()
	}
	if now != "" && now != k.failed {
		s.report(fmt.Errorf("copying the log back to the file: %w", err))
	}
	k.failed = now
}

// checkpoint copies the log back. It reports whether the log has begun anew: it cannot as long as a read
// needs what is in it.
func (s *Store) checkpoint() (whole bool, err error) {
	k := &s.checkpoints
	var before int64
	for range logPasses {
		copied, err := s.pass()
		if k.written.Load() < int64(logMost*k.pages) {
			return false, nil
		}
		if err != nil || copied <= before || k.written.Load()-copied <= logTail {
			break // the writer says what is wrong: it has the file open
		}
		before = copied
	}
	s.writing.Lock()
	defer s.writing.Unlock()
	s.writer.patience(logPatience)
	defer s.writer.patience(busyPatience)
	if t := s.tail.Load(); t != nil {
		blocked, err := t.rewind(s.writer)
		return !blocked, err
	}
	blocked, _, err := s.writer.checkpoint(sqlite3.SQLITE_CHECKPOINT_RESTART)
	return !blocked, err
}

// pass copies what no read needs where it is, while writes go on, and returns how many pages of the
// log are in the file.
func (s *Store) pass() (copied int64, err error) {
	s.checkpoints.passing.Lock()
	defer s.checkpoints.passing.Unlock()
	if err := s.Moved(); err != nil {
		return 0, err
	}
	if t := s.tail.Load(); t != nil {
		if err := t.Advance(); err != nil && !errors.Is(err, errClosed) {
			return 0, err
		}
	}
	c, err := s.connectBare(false)
	if err != nil {
		return 0, err
	}
	_, copied, err = c.checkpoint(sqlite3.SQLITE_CHECKPOINT_PASSIVE)
	return copied, errors.Join(err, c.close())
}

// checkpoint runs one of SQLite's kinds. It returns whether a read or another process kept it from
// being whole, and how many pages of the log are in the file.
func (c *conn) checkpoint(kind int32) (blocked bool, copied int64, err error) {
	pages := c.arena // of the log, and those of them that are in the file: two integers
	*at[[2]int32](pages) = [2]int32{}
	// A new connection looks for the log when it first reads. PRAGMA wal_checkpoint would parse the whole schema.
	if err := c.script("PRAGMA schema_version"); err != nil {
		return true, 0, err
	}
	rc := sqlite3.Xsqlite3_wal_checkpoint_v2(c.tls, c.db, 0, kind, pages, pages+4)
	switch copied = int64(at[[2]int32](pages)[1]); rc {
	case sqlite3.SQLITE_OK, sqlite3.SQLITE_BUSY:
		return rc != sqlite3.SQLITE_OK, copied, nil
	}
	return true, 0, c.fail(rc)
}
