package local

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"sync"

	sqlite3 "modernc.org/sqlite/lib"

	"github.com/meowdis/meowdis/store"
)

// Tail tracks which pages of the file change, in any process, and takes snapshots with the changed pages. It
// serves programs that copy the file again and again. It stores no pages: a changed page is read when a
// snapshot is taken. So a slow copy costs one bit per page, and the WAL does not grow.
//
// The invariant: Tail always has a connection in a read transaction, and it has read all WAL frames before that
// transaction's snapshot. SQLite does not restart the WAL while a transaction reads from it. A transaction that
// began when the whole WAL was copied back does not prevent a restart, but it prevents later frames from being
// copied back. So the WAL restarts at most once, and it has read all frames before the restart. No frame is
// missed.
type Tail struct {
	store *Store

	mu      sync.Mutex
	pin     *Snapshot // Tail has read all frames before it; nil after the WAL was lost
	changed PageSet
	whole   bool // every page counts as changed
	closed  bool
}

// Snapshot is a view of the file at one moment, until Close. One goroutine at a time may use it.
type Snapshot struct {
	// Changed holds the pages that have changed since the previous snapshot, including removed pages. If Whole
	// is set, any page may have changed.
	Changed PageSet
	Whole   bool

	conn  *conn
	at    walMark
	ended func() // called by Close
}

// walMark is SQLite's snapshot structure: a copy of the WAL index header (https://sqlite.org/walformat.html).
type walMark struct {
	version, unused, changes uint32
	isInit, bigEndian        byte
	pageSize                 uint16 // 1 means 64 KB
	frames, pages            uint32
	sum                      [2]uint32 // of all frames
	salt                     [8]byte   // as in the WAL
	_                        [2]uint32
}

const (
	logHeader = 32 // bytes
	saltAt    = 8  // in the header of a frame
	sumAt     = 16
	sizeAt    = 4 // the size of the file after a commit, in pages; 0 in other frames
)

// ErrNoWAL is returned for a store without a WAL: in memory or read-only.
var ErrNoWAL = errors.New("it has no WAL to follow")

// Tail starts tracking changes. The first snapshot is Whole.
func (s *Store) Tail() (*Tail, error) {
	if s.path == Memory || s.writer == nil {
		return nil, ErrNoWAL
	}
	t := &Tail{store: s, whole: true}
	if err := t.Advance(); err != nil {
		return nil, err
	}
	if !s.tail.CompareAndSwap(nil, t) {
		t.Close()
		return nil, errors.New("the file is followed already")
	}
	return t, nil
}

// Close stops tracking. Open snapshots stay valid.
func (t *Tail) Close() error {
	t.store.tail.CompareAndSwap(t, nil)
	t.mu.Lock()
	defer t.mu.Unlock()
	t.closed = true
	return t.reset()
}

// reset closes the connection; all pages count as changed afterwards.
func (t *Tail) reset() (err error) {
	if t.pin != nil {
		err = t.pin.Close()
	}
	t.pin, t.whole, t.changed = nil, true, PageSet{}
	return err
}

// release closes the connection for a moment, for a caller that needs the file for itself. The next Advance opens
// a new one.
func (t *Tail) release() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.reset()
}

// Advance reads the frames that were committed since the last call, so that the WAL can restart. The caller
// calls it regularly.
func (t *Tail) Advance() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed {
		return errClosed
	}
	return t.advance()
}

func (t *Tail) advance() error {
	now, err := t.store.snapshot()
	if err != nil {
		return fmt.Errorf("following the WAL: %w", err)
	}
	before := t.pin
	t.pin = now
	if before == nil {
		return nil
	}
	if !t.whole {
		err = t.addFrames(before.at, now.at)
	}
	if err = errors.Join(err, before.Close()); err != nil {
		return fmt.Errorf("following the WAL: %w", errors.Join(err, t.reset()))
	}
	return nil
}

