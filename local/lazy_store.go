package local

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"sync"

	"github.com/meowdis/meowdis/store"
)

// LazyStore is the store of a file that is not there yet: an empty database until something
// is written, which makes the file, or until another process makes it. It is safe for
// concurrent use.
type LazyStore struct {
	path  string
	open  func() (*Store, error)
	empty *Store

	mu       sync.Mutex
	made     *Store // nil until then
	closed   bool
	follower store.Follower
}

// NewLate returns the store of the file at path, which open makes or opens.
func NewLate(path string, open func() (*Store, error)) (*LazyStore, error) {
	empty, err := Open(Memory, Options{SweepEvery: -1})
	if err != nil {
		return nil, err
	}
	return &LazyStore{path: path, open: open, empty: empty}, nil
}

// Apply is as that of Store.
func (l *LazyStore) Apply(ctx context.Context, batches []store.Batch) ([]store.Result, error) {
	s, err := l.store(readOnly(batches))
	if err != nil {
		return nil, err
	}
	return s.Apply(ctx, batches)
}

// Transact is as that of Store. One that may write makes the file.
func (l *LazyStore) Transact(ctx context.Context, readOnly bool, fn func(run func(store.Batch) (store.Result, error)) error) error {
	s, err := l.store(readOnly)
	if err != nil {
		return err
	}
	return s.Transact(ctx, readOnly, fn)
}

// store is where to go now. While there is no file, each read checks for one that
// another process has made.
func (l *LazyStore) store(reads bool) (s *Store, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case l.closed:
		return nil, errClosed
	case l.made != nil:
		return l.made, nil
	}
	if _, err := os.Stat(l.path); reads && errors.Is(err, fs.ErrNotExist) {
		return l.empty, nil
	}
	if l.made, err = l.open(); err == nil && l.follower != nil {
		l.made.Follow(l.follower)
	}
	return l.made, err
}

// Expired is as that of Store.
func (l *LazyStore) Expired() (keys, fields int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.made == nil {
		return 0, 0
	}
	return l.made.Expired()
}

// Follow is as that of Store.
func (l *LazyStore) Follow(f store.Follower) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.follower = f
	l.empty.Follow(f)
}

// Changed is as that of Store, and true when another process has made the file.
func (l *LazyStore) Changed(ctx context.Context) bool {
	l.mu.Lock()
	made := l.made != nil
	l.mu.Unlock()
	s, err := l.store(true)
	return err == nil && (s != l.empty && !made || s.Changed(ctx))
}

// SetSweeping is as that of Store, once there is a file.
func (l *LazyStore) SetSweeping(on bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.made != nil {
		l.made.SetSweeping(on)
	}
}

// Close closes the file, when there is one. Later calls fail.
func (l *LazyStore) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return nil
	}
	l.closed = true
	err := l.empty.Close()
	if l.made != nil {
		err = errors.Join(err, l.made.Close())
	}
	return err
}
