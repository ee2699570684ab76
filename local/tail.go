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

// Tail knows which pages of the file change, by whichever process, and hands out snapshots of
// them: it is for who copies the file elsewhere, again and again. It keeps no page: what has changed
// is read when a snapshot is taken, so that a copy that is late costs a bit a page, and no room in
// the log.
//
// The invariant: a connection of it is always in a read transaction, and frames of the log after
// that one's snapshot are not yet looked at. SQLite does not begin the log anew while a transaction
// reads from it. One that began when all of the log was in the file does not keep the log from
// beginning anew, but keeps what comes then from being copied back, so that this happens once, and
// what was in the log before was looked at. So no frame is missed.
type Tail struct {
	store *Store

	mu      sync.Mutex
	pin     *Snapshot // up to which frames were looked at; nil when the log was lost from sight
	changed PageSet
	whole   bool // every page counts as changed
	closed  bool
}

// Snapshot is the file at one moment, until Close. It is for one goroutine at a time.
type Snapshot struct {
	// Changed are the pages that have changed since the snapshot before, with those that are not
	// there any more; Whole is that it may be any of them.
	Changed PageSet
	Whole   bool

	conn  *conn
	at    logMark
	ended func() // hears of Close
}

// logMark is what SQLite calls a snapshot, which is the header of the index of the log at its
// moment (https://sqlite.org/walformat.html).
type logMark struct {
	version, unused, changes uint32
	isInit, bigEndian        byte
	pageSize                 uint16 // 1 is 64 KB
	frames, pages            uint32
	sum                      [2]uint32 // of all frames
	salt                     [8]byte   // as in the log
	_                        [2]uint32
}

const (
	logHeader = 32 // bytes
	saltAt    = 8  // in the header of a frame
	sumAt     = 16
	sizeAt    = 4 // of the file after a commit, in pages; 0 in frames that are none
)

// ErrNoLog is the error of a store whose file has no log to follow.
var ErrNoLog = errors.New("it is no file that could be followed")

// Tail begins to follow the file. The first snapshot is Whole.
func (s *Store) Tail() (*Tail, error) {
	if s.path == Memory || s.writer == nil {
		return nil, ErrNoLog
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

// Close ends it. Snapshots go on until they are closed.
func (t *Tail) Close() error {
	t.store.tail.CompareAndSwap(t, nil)
	t.mu.Lock()
	defer t.mu.Unlock()
	t.closed = true
	return t.lose()
}

// lose gives up the connection, and with it the knowledge of what changes.
func (t *Tail) lose() (err error) {
	if t.pin != nil {
		err = t.pin.Close()
	}
	t.pin, t.whole, t.changed = nil, true, PageSet{}
	return err
}

// letGo is lose, for who needs the file alone. It is not for long: the next Advance is another
// transaction.
func (t *Tail) letGo() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.lose()
}

// Advance looks at what was committed, so that the log can begin anew. It is to be called every
// now and then.
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
		return fmt.Errorf("following the log: %w", err)
	}
	before := t.pin
	t.pin = now
	if before == nil {
		return nil
	}
	if !t.whole {
		err = t.note(before.at, now.at)
	}
	if err = errors.Join(err, before.Close()); err != nil {
		return fmt.Errorf("following the log: %w", errors.Join(err, t.lose()))
	}
	return nil
}

// note notes the pages that changed between two moments.
func (t *Tail) note(from, to logMark) error {
	first := from.frames
	switch {
	case to.frames == 0:
		return nil // nothing has been written since the log was made
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
	return noteFrames(log, from, to, &t.changed)
}

// noteFrames adds the pages of the frames between two moments of one log, and those that were no
// part of the file meanwhile.
func noteFrames(log *os.File, from, to logMark, pages *PageSet) error {
	var header [frameHeader]byte
	least := from.pages
	for frame := from.frames; frame < to.frames; frame++ {
		if _, err := log.ReadAt(header[:], to.frame(frame)); err != nil {
			return err
		}
		if [8]byte(header[saltAt:]) != to.salt {
			return ErrLogGone
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

// Take is a snapshot with what has changed since the last one.
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
	taken.ended = t.store.checkpoints.again
	taken.Changed, t.changed, t.whole = t.changed, PageSet{}, false
	// From here on another connection follows. What it notes includes what was committed since.
	next, err := t.store.snapshot()
	if err == nil {
		err = t.note(taken.at, next.at)
	}
	t.pin = next
	if err != nil {
		return nil, errors.Join(err, t.lose(), taken.Close())
	}
	return taken, nil
}

// rewind lets the next write begin the log anew, if no read needs what is in it. The caller keeps
// this process from writing.
func (t *Tail) rewind(c *conn) (blocked bool, err error) {
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
	return false, t.advance() // to a transaction that needs nothing of the log
}

// snapshot begins one.
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
	rc, err := withString(c, "main", func(name uintptr) int32 {
		return sqlite3.Xsqlite3_snapshot_get(c.tls, c.db, name, c.arena)
	})
	switch {
	case err != nil:
		return nil, err
	case rc == sqlite3.SQLITE_OK:
		mark := pointerAt(c.arena)
		snap.at = *at[logMark](mark)
		sqlite3.Xsqlite3_snapshot_free(c.tls, mark)
		return snap, nil
	}
	// There is none of a log in which nothing was ever written.
	pages, err := c.pragma("page_count")
	if err != nil {
		return nil, err
	}
	size, err := c.pragma("page_size")
	snap.at.pages, snap.at.pageSize = uint32(pages), uint16(size&0xffff|size>>16)
	return snap, err
}

// pragma is the number that one returns.
func (c *conn) pragma(name string) (int64, error) {
	rows, _, err := c.run(store.Stmt{SQL: "PRAGMA " + name})
	if err != nil {
		return 0, err
	}
	return rows[0][0].Int(), nil
}

// frame is where in the log a frame begins, the first being 0.
func (m *logMark) frame(n uint32) int64 { return logHeader + int64(n)*int64(frameHeader+m.size()) }

func (m *logMark) size() int { return int(m.pageSize&0xfe00) | int(m.pageSize&1)<<16 }

// PageSize is that of the file, in bytes.
func (s *Snapshot) PageSize() int { return s.at.size() }

// Pages is how many the file has.
func (s *Snapshot) Pages() uint32 { return s.at.pages }

// Same reports whether nothing was committed between the two.
func (s *Snapshot) Same(other *Snapshot) bool { return s.at == other.at }

const readPage = "SELECT data FROM sqlite_dbpage WHERE pgno = ?1"

// Page is the page of a number from 1 on.
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
	err := c.close() // which ends its transaction
	if s.ended != nil {
		s.ended()
	}
	return err
}

// Position is where in the log a snapshot ends. The zero value is an empty log.
type Position struct {
	Salt   [2]uint32
	Offset int64  // in bytes, after the last frame
	Sum    uint64 // of the frames up to there
}

// Position is where the snapshot ends.
func (s *Snapshot) Position() (p Position) {
	if s.at.frames == 0 {
		return p
	}
	p.Salt = [2]uint32{binary.BigEndian.Uint32(s.at.salt[:]), binary.BigEndian.Uint32(s.at.salt[4:])}
	p.Offset = s.at.frame(s.at.frames)
	p.Sum = uint64(s.at.sum[0])<<32 | uint64(s.at.sum[1])
	return p
}

// Since returns the pages that changed between a position and a snapshot. ok is false when the log does not go
// back to the position, or when is returns false for the checksum of its frames there.
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
	if err := noteFrames(log, from, s.at, &changed); err != nil {
		return changed, false, err
	}
	return changed, true, nil
}
