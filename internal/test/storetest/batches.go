package storetest

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/meowdis/meowdis/engine"
	"github.com/meowdis/meowdis/internal/test/corpus"
	"github.com/meowdis/meowdis/store"
	"github.com/meowdis/meowdis/translator"
)

// A table for the kit's own tests, for combinations of values that commands do not store.
const (
	sqlTable  = `CREATE TABLE storetest(id INTEGER PRIMARY KEY, n INTEGER UNIQUE, f REAL, b BLOB, s TEXT)`
	sqlInsert = `INSERT INTO storetest(id, n, f, b, s) VALUES(?1, ?2, ?3, ?4, ?5)`
	sqlValues = `SELECT CAST(n AS TEXT), f, b, s, typeof(n), typeof(b) FROM storetest ORDER BY id`
	sqlIDs    = `SELECT id FROM storetest ORDER BY id`
	sqlNumber = `INSERT INTO storetest(id, n) VALUES(?1, ?1)`
)

func makeTable(t *testing.T, s engine.Store) {
	t.Helper()
	apply(t, s, batch(sqlTable, nil))
}

func numbers(ids ...int64) store.Batch {
	var b store.Batch
	for _, id := range ids {
		b.Stmts = append(b.Stmts, store.Stmt{SQL: sqlNumber, Args: []store.Value{store.Int(id)}})
	}
	return b
}

func wantIDs(t *testing.T, s engine.Store, want ...int64) {
	t.Helper()
	var got []int64
	for _, row := range query(t, s, sqlIDs) {
		got = append(got, row[0].Int())
	}
	if len(got) != len(want) {
		t.Errorf("the rows are %v, want %v", got, want)
		return
	}
	for i := range got {
		if got[i] != want[i] {
			t.Errorf("the rows are %v, want %v", got, want)
			return
		}
	}
}

var (
	oddInts   = []int64{0, 1, -1, 1<<53 - 1, 1<<53 + 1, -(1<<53 + 1), math.MaxInt64, math.MinInt64, math.MaxInt64 - 1, 1e18 + 1}
	oddFloats = []float64{
		0, 1, -1.5, 0.1, 0.1 + 0.2, 1.0 / 3, 1e15 + 0.3, 1 << 53, math.MaxFloat64, -math.MaxFloat64,
		math.SmallestNonzeroFloat64, 2.2250738585072014e-308, 1.7976931348623155e308, 123456789.12345678, math.Pi,
	}
	oddBytes = [][]byte{
		nil, {}, {0}, []byte("a\x00b"), {0xff, 0xfe}, []byte("\xc3\x28"), []byte("x'00'"), []byte("'"), []byte("?1"),
		[]byte("\r\n"), []byte("null"), []byte("12"), []byte("\xf0\x9f\x90\xb1"), bytes.Repeat([]byte{0, 0xff}, 50_000),
	}
)

// values writes odd integers, doubles and bytes and reads them back exactly.
func values(t *testing.T, s engine.Store) {
	makeTable(t, s)
	n := max(len(oddInts), len(oddFloats), len(oddBytes))
	var rows [][]store.Value
	for i := range n {
		rows = append(rows, []store.Value{
			store.Int(int64(i)), {}, store.Float(oddFloats[i%len(oddFloats)]), store.Bytes(oddBytes[i%len(oddBytes)]), store.String("kö\x00"),
		})
		if i < len(oddInts) {
			rows[i][1] = store.Digits(oddInts[i])
		}
	}
	apply(t, s, batch(sqlInsert, rows...))
	for i, row := range query(t, s, sqlValues) {
		if i < len(oddInts) && (row[0].Kind() != store.Text || row[0].Int() != oddInts[i] || string(row[4].Bytes()) != "integer") {
			t.Errorf("the integer %d comes back as %v, stored as %v", oddInts[i], row[0], row[4])
		}
		if want := oddFloats[i%len(oddFloats)]; math.Float64bits(row[1].Float()) != math.Float64bits(want) {
			t.Errorf("the double %v comes back as %v", want, row[1])
		}
		if want := oddBytes[i%len(oddBytes)]; row[2].Kind() != store.Blob || !bytes.Equal(row[2].Bytes(), want) {
			t.Errorf("the bytes %.20q come back as %.60v, stored as %v", want, row[2], row[5])
		}
		if row[3].Kind() != store.Text || string(row[3].Bytes()) != "kö\x00" {
			t.Errorf("the text comes back as %v", row[3])
		}
	}
	for sql, args := range map[string]store.Value{
		`SELECT ?1 = 9007199254740991`: store.Int(1<<53 - 1),
		`SELECT ?1 IS NULL`:            {},
		`SELECT ?1 = 9e999`:            store.Float(math.Inf(1)),
		`SELECT ?1 = -9e999`:           store.Float(math.Inf(-1)),
		`SELECT typeof(?1) = 'blob'`:   store.Bytes(nil),
		`SELECT typeof(?1) = 'text'`:   store.Digits(1),
		`SELECT typeof(?1) = 'real'`:   store.Float(1),
	} {
		if got := query(t, s, sql, args)[0][0].Int(); got != 1 {
			t.Errorf("not so: %s with %v", sql, args)
		}
	}
}

