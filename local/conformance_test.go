package local_test

import (
	"cmp"
	"context"
	"testing"

	"github.com/meowdis/meowdis/engine"
	"github.com/meowdis/meowdis/internal/test/storetest"
	"github.com/meowdis/meowdis/local"
)

// open opens a file as a server does, with a row cache.
func open(t *testing.T, path string, o local.Options) *local.Store {
	t.Helper()
	o.RowCacheBytes = cmp.Or(o.RowCacheBytes, 1<<20)
	if o.SweepEvery == 0 {
		o.SweepEvery = -1
	}
	s, err := local.Open(path, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func TestFileConformance(t *testing.T) {
	storetest.Run(t, func(t *testing.T) engine.Store { return open(t, t.TempDir()+"/db.sqlite", local.Options{}) })
}

// The same code runs the statements of all three, so that they fail once on a file only.
func TestAloneConformance(t *testing.T) {
	storetest.Contract(t, func(t *testing.T) engine.Store {
		return open(t, t.TempDir()+"/db.sqlite", local.Options{SingleConn: true})
	})
}

func TestMemoryConformance(t *testing.T) {
	storetest.Contract(t, func(t *testing.T) engine.Store { return open(t, local.Memory, local.Options{}) })
}

// The engine detects whether a store has transactions; a changed signature must not hide the method.
var _ interface {
	Transact(context.Context, bool, func(engine.Run) error) error
} = (*local.Store)(nil)
