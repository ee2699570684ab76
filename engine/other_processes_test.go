package engine_test

import (
	"context"
	"sync/atomic"
	"testing"

	"github.com/meowdis/meowdis/engine"
	"github.com/meowdis/meowdis/local"
)

// lookedAt is a store that counts the checks for commits of other processes.
type lookedAt struct {
	*local.Store
	times atomic.Int64
}

func (a *lookedAt) Changed(ctx context.Context) bool {
	a.times.Add(1)
	return a.Store.Changed(ctx)
}

// lonely is a store whose clients need not see those commits.
type lonely struct{ *lookedAt }

func (lonely) Sole() {}

func TestSole(t *testing.T) {
	s, err := local.Open(local.Memory, local.Options{SweepEvery: -1})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	counted := &lookedAt{Store: s}
	engine.New(lonely{counted}).Listen(func([]engine.Change) {})()
	if n := counted.times.Load(); n != 0 {
		t.Errorf("a store that is alone was asked %d times", n)
	}
	engine.New(counted).Listen(func([]engine.Change) {})()
	if counted.times.Load() == 0 {
		t.Error("a store that is not alone was not asked")
	}
}
