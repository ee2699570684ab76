package local

import (
	"context"
	"errors"
	"io/fs"
	"os"

	"github.com/meowdis/meowdis/internal/atomicfile"
)

// Sync returns when all that is committed would survive a power cut, as with Options.Full.
func (s *Store) Sync() error {
	if s.path == Memory {
		return nil
	}
	// What is not in the log any more is in the file, which SQLite has made safe before.
	if err := syncPath(s.path+"-wal", os.O_RDWR); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return atomicfile.Pathless(err)
	}
	return nil
}

// Figures are what a store tells those who watch it.
type Figures struct {
	File, Log int64 // bytes; 0 of a store in memory
	Commits   int64 // of this process
	Reads     int64 // batches that were read from the file, and not from kept rows
	Abandoned int64 // requests that were given up
}

// Figures are those of now.
func (s *Store) Figures() Figures {
	f := Figures{Commits: s.commits.Load(), Abandoned: s.abandoned.Load()}
	if s.rowCache != nil {
		f.Reads = s.rowCache.read.Load()
	}
	if info, err := os.Stat(s.path); err == nil && s.path != Memory {
		f.File = info.Size()
	}
	f.Log, _ = s.WALSize()
	return f
}

// Backup is File.Backup of the store. One in memory does nothing else meanwhile.
func (s *Store) Backup(ctx context.Context, path string, o BackupOptions) (err error) {
	if s.path == Memory {
		done, err := s.use()
		if err != nil {
			return err
		}
		defer done()
		return makeBackup(ctx, path, 0o600, o, func(to *conn) error {
			return s.withWriter(func(c *conn) error { return c.copyPages(ctx, to, o.Progress) })
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
	return f.Backup(ctx, path, o)
}