// addFrames adds the pages that changed between two moments.
func (t *Tail) addFrames(from, to walMark) error {
	first := from.frames
	switch {
	case to.frames == 0:
		return nil // nothing was written since the WAL was created
	case from.salt != to.salt:
		first = 0
	}
	if first == to.frames {
		return nil
	}
	log, err := os.Open(t.store.path + "-wal")
	if err != nil {
		return err
	}
	defer log.Close()
	from.frames = first
	return readFrames(log, from, to, &t.changed)
}

// readFrames adds the pages of the frames between two moments of one WAL, and the pages that the file did not
// have for some time in between.
func readFrames(log *os.File, from, to walMark, pages *PageSet) error {
	var header [frameHeader]byte
	least := from.pages
	for frame := from.frames; frame < to.frames; frame++ {
		if _, err := log.ReadAt(header[:], to.frame(frame)); err != nil {
			return err
		}
		if [8]byte(header[saltAt:]) != to.salt {
			return ErrWALGone
		}
		pages.Add(binary.BigEndian.Uint32(header[:]))
		if size := binary.BigEndian.Uint32(header[sizeAt:]); size > 0 {
			least = min(least, size)
		}
	}
	for page := least + 1; page <= max(from.pages, to.pages); page++ {
		pages.Add(page)
	}
	return nil
}

// Take returns a snapshot with the changes since the previous one.
func (t *Tail) Take() (*Snapshot, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed {
		return nil, errClosed
	}
	if err := t.advance(); err != nil {
		return nil, err
	}
	taken := t.pin
	taken.Whole = t.whole
	taken.ended = t.store.checkpoints.wake
	taken.Changed, t.changed, t.whole = t.changed, PageSet{}, false
	// A new connection tracks the file from here. Its first frames include the commits since the snapshot.
	next, err := t.store.snapshot()
	if err == nil {
		err = t.addFrames(taken.at, next.at)
	}
	t.pin = next
	if err != nil {
		return nil, errors.Join(err, t.reset(), taken.Close())
	}
	return taken, nil
}

// restartWAL lets the next write restart the WAL, unless a read needs its frames. The caller prevents writes by
// this process.
func (t *Tail) restartWAL(c *conn) (blocked bool, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed {
		blocked, _, err = c.checkpoint(sqlite3.SQLITE_CHECKPOINT_RESTART)
		return blocked, err
	}
	if err := t.advance(); err != nil {
		return true, err
	}
	_, copied, err := c.checkpoint(sqlite3.SQLITE_CHECKPOINT_PASSIVE)
	if err != nil || copied < int64(t.pin.at.frames) {
		return true, err
	}
	return false, t.advance() // the new transaction reads nothing from the WAL
}

// snapshot opens a connection and starts a read transaction.
func (s *Store) snapshot() (_ *Snapshot, err error) {
	if err := s.Moved(); err != nil {
		return nil, err
	}
	c, err := s.connectBare(true)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, c.close())
		}
	}()
	if err := c.setUp("PRAGMA cache_size = -1024", "BEGIN", "SELECT 1 FROM sqlite_schema"); err != nil {
		return nil, err
	}
	snap := &Snapshot{conn: c}
	rc, err := withCString(c, "main", func(name uintptr) int32 {
		return sqlite3.Xsqlite3_snapshot_get(c.tls, c.db, name, c.arena)
	})
	switch {
	case err != nil:
		return nil, err
	case rc == sqlite3.SQLITE_OK:
		mark := pointerAt(c.arena)
		snap.at = *at[walMark](mark)
		sqlite3.Xsqlite3_snapshot_free(c.tls, mark)
		return snap, nil
	}
	// A WAL that was never written to has no snapshot.
	pages, err := c.pragma("page_count")
	if err != nil {
		return nil, err
	}
	size, err := c.pragma("page_size")
	snap.at.pages, snap.at.pageSize = uint32(pages), uint16(size&0xffff|size>>16)
	return snap, err
}

