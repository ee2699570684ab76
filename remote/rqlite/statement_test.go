package rqlite_test

import (
	"context"
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/meowdis/meowdis/remote/rqlite"
	"github.com/meowdis/meowdis/store"
)

// TestStatements runs what is hard to tell apart: which statements read, how many columns they have, and
// what they return.
func TestStatements(t *testing.T) {
	s := newFake(t, "8").store(t, rqlite.Options{})
	must(t, s, store.Batch{Stmts: []store.Stmt{{SQL: "CREATE TABLE t(a INTEGER PRIMARY KEY, b BLOB, UNIQUE(b))"}}})
	for sql, want := range map[string]string{
		"SELECT 1": "[[1]]",
		"select 1, 'a, b', \"a\", [b], x'2c' FROM (SELECT 2 AS a, 3 AS b) -- , ,":                                     "[[1 'a, b' 2 3 x'2c']]",
		"SELECT 1 /* , */ , (SELECT 2 LIMIT 1)":                                                                       "[[1 2]]",
		"SELECT count(*), 2 * 3, max(1, 2)":                                                                           "[[1 6 2]]",
		"SELECT *, 1 FROM (SELECT 2, 3)":                                                                              "[[2 3 1]]",
		"SELECT DISTINCT x.* FROM (SELECT 2, 3) x":                                                                    "[[2 3]]",
		"SELECT 1, 2 UNION ALL SELECT 3, 4 ORDER BY 1 DESC":                                                           "[[3 4] [1 2]]",
		"VALUES (1, (2)), (3, max(4, 5));":                                                                            "[[1 2] [3 5]]",
		"WITH a(x) AS (SELECT 1), b AS (VALUES (2, 3)) SELECT a.x, b.* FROM a, b":                                     "[[1 2 3]]",
		"WITH a(x) AS (VALUES (7)) INSERT INTO t SELECT x, 'v' FROM a RETURNING a AS key, b || ', ' AS \"as\", x'00'": "[[7 'v, ' x'00']]",
		"INSERT INTO t VALUES (8, 'RETURNING'), (9, NULL)":                                                            "[]",
	} {
		check(t, s, sql, want)
	}
	check(t, s, "DELETE FROM t WHERE a = 7 RETURNING (a), typeof(b) -- the end", "[[7 'text']]")
	check(t, s, "REPLACE INTO t(a, b) VALUES (8, 'c') RETURNING b, a", "[['c' 8]]")
	check(t, s, "UPDATE t SET b = b || 'd' WHERE a > 8 RETURNING a", "[[9]]")
}

func check(t *testing.T, s *rqlite.Store, sql, want string) {
	t.Helper()
	results, err := s.Apply(context.Background(), []store.Batch{{Stmts: []store.Stmt{{SQL: sql}}}})
	if err != nil {
		t.Errorf("%s: %v", sql, err)
		return
	}
	if got := fmt.Sprint(results[0].Rows[0]); got != want {
		t.Errorf("%s\nreturns %s\nnot     %s", sql, got, want)
	}
}

// TestBadAnswers reads what no rqlite says, or what ends in the middle: it is an error.
func TestBadAnswers(t *testing.T) {
	f := newFake(t, "8")
	s := f.impatient(t, 30*time.Millisecond)
	for _, answer := range []string{
		``, `{`, `null`, `[]`, `{"results":[]}`, `{"results":null}`, `{"results":[{},{}]}`, `{"results":[{"columns":["a"],"values":[["b0"]]}]}`,
		`{"results":[{"values":[["x1"]]}]}`, `{"results":[{"values":[[""]]}]}`, `{"results":[{"values":[[[1]]]}]}`, `{"results":[{"values":[{"a":"]"}]}]}`,
		`{"results":[{"values":[[true]]}]}`, `{"results":[{"values":[["i1x"]]}]}`, `{"results":[{"values":[["t1"]]}]`, `{"results":[{"values":[["t`,
		`{"results":[{"error":"no such table: keys"}]}`, `{"results":[],"error":"leadership lost while committing log"}`,
	} {
		f.set(func(w http.ResponseWriter, r *http.Request, _ func() []byte) bool {
			fmt.Fprint(w, answer)
			return true
		})
		if r, err := s.Apply(context.Background(), []store.Batch{{ReadOnly: true, Stmts: []store.Stmt{{SQL: "SELECT 1"}}}}); err == nil {
			t.Errorf("%s is read as %v", answer, r)
		}
	}
}
