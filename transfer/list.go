package transfer

import (
	"context"
	"slices"

	"github.com/meowdis/meowdis/store"
)

// List returns a page of about n live keys of a database after the position after, in SCAN's
// order, and the position after the page. Position 0 is the beginning and the end. Keys are
// ordered by position, then by name. List may be called during other calls to the session.
type List func(ctx context.Context, db int, after, n int64) (page []Listed, next int64, err error)

// Find returns the live keys of these names in a database, in any order. It may be called during
// other calls to the session.
type Find func(ctx context.Context, db int, names [][]byte) ([]Listed, error)

// ListUnseen is List without the keys that seen accepts by their ID. It returns no values.
type ListUnseen func(ctx context.Context, db int, after, n int64, seen func(id int64) bool) (page []Listed, next int64, err error)

// Listed is a listed key, or the reason why it cannot be moved.
type Listed struct {
	*Key
	Place int64 // position in a List, otherwise 0
	ID    int64 // in the file; 0 for other places
	Value Value // nil if it must be read
	Err   error
}

// part returns the key as a single part. Its value or error must be known.
func (l Listed) part() Part {
	if l.Err != nil {
		return Part{Key: l.Key, First: true, Last: true, Err: l.Err}
	}
	return Whole(l.Key, l.Value)
}

// pagesAhead limits the pages that are listed ahead. Pages hold only small keys.
const pagesAhead = 8

// listing reads a List in the background.
type listing struct {
	pages chan listedPage
	stop  func() // must be called; waits until reading has stopped
}

type listedPage struct {
	keys []Listed
	next int64
	err  error
}

// from starts reading the keys of a database after a position.
func (list List) from(ctx context.Context, db int, after int64) *listing {
	ctx, cancel := context.WithCancel(ctx)
	l := &listing{pages: make(chan listedPage, pagesAhead)}
	l.stop = func() {
		cancel()
		for range l.pages {
		}
	}
	go func() {
		defer close(l.pages)
		for p := (listedPage{next: after}); ; {
			p.err = store.Caught(func() (err error) {
				p.keys, p.next, err = list(ctx, db, p.next, scanCount)
				return err
			})
			p.keys = slices.DeleteFunc(p.keys, func(k Listed) bool { return IsOwn(k.Name) })
			select {
			case l.pages <- p:
			case <-ctx.Done():
				return
			}
			if p.err != nil || p.next == 0 {
				return
			}
		}
	}()
	return l
}

// page returns the next page and the position after it, 0 for the last page.
func (l *listing) page(ctx context.Context) ([]Listed, int64, error) {
	p, ok := <-l.pages
	if !ok {
		return nil, 0, context.Cause(ctx)
	}
	return p.keys, p.next, p.err
}
