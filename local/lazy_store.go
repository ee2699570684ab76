package local

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"sync"

	"github.com/meowdis/meowdis/store"
)

// LazyStore is a store whose file may not exist yet. It acts as an empty database until a write creates the
// file, or until another process does. It is safe for concurrent use.
type LazyStore struct {
	path  string
	open  func() (*Store, error)
	empty *Store

	mu       sync.Mutex
	opened   *Store // nil until then
	closed   bool
	follower store.Follower
}

// NewLazyStore returns the store of the file at path, which open creates or opens.
func NewLazyStore(path string, open func() (*Store, error)) (*LazyStore, error) {
	empty, err := Open(Memory, Options{SweepEvery: -1})
	if err != nil {
		return nil, err
	}
	return &LazyStore{path: path, open: open, empty: empty}, nil
}

// Apply is Store.Apply. A write creates the file.
func (l *LazyStore) Apply(ctx context.Context, batches []store.Batch) ([]store.Result, error) {
	s, err := l.store(readOnly(batches))
	if err != nil {
		return nil, err
	}
	return s.Apply(ctx, batches)
}

// Transact is Store.Transact. A transaction that may write creates the file.
func (l *LazyStore) Transact(ctx context.Context, readOnly bool, fn func(run func(store.Batch) (store.Result, error)) error) error {
	s, err := l.store(readOnly)
	if err != nil {
		return err
	}
	return s.Transact(ctx, readOnly, fn)
}

// store returns the store for a call. While the file is missing, each read checks whether another process has
// created it.
func (l *LazyStore) store(reads bool) (s *Store, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case l.closed:
		return nil, errClosed
	case l.opened != nil:
		return l.opened, nil
	}
	if _, err := os.Stat(l.path); reads && errors.Is(err, fs.ErrNotExist) {
		return l.empty, nil
	}
	if l.opened, err = l.open(); err == nil && l.follower != nil {
		l.opened.Follow(l.follower)
	}
	return l.opened, err
}

// Expired is Store.Expired.
func (l *LazyStore) Expired() (keys, fields int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.opened == nil {
		return 0, 0
	}
	return l.opened.Expired()
}

// Follow is Store.Follow.
func (l *LazyStore) Follow(f store.Follower) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.follower = f
	l.empty.Follow(f)
}

// Changed is Store.Changed. It is also true if another process has created the file.
func (l *LazyStore) Changed(ctx context.Context) bool {
	l.mu.Lock()
	made := l.opened != nil
	l.mu.Unlock()
	s, err := l.store(true)
	return err == nil && (s != l.empty && !made || s.Changed(ctx))
}

// SetSweeping is Store.SetSweeping; it does nothing while the file is missing.
func (l *LazyStore) SetSweeping(on bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.opened != nil {
		l.opened.SetSweeping(on)
	}
}

// Close closes the file, if it exists. Later calls fail.
func (l *LazyStore) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return nil
	}
	l.closed = true
	err := l.empty.Close()
	if l.opened != nil {
		err = errors.Join(err, l.opened.Close())
	}
	return err
}
