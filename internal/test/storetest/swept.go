package storetest

import (
	"context"
	"fmt"

	"github.com/meowdis/meowdis/engine"
	"github.com/meowdis/meowdis/store"
	"github.com/meowdis/meowdis/store/sweep"
)

// Swept wraps s in the most aggressive sweeper: before every call of the store, so between any
// two commands and between the steps of a command, it deletes one key or field that has
// expired by now, and a part of a deleted key's elements. now must be the engine's clock. The
// wrapper supports transactions if s does.
func Swept(s engine.Store, now func() int64) engine.Store { return sweptBy(s, now, new(int)) }

// sweptBy adds the number of deleted keys and fields to gone.
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
		if left == 0 { // only expired ones
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

// ReadsDuringWrites reports whether reads run concurrently with writes.
func (s sweptTransactor) ReadsDuringWrites() bool {
	b, can := s.inner.(interface{ ReadsDuringWrites() bool })
	return can && b.ReadsDuringWrites()
}

func (s sweptTransactor) Transact(ctx context.Context, readOnly bool, fn func(engine.Run) error) error {
	if err := s.sweep(ctx); err != nil {
		return err
	}
	return s.transactor.Transact(ctx, readOnly, fn)
}