// atomicity refuses a batch at each of its statements.
func atomicity(t *testing.T, s engine.Store) {
	makeTable(t, s)
	apply(t, s, numbers(1))
	const insertReturning = sqlNumber + ` RETURNING id`
	for at := range 4 {
		var b store.Batch
		for i := range 4 {
			id := int64(10 + i)
			if i == at {
				id = 1 // there already
			}
			b.Stmts = append(b.Stmts, store.Stmt{SQL: insertReturning, Args: []store.Value{store.Int(id)}})
		}
		r := apply(t, s, b)[0]
		if r.Refused == nil || r.Refused.At != at || r.Refused.Reason == "" {
			t.Fatalf("a batch with a duplicate at %d: refused: %+v", at, r.Refused)
		}
		for i := range at {
			if len(r.Rows[i]) != 1 || r.Rows[i][0][0].Int() != int64(10+i) {
				t.Errorf("the rows before the refusal are %v", r.Rows)
			}
		}
		wantIDs(t, s, 1)
	}
	// A refusal takes back what triggers and cascades did, too.
	c := NewClient(t, NewEngine(s, NewClock()))
	c.Want("SET k v", "OK")
	before := Dump(t, s)
	r := apply(t, s, store.Batch{Stmts: []store.Stmt{{SQL: `DELETE FROM keys`}, translator.Abort()}})[0]
	if r.Refused == nil || r.Refused.At != 1 {
		t.Errorf("refused: %+v", r.Refused)
	}
	if after := Dump(t, s); after != before {
		t.Errorf("the refused batch left a trace:\n%s", changes(before, after))
	}
}

// order runs dependent batches, some of them refused, in one call.
func order(t *testing.T, s engine.Store) {
	makeTable(t, s)
	results := apply(t, s,
		numbers(1, 2),
		numbers(3, 2), // refused, after a change
		batch(`DELETE FROM storetest`+` WHERE id = ?1`, []store.Value{store.Int(2)}),
		numbers(3, 2), // now allowed
		numbers(1),    // refused at once
		store.Batch{ReadOnly: true, Stmts: []store.Stmt{{SQL: sqlIDs}}},
		store.Batch{},
		numbers(4),
	)
	for i, at := range []int{-1, 1, -1, -1, 0, -1, -1, -1} {
		got := -1
		if results[i].Refused != nil {
			got = results[i].Refused.At
		}
		if got != at {
			t.Errorf("batch %d was refused at %d, want %d", i, got, at)
		}
	}
	if got := len(results[5].Rows[0]); got != 3 {
		t.Errorf("a read in the middle saw %d rows", got)
	}
	wantIDs(t, s, 1, 2, 3, 4)
	if results := apply(t, s); len(results) != 0 {
		t.Errorf("no batches gave %v", results)
	}
}

// folding passes a statement's rows to a function, or returns them, on every run.
func folding(t *testing.T, s engine.Store) {
	makeTable(t, s)
	apply(t, s, numbers(1, 2, 3, 4))
	var took []string
	fold := func() func(store.Row) {
		took = nil
		return func(row store.Row) { took = append(took, fmt.Sprintf("%d %s", row[0].Int(), row[1].Bytes())) }
	}
	batch := store.Batch{ReadOnly: true, Stmts: []store.Stmt{
		{SQL: `SELECT id, CAST('blob ' || id AS BLOB) FROM storetest WHERE id > ?1 ORDER BY id`, Args: []store.Value{store.Int(1)}, Fold: fold},
		{SQL: `SELECT count(*) FROM storetest`},
	}}
	for range 2 {
		took = nil
		r := apply(t, s, batch)[0]
		if rows := r.Rows[0]; len(rows) > 0 && took == nil {
			take := fold()
			for _, row := range rows {
				take(row)
			}
		} else if len(rows) > 0 {
			t.Errorf("%d rows came twice", len(rows))
		}
		if got := strings.Join(took, ","); got != "2 blob 2,3 blob 3,4 blob 4" {
			t.Errorf("it took %s", got)
		}
		if n := r.Rows[1][0][0].Int(); n != 4 {
			t.Errorf("the next statement answers %d", n)
		}
	}
}

