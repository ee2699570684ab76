package local

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/meowdis/meowdis/internal/atomicfile"
	"github.com/meowdis/meowdis/local/otherformats"
	"github.com/meowdis/meowdis/store"
)

// Memory is the path of an in-memory store.
const Memory = ":memory:"

// Options configures a store. The zero value is right for most.
type Options struct {
	// SyncFull makes every commit survive a power cut (synchronous=FULL). Without it, a commit survives a crash of
	// the process, but a power cut may lose the last moments.
	SyncFull bool
	// ReadOnly opens the file for reading only, and does not create it.
	ReadOnly bool
	// FallbackReadOnly opens a file that is not writable as ReadOnly would. Like a ReadOnly store, a store that has
	// written nothing leaves the WAL unchanged when it closes.
	FallbackReadOnly bool
	// Now is the clock for expiry, in Unix ms; nil uses the system clock.
	Now func() int64
	// SweepEvery is the pause between sweeps of expired keys; 0 means one second, a negative value disables
	// the sweeper.
	SweepEvery time.Duration
	// Report, if not nil, receives background errors from the store's goroutines: a failing sweep, once per
	// failure, and the repair of a deleted WAL.
	Report func(error)
	// CacheBytes limits the page cache of each connection, in bytes; 0 means 32 MB. The cache takes about a twelfth
	// more memory than that.
	CacheBytes int
	// MaxStatements limits the prepared statements of each connection, a few KB each; 0 means 2000, more than the
	// translator has.
	MaxStatements int
	// RowCacheBytes limits the cache of rows returned by reads, in bytes of memory; 0 disables it. It is for
	// servers. A file with a single connection or opened for reading has no row cache.
	RowCacheBytes int64
	// IsolateSlowReads keeps slow reads from delaying short ones: only a few slow reads run at once. It is for
	// servers. A read may run twice, so it must depend on nothing but the store. All connections are opened in
	// advance, so that reads continue when the process has no file descriptors left.
	IsolateSlowReads bool
	// BusyTimeout limits how long a write waits for another process's write; 0 means ten seconds.
	BusyTimeout time.Duration
	// WriteRefusal, if not "", is the reason that clients get when a ReadOnly file refuses a write.
	WriteRefusal string
	// SingleConn uses one connection for reads and writes, for a caller that does one thing at a time.
	SingleConn bool
	// Immutable opens the file for a single read; no other handle may be open. See NewImmutableReader.
	Immutable bool
	// BulkLoad is for bulk loads: if the file has no keys yet, the hash index is built when the store closes, not
	// key by key.
	BulkLoad bool
}

// Store is an open SQLite file. It is safe for concurrent use.
type Store struct {
	openConns
	commitQueue
	lifetime
	sweeping
	fileState
	dataVersion
	followers

	path    string
	options Options

	clock    func() time.Time // of time limits
	limit    atomic.Int64     // of one command, in ns; 0 for none
	walFiles atomic.Pointer[walFiles]
}

// openConns holds the connections to SQLite.
type openConns struct {
	writer      *conn      // nil if the writing connection is one of the readers
	writing     sync.Mutex // held while writer is used
	hasWriter   atomic.Bool
	readers     *pool
	checkpoints checkpoints // only with a writer
	rowCache    *rowCache   // nil if disabled
}

// commitQueue passes writes to the writer goroutine.
type commitQueue struct {
	jobs chan []*job   // each a group that was submitted together
	quit chan struct{} // closed to stop the goroutines
	done sync.WaitGroup
}

// lifetime tracks the calls that Close waits for.
type lifetime struct {
	closing     sync.RWMutex // read-locked during each call
	used        func()       // closing.RUnlock
	closed      bool
	confirm     atomic.Pointer[func(context.Context) error] // see SetConfirm
	guard       atomic.Pointer[func() error]                // see SetGuard
	promoted    atomic.Bool                                 // see Promote
	life        context.Context                             // ends when running work is abandoned
	abandon     context.CancelFunc
	loading     context.Context // ends when the next process has to build the index of a load
	endBulkLoad context.CancelFunc
	abandoned   atomic.Int64
}

// sweeping tracks the removal of expired keys.
type sweeping struct {
	commits     atomic.Int64
	expired     struct{ keys, fields atomic.Int64 }
	sweepPaused atomic.Bool  // the sweep is paused
	sweepError  string       // why the last sweep failed; only the sweeper uses it
	wrote       atomic.Bool  // the writer has committed a transaction
	throttledAt atomic.Int64 // commits at the last Throttle
}

// fileState describes the file that was opened.
type fileState struct {
	foreign    *otherformats.Kind // nil for a meowdis file
	overlay    []otherformats.Table
	unwritable bool           // read-only because the file is not writable
	created    bool           // this store created the file
	opened     *fileIdentity  // the file under the path before it was opened; nil for memory
	immutable  *immutableFile // set for a file that is read without locks
}

// dataVersion notices the commits of other processes.
type dataVersion struct {
	externalCommits externalCommits
	watching        sync.Mutex
	watcher         *conn // reads the data version; opened when first needed
}

