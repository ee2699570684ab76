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

// Memory is the path of a store that lives as long as its process.
const Memory = ":memory:"

// Options changes how a store is opened. The zero value is right for most.
type Options struct {
	// Full makes every commit survive a power cut (synchronous=FULL). Without
	// it a commit survives the crash of this process, and a power cut may
	// lose the last moments.
	Full bool
	// ReadOnly refuses to write and to create the file.
	ReadOnly bool
	// OrRead opens a file that may not be written as ReadOnly does. A store that has written nothing then leaves
	// the log as it is when it closes, as ReadOnly does, too.
	OrRead bool
	// Now is the clock that expiry goes by, in Unix ms; nil is the system's.
	Now func() int64
	// SweepEvery is the pause between the sweeps of expired keys; 0 is a
	// second, a negative one turns the sweeper off.
	SweepEvery time.Duration
	// Report, if not nil, is called with what no caller hears of, from goroutines of the
	// store: that the sweeper fails, once for a failure that goes on, and that a deleted
	// log was mended.
	Report func(error)
	// Cache is how many bytes of the file's pages each connection keeps; 0 is
	// 32 MB. It takes about a twelfth more memory than that.
	Cache int
	// Prepared is how many statements each connection keeps, which take some KB each; 0 is 2000, which
	// is more than there are.
	Prepared int
	// RowCacheBytes is how many bytes of memory the rows of reads may take that are kept, so that the
	// same reads need no SQLite; 0 is none. It is for who serves. A file that is only read,
	// or by one connection, keeps none.
	RowCacheBytes int64
	// IsolateSlowReads keeps reads that take long from holding up the short ones: only few of
	// them run at once. It is for who serves strangers, whose reads depend on nothing
	// but the store: a read may run again from its beginning. All connections are
	// opened at once, so that reads go on when no file can be opened any more.
	IsolateSlowReads bool
	// BusyTimeout is how long a write waits for another process that writes; 0 is ten
	// seconds.
	BusyTimeout time.Duration
	// Refuse, if not "", is why a file that is ReadOnly takes no writes, as clients are told.
	Refuse string
	// SingleConn is for who does one thing at a time: the connection that writes
	// reads, too, so that nothing is opened nor kept twice.
	SingleConn bool
	// Glance is for who reads once, and has the file open nowhere else: see NewGlance.
	Glance bool
	// Load is for who makes many keys at once: what is slow to keep up to date with each is made of
	// all of them when the store closes, if the file has no keys yet.
	Load bool
}

// Store is a SQLite file. It is safe for concurrent use.
type Store struct {
	path        string
	options     Options
	writer      *conn      // nil when the one that writes is among the readers
	writing     sync.Mutex // held by who uses writer
	readers     *pool
	checkpoints checkpoints   // of a store with a writer
	rowCache    *rowCache     // nil when none are
	jobs        chan []*job   // which come together
	quit        chan struct{} // closed to stop the goroutines
	done        sync.WaitGroup
	closing     sync.RWMutex // held for reading by everyone who uses the store
	used        func()       // closing.RUnlock
	closed      bool

	passed    func(since time.Time) time.Duration // by the writer's clock
	life      context.Context                     // ends when what runs is abandoned
	abandon   context.CancelFunc
	loading   context.Context // ends when the index of a load is left to the next process
	leaveLoad context.CancelFunc
	abandoned atomic.Int64
	commits   atomic.Int64
	limit     atomic.Int64 // of one command, in ns; 0 for none
	besides   atomic.Pointer[besides]
	expired   struct{ keys, fields atomic.Int64 }
	resting   atomic.Bool  // the sweep waits
	unswept   string       // why the last sweep failed; the sweeper's own
	wrote     atomic.Bool  // a transaction of the writer is committed
	eased     atomic.Int64 // commits as of the last Ease

	follower        atomic.Pointer[store.Follower]
	tail            atomic.Pointer[Tail]
	externalCommits externalCommits

	watching sync.Mutex
	watcher  *conn              // asks for the data version; opened when first needed
	foreign  *otherformats.Kind // nil for a file of ours
	overlay  []otherformats.Table
	sealed   bool          // it is only read because it may not be written
	made     bool          // this store has made the file
	opened   *fileIdentity // the file that is open; nil for memory, and until it is
	frozen   *frozen       // the file as one that no process changes; nil for most
}

// pageSize is that of the files that SQLite makes.
const pageSize = 4096

var (
	errClosed    = errors.New("the database is closed")
	errAbandoned = errors.New("it was not finished when the database closed, and left no trace")
)

