package storetest

import (
	"context"
	"fmt"

	"github.com/meowdis/meowdis/engine"
	"github.com/meowdis/meowdis/store"
	"github.com/meowdis/meowdis/store/sweep"
)

// Swept is s with the worst of sweepers: one key or field that has expired by now, the same clock
// as the engine's, and a part of what a deleted key has left go before anything that is asked of
// the store, so between any two commands and between the steps of one. The wrapper can hold
// transactions when s can.
func Swept(s engine.Store, now func() int64) engine.Store { return sweptBy(s, now, new(int)) }

// sweptBy counts how many keys and fields went.
func sweptBy(s engine.Store, now func() int64, gone *int) engine.Store {
	swept := sweptStore{s, now, gone}
	if inner, ok := s.(transactor); ok {
		return sweptTransactor{swept, inner}
	}
	return swept
}

type sweptStore struct {
	inner engine.Store
	now   func() int64
	gone  *int
}

func (s sweptStore) Apply(ctx context.Context, batches []store.Batch) ([]store.Result, error) {
	if err := s.sweep(ctx); err != nil {
		return nil, err
	}
	return s.inner.Apply(ctx, batches)
}

func (s sweptStore) sweep(ctx context.Context) error {
	left, err := sweep.PendingDeletes(ctx, s.inner.Apply, 1)
	if err == nil {
		var n sweep.Swept
		n, err = sweep.Slice(ctx, s.inner.Apply, s.now(), 1)
		if left == 0 { // nothing but what has expired
			*s.gone += n.Rows
		}
	}
	if err != nil {
		return fmt.Errorf("sweeping before a command: %w", err)
	}
	return nil
}

type sweptTransactor struct {
	sweptStore
	transactor transactor
}

// Beside reports whether reads run beside what writes.
func (s sweptTransactor) Beside() bool {
	b, can := s.inner.(interface{ Beside() bool })
	return can && b.Beside()
}

func (s sweptTransactor) Transact(ctx context.Context, readOnly bool, fn func(engine.Run) error) error {
	if err := s.sweep(ctx); err != nil {
		return err
	}
	return s.transactor.Transact(ctx, readOnly, fn)
}
