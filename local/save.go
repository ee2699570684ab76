package local

import (
	"context"
	"errors"
	"io/fs"
	"os"
)

// Sync returns when all that is committed would survive a power cut, as with Options.Full.
func (s *Store) Sync() error {
	if s.path == Memory {
		return nil
	}
	// What is not in the log any more is in the file, which SQLite has made safe before.
	if err := syncPath(s.path+"-wal", os.O_RDWR); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return Pathless(err)
	}
	return nil
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
