// Package hostile is an in-memory store with the worst habits of every remote
// SQL engine at once, so that a command which would break at the edge breaks in
// the unit tests.
//
// It has no transactions to hold open. Every integer it is given arrives as a
// double, and every integer it returns is one. It takes 100 parameters, 100 KB
// of SQL, 100 columns, five terms of a compound SELECT, 32 arguments of a
// function, LIKE and GLOB patterns of 50 bytes and values and rows of 2 MB. It
// forbids transaction control, pragmas, temporary tables and other databases.
package hostile

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/meowdis/meowdis/store"
	"github.com/meowdis/meowdis/store/schema"
)

// limits holds the limits of a Durable Object, the narrowest known.
var limits = map[int]int{
	sqlite3.SQLITE_LIMIT_LENGTH:              2 << 20,
	sqlite3.SQLITE_LIMIT_SQL_LENGTH:          100_000,
	sqlite3.SQLITE_LIMIT_COLUMN:              100,
	sqlite3.SQLITE_LIMIT_COMPOUND_SELECT:     5,
	sqlite3.SQLITE_LIMIT_FUNCTION_ARG:        32,
	sqlite3.SQLITE_LIMIT_ATTACHED:            0,
	sqlite3.SQLITE_LIMIT_LIKE_PATTERN_LENGTH: 50,
	sqlite3.SQLITE_LIMIT_VARIABLE_NUMBER:     100,
}

// Store is an in-memory database. It is safe for concurrent use.
type Store struct {
	mu       sync.Mutex
	db       *sql.DB
	conn     *sql.Conn
	prepared map[string]*prepared
}

// prepared is a permitted statement.
type prepared struct {
	*sql.Stmt
	params int // the highest parameter number
}

// Open creates a database with our tables, empty.
func Open() (*Store, error) {
	image, err := emptyImage()
	if err != nil {
		return nil, err
	}
	s, err := OpenEmpty()
	if err != nil {
		return nil, err
	}
	if err := s.conn.Raw(func(c any) error { return c.(interface{ Deserialize([]byte) error }).Deserialize(image) }); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// OpenEmpty creates a database without tables.
func OpenEmpty() (*Store, error) {
	ctx := context.Background()
	db, err := sql.Open("sqlite", "file::memory:?_pragma=foreign_keys(1)")
	if err != nil {
		return nil, err
	}
	conn, err := db.Conn(ctx)
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	s := &Store{db: db, conn: conn, prepared: map[string]*prepared{}}
	for id, n := range limits {
		if _, err := sqlite.Limit(s.conn, id, n); err != nil {
			return nil, errors.Join(err, s.Close())
		}
	}
	return s, nil
}

// emptyImage returns the image of a database with our tables, created once by an ordinary batch.
// Creating it is most of the cost of a short test.
var emptyImage = sync.OnceValues(func() (image []byte, err error) {
	s, err := OpenEmpty()
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	if err := schema.Ready(context.Background(), s.Apply, 0); err != nil {
		return nil, err
	}
	return image, s.conn.Raw(func(c any) error {
		image, err = c.(interface{ Serialize() ([]byte, error) }).Serialize()
		return err
	})
})

// Close frees the database.
func (s *Store) Close() error {
	var err error
	for _, p := range s.prepared {
		err = errors.Join(err, p.Close())
	}
	return errors.Join(err, s.conn.Close(), s.db.Close())
}

// Apply implements the engine's contract.
func (s *Store) Apply(ctx context.Context, batches []store.Batch) ([]store.Result, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	results := make([]store.Result, len(batches))
	for i, b := range batches {
		var err error
		if results[i], err = s.batch(ctx, b); err != nil {
			return nil, fmt.Errorf("the hostile store, batch %d: %w", i, err)
		}
	}
	return results, nil
}

// batch runs b in a transaction and commits it unless a statement refuses. A batch that
// wrongly claims to only read, or to only write, fails.
func (s *Store) batch(ctx context.Context, b store.Batch) (r store.Result, err error) {
	if err := s.do(ctx, "BEGIN"); err != nil {
		return r, err
	}
	defer func() {
		ctx := context.WithoutCancel(ctx) // a transaction must end
		if err != nil || r.Refused != nil {
			err = errors.Join(err, s.do(ctx, "ROLLBACK"))
		} else {
			err = s.do(ctx, "COMMIT")
		}
	}()
	r.Rows, r.Changes = make([][]store.Row, len(b.Stmts)), make([]int64, len(b.Stmts))
	for i, stmt := range b.Stmts {
		r.Rows[i], err = s.run(ctx, stmt, b.ReadOnly)
		var refused *sqlite.Error
		switch {
		case errors.As(err, &refused) && refused.Code()&0xff == sqlite3.SQLITE_CONSTRAINT:
			r.Refused = &store.Refusal{At: i, Reason: refused.Error()}
			return r, nil
		case err != nil:
			return r, fmt.Errorf("running %q: %w", stmt.SQL, err)
		case b.ReadOnly:
			continue
		}
		if r.Changes[i], err = s.changes(ctx); err != nil {
			return r, err
		}
	}
	return r, nil
}

// changes returns the number of rows changed by the last write statement.
func (s *Store) changes(ctx context.Context) (n int64, err error) {
	rows, err := s.conn.QueryContext(ctx, "SELECT changes()")
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	rows.Next()
	return n, rows.Scan(&n)
}

// do begins or ends a transaction.
func (s *Store) do(ctx context.Context, text string) error {
	_, err := s.conn.ExecContext(ctx, text)
	return err
}

// prepare caches statements: the translator's texts are constants.
func (s *Store) prepare(ctx context.Context, text string) (*prepared, error) {
	if p := s.prepared[text]; p != nil {
		return p, nil
	}
	params, err := permitted(text)
	if err != nil {
		return nil, err
	}
	stmt, err := s.conn.PrepareContext(ctx, text)
	if err != nil {
		return nil, err
	}
	p := &prepared{stmt, params}
	s.prepared[text] = p
	return p, nil
}

// writeStatements caches the results of writes, by text: they are the same in all databases. Each change
// of PRAGMA query_only would make SQLite recompile every statement.
var writeStatements sync.Map

// writes reports whether the statement takes the write lock, even if it then changes nothing. It
// must not come between statements that write: it resets changes().
func (s *Store) writes(ctx context.Context, text string, params int) (yes bool, err error) {
	if yes, ok := writeStatements.Load(text); ok {
		return yes.(bool), nil
	}
	rows, err := s.conn.QueryContext(ctx, "EXPLAIN "+text, make([]any, params)...)
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		var op string
		var writing int
		var other any
		if err := rows.Scan(&other, &op, &other, &writing, &other, &other, &other, &other); err != nil {
			return false, err
		}
		yes = yes || op == "Transaction" && writing != 0
	}
	writeStatements.Store(text, yes)
	return yes, rows.Err()
}

