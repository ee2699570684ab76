package hostile_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/meowdis/meowdis/engine"
	"github.com/meowdis/meowdis/internal/test/hostile"
	"github.com/meowdis/meowdis/internal/test/storetest"
	"github.com/meowdis/meowdis/store"
)

func open(t *testing.T) *hostile.Store {
	t.Helper()
	s, err := hostile.Open()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// TestRefusesHabits runs what only a local SQLite would take.
func TestRefusesHabits(t *testing.T) {
	s := open(t)
	for name, stmt := range map[string]store.Stmt{
		"transaction":    {SQL: "BEGIN"},
		"savepoint":      {SQL: " savepoint x"},
		"pragma":         {SQL: "PRAGMA user_version"},
		"pragma table":   {SQL: "SELECT * FROM pragma_table_info('keys')"},
		"temp table":     {SQL: "CREATE TEMP TABLE x(y)"},
		"attach":         {SQL: "ATTACH ':memory:' AS x"},
		"missing arg":    {SQL: "SELECT ?1, ?2", Args: []store.Value{store.Int(1)}},
		"spare arg":      {SQL: "SELECT ?1", Args: []store.Value{store.Int(1), store.Int(2)}},
		"nameless arg":   {SQL: "SELECT ?", Args: []store.Value{store.Int(1)}},
		"101 parameters": {SQL: "SELECT ?101", Args: make([]store.Value, 101)},
		"long SQL":       {SQL: "SELECT 1 -- " + strings.Repeat("x", 100_000)},
		"six terms":      {SQL: "SELECT 1 UNION SELECT 2 UNION SELECT 3 UNION SELECT 4 UNION SELECT 5 UNION SELECT 6"},
		"long pattern":   {SQL: "SELECT 'x' GLOB ?1", Args: []store.Value{store.String(strings.Repeat("*", 51))}},
		"big value":      {SQL: "SELECT ?1", Args: []store.Value{store.Bytes(make([]byte, 2<<20+1))}},
		"big row":        {SQL: "SELECT zeroblob(3000000)"},
	} {
		if r, err := s.Apply(context.Background(), []store.Batch{{Stmts: []store.Stmt{stmt}}}); err == nil {
			t.Errorf("%s: it ran: %v", name, r)
		}
	}
}

// TestReadOnlyBatchMayNotWrite keeps the translator's read() honest.
func TestReadOnlyBatchMayNotWrite(t *testing.T) {
	write := store.Batch{ReadOnly: true, Stmts: []store.Stmt{{SQL: "INSERT INTO guard VALUES(1)"}}}
	if _, err := open(t).Apply(context.Background(), []store.Batch{write}); err == nil {
		t.Error("it wrote")
	}
}

// TestIntegersAreDoubles shows the habit that Digits and CAST AS TEXT are for.
func TestIntegersAreDoubles(t *testing.T) {
	const big = 1<<53 + 1
	r, err := open(t).Apply(context.Background(), []store.Batch{{Stmts: []store.Stmt{
		{SQL: "SELECT ?1, typeof(?1), CAST(CAST(?2 AS INTEGER) AS TEXT), 7", Args: []store.Value{store.Int(big), store.Digits(big)}},
	}}})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := fmt.Sprint(r[0].Rows[0][0]), "[9.007199254740992e+15 'real' '9007199254740993' 7]"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestConformance(t *testing.T) {
	storetest.Run(t, func(t *testing.T) engine.Store { return open(t) })
}
