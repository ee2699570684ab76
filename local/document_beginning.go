package local

import (
	"context"
	"errors"
	"runtime"
	"unsafe"

	sqlite3 "modernc.org/sqlite/lib"

	"github.com/meowdis/meowdis/store"
)

const sqlDocumentRow = `SELECT d.key_id FROM keys k JOIN documents d ON d.key_id = k.id
	WHERE k.db = ?1 AND k.key = ?2 AND (k.dies_at IS NULL OR k.dies_at > ?3)`

// documentColumn names the column of documents as three C strings: the database, the table and the column.
const documentColumn = "main\x00documents\x00value"

// BeginningOfDocument returns the first n bytes of a JSON document and its size; -1 for a missing key and for a key of
// another type. It reads only the pages of these bytes: a statement reads the whole document, whatever part it selects.
func (s *Store) BeginningOfDocument(ctx context.Context, db int, key string, n int64) (beginning []byte, size int64, err error) {
	release, err := s.use()
	if err != nil {
		return nil, -1, err
	}
	defer release()
	find := store.Stmt{SQL: sqlDocumentRow, Args: []store.Value{store.Int(int64(db)), store.Bytes([]byte(key)), store.Int(s.options.Now())}}
	err = s.withReader(ctx, func(c *conn) error {
		beginning, size = nil, -1
		err := c.snapshot(func() error {
			rows, _, err := c.run(find)
			if err == nil && len(rows) > 0 {
				beginning, size, err = c.beginningOfDocument(rows[0][0].Int(), n)
			}
			return err
		})
		return errors.Join(err, s.immutable.check())
	})
	return beginning, size, err
}

// beginningOfDocument reads the first n bytes of the document in a row.
func (c *conn) beginningOfDocument(row, n int64) (beginning []byte, size int64, err error) {
	rc, err := withCString(c, documentColumn, func(database uintptr) int32 {
		table := database + uintptr(len("main")+1)
		column := table + uintptr(len("documents")+1)
		return sqlite3.Xsqlite3_blob_open(c.tls, c.db, database, table, column, row, 0, c.arena)
	})
	if err != nil {
		return nil, -1, err
	}
	blob := pointerAt(c.arena)
	defer sqlite3.Xsqlite3_blob_close(c.tls, blob) // also after an error, when it may be 0
	if rc != sqlite3.SQLITE_OK {
		return nil, -1, c.fail(rc)
	}
	size = int64(sqlite3.Xsqlite3_blob_bytes(c.tls, blob))
	beginning = make([]byte, min(n, size))
	if len(beginning) == 0 {
		return beginning, size, nil
	}
	rc = sqlite3.Xsqlite3_blob_read(c.tls, blob, uintptr(unsafe.Pointer(unsafe.SliceData(beginning))), int32(len(beginning)), 0)
	runtime.KeepAlive(beginning)
	if rc != sqlite3.SQLITE_OK {
		return nil, -1, c.fail(rc)
	}
	return beginning, size, nil
}
