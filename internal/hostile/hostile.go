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

	"github.com/meowdis/meowdis/schema"
	"github.com/meowdis/meowdis/store"
)

// limits are those of a Durable Object, the narrowest known.
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

// Store is a database in memory. It is safe for concurrent use.
type Store struct {
	mu   sync.Mutex
	db   *sql.DB
	conn *sql.Conn
}

// Open makes an empty database and applies the migrations to it, as any other
// batch.
func Open() (*Store, error) {
	ctx := context.Background()
	db, err := sql.Open("sqlite", "file::memory:?_pragma=foreign_keys(1)")
	if err != nil {
		return nil, err
	}
	conn, err := db.Conn(ctx)
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	s := &Store{db: db, conn: conn}
	if err := s.prepare(ctx); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

func (s *Store) prepare(ctx context.Context) error {
	for id, n := range limits {
		if _, err := sqlite.Limit(s.conn, id, n); err != nil {
			return err
		}
	}
	var migrations []store.Batch
	for i, texts := range schema.Migrations {
		var b store.Batch
		for _, text := range texts {
			b.Stmts = append(b.Stmts, store.Stmt{SQL: text})
		}
		b.Stmts = append(b.Stmts, store.Stmt{SQL: schema.SetVersion, Args: []store.Value{store.Int(int64(i + 1)), store.Int(0)}})
		migrations = append(migrations, b)
	}
	results, err := s.Apply(ctx, migrations)
	for i, r := range results {
		if r.Refused != nil {
			err = errors.Join(err, fmt.Errorf("migration %d: %s", i+1, r.Refused.Reason))
		}
	}
	return err
}

// Close frees the database.
func (s *Store) Close() error { return errors.Join(s.conn.Close(), s.db.Close()) }

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

// batch runs b in a transaction, which only a batch without refusal commits. A
// batch that says it only reads and writes fails.
func (s *Store) batch(ctx context.Context, b store.Batch) (r store.Result, err error) {
	if _, err := s.conn.ExecContext(ctx, fmt.Sprintf("PRAGMA query_only = %t", b.ReadOnly)); err != nil {
		return r, err
	}
	tx, err := s.conn.BeginTx(ctx, nil)
	if err != nil {
		return r, err
	}
	defer func() {
		if err != nil || r.Refused != nil {
			err = errors.Join(err, tx.Rollback())
		} else {
			err = tx.Commit()
		}
	}()
	r.Rows = make([][]store.Row, len(b.Stmts))
	for i, stmt := range b.Stmts {
		r.Rows[i], err = run(ctx, tx, stmt)
		var refused *sqlite.Error
		switch {
		case errors.As(err, &refused) && refused.Code()&0xff == sqlite3.SQLITE_CONSTRAINT:
			r.Refused = &store.Refusal{At: i, Reason: refused.Error()}
			return r, nil
		case err != nil:
			return r, fmt.Errorf("running %q: %w", stmt.SQL, err)
		}
	}
	return r, nil
}

func run(ctx context.Context, tx *sql.Tx, stmt store.Stmt) (rows []store.Row, err error) {
	if err := permitted(stmt); err != nil {
		return nil, err
	}
	args := make([]any, len(stmt.Args))
	for i, v := range stmt.Args {
		args[i] = bound(v)
	}
	r, err := tx.QueryContext(ctx, stmt.SQL, args...)
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
			row[i] = returned(cell)
		}
		rows = append(rows, row)
	}
	return rows, r.Err()
}

var (
	forbidden  = regexp.MustCompile(`(?i)^\s*(BEGIN|COMMIT|END|ROLLBACK|SAVEPOINT|RELEASE|ATTACH|DETACH|VACUUM)\b|\bPRAGMA(_\w+)?\b|\bTEMP(ORARY)?\b`)
	parameters = regexp.MustCompile(`\?(\d*)`)
)

// permitted checks what SQLite itself would let pass.
func permitted(stmt store.Stmt) error {
	if word := forbidden.FindString(stmt.SQL); word != "" {
		return fmt.Errorf("%s is not allowed", strings.TrimSpace(word))
	}
	highest := 0
	for _, p := range parameters.FindAllStringSubmatch(stmt.SQL, -1) {
		n, err := strconv.Atoi(p[1])
		if err != nil {
			return errors.New("a parameter has no number")
		}
		highest = max(highest, n)
	}
	if highest != len(stmt.Args) {
		return fmt.Errorf("the highest parameter is ?%d and there are %d arguments", highest, len(stmt.Args))
	}
	return nil
}

// bound is the argument that arrives: an integer as a double.
func bound(v store.Value) any {
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

// returned is the cell that comes back: an integer as a double.
func returned(cell any) store.Value {
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
