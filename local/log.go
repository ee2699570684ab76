package local

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"github.com/meowdis/meowdis/store"
)

// ErrLogGone is the error of a write when the log is no longer under its name: who opens
// the file next would not see what is in it.
var ErrLogGone = errors.New("the log beside the file, whose name ends in -wal, was deleted, moved or replaced while the file was open, " +
	"and nothing more is written: end every process that has the file open, and start again")

// errLogMended is what is reported of a log that was deleted, when nothing is lost.
var errLogMended = errors.New("the log beside the file was deleted while the file was open; what it held is in the file now, and there is a new log")

// rememberLog keeps which log it is that is open.
func (s *Store) rememberLog() {
	if log, err := os.Stat(s.path + "-wal"); err == nil {
		s.log.Store(&log)
	}
}

// logGone returns ErrLogGone when the log is not the one that is open.
func (s *Store) logGone() error {
	log := s.log.Load()
	if log == nil {
		return nil
	}
	if now, err := os.Stat(s.path + "-wal"); err != nil || !os.SameFile(now, *log) {
		return ErrLogGone
	}
	return nil
}

// Mend saves what is in a log that was deleted, as the next write would.
func (s *Store) Mend(ctx context.Context) error {
	return s.Transact(ctx, false, func(func(store.Batch) (store.Result, error)) error { return nil })
}

// mendPatience is how long a deleted log waits for the reads that run.
const mendPatience = 2 * time.Second

// mendLog saves what is in a log that was deleted: SQLite still has it open. What can be
// is copied to the file at once. Then there must be a new log, under its name, which takes
// leaving WAL mode and entering it again: SQLite allows that to the one connection that
// has the file open, so that it fails as long as another process uses the old log. When
// there is another log under the name, a process has begun to write without what is in
// ours, and neither may be copied over the other.
func (s *Store) mendLog(c *conn) error {
	if _, err := os.Lstat(s.path + "-wal"); !errors.Is(err, fs.ErrNotExist) {
		return ErrLogGone
	}
	c.patience(step)
	defer c.patience(busyPatience)
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
	s.kept.off()
	s.others.off()
	if t := s.tail.Load(); t != nil {
		t.letGo()
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
	if _, err := c.schemaVersion(); err != nil { // which opens the log
		return err
	}
	s.rememberLog()
	s.kept.on(c)
	s.report(errLogMended)
	if s.options.Lanes {
		return s.openReaders()
	}
	return nil
}

// closeReaders closes all connections but the writer's, and keeps new ones from being
// opened until free is called.
func (s *Store) closeReaders() (free func(), err error) {
	s.watching.Lock()
	if s.watcher != nil {
		err = s.watcher.close()
		s.watcher = nil
	}
	if s.writer == nil || err != nil {
		return s.watching.Unlock, err
	}
	ctx, cancel := context.WithTimeout(s.life, mendPatience)
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
