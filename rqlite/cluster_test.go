package rqlite_test

import (
	"context"
	"flag"
	"testing"

	"github.com/meowdis/meowdis/engine"
	"github.com/meowdis/meowdis/internal/corpus"
	"github.com/meowdis/meowdis/internal/rqlitetest"
	"github.com/meowdis/meowdis/internal/storetest"
	"github.com/meowdis/meowdis/rqlite"
	"github.com/meowdis/meowdis/schema/install"
	"github.com/meowdis/meowdis/store"
)

var onCluster = flag.Bool("cluster", false, "run the tests that need a cluster of the real rqlite, which is built for them")

func needCluster(t *testing.T) {
	t.Helper()
	if !*onCluster {
		t.Skip("make test-stores runs it")
	}
}

func open(t *testing.T, level string, nodes ...string) *rqlite.Store {
	t.Helper()
	s, err := rqlite.Open(rqlite.Options{Nodes: nodes, Level: level})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	if err := install.Ready(context.Background(), s.Apply, 0); err != nil {
		t.Fatal(err)
	}
	return s
}

// emptied makes the tables of a store as new, but for their ids.
func emptied(t *testing.T, s *rqlite.Store) {
	t.Helper()
	rows := must(t, s, store.Batch{ReadOnly: true, Stmts: []store.Stmt{{SQL: `SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT IN ('meowdis', '_meowdis_writers')
		ORDER BY name <> 'keys'`}}}).Rows[0]
	var b store.Batch
	for _, row := range rows {
		name := string(row[0].Bytes())
		sql := "DELETE FROM " + name
		if name == "storetest" {
			sql = "DROP TABLE storetest"
		}
		b.Stmts = append(b.Stmts, store.Stmt{SQL: sql})
	}
	must(t, s, b)
}

func must(t *testing.T, s engine.Store, b store.Batch) store.Result {
	t.Helper()
	results, err := s.Apply(context.Background(), []store.Batch{b})
	if err != nil {
		t.Fatal(err)
	}
	if results[0].Refused != nil {
		t.Fatal(results[0].Refused)
	}
	return results[0]
}

// TestCluster runs everything that a store must pass on three nodes.
func TestCluster(t *testing.T) {
	needCluster(t)
	c := rqlitetest.Start(t, 3)
	s := open(t, "", c.Addresses()...)
	t.Run("conformance", func(t *testing.T) {
		storetest.Run(t, func(t *testing.T) engine.Store {
			emptied(t, s)
			return s
		})
	})
	s = open(t, "weak", c.Addresses()...)
	t.Run("transcripts", func(t *testing.T) {
		all, err := corpus.All()
		if err != nil {
			t.Fatal(err)
		}
		for _, tr := range all {
			t.Run(tr.Name, func(t *testing.T) {
				emptied(t, s)
				storetest.Play(t, tr, s, false)
			})
		}
	})
}
