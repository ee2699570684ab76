package local

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"modernc.org/libc"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/meowdis/meowdis/internal/atomicfile"
	"github.com/meowdis/meowdis/store"
	"github.com/meowdis/meowdis/store/schema"
)

// BackupOptions configures a backup.
type BackupOptions struct {
	// Replace lets the backup overwrite an existing file, if that is not a database, or is a meowdis database
	// that no process has open: an earlier backup.
	Replace bool
	// AsIs copies a damaged file, too, page for page.
	AsIs bool
	// Progress, if not nil, is called with the number of copied pages and the total.
	Progress func(done, total int)
	// Began, if not nil, is called once the backup sees its snapshot. In a backup of a Store, no transaction of the
	// store is open then.
	Began func()

	betweenWrites func(fn func() error) error // runs fn between two transactions of the store; nil for a File
}

// Backup copies a snapshot of the file to path; other processes may continue to write. The copy is checked and
// synced before it appears under its name. If anything fails, nothing appears.
func (f *File) Backup(ctx context.Context, path string, o BackupOptions) (err error) {
	info, err := os.Stat(f.path)
	if err != nil {
		return err
	}
	if there, err := os.Stat(path); err == nil && os.SameFile(info, there) {
		return fmt.Errorf("backing up to %s: it is the database itself: name another file", path)
	}
	// The mode is for the owner only, even if other users may read the file. A read-only file makes a
	// read-only backup.
	return makeBackup(ctx, path, info.Mode().Perm()&0o600, o, func(to *conn) error {
		return f.Snapshot(func() error { return f.conn.copyPages(ctx, to, o) })
	})
}

// makeBackup creates the file at path, with the given mode, from the pages that copyPages writes.
func makeBackup(ctx context.Context, path string, mode os.FileMode, o BackupOptions, copyPages func(to *conn) error) (err error) {
	if err := checkBackup(path, o.Replace); err != nil {
		return fmt.Errorf("backing up to %s: %w", path, err)
	}
	partial, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*")
	if err != nil {
		return fmt.Errorf("backing up to %s: %w", path, atomicfile.Pathless(err))
	}
	defer func() {
		if err != nil {
			os.Remove(partial.Name() + "-journal") // if SQLite could not remove it
			err = fmt.Errorf("backing up to %s: %w", path, errors.Join(err, os.Remove(partial.Name())))
		}
	}()
	if err := partial.Close(); err != nil {
		return err
	}
	if err := copyTo(partial.Name(), o, copyPages); err != nil {
		return err
	}
	if err := errors.Join(ctx.Err(), syncPath(partial.Name(), os.O_RDWR)); err != nil {
		return err
	}
	if err := os.Chmod(partial.Name(), mode); err != nil {
		return atomicfile.Pathless(err)
	}
	if err := checkBackup(path, o.Replace); err != nil {
		return err
	}
	if err := atomicfile.Name(partial.Name(), path, o.Replace); err != nil {
		return atomicfile.Pathless(err)
	}
	// Syncing the directory makes the name safe; not every system can do that.
	syncPath(filepath.Dir(path), os.O_RDONLY)
	return nil
}

// checkBackup returns why a backup cannot use this name. With replace, it may overwrite an earlier backup: a
// meowdis database that no process has open.
func checkBackup(path string, replace bool) error {
	err := atomicfile.Check(path, replace)
	switch {
	case !errors.Is(err, atomicfile.ErrDatabase):
		return err
	case !replace:
		return atomicfile.ErrExists
	case retire(path) != nil:
		return fmt.Errorf("%w unless it is a backup that no process has open: name another file", err)
	}
	return nil
}

// retire turns a meowdis database into one file without a WAL, which would otherwise be taken for the new
// file's WAL. It fails if any process has the database open, and for any other database.
func retire(path string) (err error) {
	c, err := openConn(path, toWrite)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, c.close()) }()
	if err := c.script("PRAGMA busy_timeout = 0"); err != nil {
		return err
	}
	rows, _, err := c.run(store.Stmt{SQL: "PRAGMA application_id"})
	if err != nil || rows[0][0].Int() != schema.ApplicationID {
		return errors.Join(err, ErrForeign)
	}
	return c.script("PRAGMA journal_mode = DELETE")
}

func copyTo(path string, o BackupOptions, copyPages func(to *conn) error) (err error) {
	to, err := openConn(path, toWrite)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, to.close()) }()
	if err := copyPages(to); err != nil || o.AsIs {
		return err
	}
	if err := to.checkPages(); err != nil {
		return err
	}
	// A single file without a WAL can be read where no file can be written.
	return to.script("PRAGMA journal_mode = DELETE")
}

// checkPages returns the first error in the pages of the file.
func (c *conn) checkPages() error {
	rows, _, err := c.run(store.Stmt{SQL: "PRAGMA integrity_check(1)"})
	if err == nil && string(rows[0][0].Bytes()) != "ok" {
		says := strings.TrimPrefix(string(rows[0][0].Bytes()), "*** in database main ***\n")
		err = fmt.Errorf("the file is damaged: %s; run meowdis doctor", strings.ReplaceAll(says, "\n", "; "))
	}
	return err
}

// pagesAStep sets how many pages are copied between two checks of the context.
const pagesAStep = 1000

// copyPages copies the database that c sees to the database of to. The transaction of c keeps it from changing
// between two steps.
func (c *conn) copyPages(ctx context.Context, to *conn, o BackupOptions) error {
	first := func() error {
		// A transaction begins with its first read.
		_, _, err := c.run(store.Stmt{SQL: "SELECT count(*) FROM sqlite_schema"})
		if err == nil && o.Began != nil {
			o.Began()
		}
		return err
	}
	if o.betweenWrites == nil {
		o.betweenWrites = func(fn func() error) error { return fn() }
	}
	if err := o.betweenWrites(first); err != nil {
		return err
	}
	main, err := libc.CString("main")
	if err != nil {
		return err
	}
	defer libc.Xfree(c.tls, main)
	backup := sqlite3.Xsqlite3_backup_init(c.tls, to.db, main, c.db, main)
	if backup == 0 {
		return to.fail(sqlite3.SQLITE_ERROR)
	}
	rc := int32(sqlite3.SQLITE_OK)
	for rc == sqlite3.SQLITE_OK && ctx.Err() == nil {
		rc = sqlite3.Xsqlite3_backup_step(c.tls, backup, pagesAStep)
		if o.Progress != nil {
			total := int(sqlite3.Xsqlite3_backup_pagecount(c.tls, backup))
			o.Progress(total-int(sqlite3.Xsqlite3_backup_remaining(c.tls, backup)), total)
		}
	}
	finished := sqlite3.Xsqlite3_backup_finish(c.tls, backup)
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case finished != sqlite3.SQLITE_OK:
		return to.fail(finished)
	case rc != sqlite3.SQLITE_DONE:
		return fmt.Errorf("copying pages: SQLite error %d", rc)
	}
	return nil
}

// syncPath syncs a file or directory to the disk.
func syncPath(path string, flag int) error {
	f, err := os.OpenFile(path, flag, 0)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}
