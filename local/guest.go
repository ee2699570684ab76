package local

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"modernc.org/libc"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/meowdis/meowdis/store"
	"github.com/meowdis/meowdis/store/schema"
)

// guestMay lists the actions of a guest's statement: it may read and write rows of the file's tables. It may not use
// another file, a pragma, a transaction, or create or drop tables. SQLite asks about each of these while it
// compiles a statement. A pragma can also be read as a table, and the file's pages can be read and written as
// the table sqlite_dbpage.
var guestMay = map[int32]bool{
	sqlite3.SQLITE_SELECT: true, sqlite3.SQLITE_READ: true, sqlite3.SQLITE_RECURSIVE: true, sqlite3.SQLITE_FUNCTION: true,
	sqlite3.SQLITE_INSERT: true, sqlite3.SQLITE_UPDATE: true, sqlite3.SQLITE_DELETE: true,
}

// badStatement holds the error of a guest's statement that cannot run.
type badStatement struct{ error }

func (e badStatement) Unwrap() error { return e.error }

// authorize is SQLite's authorizer callback for guest statements.
func authorize(_ *libc.TLS, _ uintptr, action int32, name, _, _, _ uintptr) int32 {
	switch {
	case !guestMay[action]:
		return sqlite3.SQLITE_DENY
	case action == sqlite3.SQLITE_SELECT || action == sqlite3.SQLITE_RECURSIVE || action == sqlite3.SQLITE_FUNCTION:
		return sqlite3.SQLITE_OK
	}
	table := strings.ToLower(libc.GoString(name))
	switch {
	case strings.HasPrefix(table, "pragma_"), table == "sqlite_dbpage":
		return sqlite3.SQLITE_DENY
	case action != sqlite3.SQLITE_READ && strings.HasPrefix(table, "sqlite_"):
		return sqlite3.SQLITE_DENY
	}
	return sqlite3.SQLITE_OK
}

// admit prepares a statement that a guest may run. Each text is authorized once, before it is prepared for
// running, because some pragmas take effect while they are compiled.
func (c *conn) admit(sql string) (*prepared, error) {
	p := c.prepared[sql]
	if p != nil && p.admitted {
		return p, nil
	}
	if err := c.authorized(sql); err != nil {
		return nil, err
	}
	p, err := c.prepare(sql)
	if err == nil {
		p.admitted = true
	}
	return p, err
}

// authorized compiles a guest's statement to check whether it may run. The triggers of search may be created and dropped,
// word for word.
func (c *conn) authorized(sql string) error {
	for _, list := range [][]string{schema.SearchTriggers, schema.SearchStringTriggers, schema.DropSearchTriggers} {
		if slices.Contains(list, sql) {
			return nil
		}
	}
	sqlite3.Xsqlite3_set_authorizer(c.tls, c.db, address(authorize), 0)
	defer sqlite3.Xsqlite3_set_authorizer(c.tls, c.db, 0, 0)
	more := false
	rc, err := withCString(c, sql, func(text uintptr) int32 {
		at, tail := c.arena, c.arena+8
		rc := sqlite3.Xsqlite3_prepare_v3(c.tls, c.db, text, -1, 0, at, tail)
		if rc == sqlite3.SQLITE_OK {
			sqlite3.Xsqlite3_finalize(c.tls, pointerAt(at))
			more = strings.Trim(libc.GoString(pointerAt(tail)), " \t\r\n;") != ""
		}
		return rc
	})
	switch {
	case err != nil:
		return err
	case rc == sqlite3.SQLITE_AUTH:
		return c.fail(rc)
	case rc != sqlite3.SQLITE_OK:
		return fmt.Errorf("preparing %q: %w", sql, c.fail(rc))
	case more:
		return errors.New("more than one statement")
	}
	return nil
}

// admitted prepares and checks a guest's statement. readOnly is set for a reading batch.
func (c *conn) admitted(s store.Stmt, readOnly bool) error {
	p, err := c.admit(s.SQL)
	switch {
	case err != nil:
	case readOnly && p.writes:
		err = errors.New("the statement writes in a read-only batch")
	case len(s.Args) != p.params:
		err = fmt.Errorf("a statement with %d parameters got %d arguments", p.params, len(s.Args))
	}
	if err != nil {
		return badStatement{err}
	}
	return nil
}

// errRolledBack is returned for INSERT OR ROLLBACK, which would end the transaction of all clients.
var errRolledBack = errors.New("a statement must not roll the transaction back")

// badStatementRefusal returns the refusal of a guest's statement that cannot run, or nil for any other error.
func badStatementRefusal(err error) *store.Refusal {
	var e badStatement
	if errors.As(err, &e) || isOneOf(err, sqlite3.SQLITE_ERROR, sqlite3.SQLITE_TOOBIG, sqlite3.SQLITE_MISMATCH) {
		return &store.Refusal{Reason: err.Error(), BadStatement: true}
	}
	return nil
}

// Columns returns the column names of a guest's statement.
func (s *Store) Columns(sql string) (names []string, err error) {
	release, err := s.use()
	if err != nil {
		return nil, err
	}
	defer release()
	err = s.withReader(s.life, func(c *conn) error {
		p, err := c.admit(sql)
		if err != nil {
			return err
		}
		names = make([]string, p.columns)
		for i := range names {
			names[i] = libc.GoString(sqlite3.Xsqlite3_column_name(c.tls, p.stmt, int32(i)))
		}
		return nil
	})
	return names, err
}
