package local

import (
	"hash/maphash"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/meowdis/meowdis/store"
)

// rowCache is the rows that reads have returned, so that the same reads need no SQLite.
//
// Rows that come from here are those that SQLite would have returned at some moment of the
// call, and calls that follow one another see moments that do. What keeps it so:
//
//   - Rows depend on one key (store.Batch.Keys), and on the clock only by whether that is dead.
//     They are kept with the time at which it dies; those of a hash whose fields die are not kept.
//   - Before this process commits, the rows of the keys that it has changed go (before), and until
//     the commit is over none of theirs are kept. A read that was under way meanwhile may have
//     seen the old ones: each key has a place in a table of versions, which grow with every
//     commit, and rows are kept only when the version is still that from before the read.
//   - A commit by another process changes the header of the log in shared memory. Rows are valid
//     under one header only. One that is not ours begins another generation, without rows. Ours
//     are told from others' by the count of commits: while this process has the write lock there
//     are no others, so that it must be the one more after it.
type rowCache struct {
	seed   maphash.Seed
	shards [keptShards]rowCacheShard
	read   atomic.Int64 // batches that SQLite had to read
	swept  atomic.Int64 // the latest time of a sweep: what had died then is gone, whatever the clock says

	state atomic.Pointer[keptState] // nil while nothing is answered; whoever uses its index locks a shard, or mu

	mu         sync.Mutex // for changing the state
	committing bool       // the writer is about to change the header
	generation uint64     // the last one

	// The writer's own.
	index   *walIndex
	base    walHeader // when its transaction began
	changed touched
}

// keptState is what rows must be of to be valid.
type keptState struct {
	index      *walIndex
	header     walHeader
	generation uint64
}

const (
	keptShards   = 16
	keptVersions = 256 // in each
	keptAsked    = 4096
	keptRoom     = 128 << 10 // bytes, for the rows of one read: larger ones are not kept
)

// rowCacheShard has the rows of the keys with some hashes. A clock's hand chooses what goes when it is
// full: rows that were used since it last passed stay.
type rowCacheShard struct {
	mu         sync.Mutex
	generation uint64
	keys       map[string]*keptRows // the first of a key, the others follow it
	ring       []*keptRows
	hand       int
	free       int64                // bytes
	versions   [keptVersions]uint64 // odd while a commit is under way
	asked      [keptAsked]uint32    // the keys that were last asked for in vain: rows are kept the second time
}

// keptRows are the rows of one read.
type keptRows struct {
	key     string
	sql     string   // of the first statement
	more    []string // of the others
	args    []byte   // of all of them, as appendArgs has them
	rows    [][]store.Row
	weight  int64 // of the rows, for budgets
	size    int64
	diesAt  int64
	place   int // in the ring
	next    *keptRows
	used    bool
	removed bool
}

func newKept(size int64) *rowCache {
	k := &rowCache{seed: maphash.MakeSeed()}
	for i := range k.shards {
		k.shards[i].free = size / keptShards
		k.shards[i].keys = map[string]*keptRows{}
	}
	return k
}

// attach begins to keep rows, of the file that c has open. It changes nothing when the file has no
// shared memory.
func (k *rowCache) attach(c *conn) {
	if k == nil {
		return
	}
	index, err := c.walIndex()
	if err != nil {
		return
	}
	c.touched = &k.changed
	k.mu.Lock()
	defer k.mu.Unlock()
	k.index = index
	k.newGeneration()
}

// detach ends it: the shared memory is about to go.
func (k *rowCache) detach() {
	if k == nil {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.index = nil
	k.state.Store(nil)
	for i := range k.shards {
		k.shards[i].mu.Lock() // after whoever still looks at it
		k.shards[i].mu.Unlock()
	}
}

// newGeneration begins another generation under the header that there is. mu is locked.
func (k *rowCache) newGeneration() {
	if k.index == nil {
		return
	}
	k.generation++
	k.state.Store(&keptState{k.index, k.index.read(), k.generation})
}

// resync is for who has seen that the header is not that of st.
func (k *rowCache) resync(st *keptState) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if !k.committing && k.state.Load() == st {
		k.newGeneration()
	}
}

// onBegin is for the writer once it has the lock.
func (k *rowCache) onBegin() {
	if k != nil && k.index != nil {
		k.base = k.index.read()
		k.changed.forget()
	}
}

// onPreCommit is for the writer that is about to commit, and after follows whatever became of that.
func (k *rowCache) onPreCommit() {
	if k == nil || k.index == nil {
		return
	}
	k.mu.Lock()
	k.committing = true
	if k.changed.any {
		k.state.Store(nil)
	}
	k.mu.Unlock()
	for _, key := range k.changed.keys {
		h := maphash.Bytes(k.seed, key)
		s := k.shard(h)
		s.mu.Lock()
		if v := s.version(h); *v%2 == 0 {
			*v++
		}
		s.drop(key, h)
		s.mu.Unlock()
	}
}

