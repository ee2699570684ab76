package translator

import (
	"sync"
	"sync/atomic"

	"github.com/meowdis/meowdis/redis/resp"
	"github.com/meowdis/meowdis/store"
)

// SearchState holds what the search commands of a process remember: the parameters of FT.CONFIG, and open cursors. It is
// safe for concurrent use.
type SearchState struct {
	settings atomic.Pointer[searchSettings]

	guard   sync.Mutex
	cursors map[int64]*rowCursor
	bytes   int64 // of all cursors

	// Extend, if set, applies a batch that lets a used TEMPORARY index live longer. It does not wait.
	Extend func(store.Batch)
	used   map[int64]int64 // when the indexes were last extended, by id
}

// sqlExtendIndex lets a TEMPORARY index live until ?2.
const sqlExtendIndex = `UPDATE search_indexes SET dies_at = max(dies_at, ?2) WHERE id = ?1 AND dies_at IS NOT NULL`

// manyUses limits the indexes whose last use is known.
const manyUses = 1000

// use notes that an index is used, which then lives until a time. The next use counts after an eighth of that time.
func (s *SearchState) use(id, now, until int64) {
	s.guard.Lock()
	last, known := s.used[id]
	extend := s.Extend != nil && (!known || now-last >= (until-now)/8)
	if extend {
		if s.used == nil || len(s.used) >= manyUses {
			s.used = map[int64]int64{}
		}
		s.used[id] = now
	}
	s.guard.Unlock()
	if extend {
		s.Extend(store.Batch{Keys: [][]byte{}, Stmts: []store.Stmt{{SQL: sqlExtendIndex, Args: []store.Value{store.Int(id), store.Int(until)}}}})
	}
}

// searchSettings holds the parameters of FT.CONFIG that can be set.
type searchSettings struct {
	dialect                int
	scorer                 string
	tanhFactor             int64
	timeout                int64 // ms, 0 for none
	failsLate              bool  // ON_TIMEOUT fail
	maxSearch, maxRows     int64 // of LIMIT
	maxGroups              int64
	cursorIdle, maxCursors int64 // ms, and cursors of an index
}

var defaultSettings = searchSettings{
	dialect: 1, scorer: "BM25STD", tanhFactor: 4, maxSearch: 1_000_000, maxRows: 1 << 31, maxGroups: 1_000_000, cursorIdle: 300_000, maxCursors: 128,
}

// searchSettings returns the parameters of the process.
func (c *Call) searchSettings() *searchSettings {
	if s := c.Env.Search; s != nil {
		if set := s.settings.Load(); set != nil {
			return set
		}
	}
	return &defaultSettings
}

// rowCursor holds the rows of FT.AGGREGATE that a client has not read.
type rowCursor struct {
	db      int
	index   int64 // its id
	rows    []resp.Value
	total   int
	expand  bool
	warning []resp.Value
	count   int64 // rows of a reply
	idle    int64 // ms
	until   int64 // Unix ms
	bytes   int64
}

// maxCursorBytes limits the rows of all cursors of a process.
const maxCursorBytes = 64 << 20

// The reasons why a cursor cannot be opened.
type cursorRefusal int

const (
	cursorOpened cursorRefusal = iota
	tooManyCursors
	cursorsTooLarge
)

// open keeps a cursor under the id.
func (s *SearchState) open(id int64, c *rowCursor, now, most int64) cursorRefusal {
	s.guard.Lock()
	defer s.guard.Unlock()
	s.expire(now)
	n := int64(0)
	for _, other := range s.cursors {
		if other.index == c.index {
			n++
		}
	}
	switch {
	case n >= most:
		return tooManyCursors
	case s.bytes+c.bytes > maxCursorBytes:
		return cursorsTooLarge
	}
	if s.cursors == nil {
		s.cursors = map[int64]*rowCursor{}
	}
	c.until = now + c.idle
	s.cursors[id] = c
	s.bytes += c.bytes
	return cursorOpened
}

// take removes the next n rows of a cursor, or as many as its COUNT if n is 0. It returns a copy of the cursor with these rows
// only; more is false if the cursor has ended, and ok if it is missing.
func (s *SearchState) take(id int64, db int, index, n, now int64) (part rowCursor, more, ok bool) {
	s.guard.Lock()
	defer s.guard.Unlock()
	s.expire(now)
	c := s.cursors[id]
	if c == nil || c.db != db || c.index != index {
		return rowCursor{}, false, false
	}
	if n == 0 {
		n = c.count
	}
	n = min(n, int64(len(c.rows)))
	part = *c
	part.rows = c.rows[:n]
	c.rows = c.rows[n:]
	c.until = now + c.idle
	if len(c.rows) == 0 {
		s.drop(id)
		return part, false, true
	}
	return part, true, true
}

// close drops a cursor, and reports whether it was open.
func (s *SearchState) close(id int64, db int, index, now int64) bool {
	s.guard.Lock()
	defer s.guard.Unlock()
	s.expire(now)
	if c := s.cursors[id]; c == nil || c.db != db || c.index != index {
		return false
	}
	s.drop(id)
	return true
}

// collect drops the cursors that were idle for too long, and returns their number.
func (s *SearchState) collect(now int64) int {
	s.guard.Lock()
	defer s.guard.Unlock()
	return s.expire(now)
}

// count returns the number of open cursors, and of the cursors of an index.
func (s *SearchState) count(index, now int64) (all, of int64) {
	if s == nil {
		return 0, 0
	}
	s.guard.Lock()
	defer s.guard.Unlock()
	s.expire(now)
	for _, c := range s.cursors {
		all++
		if c.index == index {
			of++
		}
	}
	return all, of
}

func (s *SearchState) expire(now int64) (n int) {
	for id, c := range s.cursors {
		if c.until <= now {
			s.drop(id)
			n++
		}
	}
	return n
}

func (s *SearchState) drop(id int64) {
	s.bytes -= s.cursors[id].bytes
	delete(s.cursors, id)
}
