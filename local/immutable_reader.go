package local

import (
	"context"
	"errors"
	"sync"

	"github.com/meowdis/meowdis/store"
	"github.com/meowdis/meowdis/store/schema"
)

// ImmutableReader is a store for a single short read of a file that this process has open nowhere else. While
// no process has the file open, all commits are in the file, and reads need no WAL: SQLite takes longer to
// create and remove a WAL than to run a GET. All other calls open the file normally. It is safe for concurrent
// use.
//
// Its reads are exact because it holds SQLite's read lock from before the first read to the end. While it holds
// the lock, no process deletes the WAL or leaves WAL mode. So if no WAL exists after a read, no process has
// changed the file during it.
type ImmutableReader struct {
	open func() (*Store, error)

	mu     sync.Mutex
	reader *Store // nil once it is given up
	lock   int    // the descriptor that holds the read lock
	opened *Store // nil until then
	closed bool
}

// NewImmutableReader returns the store of the file at path. If a call needs it, open opens the file normally.
func NewImmutableReader(path string, o Options, open func() (*Store, error)) *ImmutableReader {
	g := &ImmutableReader{open: open}
	lock, ours := takeReadLock(path)
	if !ours {
		return g
	}
	g.reader, g.lock = newStore(path, o), lock
	if err := g.reader.openImmutable(); err != nil {
		g.giveUp()
	}
	return g
}

// NeedsNoWAL reports whether the next read needs no WAL. It is false if another process has the file open, or if
// anything about the file needs a normal open.
func (g *ImmutableReader) NeedsNoWAL() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.reader != nil
}

// openImmutable opens a file that no process changes, if it has the current schema.
func (s *Store) openImmutable() (err error) {
	s.readers = newPool(1, 0)
	if s.immutable, err = statImmutable(s.path); err != nil {
		return err
	}
	if err := s.immutable.check(); err != nil {
		return err
	}
	c, err := openImmutableConn(s.path, toRead)
	if err != nil {
		return err
	}
	c.loading = true // the index may be missing; a statement by hash checks
	s.readers.add(c)
	if err := s.sizeCaches(c); err != nil {
		return err
	}
	rows, _, err := c.run(store.Stmt{SQL: schema.VersionQuery})
	if err == nil && rows[0][0].Int() != schema.Version {
		err = errors.New("it has another schema version")
	}
	return err
}

// giveUp ends reading without a WAL.
func (g *ImmutableReader) giveUp() error {
	if g.reader == nil {
		return nil
	}
	err := g.reader.Close()
	releaseReadLock(g.lock)
	g.reader = nil
	return err
}

// Apply is Store.Apply.
func (g *ImmutableReader) Apply(ctx context.Context, batches []store.Batch) (results []store.Result, err error) {
	used := usedBy(batches)
	err = g.with(readOnly(batches), func(s *Store) error {
		restart(batches, used)
		results, err = s.Apply(ctx, batches)
		return err
	})
	return results, err
}

// Transact is Store.Transact.
func (g *ImmutableReader) Transact(ctx context.Context, readOnly bool, fn func(run func(store.Batch) (store.Result, error)) error) error {
	return g.with(readOnly, func(s *Store) error { return s.Transact(ctx, readOnly, fn) })
}

// with calls fn with a store of the file. If a read fails, with opens the file normally and calls fn again.
func (g *ImmutableReader) with(reads bool, fn func(*Store) error) error {
	g.mu.Lock()
	if g.reader != nil && reads && fn(g.reader) == nil {
		g.mu.Unlock()
		return nil
	}
	s, err := g.openNormally()
	g.mu.Unlock()
	if err != nil {
		return err
	}
	return fn(s)
}

// openNormally opens the file normally, for this call and all later calls. The caller holds mu.
func (g *ImmutableReader) openNormally() (s *Store, err error) {
	switch {
	case g.closed:
		return nil, errClosed
	case g.opened != nil:
		return g.opened, nil
	}
	if err := g.giveUp(); err != nil {
		return nil, err
	}
	g.opened, err = g.open()
	return g.opened, err
}

// Close closes the file. Later calls fail.
func (g *ImmutableReader) Close() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closed {
		return nil
	}
	g.closed = true
	if g.opened != nil {
		return g.opened.Close()
	}
	return g.giveUp()
}
