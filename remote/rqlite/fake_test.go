package rqlite_test

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/hex"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	_ "modernc.org/sqlite"

	"github.com/meowdis/meowdis/remote/rqlite"
	"github.com/meowdis/meowdis/store/schema"
)

// fake is a node that answers as the documentation and the source of rqlite say that 8 to 10 do, over a
// database in memory. The tests of the real one are those with -cluster; versions after 8 cannot be built
// by them, and no real one loses its connection when it is told to.
type fake struct {
	*httptest.Server
	version string
	// hook, unless it is nil, may answer in place of the node, or after carry has carried the request out,
	// whose answer it returns.
	hook func(w http.ResponseWriter, r *http.Request, carry func() []byte) (answered bool)

	mu   sync.Mutex
	conn *sql.Conn
	seen []string // the paths and levels of requests
}

func newFake(t *testing.T, version string) *fake {
	t.Helper()
	db, err := sql.Open("sqlite", "file::memory:")
	if err != nil {
		t.Fatal(err)
	}
	conn, err := db.Conn(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	f := &fake{version: version, conn: conn}
	f.Server = httptest.NewServer(f)
	t.Cleanup(func() {
		f.Close()
		conn.Close()
		db.Close()
	})
	return f
}

func (f *fake) address() string { return f.Listener.Addr().String() }

// store is of a cluster of fakes, with tables.
func (f *fake) store(t *testing.T, o rqlite.Options) *rqlite.Store {
	t.Helper()
	if o.Nodes == nil {
		o.Nodes = []string{f.address()}
	}
	s, err := rqlite.Open(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	if err := schema.Ready(context.Background(), s.Apply, 0); err != nil {
		t.Fatal(err)
	}
	f.asked()
	return s
}

// impatient is a store of the node that gives up soon.
func (f *fake) impatient(t *testing.T, after time.Duration) *rqlite.Store {
	t.Helper()
	f.store(t, rqlite.Options{})
	s, err := rqlite.Open(rqlite.Options{Nodes: []string{f.address()}, Timeout: after})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// asked are the requests since it was called last.
func (f *fake) asked() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	seen := f.seen
	f.seen = nil
	return seen
}

func (f *fake) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("X-Rqlite-Version", f.version)
	if r.URL.Path == "/readyz" {
		return
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	r.Body = io.NopCloser(bytes.NewReader(body)) // for another node, if it is passed on
	q := r.URL.Query()
	f.mu.Lock()
	f.seen = append(f.seen, strings.TrimPrefix(r.URL.Path, "/db/")+" "+q.Get("level"))
	hook := f.hook
	f.mu.Unlock()
	for _, must := range []string{"transaction", "noparse", "norwrandom", "norwtime"} {
		if !q.Has(must) || q.Has("queue") {
			http.Error(w, "it is not to be asked without "+must+", or with queue", http.StatusBadRequest)
			return
		}
	}
	carry := func() []byte {
		answer, err := f.carry(body, r.URL.Path == "/db/query")
		if err != nil { // after the commit
			http.Error(w, err.Error(), http.StatusInternalServerError)
		}
		return answer
	}
	if hook == nil || !hook(w, r, carry) {
		w.Write(carry())
	}
}

// carry runs statements in a transaction. One that cannot be prepared, of those that begin a text, is
// passed over.
func (f *fake) carry(body []byte, query bool) ([]byte, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	d := json.NewDecoder(strings.NewReader(string(body)))
	d.UseNumber()
	var stmts [][]any
	if err := d.Decode(&stmts); err != nil {
		return nil, err
	}
	ctx := context.Background()
	f.conn.ExecContext(ctx, "BEGIN")
	var results []any
	end := "COMMIT"
	for _, stmt := range stmts {
		first, rest, several := strings.Cut(stmt[0].(string), ";")
		if !several {
			rest = first
		}
		prepared, err := f.conn.PrepareContext(ctx, first)
		if err != nil {
			results = append(results, map[string]any{"error": err.Error()})
			continue
		}
		prepared.Close()
		var result any
		if reads := strings.HasPrefix(first, "SELECT") || strings.HasPrefix(first, "WITH"); reads {
			result, err = f.rows(ctx, rest, bound(stmt[1:]))
		} else if query {
			result = map[string]any{"error": "attempt to change database via query operation"}
		} else {
			var done sql.Result
			if done, err = f.conn.ExecContext(ctx, rest, bound(stmt[1:])...); err == nil {
				n, _ := done.RowsAffected()
				result = map[string]any{"rows_affected": n}
			}
		}
		if err != nil {
			result = map[string]any{"error": err.Error()}
		}
		if results = append(results, result); err != nil && !query {
			end = "ROLLBACK"
			break
		}
	}
	f.conn.ExecContext(ctx, end)
	return json.Marshal(map[string]any{"results": results})
}

// bound are arguments as rqlite binds them: text that looks like the literal of a blob is one.
func bound(args []any) []any {
	for i, arg := range args {
		switch v := arg.(type) {
		case json.Number:
			if n, err := v.Int64(); err == nil {
				args[i] = n
			} else {
				args[i], _ = v.Float64()
			}
		case string:
			if t := strings.TrimSpace(v); len(t) >= 3 && strings.ToLower(t[:2]) == "x'" && t[len(t)-1] == '\'' {
				if b, err := hex.DecodeString(t[2 : len(t)-1]); err == nil {
					args[i] = b
				}
			}
		}
	}
	return args
}

// rows are as rqlite returns them: bytes of a column without a declared type are text.
func (f *fake) rows(ctx context.Context, text string, args []any) (any, error) {
	rows, err := f.conn.QueryContext(ctx, text, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	types, err := rows.ColumnTypes()
	if err != nil {
		return nil, err
	}
	columns, _ := rows.Columns()
	var values [][]any
	for rows.Next() {
		row, into := make([]any, len(types)), make([]any, len(types))
		for i := range row {
			into[i] = &row[i]
		}
		if err := rows.Scan(into...); err != nil {
			return nil, err
		}
		for i := range row {
			if b, is := row[i].([]byte); is && types[i].DatabaseTypeName() == "" {
				row[i] = string(b)
			}
		}
		values = append(values, row)
	}
	return map[string]any{"columns": columns, "values": values}, rows.Err()
}

// set changes the hook.
func (f *fake) set(hook func(http.ResponseWriter, *http.Request, func() []byte) bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.hook = hook
}
