package local

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/meowdis/meowdis/internal/atomicfile"
	"github.com/meowdis/meowdis/store"
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

// SetConfirm makes the writer call confirm after each commit, before a client gets its reply. An error means that the
// outcome of the committed writes is unknown. The context ends when the store abandons its work. While confirm runs,
// other writes wait, and reads continue.
func (s *Store) SetConfirm(confirm func(context.Context) error) { s.confirm.Store(&confirm) }

// confirmCommit waits until the last commit is confirmed, and asks the guard.
func (s *Store) confirmCommit() (err error) {
	if confirm := s.confirm.Load(); confirm != nil {
		err = store.Caught(func() error { return (*confirm)(s.life) })
	}
	if err == nil {
		err = s.guarded()
	}
	if err != nil {
		return &lateError{fmt.Errorf("%w: %w", errUnconfirmed, err)}
	}
	return nil
}

// errUnconfirmed reports that a write is committed here and perhaps nowhere else.
var errUnconfirmed = errors.New("the write is not confirmed")

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
