package rqlite_test

import (
	"context"
	"flag"
	"sync/atomic"
	"testing"

	"github.com/meowdis/meowdis/engine"
	"github.com/meowdis/meowdis/internal/test/corpus"
	"github.com/meowdis/meowdis/internal/test/rqlitetest"
	"github.com/meowdis/meowdis/internal/test/storetest"
	"github.com/meowdis/meowdis/remote/rqlite"
	"github.com/meowdis/meowdis/store"
	"github.com/meowdis/meowdis/store/schema"
)

var (
	onCluster = flag.Bool("cluster", false, "run the tests that need a cluster of the real rqlite, which is built for them")
	faults    = flag.Bool("faults", false, "refuse every statement of the corpus once on it")
)

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
	if err := schema.Ready(context.Background(), s.Apply, 0); err != nil {
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

// spread is the store of several processes, each of which knows another node.
type spread struct {
	stores []*rqlite.Store
	next   atomic.Uint64
}

func (s *spread) Apply(ctx context.Context, batches []store.Batch) ([]store.Result, error) {
	return s.stores[s.next.Add(1)%uint64(len(s.stores))].Apply(ctx, batches)
}

// TestCluster runs everything that a store must pass on three nodes. While none of them fails the
// leader's reads are as good as those that the whole cluster agrees on, at a fraction of their cost.
func TestCluster(t *testing.T) {
	needCluster(t)
	c := rqlitetest.Start(t, 3)
	s := open(t, "weak", c.Addresses()...)
	all := &spread{stores: []*rqlite.Store{s}}
	for _, node := range c.Addresses()[1:] {
		all.stores = append(all.stores, open(t, "weak", node))
	}
	t.Run("conformance", func(t *testing.T) {
		check := storetest.Contract
		if *faults {
			check = storetest.Run
		}
		check(t, func(t *testing.T) engine.Store {
			emptied(t, s)
			return all
		})
	})
	t.Run("transcripts", func(t *testing.T) {
		all, err := corpus.All()
		if err != nil {
			t.Fatal(err)
		}
		one := open(t, "weak", rqlitetest.Start(t, 1).Addresses()...) // what others would repeat costs as much again
		for _, tr := range all {
			t.Run(tr.Name, func(t *testing.T) {
				emptied(t, one)
				storetest.Play(t, tr, one, false)
			})
		}
	})
}