// followers receive the commits.
type followers struct {
	follower atomic.Pointer[store.Follower]
	tail     atomic.Pointer[Tail]
}

// pageSize applies to files that meowdis creates, in bytes.
const pageSize = 4096

var (
	errClosed    = errors.New("the database is closed")
	errAbandoned = errors.New("the database was closed before this finished, and nothing was changed")
)

// Open opens the file at path, or Memory, and creates or migrates its tables. The directory must exist. A
// foreign file is opened for reading, whatever the options say.
func Open(path string, o Options) (*Store, error) {
	s := newStore(path, o)
	if err := s.open(); err != nil {
		err = explain(path, s.options.ReadOnly, err)
		if closing := s.closeConns(isGone(err)); !isFull(err) {
			err = errors.Join(err, closing)
		} else if path != Memory {
			discard(path, s.created)
		}
		if o.FallbackReadOnly && errors.Is(err, errUnwritable) {
			return openUnwritable(path, o)
		}
		return nil, fmt.Errorf("opening %s: %w", path, err)
	}
	s.done.Add(1)
	go s.write()
	if s.writer != nil {
		s.done.Add(1)
		go s.copyBack()
	}
	if !s.options.ReadOnly && o.SweepEvery >= 0 {
		s.done.Add(1)
		go s.sweep()
	}
	return s, nil
}

// newStore returns a store that is not open yet.
func newStore(path string, o Options) *Store {
	if o.Now == nil {
		o.Now = func() int64 { return time.Now().UnixMilli() }
	}
	if o.CacheBytes == 0 {
		o.CacheBytes = 32 << 20
	}
	o.BusyTimeout = cmp.Or(o.BusyTimeout, defaultBusyTimeout)
	s := &Store{path: path, options: o, commitQueue: commitQueue{jobs: make(chan []*job, 256), quit: make(chan struct{})}, clock: time.Now}
	s.used = s.closing.RUnlock
	s.life, s.abandon = context.WithCancel(context.Background())
	s.loading, s.endBulkLoad = context.WithCancel(s.life)
	return s
}

// openUnwritable opens a file that is not writable.
func openUnwritable(path string, o Options) (*Store, error) {
	o.ReadOnly, o.FallbackReadOnly = true, false
	s, err := Open(path, o)
	if err == nil {
		s.unwritable = true
	}
	return s, err
}

func (s *Store) open() error {
	alone := s.options.SingleConn || s.path == Memory
	s.makeReaders(alone)
	if s.path != Memory {
		release, err := claim(s.path, true)
		if err != nil {
			return err
		}
		defer release()
		if err := s.createFile(); err != nil {
			return err
		}
	}
	probed, err := s.probe()
	if err != nil {
		return err
	}
	if s.foreign != nil {
		s.readers.add(probed)
		return s.recordIdentity(probed)
	}
	c, err := s.connect(s.options.ReadOnly)
	if probed != nil { // not earlier, so that SQLite creates the WAL and the shared memory once
		err = errors.Join(err, probed.close())
	}
	if c == nil {
		return err
	}
	if alone || s.options.ReadOnly {
		s.readers.add(c)
	} else {
		s.writer = c
		s.hasWriter.Store(true)
	}
	if err = errors.Join(err, s.prepareFile(c)); err != nil {
		return err
	}
	if err := s.recordIdentity(c); err != nil {
		return err
	}
	if s.writer != nil {
		s.checkpoints.begin(s.writer, s.logPages())
	}
	if s.writer != nil && s.options.RowCacheBytes > 0 {
		s.rowCache = newRowCache(s.options.RowCacheBytes)
		s.rowCache.attach(s.writer)
	}
	if !s.options.IsolateSlowReads {
		return nil
	}
	return s.openReaders()
}

// makeReaders makes the pool of readers, which lends only one connection if alone is set.
func (s *Store) makeReaders(alone bool) {
	n := runtime.GOMAXPROCS(0)
	switch {
	case alone:
		s.readers, s.options.IsolateSlowReads = newPool(1, 0), false
	case s.options.IsolateSlowReads:
		s.readers = newPool(max(4, n), max(1, n-1))
	default:
		s.readers = newPool(max(4, n), 0)
	}
}

// createFile creates the file if it is missing and the store may write, and records its identity.
func (s *Store) createFile() (err error) {
	if err := checkPath(s.path, s.options.ReadOnly); err != nil {
		return err
	}
	if s.created, err = createPrivate(s.path, s.options.ReadOnly); err != nil {
		return err
	}
	opened, err := identify(s.path)
	if err != nil {
		return atomicfile.Pathless(err)
	}
	s.opened = &opened
	return nil
}

// openReaders opens all readers that the pool may lend.
func (s *Store) openReaders() error {
	for s.readers.missing() > 0 {
		c, err := s.connectReader()
		if err != nil {
			return err
		}
		s.readers.add(c)
	}
	return nil
}

// recordIdentity records which log and shared memory are open. It fails if the file was replaced since it was
// identified.
func (s *Store) recordIdentity(c *conn) (err error) {
	if s.path == Memory {
		return nil
	}
	if err := s.Moved(); err != nil {
		return err
	}
	if s.options.ReadOnly || s.foreign != nil {
		return nil
	}
	if err := s.recordWAL(c); err != nil {
		return err
	}
	return c.guard(s.Moved)
}

