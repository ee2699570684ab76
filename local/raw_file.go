package local

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/meowdis/meowdis/local/otherformats"
	"github.com/meowdis/meowdis/store"
	"github.com/meowdis/meowdis/store/schema"
)

// File is a SQLite file opened unchanged, for verbs that check and pack files. Opening it creates no tables,
// migrates nothing and sweeps nothing. The file may be damaged or belong to any program. One goroutine at a
// time may use it.
type File struct {
	path      string
	conn      *conn
	immutable *immutableFile // set for a file that is read without locks
}

// OpenFile opens the file at path, which must exist. Other processes may have it open, too.
func OpenFile(path string, readOnly bool) (*File, error) {
	how := int32(toWrite)
	if readOnly {
		how = toRead
	}
	if err := checkPath(path, true); err != nil {
		return nil, fmt.Errorf("opening %s: %w", path, err)
	}
	f := &File{path: path}
	err := f.open(how)
	if readOnly && isCantOpen(err) && !hasLog(path) {
		if f.immutable, err = statImmutable(path); err == nil {
			err = f.open(how)
		}
	}
	if err != nil {
		err = fmt.Errorf("opening %s: %w", path, explain(path, readOnly, err))
		if isFull(err) {
			discard(path, false)
		} else {
			removeEmptyLog(path)
		}
		return nil, err
	}
	return f, nil
}

func (f *File) open(how int32) (err error) {
	if f.conn, err = openMaybeImmutable(f.path, f.immutable, how); err != nil {
		return err
	}
	if err = f.conn.setUp("PRAGMA cache_size = -32768"); err != nil {
		return errors.Join(err, f.conn.close())
	}
	return nil
}

// Close closes the file.
func (f *File) Close() error {
	err := f.conn.close()
	removeEmptyLog(f.path)
	return err
}

// Path returns the path of the file.
func (f *File) Path() string { return f.path }

// SchemaVersion returns the schema version: 0 for a file without tables, and ErrForeign for a file of another
// program.
func (f *File) SchemaVersion() (int, error) { return f.conn.schemaVersion() }

// Tables lists the columns of all tables except virtual tables.
func (f *File) Tables() (otherformats.File, error) { return f.conn.tables() }

// Query runs a statement and returns all its rows.
func (f *File) Query(sql string, args ...store.Value) ([]store.Row, error) {
	rows, _, err := f.conn.run(store.Stmt{SQL: sql, Args: args})
	if err != nil {
		err = withSQL("running", sql, err)
	}
	return rows, err
}

// Snapshot runs fn in a read transaction: fn does not see later writes by other processes.
func (f *File) Snapshot(fn func() error) error {
	return errors.Join(f.conn.snapshot(fn), f.immutable.check())
}

// Change runs fn in a write transaction, and undoes all of it if fn fails.
func (f *File) Change(fn func() error) error { return f.conn.transaction(beginNow, fn) }

// Rewrite packs the file: it removes free pages and puts the pages of each table together. It needs the same
// disk space again while it runs, and waits for processes that read or write. It also empties the WAL.
func (f *File) Rewrite(ctx context.Context) error {
	for _, sql := range []string{"PRAGMA wal_checkpoint(TRUNCATE)", "VACUUM", "PRAGMA wal_checkpoint(TRUNCATE)"} {
		if err := ctx.Err(); err != nil {
			return err
		}
		if _, _, err := f.conn.run(store.Stmt{SQL: sql}); err != nil {
			return fmt.Errorf("packing %s: %w", f.path, err)
		}
	}
	return nil
}

// Size returns the sizes of the file and its WAL, in bytes.
func (f *File) Size() (file, log int64, err error) {
	info, err := os.Stat(f.path)
	if err != nil {
		return 0, 0, err
	}
	if wal, err := os.Stat(f.path + "-wal"); err == nil {
		log = wal.Size()
	}
	return info.Size(), log, nil
}

// schemaVersion returns the schema version, or 0 for a file without tables.
func (c *conn) schemaVersion() (int, error) {
	rows, _, err := c.run(store.Stmt{SQL: `SELECT count(*), count(*) FILTER (WHERE name = 'meowdis') FROM sqlite_schema WHERE type = 'table'`})
	if err != nil {
		return 0, err
	}
	tables, ours := rows[0][0].Int(), rows[0][1].Int()
	switch {
	case tables == 0:
		return 0, nil
	case ours == 0:
		return 0, ErrForeign
	}
	if rows, _, err = c.run(store.Stmt{SQL: schema.VersionQuery}); err != nil {
		return 0, err
	}
	return int(rows[0][0].Int()), nil
}

// CheckPages returns the first error in the pages of a file that no process has open. It reads the file without
// a WAL.
func CheckPages(path string) (err error) {
	frozen, err := statImmutable(path)
	if err != nil {
		return err
	}
	c, err := openMaybeImmutable(path, frozen, toRead)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, c.close()) }()
	return c.checkPages()
}
