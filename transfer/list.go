package transfer

import (
	"context"
	"slices"
)

// List returns a page of about n live keys of a database, those after the place after
// in SCAN's order, and the place after the page; 0 is the beginning and the end. Keys
// have the order of their places and, where these are the same, of their names. It may
// be called while the session is at work.
type List func(ctx context.Context, db int, after, n int64) (page []Listed, next int64, err error)

// Listed is a key as it was found, or why it cannot be moved.
type Listed struct {
	*Key
	Place int64 // of List's, 0 otherwise
	Value Value // nil when it is to be read
	Err   error
}

// part is a key of which all is known.
func (l Listed) part() Part {
	if l.Err != nil {
		return Part{Key: l.Key, First: true, Last: true, Err: l.Err}
	}
	return Whole(l.Key, l.Value)
}

// pagesAhead is how many pages of a list are read while those before them are worked
// on. They bring small keys only.
const pagesAhead = 8

// listing is a list that is being read.
type listing struct {
	pages chan listedPage
	stop  func() // must be called; waits until nothing is read any more
}

type listedPage struct {
	keys []Listed
	next int64
	err  error
}

// from begins to read the keys of a database after a place.
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
			p.keys, p.next, p.err = list(ctx, db, p.next, scanCount)
			p.keys = slices.DeleteFunc(p.keys, func(k Listed) bool { return isTemporary(k.Name) })
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

// page returns the next page, and the place after it, 0 when it is the last one.
func (l *listing) page(ctx context.Context) ([]Listed, int64, error) {
	p, ok := <-l.pages
	if !ok {
		return nil, 0, context.Cause(ctx)
	}
	return p.keys, p.next, p.err
}
