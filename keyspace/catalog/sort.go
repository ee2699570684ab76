package catalog

import (
	"context"
	"slices"
	"sync"

	"github.com/meowdis/meowdis/store"
	"github.com/meowdis/meowdis/store/keytype"
)

// Indexed reports whether an index has the order of q, so that Page serves it. The
// others are for Sort.
func (q Query) Indexed() bool {
	return q.Order == ByName || q.Order == ByTTL && q.Type == "" && q.Match == nil
}

// falls reports whether the greatest comes first in q's order.
func (q Query) falls() bool {
	return q.Reverse == (q.Order == ByType || q.Order == ByTTL)
}

// Sorting is the keys of a query in an order that no index has: as they were when
// they were read, once, slice by slice. It keeps 16 bytes of each key, in a
// temporary file when they are many, and reads the facts of those on a page anew.
// Many goroutines may use it.
type Sorting struct {
	*Catalog
	query  Query
	slice  int64 // keys that Look reads
	length int   // places that are sorted in memory, but for a slice

	looking sync.Mutex // held by Look
	mu      sync.Mutex
	last    int64 // the id up to which keys were read
	looked  int64
	kept    int64
	done    bool
	fresh   []place // not in the spill yet
	first   []place // the first ones so far, in their order
	spill   spill
}

const (
	sortedAtOnce = 10_000
	runLength    = 100_000
	firstKept    = 500 // places that a page knows before all keys were read
)

// Sort begins to sort the keys of q, whose names Match alone chooses, not Prefix.
// Look does the work. Close must end it.
func (c *Catalog) Sort(q Query) *Sorting {
	return &Sorting{Catalog: c, query: q, slice: sortedAtOnce, length: runLength, last: -1 << 63}
}

// Looked is how many keys were read, of all databases, and whether those are
// all.
func (s *Sorting) Looked() (keys int64, done bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.looked, s.done
}

// Len is how many keys are in the order so far. Some may be gone by now.
func (s *Sorting) Len() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.kept
}

// Close forgets the order, once Look has ended. A page that is being read fails.
func (s *Sorting) Close() {
	s.looking.Lock()
	defer s.looking.Unlock()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.spill.close()
}

// sqlRanks are the ?3 keys after id ?2 in the order of the file: what the order goes by, NULL
// for those that are left out; the number of the type whose values are to be weighed, too; and the
// name if ?4 asks for it.
var sqlRanks = sync.OnceValue(func() map[Order]string {
	return map[Order]string{
		ByTTL:     ranks(`ifnull(dies_at, 9223372036854775807)`, `NULL`),
		BySize:    ranks(`ifnull(`+keytype.Case(whole, (*keytype.Type).KeyBytes)+`, count)`, keytype.Case(whole, number)),
		ByBytes:   ranks(keyBytes(), keytype.Case(nil, number)),
		ByType:    ranks(typeRank(), `NULL`),
		ByUpdated: ranks(`updated_at`, `NULL`),
	}
})

func ranks(rank, kind string) string {
	return `SELECT id, CASE WHEN db = ?1 AND ` + kept + ` THEN ` + rank + ` END, ` + kind + `, iif(?4, key, NULL)
		FROM keys NOT INDEXED WHERE id > ?2 ORDER BY id LIMIT ?3`
}

// Look reads some more keys, and finishes the order when there are none.
func (s *Sorting) Look(ctx context.Context) error {
	s.looking.Lock()
	defer s.looking.Unlock()
	found, last, keys, err := s.places(ctx)
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.last = last
	s.looked += keys
	s.kept += int64(len(found))
	s.fresh = append(s.fresh, found...)
	s.lead(found)
	done := keys < s.slice
	if len(s.fresh) < s.length && !done {
		return nil
	}
	if err := s.spill.add(s.fresh, done); err != nil {
		return err // and the next call tries again
	}
	s.fresh = s.fresh[:0]
	if done {
		s.fresh, s.first, s.done = nil, nil, true
	}
	return nil
}

