package local

import (
	"fmt"

	sqlite3 "modernc.org/sqlite/lib"

	"github.com/meowdis/meowdis/store"
)

var (
	begin    = store.Stmt{SQL: "BEGIN"}
	beginNow = store.Stmt{SQL: "BEGIN IMMEDIATE"}
	commit   = store.Stmt{SQL: "COMMIT"}
	rollback = store.Stmt{SQL: "ROLLBACK"}
	mark     = store.Stmt{SQL: "SAVEPOINT command"}
	unmark   = store.Stmt{SQL: "RELEASE command"}
	undo     = store.Stmt{SQL: "ROLLBACK TO command"}
)

// control runs one of these statements without a limit: a commit that took effect but reported an error would
// be worse than a late one.
func (c *conn) control(s store.Stmt) error {
	v := c.workLimit
	c.workLimit = nil
	defer func() { c.workLimit = v }()
	_, _, err := c.run(s)
	return err
}

// begin waits for another process's transaction for at most one step, so that the caller can do other work in
// between. It does not wait at all if the work must be short. The error is then errLocked.
func (c *conn) begin(s store.Stmt) error {
	if c.stuck {
		if err := c.control(rollback); err != nil && !c.idle() {
			return err
		}
		c.stuck = false
	}
	if s.SQL != beginNow.SQL || c.workLimit == nil {
		return c.control(s)
	}
	if c.workLimit.promoteToLong != nil {
		c.setBusyTimeout(0)
	} else {
		c.setBusyTimeout(busyStep)
	}
	defer c.setBusyTimeout(defaultBusyTimeout)
	err := c.control(s)
	if IsBusy(err) {
		err = fmt.Errorf("%w: %w", errLocked, err)
	}
	return err
}

// snapshot runs fn in a read transaction.
func (c *conn) snapshot(fn func() error) error {
	return c.transaction(begin, fn)
}

// transaction runs fn in a transaction, which commits unless fn fails or panics. The panic is an error. No other
// function begins, commits or rolls back.
func (c *conn) transaction(start store.Stmt, fn func() error) (err error) {
	if err := c.begin(start); err != nil {
		return fmt.Errorf("beginning a transaction: %w", err)
	}
	c.changesAtBegin = c.changes
	defer func() {
		if fault := store.Recovered(recover()); fault != nil {
			err = fault
		}
		err = c.end(err)
	}()
	return fn()
}

// end commits, or rolls back after err.
func (c *conn) end(err error) error {
	if err == nil {
		if err = c.control(commit); err == nil {
			return nil
		}
		err = fmt.Errorf("committing: %w", err)
	}
	// SQLite may have rolled back by itself, for example on a full disk. Then this fails, and there is nothing
	// to undo.
	c.control(rollback)
	c.stuck = !c.idle()
	return err
}

// idle reports whether no transaction is open.
func (c *conn) idle() bool { return sqlite3.Xsqlite3_get_autocommit(c.tls, c.db) != 0 }
