package local

import (
	"context"
	"errors"
	"strings"

	"github.com/meowdis/meowdis/store"
)

// A load into a file without keys does without the index by hash. To keep it up to date with keys in
// no order is a fifth of the work; to make it of a million at the end takes a second. Without it
// everything is right, but what goes through the keys by hash, as SCAN does, sorts all of them each
// time. So it is made before the first such statement of the load, and when the store closes. Where a
// load was killed, the next one who opens the file for writing makes it, and so does the sweep of a
// process that has the file open. What is Alone does so before the first such statement only: a GET
// beside a load is no reason to sort its keys. None of them waits for another process that writes.

const (
	sqlHashIndex  = `SELECT 1 FROM sqlite_schema WHERE name = 'keys_by_hash'`
	sqlAnyKey     = `SELECT 1 FROM keys LIMIT 1`
	dropHashIndex = `DROP INDEX IF EXISTS keys_by_hash`
	makeHashIndex = `CREATE INDEX IF NOT EXISTS keys_by_hash ON keys(db, hash)`
)

// goesByHash reports whether a statement goes through the keys by hash.
func goesByHash(sql string) bool {
	return strings.Contains(sql, "FROM keys") && strings.Contains(sql, "hash >")
}

// indexed leaves the index by hash out, for a load, or makes the one that a load has left out.
func (s *Store) indexed(c *conn) error {
	if s.options.ReadOnly {
		return nil
	}
	if s.options.Load {
		keys, err := c.query(sqlAnyKey)
		if err != nil || len(keys) == 0 {
			return errors.Join(err, c.beginLoad())
		}
	}
	if s.options.SingleConn && !s.options.Load {
		has, err := c.query(sqlHashIndex)
		c.loading = err == nil && len(has) == 0
		return err
	}
	return c.mendHashIndex()
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

// mendHashIndex makes the index that a load has left out, unless another process writes.
func (c *conn) mendHashIndex() error {
	if has, err := c.query(sqlHashIndex); err != nil || len(has) > 0 {
		return err
	}
	if err := c.tryHashIndex(); !IsBusy(err) {
		return err
	}
	return nil
}

func (c *conn) tryHashIndex() error {
	c.patience(0)
	defer c.patience(busyPatience)
	return c.script(makeHashIndex)
}

// LeaveLoad has Close leave the index of a load to the next process that opens the file, also
// when Close is making it.
func (s *Store) LeaveLoad() { s.leaveLoad() }

// endLoad makes the index that a load has left out. When another process writes for longer than
// writes wait, and after LeaveLoad, the next process that opens the file makes it.
func (s *Store) endLoad() error {
	if !s.options.Load || s.options.ReadOnly {
		return nil
	}
	return s.withWriter(func(c *conn) error {
		if !c.loading || s.loading.Err() != nil {
			return nil
		}
		c.loading = false
		return s.newWorkLimit(s.loading).on(c, s.makeLoadIndex)
	})
}

func (s *Store) makeLoadIndex(c *conn) error {
	c.patience(s.options.BusyTimeout)
	// SQLite sorts as much at a time as its cache may hold: what fits that of the processor takes half
	// as long.
	err := errors.Join(c.script("PRAGMA cache_size = -1024"), c.script(makeHashIndex))
	if IsBusy(err) || s.loading.Err() != nil {
		return nil
	}
	return err
}

// mendAfterLoad makes the index that a process which was killed has left out.
func (s *Store) mendAfterLoad() error {
	has, err := s.read(context.Background(), []store.Batch{{ReadOnly: true, Stmts: []store.Stmt{{SQL: sqlHashIndex}}}}, nil)
	if err != nil || has[0].Refused != nil || len(has[0].Rows[0]) > 0 {
		return err
	}
	return s.withWriter((*conn).mendHashIndex)
}