// changed checks the number of rows changed by each statement.
func changed(t *testing.T, s engine.Store) {
	makeTable(t, s)
	apply(t, s, numbers(1, 2))
	r := apply(t, s, store.Batch{Stmts: []store.Stmt{
		{SQL: `INSERT INTO storetest(id, n) VALUES(1, 1), (3, 3), (4, 4) ON CONFLICT DO NOTHING`},
		{SQL: `UPDATE storetest SET f = 1 WHERE id > 9`},
		{SQL: `UPDATE storetest SET f = 1 WHERE id > 1`},
		{SQL: `DELETE FROM storetest WHERE id = 4`},
	}})[0]
	if got := fmt.Sprint(r.Changes); got != "[2 0 3 1]" {
		t.Errorf("the changes are %s", got)
	}
}

// skipIf skips a statement that has nothing to do, or runs it.
func skipIf(t *testing.T, s engine.Store) {
	makeTable(t, s)
	found := func(before store.Result) bool { return len(before.Rows[0]) > 0 }
	batch := store.Batch{Stmts: []store.Stmt{
		{SQL: `SELECT id FROM storetest`},
		{SQL: `INSERT INTO storetest(id, n) VALUES(1, 1) ON CONFLICT DO NOTHING`, SkipIf: found},
		{SQL: `UPDATE storetest SET s = ifnull(s, '') || 'x'`},
	}}
	for i, want := range []string{"[1 1]", "[0 1]"} {
		r := apply(t, s, batch)[0]
		if got := fmt.Sprint(r.Changes[1:]); got != want || len(r.Rows) != 3 || len(r.Rows[0]) != i {
			t.Errorf("the changes are %s, not %s, and the rows %v", got, want, r.Rows)
		}
	}
	if got := string(query(t, s, `SELECT s FROM storetest`)[0][0].Bytes()); got != "xx" {
		t.Errorf("a statement without SkipIf gave %q", got)
	}
}

// similarKeys writes to keys that differ in one detail.
func similarKeys(t *testing.T, s engine.Store) {
	c := NewClient(t, NewEngine(s, NewClock()))
	names := []string{`a`, `A`, `"a\x00"`, `""`, `" a"`, `"a\xff"`, `"a\xfe"`, `*`, `a*`, `1`, `01`, `1.0`, `"\xc3\xa9"`, `"e\xcc\x81"`}
	for db := range 2 {
		c.Want("SELECT "+string(rune('0'+db)), "OK")
		for i, name := range names {
			c.Want("SET "+name+" "+string(rune('a'+i))+string(rune('0'+db)), "OK")
		}
	}
	for db := range 2 {
		c.Want("SELECT "+string(rune('0'+db)), "OK")
		for i, name := range names {
			c.Want("GET "+name, `"`+string(rune('a'+i))+string(rune('0'+db))+`"`)
		}
	}
}

// expiry uses the engine's injected clock.
func expiry(t *testing.T, s engine.Store) {
	clock := NewClock()
	c := NewClient(t, NewEngine(s, clock))
	c.Want("SET k v PX 100", "OK")
	c.Want("SET late v PXAT 9223372036854775807", "OK")
	clock.Advance(99)
	c.Want("GET k", `"v"`)
	before := Dump(t, s)
	clock.Advance(1)
	c.Want("GET k", "(nil)")
	if after := Dump(t, s); after != before {
		t.Errorf("a read deleted an expired key:\n%s", changes(before, after))
	}
	c.Want("SET k w XX", "(nil)")
	c.Want("INCR k", "(integer) 1")
	clock.Advance(1 << 40)
	c.Want("GET k", `"1"`)
	c.Want("GET late", `"v"`)
	if n := query(t, s, `SELECT count(*) FROM keys WHERE expires_at <= ?1`, store.Int(corpus.Start+1<<40))[0][0].Int(); n != 0 {
		t.Errorf("%d expired rows are left", n)
	}
}

// brokenBatch runs batches with invalid SQL: they must fail with an error, not a refusal, and
// undo the statements before.
func brokenBatch(t *testing.T, s engine.Store) {
	makeTable(t, s)
	for _, bad := range []string{`SELEC 1`, `SELECT * FROM nowhere`, `SELECT abs(-9223372036854775808)`} {
		b := numbers(1, 2)
		b.Stmts = append(b.Stmts, store.Stmt{SQL: bad})
		if r, err := s.Apply(context.Background(), []store.Batch{b}); err == nil {
			t.Errorf("%s: it ran: %+v", bad, r)
		}
		wantIDs(t, s)
	}
	apply(t, s, numbers(1))
	wantIDs(t, s, 1)
}

// cancelled runs nothing for a caller that has left.
func cancelled(t *testing.T, s engine.Store) {
	makeTable(t, s)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := s.Apply(ctx, []store.Batch{numbers(1)}); err == nil {
		t.Error("it ran")
	}
	wantIDs(t, s)
}