// connect opens a connection to the store's file and configures it.
func (s *Store) connect(readOnly bool) (*conn, error) {
	if err := s.Moved(); err != nil { // SQLite would open another file, or this file without its WAL
		return nil, err
	}
	c, err := s.connectBare(readOnly)
	if err != nil {
		return nil, err
	}
	if err := s.setUp(c); err != nil {
		return nil, errors.Join(err, c.close())
	}
	return c, nil
}

// setUp applies the store's options to a connection. It reads the whole schema.
func (s *Store) setUp(c *conn) error {
	if err := s.sizeCaches(c); err != nil {
		return err
	}
	setup := []string{"PRAGMA foreign_keys = 1"}
	if s.path != Memory {
		setup = append(setup,
			// Fewer checkpoints than by default: pages that change often are copied back once, with fewer
			// waits for the disk.
			fmt.Sprintf("PRAGMA wal_autocheckpoint = %d", s.logPages()),
			// Shrinks the WAL after one long transaction.
			fmt.Sprintf("PRAGMA journal_size_limit = %d", 4*s.logPages()*pageSize))
		if s.options.SyncFull {
			setup = append(setup, "PRAGMA synchronous = FULL")
		} else {
			setup = append(setup, "PRAGMA synchronous = NORMAL")
		}
	}
	return c.setUp(setup...)
}

// sizeCaches limits the statement and page caches of a connection.
func (s *Store) sizeCaches(c *conn) error {
	c.mostPrepared = cmp.Or(s.options.MaxStatements, maxPrepared)
	if s.path == Memory {
		return nil
	}
	c.cacheSQL = fmt.Sprintf("PRAGMA cache_size = -%d", s.options.CacheBytes>>10)
	return c.setUp(c.cacheSQL)
}

// logPages returns the length of the WAL that makes it due to be copied back, in pages.
func (s *Store) logPages() int { return max(4000, s.options.CacheBytes/pageSize) }

// connectBare opens a connection with SQLite's defaults, and reads nothing.
func (s *Store) connectBare(readOnly bool) (*conn, error) {
	how := int32(makeIfNew)
	if readOnly {
		how = toRead
	}
	return openMaybeImmutable(s.path, s.immutable, how)
}

// Path returns the path of the file, or Memory.
func (s *Store) Path() string { return s.path }

// SetTimeLimit limits the time of one batch or transaction; a longer one fails with store.TooLong. 0 removes
// the limit.
func (s *Store) SetTimeLimit(d time.Duration) { s.limit.Store(int64(d)) }

// Abandon aborts running and waiting work, which leaves no trace. Close does not wait for aborted work.
func (s *Store) Abandon() { s.abandon() }

// Abandoned returns the number of calls that failed because of Abandon.
func (s *Store) Abandoned() int64 { return s.abandoned.Load() }

func (s *Store) report(err error) {
	if s.options.Report != nil {
		s.options.Report(err)
	}
}

// Close waits for running calls and closes the file. Later calls fail.
func (s *Store) Close() error {
	s.sweepOnClose()
	s.closing.Lock()
	already := s.closed
	s.closed = true
	s.closing.Unlock()
	if already {
		return nil
	}
	close(s.quit)
	s.done.Wait()
	defer s.abandon() // nothing is left to end
	return errors.Join(s.finishBulkLoad(), s.closeConns(false))
}

// closeConns closes the writer last, so that SQLite removes the log. The log stays as it is with leave.
func (s *Store) closeConns(leave bool) error {
	var errs []error
	readers, _ := s.readers.takeAll(context.Background())
	leave = leave || s.unsafeToCopyBack() || (s.options.FallbackReadOnly || s.options.BulkLoad && !s.created) && !s.wrote.Load() && hasFrames(s.path)
	for _, c := range append([]*conn{s.watcher}, append(readers, s.writer)...) {
		if c != nil {
			if leave {
				errs = append(errs, c.keepWAL())
			}
			errs = append(errs, c.close())
		}
	}
	removeEmptyLog(s.path)
	return errors.Join(errs...)
}

// use marks the store as in use until the caller calls the returned function.
func (s *Store) use() (func(), error) {
	s.closing.RLock()
	if s.closed {
		s.closing.RUnlock()
		return nil, errClosed
	}
	return s.used, nil
}

// Apply implements the engine's contract. If all batches only read, they do not wait for the writer, and they
// end early when ctx ends. Reading batches without Keys see one snapshot.
func (s *Store) Apply(ctx context.Context, batches []store.Batch) ([]store.Result, error) {
	release, err := s.use()
	if err != nil {
		return nil, err
	}
	defer release()
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	switch {
	case !readOnly(batches):
	case s.rowCache != nil:
		return s.readCached(ctx, batches)
	default:
		return s.read(ctx, batches, nil)
	}
	j := &job{batches: batches, used: usedBy(batches), done: make(chan struct{}), turn: store.WriteWaitOf(ctx)}
	if err := s.submit(j); err != nil {
		return nil, err
	}
	return j.results, nil
}
