package local

import (
	"hash/maphash"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/meowdis/meowdis/store"
)

// rowCache keeps rows that reads have returned, so that the same read needs no SQLite.
//
// The rows it returns are the rows that SQLite would have returned at some moment during the call, and later
// calls never see an earlier moment. This holds because:
//
//   - Cached rows depend on one key (store.Batch.Keys), and on the clock only by whether that key has expired.
//     They are stored with the expiry of the key. Rows of a hash with expiring fields are not cached.
//   - Before this process commits, it drops the rows of the changed keys (onPreCommit), and no rows of these
//     keys are added until the commit is over. A read that runs at the same time may have seen the old rows:
//     each key maps to an entry in a table of versions, which grow with every commit, and rows are added only
//     if the version has not changed since before the read.
//   - A commit by another process changes the WAL header in shared memory. Rows are valid under one header
//     only. A header that this process did not write starts a new, empty generation. The commit counter
//     identifies our own headers: no other process commits while this process holds the write lock, so a
//     transaction of ours increments the counter by one if it writes, and not at all if it does not.
type rowCache struct {
	seed        maphash.Seed
	shards      [cacheShards]rowCacheShard
	sqliteReads atomic.Int64 // batches that SQLite had to read
	swept       atomic.Int64 // the latest sweep, Unix ms: keys expired by then are gone, whatever the clock says

	state atomic.Pointer[cacheState] // nil while the cache is off; to use its index, lock a shard or mu

	mu         sync.Mutex // guards changes of state
	committing bool       // the writer is about to change the header
	generation uint64     // the latest one

	// Only the writer uses these.
	index   *walIndex
	base    walHeader // when its transaction began
	changed changedKeys
}

// cacheState identifies the rows that are valid: rows of its generation, while the WAL has its header.
type cacheState struct {
	index      *walIndex
	header     walHeader
	generation uint64
}

const (
	cacheShards   = 16
	shardVersions = 256 // per shard
	shardMisses   = 4096
	maxCachedRead = 128 << 10 // bytes; the rows of a larger read are not cached
)

// rowCacheShard holds the rows of the keys in one part of the hash space. It evicts by the clock algorithm:
// rows that were used since the hand last passed stay.
type rowCacheShard struct {
	mu         sync.Mutex
	generation uint64
	keys       map[string]*cachedRows // the first entry of a key; next links the other entries
	ring       []*cachedRows
	hand       int
	free       int64                 // bytes
	versions   [shardVersions]uint64 // odd while a commit is in progress
	misses     [shardMisses]uint32   // hashes of recently missed keys: rows are cached at the second miss
}

// cachedRows is one cached read: a batch without its clock, and its rows.
type cachedRows struct {
	key       string
	sql       string   // of the first statement
	more      []string // of the other statements
	args      string   // of all statements, encoded by appendArgs
	rows      [][]store.Row
	list      [1][]store.Row // memory for the rows of a read of one row, next to the rest
	row       [1]store.Row
	weight    int64 // charged to a budget when the rows are used
	size      int64
	diesAt    int64
	ringIndex int // index in the ring
	next      *cachedRows
	used      bool
	removed   bool
}

func newRowCache(size int64) *rowCache {
	k := &rowCache{seed: maphash.MakeSeed()}
	for i := range k.shards {
		k.shards[i].free = size / cacheShards
		k.shards[i].keys = map[string]*cachedRows{}
	}
	return k
}

// attach turns the cache on for the file that c has open. It does nothing if the file has no shared memory.
func (k *rowCache) attach(c *conn) {
	if k == nil {
		return
	}
	index, err := c.walIndex()
	if err != nil {
		return
	}
	c.changedKeys = &k.changed
	k.mu.Lock()
	defer k.mu.Unlock()
	k.index = index
	k.newGeneration()
}

// detach turns the cache off before the shared memory is unmapped.
func (k *rowCache) detach() {
	if k == nil {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.index = nil
	k.state.Store(nil)
	for i := range k.shards {
		k.shards[i].mu.Lock() // wait for readers of the index
		k.shards[i].mu.Unlock()
	}
}

// newGeneration starts a generation under the current header. The caller holds mu.
func (k *rowCache) newGeneration() {
	if k.index == nil {
		return
	}
	k.generation++
	k.state.Store(&cacheState{k.index, k.index.read(), k.generation})
}

// resync is called when the WAL header differs from st.
func (k *rowCache) resync(st *cacheState) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if !k.committing && k.state.Load() == st {
		k.newGeneration()
	}
}

// onBegin is called by the writer once it holds the write lock.
func (k *rowCache) onBegin() {
	if k != nil && k.index != nil {
		k.base = k.index.read()
		k.changed.reset()
	}
}

// onPreCommit is called by the writer before it commits. A call of onPostCommit follows, whether the commit
// succeeds or not.
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

