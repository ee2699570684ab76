package catalog

import (
	"context"
	"slices"
	"sync"

	"github.com/meowdis/meowdis/internal/smallsort"
	"github.com/meowdis/meowdis/store"
	"github.com/meowdis/meowdis/store/keytype"
)

// Indexed reports whether Page can serve q from an index. Other queries need Sort.
func (q Query) Indexed() bool {
	return q.Order == ByName && !q.IsSized() || q.Order == ByTTL && q.Type == "" && q.Match == nil && !q.IsSized()
}

// isDescending reports whether the greatest key comes first in q's order.
func (q Query) isDescending() bool {
	return q.Reverse == (q.Order == ByType || q.Order == ByTTL)
}

// Sorting holds the keys of a query in an order that has no index. It reads the keys once, in
// slices, so the order reflects the time of reading. It stores 16 bytes per key, in a temporary
// file if the keys are many, and reads the facts of a page's keys for each page. It is safe for
// concurrent use.
type Sorting struct {
	*Catalog
	query     Query
	slice     int64 // keys read per ReadSlice
	runLength int   // places per run; a run may exceed it by a slice

	readLock sync.Mutex // held by ReadSlice
	mu       sync.Mutex
	last     int64 // id of the last key read
	examined int64
	sorted   int64
	done     bool
	fresh    []place // not yet in spill
	first    []place // the first places so far, in order
	spill    spill
}

const (
	sortSlice = 10_000
	runLength = 100_000
	maxFirst  = 500 // places available before all keys are read
)

// Sort starts sorting the keys of q. It filters names with q.Match and ignores q.Prefix. ReadSlice
// does the work; the caller must call Close.
func (c *Catalog) Sort(q Query) *Sorting {
	return &Sorting{Catalog: c, query: q, slice: sortSlice, runLength: runLength, last: -1 << 63}
}

// Progress returns the number of keys read, in all databases, and whether all keys are read.
func (s *Sorting) Progress() (keys int64, done bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.examined, s.done
}

// Len returns the number of keys in the order so far. Some of them may be deleted since.
func (s *Sorting) Len() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.sorted
}

// Close releases the order after ReadSlice returns. A concurrent Page fails.
func (s *Sorting) Close() {
	s.readLock.Lock()
	defer s.readLock.Unlock()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.spill.close()
}

// sqlRanks selects ?3 keys after id ?2 in file order: the sort value, NULL for excluded keys;
// the type number if the value's bytes must be read; the name if ?4 is set; and for a filter by bytes,
// the bytes without the value's.
var (
	sqlRanks = sync.OnceValue(func() map[Order]string {
		return map[Order]string{
			ByTTL:     ranks(rankByTTL, `NULL`, `NULL`),
			BySize:    ranks(rankBySize(), keytype.Case(whole, typeNumber), `NULL`),
			ByBytes:   ranks(keyBytes(), keytype.Case(nil, typeNumber), `NULL`),
			ByType:    ranks(typeRank(), `NULL`, `NULL`),
			ByUpdated: ranks(rankByUpdated, `NULL`, `NULL`),
		}
	})
	sqlSizedRanks = sync.OnceValue(func() map[Order]string {
		all := map[Order]string{}
		for order, rank := range map[Order]string{ByTTL: rankByTTL, BySize: rankBySize(), ByBytes: keyBytes(), ByType: typeRank(), ByUpdated: rankByUpdated} {
			all[order] = ranks(rank, keytype.Case(nil, typeNumber), keyBytes())
		}
		return all
	})
)

const (
	rankByTTL     = `ifnull(dies_at, 9223372036854775807)`
	rankByUpdated = `updated_at`
)

func rankBySize() string {
	return `ifnull(` + keytype.Case(whole, (*keytype.Type).KeyBytes) + `, count)`
}

func ranks(rank, kind, bytes string) string {
	return `SELECT id, CASE WHEN db = ?1 AND ` + filter + ` THEN ` + rank + ` END, ` + kind + `, iif(?4, key, NULL), ` + bytes + `
		FROM keys NOT INDEXED WHERE id > ?2 ORDER BY id LIMIT ?3`
}