func (k *rowCache) onPostCommit() {
	if k == nil || !k.committing {
		return
	}
	for _, key := range k.changed.keys {
		h := maphash.Bytes(k.seed, key)
		s := k.shard(h)
		s.mu.Lock()
		if v := s.version(h); *v%2 == 1 {
			*v++
		}
		s.mu.Unlock()
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.committing = false
	st, now := k.state.Load(), k.index.read()
	ours := now == k.base || now.commits() == k.base.commits()+1
	if st == nil || st.header != k.base || !ours {
		k.newGeneration()
		return
	}
	k.state.Store(&keptState{k.index, now, st.generation})
}

// touched is the keys that a transaction changes.
type touched struct {
	any  bool
	keys [][]byte
}

const mostTouched = 4096 // above it is as if they were all

func (t *touched) forget() {
	clear(t.keys)
	t.any, t.keys = false, t.keys[:0]
}

// add adds the keys of a batch that writes. A nil t takes none.
func (t *touched) add(keys [][]byte) {
	switch {
	case t == nil || t.any:
	case keys == nil || len(t.keys)+len(keys) > mostTouched:
		t.any = true
	default:
		t.keys = append(t.keys, keys...)
	}
}

func (k *rowCache) shard(hash uint64) *rowCacheShard { return &k.shards[hash%keptShards] }

func (s *rowCacheShard) version(hash uint64) *uint64 {
	return &s.versions[hash/keptShards%keptVersions]
}

// wanted notes that a key was asked for in vain, and reports whether that is the second time.
func (s *rowCacheShard) wanted(hash uint64) bool {
	last := &s.asked[hash/keptShards%keptAsked]
	again := *last == uint32(hash>>32)
	*last = uint32(hash >> 32)
	return again
}

// asked is a read of one key: what was kept of it, or what it takes to keep its rows.
type asked struct {
	rows *keptRows // nil when there were none
	hash uint64
	keep bool // its rows, when they are those of
	version,
	generation uint64
	diesAt int64
}

// lasting reports whether the rows of b may be kept.
func lasting(b *store.Batch) bool {
	return len(b.Keys) == 1 && b.ReadOnly && len(b.Stmts[0].Args) > clockArg &&
		!slices.ContainsFunc(b.Stmts, func(s store.Stmt) bool { return s.Fold != nil })
}

// clockArg is the clock's place among the arguments of a statement.
const clockArg = 2

// get looks for the rows of b.
func (k *rowCache) get(b *store.Batch) (a asked) {
	if !lasting(b) {
		return a
	}
	key := b.Keys[0]
	a.hash = maphash.Bytes(k.seed, key)
	s := k.shard(a.hash)
	s.mu.Lock()
	st := k.state.Load()
	if st == nil || !st.index.is(&st.header) {
		s.mu.Unlock()
		if st != nil {
			k.resync(st)
		}
		return a
	}
	defer s.mu.Unlock()
	s.enter(st.generation)
	for r := s.keys[string(key)]; r != nil; r = r.next {
		if r.diesAt > max(b.Stmts[0].Args[clockArg].Int(), k.swept.Load()) && r.is(b) {
			r.used, a.rows = true, r
			return a
		}
	}
	if a.keep = s.wanted(a.hash) && *s.version(a.hash)%2 == 0; a.keep {
		a.version, a.generation = *s.version(a.hash), st.generation
	}
	return a
}

// valid reports whether what was found is still valid.
func (k *rowCache) valid(a *asked) bool {
	s := k.shard(a.hash)
	s.mu.Lock()
	defer s.mu.Unlock()
	st := k.state.Load()
	return st != nil && !a.rows.removed && st.generation == s.generation && st.index.is(&st.header)
}

// put keeps rows that were read after ask.
func (k *rowCache) put(a *asked, b *store.Batch, rows [][]store.Row) {
	r := newKeptRows(b, rows)
	if r.size > keptRoom {
		return
	}
	r.diesAt = a.diesAt
	s := k.shard(a.hash)
	s.mu.Lock()
	defer s.mu.Unlock()
	if st := k.state.Load(); st != nil && st.generation == a.generation && s.generation == a.generation && *s.version(a.hash) == a.version {
		s.add(r, b)
	}
}

// enter forgets the rows of another generation.
func (s *rowCacheShard) enter(generation uint64) {
	if s.generation == generation {
		return
	}
	s.generation = generation
	for _, r := range s.ring {
		r.removed = true
		s.free += r.size
	}
	clear(s.ring)
	clear(s.keys)
	s.ring, s.hand = s.ring[:0], 0
}

func (s *rowCacheShard) add(r *keptRows, b *store.Batch) {
	for old := s.keys[r.key]; old != nil; old = old.next {
		if old.is(b) { // another read was as fast, or its key has died
			s.remove(old)
			break
		}
	}
	for s.free < r.size && len(s.ring) > 0 {
		s.hand %= len(s.ring)
		if old := s.ring[s.hand]; old.used {
			old.used = false
			s.hand++
		} else {
			s.remove(old)
		}
	}
	if s.free < r.size {
		return
	}
	s.free -= r.size
	r.next, r.place = s.keys[r.key], len(s.ring)
	s.keys[r.key] = r
	s.ring = append(s.ring, r)
}

// drop removes the rows of a key. The next ones are kept at once.
func (s *rowCacheShard) drop(key []byte, hash uint64) {
	first := s.keys[string(key)]
	if first == nil {
		return
	}
	for r := first; r != nil; r = r.next {
		s.unlist(r)
	}
	delete(s.keys, first.key)
	s.wanted(hash)
}

func (s *rowCacheShard) remove(r *keptRows) {
	s.unlist(r)
	first := s.keys[r.key]
	switch {
	case first != r:
		for first.next != r {
			first = first.next
		}
		first.next = r.next
	case r.next == nil:
		delete(s.keys, r.key)
	default:
		s.keys[r.key] = r.next
	}
}

// unlist takes r out of the ring.
func (s *rowCacheShard) unlist(r *keptRows) {
	last := len(s.ring) - 1
	s.ring[last].place = r.place
	s.ring[r.place] = s.ring[last]
	s.ring[last] = nil
	s.ring = s.ring[:last]
	s.free += r.size
	r.removed = true
}

// sweep says that what was dead at now may be deleted.
func (k *rowCache) sweep(now int64) {
	if k == nil {
		return
	}
	for last := k.swept.Load(); now > last && !k.swept.CompareAndSwap(last, now); last = k.swept.Load() {
	}
}
