package local

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"time"
	"unsafe"

	"github.com/meowdis/meowdis/store"
)

// ErrWALGone is returned by writes if the WAL or the shared memory is no longer under its name. A process that
// opens the file next would not see the frames in the WAL, or would overwrite them.
var ErrWALGone = errors.New("the WAL (-wal) or the shared memory (-shm) of the file was deleted, moved or replaced " +
	"while the file was open; writes are refused: end every process that has the file open, and start again")

// errWALRepaired is reported when the WAL or the shared memory was deleted and nothing is lost.
var errWALRepaired = errors.New("the WAL (-wal) or the shared memory (-shm) of the file was deleted while the file was open; " +
	"the changes in the WAL are in the file now, and a new WAL was created")

// walFiles identifies the WAL and the shared memory of an open file. It is nil if the file has none.
type walFiles struct{ log, shared fileIdentity }

// recordWAL records the identity of the WAL and the shared memory that c has open. It fails if other files
// are under their names.
func (s *Store) recordWAL(c *conn) error {
	var b walFiles
	var noLog, noShared error
	b.log, noLog = identify(s.path + "-wal")
	b.shared, noShared = identify(s.path + "-shm")
	if noLog != nil && noShared != nil {
		return nil // not in WAL mode, on a file system without shared memory
	}
	if noLog != nil || noShared != nil || !s.walMatches(c) {
		return ErrWALGone
	}
	s.walFiles.Store(&b)
	return nil
}

// walMatches reports whether the shared memory describes the WAL under its name: the last frame must have the same
// checksum in both. Other processes may write at the same time.
func (s *Store) walMatches(c *conn) bool {
	index, err := c.walIndex()
	if err != nil {
		return true
	}
	log, err := os.Open(s.path + "-wal")
	if err != nil {
		return false
	}
	defer log.Close()
	const looks = 20
	for range looks {
		var header [frameHeader]byte
		now := index.read()
		mark := (*walMark)(unsafe.Pointer(&now))
		if mark.frames == 0 {
			return true
		}
		_, err := log.ReadAt(header[:], mark.frame(mark.frames-1))
		sum := [2]uint32{binary.BigEndian.Uint32(header[sumAt:]), binary.BigEndian.Uint32(header[sumAt+4:])}
		if err == nil && [8]byte(header[saltAt:]) == mark.salt && sum == mark.sum {
			return true
		}
		time.Sleep(time.Millisecond)
	}
	return false
}

// walGone returns ErrWALGone if the WAL or the shared memory is not the open one.
func (s *Store) walGone() error {
	if b := s.walFiles.Load(); b != nil && (b.log.fate() != fileSame || b.shared.fate() != fileSame) {
		return ErrWALGone
	}
	return nil
}

// unsafeToCopyBack reports whether the WAL must stay unchanged when the store closes: another process may have
// written to it through another shared memory, or the WAL under its name belongs to another file.
func (s *Store) unsafeToCopyBack() bool {
	b := s.walFiles.Load()
	if b == nil {
		return false
	}
	if log := b.log.fate(); log == fileSame {
		return b.shared.fate() == fileReplaced
	}
	return s.opened.fate() != fileSame
}

// hasFrames reports whether the WAL of the file at path has any content.
func hasFrames(path string) bool {
	info, err := os.Stat(path + "-wal")
	return err == nil && info.Size() > 0
}

// removeEmptyLog removes an empty WAL and its shared memory, unless a process has the file open. A read-only
// connection creates both and cannot remove them; SQLite removes them when the last writable connection closes.
// A WAL with frames stays: copying it back would hide from a replica the pages changed since its last upload.
func removeEmptyLog(path string) {
	if _, err := os.Stat(path + "-wal"); path == Memory || err != nil || hasFrames(path) {
		return
	}
	release, err := claim(path, false)
	if err != nil {
		return
	}
	c, err := openClaimed(path, toWrite, release)
	if err != nil {
		return // the leftover files are harmless
	}
	c.setBusyTimeout(0)
	c.script("PRAGMA schema_version") // opens the WAL
	c.close()
}

// RepairWAL saves the frames of a deleted WAL, as the next write would. It also repairs a deleted shared memory.
func (s *Store) RepairWAL(ctx context.Context) error {
	return s.Transact(ctx, false, func(func(store.Batch) (store.Result, error)) error { return nil })
}

// repairTimeout limits how long the repair waits for running reads.
const repairTimeout = 2 * time.Second

// repairWAL saves the frames of a deleted WAL, which SQLite still has open. It copies back all possible frames at
// once. Then it creates a new WAL under the name, by leaving WAL mode and entering it again. SQLite allows that
// only to the one connection that has the file open, so it fails while another process uses the old WAL. If
// another WAL exists under the name, another process has written without our frames, and neither WAL may
// overwrite the other. The same holds for the shared memory.
func (s *Store) repairWAL(c *conn) error {
	if b := s.walFiles.Load(); b == nil || b.log.fate() == fileReplaced || b.shared.fate() == fileReplaced {
		return ErrWALGone
	}
	c.setBusyTimeout(busyStep)
	defer c.setBusyTimeout(defaultBusyTimeout)
	if err := c.script("PRAGMA wal_checkpoint(PASSIVE)"); err != nil {
		return err
	}
	s.checkpoints.passing.Lock()
	defer s.checkpoints.passing.Unlock()
	free, err := s.closeReaders()
	if err != nil {
		return err
	}
	defer free()
	s.rowCache.detach()
	s.externalCommits.detach()
	if t := s.tail.Load(); t != nil {
		t.release()
	}
	for _, mode := range []string{"delete", "wal"} {
		rows, _, err := c.run(store.Stmt{SQL: "PRAGMA journal_mode = " + mode})
		if err != nil {
			return err
		}
		if got := string(rows[0][0].Bytes()); got != mode {
			return fmt.Errorf("the file's journal is %s, not %s", got, mode)
		}
	}
	if _, err := c.schemaVersion(); err != nil { // opens the WAL
		return err
	}
	if err := s.recordWAL(c); err != nil {
		return err
	}
	s.rowCache.attach(c)
	s.report(errWALRepaired)
	if s.options.IsolateSlowReads {
		return s.openReaders()
	}
	return nil
}

// closeReaders closes all connections except the writer's, and prevents new ones until free is called.
func (s *Store) closeReaders() (free func(), err error) {
	s.watching.Lock()
	if s.watcher != nil {
		err = s.watcher.close()
		s.watcher = nil
	}
	if s.writer == nil || err != nil {
		return s.watching.Unlock, err
	}
	ctx, cancel := context.WithTimeout(s.life, repairTimeout)
	defer cancel()
	idle, err := s.readers.takeAll(ctx)
	if err != nil {
		s.watching.Unlock()
		return nil, err
	}
	for _, c := range idle {
		err = errors.Join(err, c.close())
	}
	return func() { s.readers.freeAll(); s.watching.Unlock() }, err
}