func (s *Store) run(ctx context.Context, stmt store.Stmt, readOnly bool) (rows []store.Row, err error) {
	p, err := s.prepare(ctx, stmt.SQL)
	if err != nil {
		return nil, err
	}
	if p.params != len(stmt.Args) {
		return nil, fmt.Errorf("the highest parameter is ?%d and there are %d arguments", p.params, len(stmt.Args))
	}
	if readOnly {
		if writes, err := s.writes(ctx, stmt.SQL, p.params); err != nil || writes {
			return nil, errors.Join(err, errors.New("the batch is declared read-only"))
		}
	}
	args := make([]any, len(stmt.Args))
	for i, v := range stmt.Args {
		args[i] = toDriver(v)
	}
	r, err := p.QueryContext(ctx, args...)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	columns, err := r.Columns()
	if err != nil {
		return nil, err
	}
	cells, into := make([]any, len(columns)), make([]any, len(columns))
	for i := range cells {
		into[i] = &cells[i]
	}
	for r.Next() {
		if err := r.Scan(into...); err != nil {
			return nil, err
		}
		row := make(store.Row, len(cells))
		for i, cell := range cells {
			row[i] = fromDriver(cell)
		}
		rows = append(rows, row)
	}
	return rows, r.Err()
}

var (
	forbidden  = regexp.MustCompile(`(?i)^\s*(BEGIN|COMMIT|END|ROLLBACK|SAVEPOINT|RELEASE|ATTACH|DETACH|VACUUM)\b|\bPRAGMA(_\w+)?\b|\bTEMP(ORARY)?\b`)
	parameters = regexp.MustCompile(`\?(\d*)`)
)

// permitted checks for SQL that SQLite itself would allow, and returns the highest parameter
// number.
func permitted(text string) (params int, err error) {
	if word := forbidden.FindString(text); word != "" {
		return 0, fmt.Errorf("%s is not allowed", strings.TrimSpace(word))
	}
	for _, p := range parameters.FindAllStringSubmatch(text, -1) {
		n, err := strconv.Atoi(p[1])
		if err != nil {
			return 0, errors.New("a parameter has no number")
		}
		params = max(params, n)
	}
	return params, nil
}

// toDriver returns the argument as the store receives it: an integer becomes a double.
func toDriver(v store.Value) any {
	switch v.Kind() {
	case store.Integer:
		return float64(v.Int())
	case store.Real:
		return v.Float()
	case store.Text:
		return string(v.Bytes())
	case store.Blob:
		return append([]byte{}, v.Bytes()...)
	}
	return nil
}

// fromDriver returns the cell as the caller receives it: an integer becomes a double.
func fromDriver(cell any) store.Value {
	switch v := cell.(type) {
	case int64:
		return store.Float(float64(v))
	case float64:
		return store.Float(v)
	case string:
		return store.String(v)
	case []byte:
		return store.Bytes(v)
	}
	return store.Value{}
}
