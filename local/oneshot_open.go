package local

import (
	"context"
	"errors"
	"sync"

	"github.com/meowdis/meowdis/store"
	"github.com/meowdis/meowdis/store/schema"
)

// ImmutableReader is the store of a file for who reads it for a moment, and has it open nowhere else in the
// process. While no process has the file open, all that was committed is in the file, and batches that
// read need no log beside it, which takes SQLite longer to make and to remove than a GET takes.
// Anything else opens the file as ever. It is safe for concurrent use.
//
// It is exact, since SQLite's lock for reading is held from before the first look at the file to the
// end: as long as it is, no process deletes the log or leaves WAL mode, so that when there is no log
// after a read, no process could have changed the file during it.
type ImmutableReader struct {
	open func() (*Store, error)

	mu     sync.Mutex
	still  *Store // nil once it is given up
	lock   int    // the descriptor that holds still's lock
	made   *Store // nil until then
	closed bool
}

// NewGlance returns the store of the file at path, which open opens as ever. That is not done yet.
func NewGlance(path string, o Options, open func() (*Store, error)) *ImmutableReader {
	g := &ImmutableReader{open: open}
	lock, ours := lockStill(path)
	if !ours {
		return g
	}
	g.still, g.lock = newStore(path, o), lock
	if err := g.still.openStill(); err != nil {
		g.giveUp()
	}
	return g
}

// Still reports whether the next read needs no log: not when another process has the file open, nor
// when anything about the file needs a closer look.
func (g *ImmutableReader) Still() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.still != nil
}

// openStill opens a file that no process changes, without its triggers and views, if it has the tables that
// we know.
func (s *Store) openStill() (err error) {
	s.readers = newPool(1, 0)
	if s.frozen, err = freeze(s.path); err != nil {
		return err
	}
	if err := s.frozen.check(); err != nil {
		return err
	}
	c, err := openURI(s.path, toRead, "immutable=1&"+leanParameter+"=1")
	if err != nil {
		return err
	}
	c.loading = true // for all that is known: who goes by hash looks
	s.readers.add(c)
	if err := s.sizeCaches(c); err != nil {
		return err
	}
	rows, _, err := c.run(store.Stmt{SQL: schema.VersionQuery})
	if err == nil && rows[0][0].Int() != schema.Version {
		err = errors.New("it has another version of the tables")
	}
	return err
}

// giveUp ends reading without a log.
func (g *ImmutableReader) giveUp() error {
	if g.still == nil {
		return nil
	}
	err := g.still.Close()
	unlockStill(g.lock)
	g.still = nil
	return err
}

// Apply is as that of Store.
func (g *ImmutableReader) Apply(ctx context.Context, batches []store.Batch) (results []store.Result, err error) {
	used := usedBy(batches)
	err = g.with(readOnly(batches), func(s *Store) error {
		restart(batches, used)
		results, err = s.Apply(ctx, batches)
		return err
	})
	return results, err
}

// Transact is as that of Store.
func (g *ImmutableReader) Transact(ctx context.Context, readOnly bool, fn func(run func(store.Batch) (store.Result, error)) error) error {
	return g.with(readOnly, func(s *Store) error { return s.Transact(ctx, readOnly, fn) })
}

// with calls fn with the file. What reads is called again, with the file opened as ever, when it fails.
func (g *ImmutableReader) with(reads bool, fn func(*Store) error) error {
	g.mu.Lock()
	if g.still != nil && reads && fn(g.still) == nil {
		g.mu.Unlock()
		return nil
	}
	s, err := g.real()
	g.mu.Unlock()
	if err != nil {
		return err
	}
	return fn(s)
}

// real is the file opened as ever, from now on. The caller holds mu.
func (g *ImmutableReader) real() (s *Store, err error) {
	switch {
	case g.closed:
		return nil, errClosed
	case g.made != nil:
		return g.made, nil
	}
	if err := g.giveUp(); err != nil {
		return nil, err
	}
	g.made, err = g.open()
	return g.made, err
}

// Close closes the file. Later calls fail.
func (g *ImmutableReader) Close() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closed {
		return nil
	}
	g.closed = true
	if g.made != nil {
		return g.made.Close()
	}
	return g.giveUp()
}