// Open opens the file at path, or Memory, and makes or migrates its tables. The
// directory must exist. A file of a foreign kind is opened for reading, whatever the
// options say.
func Open(path string, o Options) (*Store, error) {
	s := newStore(path, o)
	if err := s.open(); err != nil {
		err = explained(path, s.options.ReadOnly, err)
		if closing := s.closeConns(); !isFull(err) {
			err = errors.Join(err, closing)
		} else if path != Memory {
			discard(path, s.made)
		}
		if o.OrRead && errors.Is(err, errUnwritable) {
			return openSealed(path, o)
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

// newStore is a store that is not open yet.
func newStore(path string, o Options) *Store {
	if o.Now == nil {
		o.Now = func() int64 { return time.Now().UnixMilli() }
	}
	if o.Cache == 0 {
		o.Cache = 32 << 20
	}
	o.BusyTimeout = cmp.Or(o.BusyTimeout, busyPatience)
	s := &Store{path: path, options: o, jobs: make(chan []*job, 256), quit: make(chan struct{}), passed: time.Since}
	s.used = s.closing.RUnlock
	s.life, s.abandon = context.WithCancel(context.Background())
	s.loading, s.leaveLoad = context.WithCancel(s.life)
	return s
}

// openSealed opens a file that may not be written.
func openSealed(path string, o Options) (*Store, error) {
	o.ReadOnly, o.OrRead = true, false
	s, err := Open(path, o)
	if err == nil {
		s.sealed = true
	}
	return s, err
}

func (s *Store) open() error {
	alone := s.options.SingleConn || s.path == Memory
	s.readers = newPool(max(4, runtime.GOMAXPROCS(0)), 0)
	switch {
	case alone:
		s.readers, s.options.IsolateSlowReads = newPool(1, 0), false
	case s.options.IsolateSlowReads:
		s.readers = newPool(max(4, runtime.GOMAXPROCS(0)), max(1, runtime.GOMAXPROCS(0)-1))
	}
	if s.path != Memory {
		release, err := claim(s.path, true)
		if err != nil {
			return err
		}
		defer release()
		if err := checkPath(s.path, s.options.ReadOnly); err != nil {
			return err
		}
		made, err := makeOwn(s.path, s.options.ReadOnly)
		s.made = made
		if err != nil {
			return err
		}
	}
	probed, err := s.probe()
	if err != nil {
		return err
	}
	if s.foreign != nil {
		s.readers.add(probed)
		return s.remember(probed)
	}
	c, err := s.connect(s.options.ReadOnly)
	if probed != nil { // as long, so that the files beside the file are made once
		err = errors.Join(err, probed.close())
	}
	if c == nil {
		return err
	}
	if alone || s.options.ReadOnly {
		s.readers.add(c)
	} else {
		s.writer = c
	}
	if err = errors.Join(err, s.prepareFile(c)); err != nil {
		return err
	}
	if err := s.remember(c); err != nil {
		return err
	}
	if s.writer != nil {
		s.checkpoints.begin(s.writer, s.logPages())
	}
	if s.writer != nil && s.options.RowCacheBytes > 0 {
		s.rowCache = newKept(s.options.RowCacheBytes)
		s.rowCache.attach(s.writer)
	}
	if !s.options.IsolateSlowReads {
		return nil
	}
	return s.openReaders()
}

// openReaders opens all connections that may ever be lent.
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

// remember keeps which file it is that is open.
func (s *Store) remember(c *conn) (err error) {
	if s.path == Memory {
		return nil
	}
	opened, err := identify(s.path)
	if err != nil {
		return atomicfile.Pathless(err)
	}
	s.opened = &opened
	if s.options.ReadOnly || s.foreign != nil {
		return nil
	}
	if err := s.rememberLog(c); err != nil {
		return err
	}
	return c.guard(s.Moved)
}

// connect opens a connection to the store's file.
func (s *Store) connect(readOnly bool) (*conn, error) {
	if err := s.Moved(); err != nil { // it would be another file, or without its log
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

// setUp makes a connection what the store's options say. It reads the whole schema.
func (s *Store) setUp(c *conn) error {
	if err := s.sizeCaches(c); err != nil {
		return err
	}
	setup := []string{"PRAGMA foreign_keys = 1"}
	if s.path != Memory {
		setup = append(setup,
			// Fewer checkpoints than by default: pages that change often are copied
			// back once, and the disk is waited for less.
			fmt.Sprintf("PRAGMA wal_autocheckpoint = %d", s.logPages()),
			// What one long transaction has made of the log is given back.
			fmt.Sprintf("PRAGMA journal_size_limit = %d", 4*s.logPages()*pageSize))
		if s.options.Full {
			setup = append(setup, "PRAGMA synchronous = FULL")
		} else {
			setup = append(setup, "PRAGMA synchronous = NORMAL")
		}
	}
	return c.setUp(setup...)
}

// sizeCaches bounds what a connection keeps.
func (s *Store) sizeCaches(c *conn) error {
	c.mostPrepared = cmp.Or(s.options.Prepared, maxPrepared)
	if s.path == Memory {
		return nil
	}
	c.cache = fmt.Sprintf("PRAGMA cache_size = -%d", s.options.Cache>>10)
	return c.setUp(c.cache)
}

// logPages is how long the log is when it is copied back.
func (s *Store) logPages() int { return max(4000, s.options.Cache/pageSize) }

// connectBare opens a connection as SQLite does, and reads nothing.
func (s *Store) connectBare(readOnly bool) (*conn, error) {
	how := int32(makeIfNew)
	if readOnly {
		how = toRead
	}
	return openFrozen(s.path, s.frozen, how)
}

// Path is the file, or Memory.
func (s *Store) Path() string { return s.path }

// SetTimeLimit changes how long one batch may take, or one transaction, before it fails
// as store.TooLong says; 0 is for as long as it takes.
func (s *Store) SetTimeLimit(d time.Duration) { s.limit.Store(int64(d)) }

// Abandon ends what is running and waiting, without a trace. Close does not wait for it then.
func (s *Store) Abandon() { s.abandon() }

// Abandoned is how many calls have failed because of Abandon.
func (s *Store) Abandoned() int64 { return s.abandoned.Load() }

func (s *Store) report(err error) {
	if s.options.Report != nil {
		s.options.Report(err)
	}
}

// Close waits for what is running, and closes the file. Later calls fail.
func (s *Store) Close() error {
	s.tidy()
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
	return errors.Join(s.endLoad(), s.closeConns())
}

// closeConns closes the writer last, so that SQLite removes the log.
func (s *Store) closeConns() error {
	var errs []error
	readers, _ := s.readers.takeAll(context.Background())
	leave := s.unsafeToCopyBack() || s.options.OrRead && !s.wrote.Load() && hasFrames(s.path)
	for _, c := range append([]*conn{s.watcher}, append(readers, s.writer)...) {
		if c != nil {
			if leave {
				errs = append(errs, c.leaveLog())
			}
			errs = append(errs, c.close())
		}
	}
	removeEmptyLog(s.path)
	return errors.Join(errs...)
}

// use marks the store as in use until the returned function is called.
func (s *Store) use() (func(), error) {
	s.closing.RLock()
	if s.closed {
		s.closing.RUnlock()
		return nil, errClosed
	}
	return s.used, nil
}

// Apply implements the engine's contract. Batches that only read, all of them, wait for no
// writer and end early when ctx does. Those without Keys see one snapshot.
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
		return s.readKept(ctx, batches)
	default:
		return s.read(ctx, batches, nil)
	}
	j := &job{batches: batches, used: usedBy(batches), done: make(chan struct{}), turn: store.TurnOf(ctx)}
	if err := s.submit(j); err != nil {
		return nil, err
	}
	return j.results, nil
}

// withWriter calls fn with the connection that writes.
func (s *Store) withWriter(fn func(*conn) error) error {
	if s.writer == nil {
		return s.withReader(context.Background(), fn)
	}
	s.writing.Lock()
	defer s.writing.Unlock()
	return fn(s.writer)
}

// withReader calls fn with a connection to read with, until ctx ends. Of a store with
// lanes it may call fn twice.
func (s *Store) withReader(ctx context.Context, fn func(*conn) error) error {
	err := s.visitReader(ctx, s.readers.short, fn)
	if errors.Is(err, errLong) {
		err = s.visitReader(ctx, s.readers.long, fn)
	}
	return err
}

func (s *Store) visitReader(ctx context.Context, lane chan struct{}, fn func(*conn) error) (err error) {
	l := &loan{pool: s.readers, lane: lane}
	if err := l.take(ctx, s.life, s.waits(ctx)); err != nil {
		return s.counted(err)
	}
	defer l.giveBack()
	if l.conn == nil {
		if l.conn, err = s.connectReader(); err != nil {
			return err
		}
	}
	v := s.newWorkLimit(ctx)
	if lane == s.readers.short && s.options.IsolateSlowReads {
		v.promoteToLong, v.short = l.outlast, shortRead
	}
	return s.counted(v.on(l.conn, fn))
}

// waits returns what ends the wait for a connection: where there is only one, a writer may have it.
func (s *Store) waits(ctx context.Context) *store.Refused {
	if s.writer != nil {
		return &store.Refused{}
	}
	return store.TurnOf(ctx).Waits()
}

// counted is err, after counting it when it is that something was abandoned.
func (s *Store) counted(err error) error {
	if errors.Is(err, errAbandoned) {
		s.abandoned.Add(1)
	}
	return err
}

// connectReader opens a connection for reading.
func (s *Store) connectReader() (*conn, error) {
	c, err := s.connect(true)
	if err != nil || s.foreign == nil {
		return c, err
	}
	if err := c.overlay(s.overlay); err != nil {
		return nil, errors.Join(err, c.close())
	}
	return c, nil
}