// pragma returns the integer value of a pragma.
func (c *conn) pragma(name string) (int64, error) {
	rows, _, err := c.run(store.Stmt{SQL: "PRAGMA " + name})
	if err != nil {
		return 0, err
	}
	return rows[0][0].Int(), nil
}

// frame returns the offset of frame n in the WAL; the first frame is 0.
func (m *walMark) frame(n uint32) int64 { return logHeader + int64(n)*int64(frameHeader+m.size()) }

func (m *walMark) size() int { return int(m.pageSize&0xfe00) | int(m.pageSize&1)<<16 }

// PageSize returns the page size of the file, in bytes.
func (s *Snapshot) PageSize() int { return s.at.size() }

// Pages returns the number of pages in the file.
func (s *Snapshot) Pages() uint32 { return s.at.pages }

// Same reports whether no commit happened between the two snapshots.
func (s *Snapshot) Same(other *Snapshot) bool { return s.at == other.at }

const readPage = "SELECT data FROM sqlite_dbpage WHERE pgno = ?1"

// Page returns the page with the given number; the first page is 1.
func (s *Snapshot) Page(number uint32) ([]byte, error) {
	rows, _, err := s.conn.run(store.Stmt{SQL: readPage, Args: []store.Value{store.Int(int64(number))}})
	if err != nil {
		return nil, err
	}
	if len(rows) != 1 || len(rows[0][0].Bytes()) != s.PageSize() {
		return nil, fmt.Errorf("page %d cannot be read", number)
	}
	return rows[0][0].Bytes(), nil
}

// Close ends the snapshot.
func (s *Snapshot) Close() error {
	if s == nil || s.conn == nil {
		return nil
	}
	c := s.conn
	s.conn = nil
	err := c.close() // ends the transaction
	if s.ended != nil {
		s.ended()
	}
	return err
}

// Position identifies the end of a snapshot in the WAL. The zero value is an empty WAL.
type Position struct {
	Salt   [2]uint32
	Offset int64  // bytes, after the last frame
	Sum    uint64 // of the frames before Offset
}

// Position returns the end of the snapshot in the WAL.
func (s *Snapshot) Position() (p Position) {
	if s.at.frames == 0 {
		return p
	}
	p.Salt = [2]uint32{binary.BigEndian.Uint32(s.at.salt[:]), binary.BigEndian.Uint32(s.at.salt[4:])}
	p.Offset = s.at.frame(s.at.frames)
	p.Sum = uint64(s.at.sum[0])<<32 | uint64(s.at.sum[1])
	return p
}

// Since returns the pages that changed between p and s. ok is false if the WAL no longer contains p, or if is
// returns false for the checksum of its frames up to p.
func (t *Tail) Since(s *Snapshot, p Position, is func(sum uint64) bool) (changed PageSet, ok bool, err error) {
	now := s.Position()
	if p.Offset <= logHeader || p.Salt != now.Salt || p.Offset > now.Offset {
		return changed, false, nil
	}
	from := s.at
	if from.frames = uint32((p.Offset - logHeader) / (s.at.frame(1) - logHeader)); from.frames == 0 || s.at.frame(from.frames) != p.Offset {
		return changed, false, nil
	}
	log, err := os.Open(t.store.path + "-wal")
	if err != nil {
		return changed, false, err
	}
	defer log.Close()
	var header [frameHeader]byte
	if _, err := log.ReadAt(header[:], s.at.frame(from.frames-1)); err != nil {
		return changed, false, err
	}
	if from.pages = binary.BigEndian.Uint32(header[sizeAt:]); from.pages == 0 || [8]byte(header[saltAt:]) != s.at.salt || !is(binary.BigEndian.Uint64(header[sumAt:])) {
		return changed, false, nil
	}
	if err := readFrames(log, from, s.at, &changed); err != nil {
		return changed, false, err
	}
	return changed, true, nil
}
