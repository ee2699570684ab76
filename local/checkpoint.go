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

// checkpoints copies the WAL back to the file, beside the writing connection, since that takes as long as some
// hundred writes. A pass begins each time the WAL has grown by pages. If nothing is written during the pass,
// the next commit restarts the WAL. Under steady writes, that never happens. So once the WAL has maxWALFactor times
// pages, passes follow one another, each copying the frames written during the previous pass. Then writers wait
// while the last pages are copied and synced, which takes two sync calls.
type checkpoints struct {
	pages   int          // length of the WAL that starts a pass
	written atomic.Int64 // pages in the WAL at the last commit
	next    atomic.Int64 // pages in the WAL that start the next pass
	due     chan struct{}
	failed  string     // the error of the last pass, or ""
	passing sync.Mutex // held during a pass, except by the writer
	under   sync.Mutex // held while the WAL is copied back
}

const (
	tailPages     = 256 // pages left for the next pass, or for the final copy with writers waiting
	maxPasses     = 6   // passes before that final copy
	maxWALFactor  = 4
	readerTimeout = 10 * time.Millisecond // how long writers wait for reads that need the WAL
)

// begin starts passes by the length of the WAL after each commit of c. It replaces SQLite's own automatic
// checkpoint.
func (k *checkpoints) begin(c *conn, pages int) {
	k.pages, k.due = pages, make(chan struct{}, 1)
	k.next.Store(int64(pages))
	c.onCommit = func(pages int) {
		if int64(pages) < k.written.Swap(int64(pages)) { // the WAL has restarted
			k.next.Store(int64(k.pages))
		}
		if int64(pages) >= k.next.Load() {
			select {
			case k.due <- struct{}{}:
			default:
			}
		}
	}
	sqlite3.Xsqlite3_wal_hook(c.tls, c.db, address(walHook), c.handle)
}

// wake starts a pass at once if the WAL is too long: a read that needed it has ended.
func (k *checkpoints) wake() {
	if k.written.Load() < int64(maxWALFactor*k.pages) {
		return
	}
	select {
	case k.due <- struct{}{}:
	default:
	}
}

// walHook is SQLite's WAL hook, called after a commit.
func walHook(_ *libc.TLS, c, _, _ uintptr, pages int32) int32 {
	writer := handled[*conn](c)
	writer.commits++
	writer.onCommit(int(pages))
	return sqlite3.SQLITE_OK
}

// copyBack runs due passes until the store closes.
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
		if whole {
			k.next.Store(int64(k.pages))
		} else {
			k.next.Store(max(int64(k.pages), k.written.Load()+int64(k.pages)))
		}
		k.under.Unlock()
		k.reportFailure(s, err)
	}
}

// Throttle is called between two slices of bulk writes that no client waits for. It waits while a pass runs, so
// that little is written during the pass and few pages are left at its end. If other clients write, too, it
// sleeps for took (at most sweepTime), so that they get half of the time. A goroutine that sleeps in between is
// also less likely to lose the processor in the middle of a slice.
func (s *Store) Throttle(took time.Duration) {
	if k := &s.checkpoints; k.pages > 0 && k.written.Load() >= k.next.Load() {
		k.under.Lock()
		k.under.Unlock()
	}
	now := s.commits.Load()
	if now-s.throttledAt.Swap(now) <= 1 {
		return
	}
	select {
	case <-time.After(min(took, sweepTime)):
	case <-s.quit:
	}
}

// reportFailure reports that copying back failed, once per failure.
func (k *checkpoints) reportFailure(s *Store, err error) {
	now := ""
	if err != nil && !isGone(err) {
		now = err.Error()
	}
	if now != "" && now != k.failed {
		s.report(fmt.Errorf("copying the WAL back to the file: %w", err))
	}
	k.failed = now
}

// checkpoint copies the WAL back. It reports whether the WAL can restart: it cannot while a read needs its
// frames.
func (s *Store) checkpoint() (whole bool, err error) {
	k := &s.checkpoints
	var before int64
	for range maxPasses {
		copied, err := s.pass()
		if k.written.Load() < int64(maxWALFactor*k.pages) {
			return false, nil
		}
		if err != nil || copied <= before || k.written.Load()-copied <= tailPages {
			break // the writer will report the cause: it has the file open
		}
		before = copied
	}
	s.writing.Lock()
	defer s.writing.Unlock()
	if err := s.Moved(); err != nil {
		return false, err // another process may have written its pages where the index expects ours
	}
	s.writer.setBusyTimeout(readerTimeout)
	defer s.writer.setBusyTimeout(defaultBusyTimeout)
	if t := s.tail.Load(); t != nil {
		blocked, err := t.restartWAL(s.writer)
		return !blocked, err
	}
	blocked, _, err := s.writer.checkpoint(sqlite3.SQLITE_CHECKPOINT_RESTART)
	return !blocked, err
}

// pass copies all frames that no read needs, without blocking writes. It returns how many pages of the WAL are
// in the file.
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

// checkpoint runs a SQLite checkpoint of the given kind. It returns whether a read or another process kept it
// from completing, and how many pages of the WAL are in the file.
func (c *conn) checkpoint(kind int32) (blocked bool, copied int64, err error) {
	pages := c.arena // two integers: pages in the WAL, and pages copied back
	*at[[2]int32](pages) = [2]int32{}
	// A new connection opens the WAL at its first read. PRAGMA wal_checkpoint would parse the whole schema.
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