// onPostCommit is called by the writer after the commit. own is the number of commits that SQLite has reported, 0 or 1.
func (k *rowCache) onPostCommit(own uint32) {
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
	ours := now.commits() == k.base.commits()+own
	if st == nil || st.header != k.base || !ours {
		k.newGeneration()
		return
	}
	k.state.Store(&cacheState{k.index, now, st.generation})
}

// changedKeys collects the keys that a transaction changes.
type changedKeys struct {
	any  bool
	keys [][]byte
}

const maxChangedKeys = 4096 // beyond this, all keys count as changed

func (t *changedKeys) reset() {
	clear(t.keys)
	t.any, t.keys = false, t.keys[:0]
}

// add adds the keys of a writing batch; nil keys mean any key. t may be nil.
func (t *changedKeys) add(keys [][]byte) {
	switch {
	case t == nil || t.any:
	case keys == nil || len(t.keys)+len(keys) > maxChangedKeys:
		t.any = true
	default:
		t.keys = append(t.keys, keys...)
	}
}

func (k *rowCache) shard(hash uint64) *rowCacheShard { return &k.shards[hash%cacheShards] }

func (s *rowCacheShard) version(hash uint64) *uint64 {
	return &s.versions[hash/cacheShards%shardVersions]
}

// secondMiss records a cache miss and reports whether it is the second.
func (s *rowCacheShard) secondMiss(hash uint64) bool {
	last := &s.misses[hash/cacheShards%shardMisses]
	again := *last == uint32(hash>>32)
	*last = uint32(hash >> 32)
	return again
}

// lookup holds the result of a lookup: the cached rows, or the state needed to cache the rows of the read.
type lookup struct {
	rows *cachedRows // nil after a miss
	hash uint64
	keep bool // whether to cache the rows, if the generation and the version are still
	version,
	generation uint64
	diesAt int64
}

// isCacheable reports whether the rows of b can be cached.
func isCacheable(b *store.Batch) bool {
	return len(b.Keys) == 1 && b.ReadOnly && len(b.Stmts[0].Args) > clockArg &&
		!slices.ContainsFunc(b.Stmts, func(s store.Stmt) bool { return s.Fold != nil })
}

// clockArg indexes the clock in the arguments of a statement.
const clockArg = 2

// get looks up the rows of b.
func (k *rowCache) get(b *store.Batch) (a lookup) {
	if !isCacheable(b) {
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
	s.setGeneration(st.generation)
	for r := s.keys[string(key)]; r != nil; r = r.next {
		if r.diesAt > max(b.Stmts[0].Args[clockArg].Int(), k.swept.Load()) && r.is(b) {
			r.used, a.rows = true, r
			return a
		}
	}
	if a.keep = s.secondMiss(a.hash) && *s.version(a.hash)%2 == 0; a.keep {
		a.version, a.generation = *s.version(a.hash), st.generation
	}
	return a
}

// valid reports whether rows that were found are still valid.
func (k *rowCache) valid(a *lookup) bool {
	s := k.shard(a.hash)
	s.mu.Lock()
	defer s.mu.Unlock()
	st := k.state.Load()
	return st != nil && !a.rows.removed && st.generation == s.generation && st.index.is(&st.header)
}

// put adds rows that were read after get.
func (k *rowCache) put(a *lookup, b *store.Batch, rows [][]store.Row) {
	r := newCachedRows(b, rows)
	if r.size > maxCachedRead {
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

// setGeneration drops all rows if they belong to another generation.
func (s *rowCacheShard) setGeneration(generation uint64) {
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

func (s *rowCacheShard) add(r *cachedRows, b *store.Batch) {
	for old := s.keys[r.key]; old != nil; old = old.next {
		if old.is(b) { // a concurrent read was faster, or the key has expired
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
	r.next, r.ringIndex = s.keys[r.key], len(s.ring)
	s.keys[r.key] = r
	s.ring = append(s.ring, r)
}

// drop removes the rows of a key. The next read of that key is cached at its first miss.
func (s *rowCacheShard) drop(key []byte, hash uint64) {
	first := s.keys[string(key)]
	if first == nil {
		return
	}
	for r := first; r != nil; r = r.next {
		s.removeFromRing(r)
	}
	delete(s.keys, first.key)
	s.secondMiss(hash)
}

func (s *rowCacheShard) remove(r *cachedRows) {
	s.removeFromRing(r)
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

// removeFromRing removes r from the ring.
func (s *rowCacheShard) removeFromRing(r *cachedRows) {
	last := len(s.ring) - 1
	s.ring[last].ringIndex = r.ringIndex
	s.ring[r.ringIndex] = s.ring[last]
	s.ring[last] = nil
	s.ring = s.ring[:last]
	s.free += r.size
	r.removed = true
}

// noteSweep records that keys which had expired at now (Unix ms) may be deleted.
func (k *rowCache) noteSweep(now int64) {
	if k == nil {
		return
	}
	for last := k.swept.Load(); now > last && !k.swept.CompareAndSwap(last, now); last = k.swept.Load() {
	}
}
