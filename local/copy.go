package local

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"github.com/meowdis/meowdis/store"
)

// Copy writes pages of another file into a copy of it, while stores read the copy. One goroutine at a time may
// use it.
type Copy struct {
	path  string
	conn  *conn // never in a transaction; only for reading
	index *walIndex
	seen  walHeader // after the last Put
}

// ErrCopyChanged is returned by Put if another process has written to the copy.
var ErrCopyChanged = errors.New("another process has written to the copy")

// OpenCopy opens a file in WAL mode, which must exist.
func OpenCopy(path string) (_ *Copy, err error) {
	c := &Copy{path: path}
	if c.conn, err = openConn(path, toRead); err != nil {
		return nil, fmt.Errorf("opening %s: %w", path, err)
	}
	if _, err = c.conn.pragma("data_version"); err == nil { // opens the WAL
		c.index, err = c.conn.walIndex()
	}
	if err != nil {
		return nil, fmt.Errorf("opening %s: %w", path, errors.Join(err, c.Close()))
	}
	c.seen = c.index.read()
	return c, nil
}

// Close closes the copy. The caller closes the stores first.
func (c *Copy) Close() error { return c.conn.close() }

// Changed reports whether another process has written to the copy since the last Put.
func (c *Copy) Changed() bool { return !c.index.is(&c.seen) }

// Page is one page of a file.
type Page struct {
	Number uint32
	Data   []byte
}

// Put writes the given pages to the copy, whose size is then pages. Readers see all of them or none. If whole
// is set, next returns the pages of the whole file, and the previous content does not matter. next is called
// until Number is 0; it may reuse Data.
func (c *Copy) Put(ctx context.Context, whole bool, pages uint32, next func() (Page, error)) (err error) {
	w, err := openConn(c.path, toWrite) // a new connection, because an old one would trust its own cache
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, w.close()) }()
	if err := w.setUp("PRAGMA cache_size = -32768", fmt.Sprintf("PRAGMA journal_size_limit = %d", 64<<20)); err != nil {
		return err
	}
	err = w.transaction(beginNow, func() error {
		if !whole && !c.index.is(&c.seen) {
			return ErrCopyChanged
		}
		return w.putPages(ctx, whole, pages, next)
	})
	if err == nil {
		c.seen = c.index.read()
	}
	return err
}

const (
	writePage = "INSERT INTO sqlite_dbpage(pgno, data) VALUES(?1, ?2)"
	// Writes the first page and truncates the file.
	writeFirst = "INSERT INTO sqlite_dbpage(pgno, data) VALUES(1, ?1), (?2, NULL)"
)

// putPages writes the first page last, in the same statement that truncates the file: after it, SQLite reads
// the schema again for each statement, and its cached pages are stale.
func (c *conn) putPages(ctx context.Context, whole bool, pages uint32, next func() (Page, error)) error {
	had, err := c.pragma("page_count")
	if err != nil {
		return err
	}
	var first []byte
	for {
		p, err := next()
		if err = errors.Join(err, ctx.Err()); err != nil {
			return err
		}
		switch {
		case p.Number == 0:
			return c.putFirst(first, had, int64(pages))
		case p.Number == 1:
			first = bytes.Clone(p.Data)
			continue
		}
		if err := c.putPage(p, whole && int64(p.Number) <= had); err != nil {
			return err
		}
	}
}

// putPage writes the page. With look, it skips a page that has not changed.
func (c *conn) putPage(p Page, look bool) error {
	args := []store.Value{store.Int(int64(p.Number)), store.Bytes(p.Data)}
	if look {
		rows, _, err := c.run(store.Stmt{SQL: readPage + " AND data = ?2", Args: args})
		if err != nil || len(rows) == 1 {
			return err
		}
	}
	_, _, err := c.run(store.Stmt{SQL: writePage, Args: args})
	return err
}

// putFirst writes the first page, if it changed, and truncates a file that had more pages.
func (c *conn) putFirst(first []byte, had, pages int64) (err error) {
	switch {
	case had > pages && first == nil:
		return errors.New("the file shrinks, but its first page is missing")
	case had > pages:
		_, _, err = c.run(store.Stmt{SQL: writeFirst, Args: []store.Value{store.Bytes(first), store.Int(pages + 1)}})
	case first != nil:
		err = c.putPage(Page{1, first}, false)
	}
	return err
}
