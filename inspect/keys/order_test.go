package keys

import (
	"context"
	"strings"
	"testing"

	"github.com/meowdis/meowdis/engine"
	"github.com/meowdis/meowdis/inspect/client"
	"github.com/meowdis/meowdis/inspect/ui"
	"github.com/meowdis/meowdis/keyspace/catalog"
	"github.com/meowdis/meowdis/local"
)

// storedIndex implements Index with a store.
type storedIndex struct {
	*catalog.Catalog
	*local.Store
}

func now() int64 { return 1_700_000_000_000 }

// newIndex returns an empty store and a client of it.
func newIndex(t *testing.T) (storedIndex, *engine.Session) {
	t.Helper()
	s, err := local.Open(local.Memory, local.Options{Now: now, SweepEvery: -1})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return storedIndex{catalog.New(s, now), s}, engine.New(s, engine.WithClock(now)).Session()
}

// TestOrderOfItsOwn checks that an order is computed if the index lacks it, reported when outdated, and
// dropped when the order is by name.
func TestOrderOfItsOwn(t *testing.T) {
	index, _ := newIndex(t)
	l := New(&ui.PaneContext{Index: index, Clock: now, Delimiter: ":", KeyFor: func(action string) string { return action }, Conn: client.NewConn(nil, now)})
	l.search(query{order: catalog.BySize})
	if l.sorted == nil {
		t.Fatal("there is no order")
	}
	for l.isSorting() {
		if err := l.sorted.ReadSlice(context.Background()); err != nil {
			t.Fatal(err)
		}
	}
	l.orderOutdated = true
	if place := l.Place(); !strings.Contains(place, "changed since sorting, refresh sorts again") {
		t.Errorf("the list says %q", place)
	}
	l.sortAgain()
	if l.orderOutdated || l.sorted == nil {
		t.Error("it was not sorted again")
	}
	l.search(query{})
	if l.sorted != nil {
		t.Error("the order is kept though the names make it")
	}
}