// places are the places of the keys of the query among the next ones in the file, the
// last of these, and how many these are.
func (s *Sorting) places(ctx context.Context) (found []place, last, keys int64, err error) {
	names := store.Int(0)
	if s.query.Match != nil {
		names = store.Int(1)
	}
	args := append([]store.Value{store.Int(int64(s.query.DB)), store.Int(s.last), store.Int(s.slice), names}, s.filters(s.query)...)
	rows, err := s.read(ctx, store.Stmt{SQL: sqlRanks()[s.query.Order], Args: args})
	if err != nil {
		return nil, 0, 0, err
	}
	last = s.last
	var heavy []unweighed
	var at []int // the places of heavy
	for _, row := range rows[0] {
		id := row[0].Int()
		if id <= last {
			return nil, 0, 0, store.ErrDisorder
		}
		last = id
		if row[1].IsNull() || s.query.Match != nil && !s.query.Match(string(row[3].Bytes())) {
			continue
		}
		if !row[2].IsNull() {
			heavy, at = append(heavy, unweighed{last, row[2].Int()}), append(at, len(found))
		}
		found = append(found, place{row[1].Int(), last})
	}
	weights, err := s.weights(ctx, heavy)
	for i, weight := range weights {
		found[at[i]].rank += weight
	}
	return found, last, int64(len(rows[0])), err
}

// lead takes those of found in that are among the first.
func (s *Sorting) lead(found []place) {
	order := place.compare
	if s.query.falls() {
		order = func(p, q place) int { return q.compare(p) }
	}
	for _, p := range found {
		if n := len(s.first); n < firstKept || order(p, s.first[firstKept-1]) < 0 {
			s.first = append(s.first, p)
		}
	}
	slices.SortFunc(s.first, order)
	s.first = s.first[:min(len(s.first), firstKept)]
}

// Page returns up to n keys of the order after from, or before it when back is
// set. Keys that are gone are missing, so that a page may be short, or empty, and not the last. Of q it
// takes the direction. Until all keys were read, there is one page: the first
// keys so far.
func (s *Sorting) Page(ctx context.Context, q Query, from Mark, back bool, n int) (Page, error) {
	down := q.falls() != back
	s.mu.Lock()
	done, spill := s.done, s.spill
	places := slices.Clone(s.first[:min(n, len(s.first))])
	s.mu.Unlock()
	var err error
	if done {
		var at *place
		if from.Set {
			at = &place{from.rank.Int(), from.id}
		}
		if places, err = spill.near(at, down, n); err != nil {
			return Page{}, err
		}
		if q.falls() {
			slices.Reverse(places)
		}
	}
	p := Page{End: !done || len(places) < n, Looked: len(places)}
	if len(places) == 0 {
		return p, nil
	}
	next := places[len(places)-1]
	if back {
		next = places[0]
	}
	p.Next = next.mark()
	p.Entries, err = s.entries(ctx, places)
	return p, err
}

func (p place) mark() Mark { return Mark{Set: true, rank: store.Int(p.rank), id: p.id} }

var sqlByID = sync.OnceValue(func() string {
	return `SELECT ` + factColumns() + ` FROM keys WHERE id = ?2 AND db = ?1 AND (dies_at IS NULL OR dies_at > ?3)`
})

// entries are the keys at places that are still there and keys of the query.
func (s *Sorting) entries(ctx context.Context, places []place) ([]Entry, error) {
	now := s.now()
	stmts := make([]store.Stmt, len(places))
	for i, p := range places {
		stmts[i] = store.Stmt{SQL: sqlByID(), Args: []store.Value{store.Int(int64(s.query.DB)), store.Int(p.id), store.Int(now)}}
	}
	rows, err := s.read(ctx, stmts...)
	if err != nil {
		return nil, err
	}
	var found []Entry
	for i, p := range places {
		if len(rows[i]) == 0 {
			continue
		}
		e := entry(rows[i][0])
		if !s.query.Keeps(e.Facts, now) {
			continue
		}
		e.Mark.rank = store.Int(p.rank)
		if s.query.Order == ByBytes {
			e.Facts.Bytes = p.rank
		}
		found = append(found, e)
	}
	return found, nil
}
