package local

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/meowdis/meowdis/store"
)

// conn is one SQLite connection with its prepared statements. It goes past
// database/sql, whose pool and locks would cost more than the statements.
type conn struct {
	raw      rawConn
	prepared map[string]*prepared
	args     []driver.NamedValue
}

type rawConn interface {
	driver.Conn
	driver.ExecerContext
	driver.QueryerContext
}

type rawStmt interface {
	driver.Stmt
	driver.StmtExecContext
	driver.StmtQueryContext
}

type prepared struct {
	stmt    rawStmt
	columns int // of the rows that it returns
	writes  bool
}

// The translator's statements are a few hundred constants; more than this means
// that somebody else's text comes along.
const maxPrepared = 2000

func openConn(dsn string) (*conn, error) {
	raw, err := (&sqlite.Driver{}).Open(dsn)
	if err != nil {
		return nil, err
	}
	rc, ok := raw.(rawConn)
	if !ok {
		return nil, errors.Join(errors.New("the SQLite driver lacks an interface"), raw.Close())
	}
	return &conn{raw: rc, prepared: map[string]*prepared{}}, nil
}

func (c *conn) close() error {
	var errs []error
	for _, p := range c.prepared {
		errs = append(errs, p.stmt.Close())
	}
	return errors.Join(append(errs, c.raw.Close())...)
}

// script runs SQL without arguments or rows.
func (c *conn) script(sql string) error {
	_, err := c.raw.ExecContext(context.Background(), sql, nil)
	if err != nil {
		return fmt.Errorf("running %q: %w", sql, err)
	}
	return nil
}

func (c *conn) prepare(sql string) (*prepared, error) {
	if p := c.prepared[sql]; p != nil {
		return p, nil
	}
	if len(c.prepared) >= maxPrepared {
		for text, p := range c.prepared {
			p.stmt.Close()
			delete(c.prepared, text)
		}
	}
	s, err := c.raw.Prepare(sql)
	if err != nil {
		return nil, fmt.Errorf("preparing %q: %w", sql, err)
	}
	rs, ok := s.(rawStmt)
	if !ok {
		return nil, errors.New("the SQLite driver lacks an interface")
	}
	p := &prepared{stmt: rs, columns: -1}
	if p.writes = writes(sql); p.writes && !returns(sql) {
		p.columns = 0
	}
	c.prepared[sql] = p
	return p, nil
}

// writes tells whether a statement may write. Behind WITH the verb can stand
// anywhere: a word that looks like one counts.
func writes(sql string) bool {
	first, rest, _ := strings.Cut(strings.Join(strings.Fields(strings.ToUpper(sql)), " "), " ")
	switch first {
	case "SELECT", "VALUES", "EXPLAIN":
		return false
	case "WITH":
		return slices.ContainsFunc([]string{"INSERT", "UPDATE", "DELETE", "REPLACE"}, func(verb string) bool {
			return strings.Contains(rest, verb)
		})
	}
	return true
}

// returns tells whether a statement that writes may return rows.
func returns(sql string) bool {
	upper := strings.ToUpper(sql)
	return strings.Contains(upper, "RETURNING") || strings.HasPrefix(strings.TrimSpace(upper), "WITH")
}

// run executes one statement. changed tells whether it may have changed
// anything.
func (c *conn) run(s store.Stmt) (rows []store.Row, changed bool, err error) {
	p, err := c.prepare(s.SQL)
	if err != nil {
		return nil, false, err
	}
	args := c.bind(s.Args)
	if p.columns == 0 {
		r, err := p.stmt.ExecContext(context.Background(), args)
		if err != nil {
			return nil, false, err
		}
		n, err := r.RowsAffected()
		return nil, n > 0, err
	}
	rows, err = p.query(args)
	return rows, p.writes, err
}

func (c *conn) bind(args []store.Value) []driver.NamedValue {
	for len(c.args) < len(args) {
		c.args = append(c.args, driver.NamedValue{Ordinal: len(c.args) + 1})
	}
	for i, a := range args {
		c.args[i].Value = driverValue(a)
	}
	return c.args[:len(args)]
}

func driverValue(v store.Value) driver.Value {
	switch v.Kind() {
	case store.Integer:
		return v.Int()
	case store.Real:
		return v.Float()
	case store.Text:
		return string(v.Bytes())
	case store.Blob:
		if b := v.Bytes(); b != nil {
			return b
		}
		return []byte{}
	}
	return nil
}

func (p *prepared) query(args []driver.NamedValue) (rows []store.Row, err error) {
	r, err := p.stmt.QueryContext(context.Background(), args)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	if p.columns < 0 {
		p.columns = len(r.Columns())
	}
	cells := make([]driver.Value, p.columns)
	for {
		switch err := r.Next(cells); {
		case errors.Is(err, io.EOF):
			return rows, nil
		case err != nil:
			return nil, err
		}
		row := make(store.Row, len(cells))
		for i, cell := range cells {
			row[i] = storeValue(cell)
		}
		rows = append(rows, row)
	}
}

func storeValue(v driver.Value) store.Value {
	switch v := v.(type) {
	case int64:
		return store.Int(v)
	case float64:
		return store.Float(v)
	case string:
		return store.String(v)
	case []byte:
		return store.Bytes(v)
	}
	return store.Value{}
}

// refusal returns the constraint that err reports, or nil when err is something
// else.
func refusal(err error) *store.Refusal {
	var e *sqlite.Error
	if errors.As(err, &e) && e.Code()&0xff == sqlite3.SQLITE_CONSTRAINT {
		return &store.Refusal{Reason: e.Error()}
	}
	return nil
}

// batch runs the statements of b until one is refused. changed tells whether
// something must be rolled back then.
func (c *conn) batch(b store.Batch) (r store.Result, changed bool, err error) {
	r.Rows = make([][]store.Row, len(b.Stmts))
	for i, s := range b.Stmts {
		rows, did, err := c.run(s)
		if err != nil {
			if r.Refused = refusal(err); r.Refused == nil {
				return r, changed, err
			}
			r.Refused.At = i
			return r, changed, nil
		}
		r.Rows[i] = rows
		changed = changed || did
	}
	return r, changed, nil
}
