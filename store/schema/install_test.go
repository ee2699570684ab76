package schema_test

import (
	"context"
	"strings"
	"sync"
	"testing"

	"github.com/meowdis/meowdis/internal/test/hostile"
	"github.com/meowdis/meowdis/store"
	"github.com/meowdis/meowdis/store/schema"
)

func empty(t *testing.T) *hostile.Store {
	t.Helper()
	s, err := hostile.OpenEmpty()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// TestReady creates the tables once, even if several processes do so at the same time.
func TestReady(t *testing.T) {
	s, ctx := empty(t), context.Background()
	if v, err := schema.StoredVersion(ctx, s.Apply); err != nil || v != 0 {
		t.Fatalf("an empty store has version %d, %v", v, err)
	}
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			if err := schema.Ready(ctx, s.Apply, 1); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if v, err := schema.StoredVersion(ctx, s.Apply); err != nil || v != schema.Version {
		t.Errorf("the version is %d, %v", v, err)
	}
}

// TestOtherTables reports unsupported versions and foreign tables.
func TestOtherTables(t *testing.T) {
	ctx := context.Background()
	s := empty(t)
	run := func(sql string, args ...store.Value) {
		t.Helper()
		if _, err := s.Apply(ctx, []store.Batch{{Stmts: []store.Stmt{{SQL: sql, Args: args}}}}); err != nil {
			t.Fatal(err)
		}
	}
	run("CREATE TABLE keys(x)")
	if err := schema.Ready(ctx, s.Apply, 1); err == nil || !strings.Contains(err.Error(), "creating the tables") {
		t.Errorf("another program's: %v", err)
	}
	run("DROP TABLE keys")
	if err := schema.Ready(ctx, s.Apply, 1); err != nil {
		t.Fatal(err)
	}
	run(schema.SetVersion, store.Int(schema.Version+1), store.Int(0))
	if err := schema.Ready(ctx, s.Apply, 1); err == nil || !strings.Contains(err.Error(), "newer meowdis") {
		t.Errorf("newer ones: %v", err)
	}
	run("DELETE FROM meowdis")
	run(schema.SetVersion, store.Int(1), store.Int(0))
	if err := schema.Ready(ctx, s.Apply, 1); err == nil || !strings.Contains(err.Error(), "migrate") {
		t.Errorf("older ones: %v", err)
	}
}