// ReadSlice reads another slice of keys, and completes the order when no keys remain.
func (s *Sorting) ReadSlice(ctx context.Context) error {
	s.readLock.Lock()
	defer s.readLock.Unlock()
	found, last, keys, err := s.places(ctx)
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.last = last
	s.examined += keys
	s.sorted += int64(len(found))
	s.fresh = append(s.fresh, found...)
	s.mergeFirst(found)
	done := keys < s.slice
	if len(s.fresh) < s.runLength && !done {
		return nil
	}
	if err := s.spill.add(s.fresh, done); err != nil {
		return err // the next call retries
	}
	s.fresh = s.fresh[:0]
	if done {
		s.fresh, s.first, s.done = nil, nil, true
	}
	return nil
}

// places returns the places of the query's keys in the next slice, the last id of the slice,
// and the number of keys in the slice.
func (s *Sorting) places(ctx context.Context) (found []place, last, keys int64, err error) {
	names := store.Int(0)
	if s.query.Match != nil {
		names = store.Int(1)
	}
	args := append([]store.Value{store.Int(int64(s.query.DB)), store.Int(s.last), store.Int(s.slice), names}, s.filters(s.query)...)
	sql := sqlRanks()
	if s.query.IsSized() {
		sql = sqlSizedRanks()
	}
	rows, err := s.read(ctx, store.Stmt{SQL: sql[s.query.Order], Args: args})
	if err != nil {
		return nil, 0, 0, err
	}
	last = s.last
	var heavy []sizedKey
	var at []int      // indexes of heavy in found
	var bytes []int64 // of found, if the query filters by them
	for _, row := range rows[0] {
		id := row[0].Int()
		if id <= last {
			return nil, 0, 0, store.ErrOutOfOrder
		}
		last = id
		if row[1].IsNull() || s.query.Match != nil && !s.query.Match(string(row[3].Bytes())) {
			continue
		}
		if !row[2].IsNull() {
			heavy, at = append(heavy, sizedKey{last, row[2].Int()}), append(at, len(found))
		}
		found, bytes = append(found, place{row[1].Int(), last}), append(bytes, row[4].Int())
	}
	weights, err := s.valueBytes(ctx, heavy)
	for i, weight := range weights {
		bytes[at[i]] += weight
		if s.query.Order == ByBytes || s.query.Order == BySize && whole(keytype.Types[heavy[i].typeNumber]) {
			found[at[i]].rank += weight
		}
	}
	if s.query.IsSized() {
		found = s.query.acceptedOf(found, bytes)
	}
	return found, last, int64(len(rows[0])), err
}

// acceptedOf filters places in place by the bytes of their keys.
func (q Query) acceptedOf(places []place, bytes []int64) []place {
	accepted := places[:0]
	for i, p := range places {
		if q.AcceptsBytes(bytes[i]) {
			accepted = append(accepted, p)
		}
	}
	return accepted
}

// mergeFirst merges found into the first places.
func (s *Sorting) mergeFirst(found []place) {
	order := place.compare
	if s.query.isDescending() {
		order = func(p, q place) int { return q.compare(p) }
	}
	for _, p := range found {
		if n := len(s.first); n < maxFirst || order(p, s.first[maxFirst-1]) < 0 {
			s.first = append(s.first, p)
		}
	}
	smallsort.Sort(s.first, order)
	s.first = s.first[:min(len(s.first), maxFirst)]
}

// Page returns up to n keys of the order after from, or before from if back is set. It omits
// deleted keys, so a page may be short or empty without being the last. It uses only the
// direction of q. Until all keys are read, the only page holds the first keys so far.
func (s *Sorting) Page(ctx context.Context, q Query, from Mark, back bool, n int) (Page, error) {
	down := q.isDescending() != back
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
		if q.isDescending() {
			slices.Reverse(places)
		}
	}
	p := Page{End: !done || len(places) < n, Examined: len(places)}
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

// entries returns the keys at places that still exist and still match the query.
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
		if !s.query.Accepts(e.Facts, now) {
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
