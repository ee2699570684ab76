package local

import (
	"context"
	"errors"
	"strings"

	"github.com/meowdis/meowdis/store"
)

// A load into a file without keys drops the hash index. Maintaining it for keys in random order is a fifth of
// the work; building it for a million keys at the end takes a second. All commands still work without it, but a
// statement that goes through the keys by hash, as SCAN does, sorts all keys each time. So the index is built
// before the first such statement of the load, and when the store closes. If a load was killed, the next
// process that opens the file for writing builds it, and so does the sweep of a process that has the file open.
// A SingleConn store builds it only before the first such statement: a GET beside a load does not justify sorting
// all keys. None of them waits for another process that writes.

const (
	sqlHashIndex  = `SELECT 1 FROM sqlite_schema WHERE name = 'keys_by_hash'`
	sqlAnyKey     = `SELECT 1 FROM keys LIMIT 1`
	dropHashIndex = `DROP INDEX IF EXISTS keys_by_hash`
	makeHashIndex = `CREATE INDEX IF NOT EXISTS keys_by_hash ON keys(db, hash)`
)

// needsHashIndex reports whether a statement goes through the keys by hash.
func needsHashIndex(sql string) bool {
	return strings.Contains(sql, "FROM keys") && strings.Contains(sql, "hash >")
}

// prepareHashIndex drops the hash index for a load, or builds the index that an earlier load has left out.
func (s *Store) prepareHashIndex(c *conn) error {
	if s.options.ReadOnly {
		return nil
	}
	if s.options.BulkLoad {
		keys, err := c.query(sqlAnyKey)
		if err != nil || len(keys) == 0 {
			return errors.Join(err, c.beginLoad())
		}
	}
	if s.options.SingleConn && !s.options.BulkLoad {
		has, err := c.query(sqlHashIndex)
		c.loading = err == nil && len(has) == 0
		return err
	}
	return c.restoreHashIndex()
}

func (c *conn) beginLoad() error {
	return c.transaction(beginNow, func() error {
		keys, err := c.query(sqlAnyKey)
		if err != nil || len(keys) > 0 {
			return err
		}
		c.loading = true
		return c.script(dropHashIndex)
	})
}

// restoreHashIndex builds the index that a load has left out, unless another process writes.
func (c *conn) restoreHashIndex() error {
	if has, err := c.query(sqlHashIndex); err != nil || len(has) > 0 {
		return err
	}
	if err := c.buildHashIndex(); !IsBusy(err) {
		return err
	}
	return nil
}

func (c *conn) buildHashIndex() error {
	c.setBusyTimeout(0)
	defer c.setBusyTimeout(defaultBusyTimeout)
	return c.script(makeHashIndex)
}

// EndBulkLoad lets the next process that opens the file build the index of a load. It also interrupts a Close
// that is building it.
func (s *Store) EndBulkLoad() { s.endBulkLoad() }

// BulkLoading reports whether the store was opened for a bulk load and the file had no keys.
func (s *Store) BulkLoading() bool {
	loading := false
	err := s.withWriter(func(c *conn) error {
		loading = c.loading
		return nil
	})
	return err == nil && loading && s.options.BulkLoad
}

// finishBulkLoad builds the index that a load has left out. After EndBulkLoad, or if another process writes for longer
// than the busy timeout, it leaves that to the next process that opens the file.
func (s *Store) finishBulkLoad() error {
	if !s.options.BulkLoad || s.options.ReadOnly {
		return nil
	}
	return s.withWriter(func(c *conn) error {
		if !c.loading || s.loading.Err() != nil {
			return nil
		}
		c.loading = false
		return s.newWorkLimit(s.loading).run(c, s.makeLoadIndex)
	})
}

func (s *Store) makeLoadIndex(c *conn) error {
	c.setBusyTimeout(s.options.BusyTimeout)
	// SQLite sorts as much at a time as its cache holds. A sort that fits the processor's cache takes half as
	// long.
	err := errors.Join(c.script("PRAGMA cache_size = -1024"), c.script(makeHashIndex))
	if IsBusy(err) || s.loading.Err() != nil {
		return nil
	}
	return err
}

// restoreAfterLoad builds the index that a killed process has left out.
func (s *Store) restoreAfterLoad() error {
	has, err := s.read(context.Background(), []store.Batch{{ReadOnly: true, Stmts: []store.Stmt{{SQL: sqlHashIndex}}}}, nil)
	if err != nil || has[0].Refused != nil || len(has[0].Rows[0]) > 0 {
		return err
	}
	return s.withWriter((*conn).restoreHashIndex)
}
