package local

import (
	"context"
	"errors"
	"io/fs"
	"os"

	"github.com/meowdis/meowdis/internal/atomicfile"
)

// Sync syncs the WAL: once it returns, all commits survive a power cut, as with Options.SyncFull.
func (s *Store) Sync() error {
	if s.path == Memory {
		return nil
	}
	// Frames that left the WAL are in the file, which SQLite has synced.
	if err := syncPath(s.path+"-wal", os.O_RDWR); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return atomicfile.Pathless(err)
	}
	return nil
}

// Stats holds statistics of a store.
type Stats struct {
	File, Log int64 // bytes; 0 for an in-memory store
	Commits   int64 // of this process
	Reads     int64 // batches read from the file, not from the row cache
	Abandoned int64 // calls that failed because of Abandon
}

// Stats returns the current statistics.
func (s *Store) Stats() Stats {
	f := Stats{Commits: s.commits.Load(), Abandoned: s.abandoned.Load()}
	if s.rowCache != nil {
		f.Reads = s.rowCache.sqliteReads.Load()
	}
	if info, err := os.Stat(s.path); err == nil && s.path != Memory {
		f.File = info.Size()
	}
	f.Log, _ = s.WALSize()
	return f
}

// Backup copies the store to path, as File.Backup does. An in-memory store blocks other calls during the
// backup.
func (s *Store) Backup(ctx context.Context, path string, o BackupOptions) (err error) {
	if s.path == Memory {
		done, err := s.use()
		if err != nil {
			return err
		}
		defer done()
		return makeBackup(ctx, path, 0o600, o, func(to *conn) error {
			return s.withWriter(func(c *conn) error { return c.copyPages(ctx, to, o) })
		})
	}
	if err := s.Moved(); err != nil {
		return err
	}
	f, err := OpenFile(s.path, true)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	if o.Began != nil {
		o.betweenWrites = func(fn func() error) error { return s.withWriter(func(*conn) error { return fn() }) }
	}
	return f.Backup(ctx, path, o)
}
