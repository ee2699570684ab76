package tenants

import (
	"container/list"
	"context"
	"errors"
	"io/fs"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/meowdis/meowdis/engine"
	"github.com/meowdis/meowdis/local"
	"github.com/meowdis/meowdis/store"
)

// files limits the open files of all tenants.
//
//	closed ──slot──▶ opening ──▶ in use ◀──slot──▶ idle ──▶ closing ──▶ closed
//
// A call uses its file only while it runs: clients that are connected, blocked, subscribed or tracking need no open
// file. The number of slots is the limit of open files. A file in use holds a slot, and so does a call that is
// about to use one; an idle file holds none. So a call that has a slot and finds too many files open can always close
// an idle one. It closes the file that has been idle for the longest time.
type files struct {
	slots       chan struct{}
	opener      func(path string) (*local.Store, error)
	slotTimeout time.Duration // longest wait for a slot
	report      func(error)   // receives panics

	mu    sync.Mutex
	count int                   // files opening, open or closing
	freed chan struct{}         // closed when count decreases
	idle  list.List             // *file, longest idle first
	held  map[*local.Store]bool // open or closing stores, also of tenants that were removed
	gone  bool                  // no file must be opened again
	hurry bool                  // calls must fail

	opened, failed, crowded atomic.Int64
	abandoned               int64 // calls of closed stores that abandon made fail
}

// file implements engine.Store for one tenant, over a SQLite file that is opened when a call needs it.
type file struct {
	of     *files
	path   string
	closed func() // called after the file was closed

	mu       sync.Mutex // guards follower and limit
	follower store.Follower
	limit    time.Duration

	// Guarded by of.mu.
	store   *local.Store  // nil while closed
	users   int           // running calls
	busy    chan struct{} // open channel while a call opens the file
	closing chan struct{} // open channel while a call closes the file
	idle    *list.Element
	since   time.Time // start of the idle time
	expired struct{ keys, fields int64 }
	gone    bool // must not be opened again
}

// The engine finds what a store can do by its methods.
var _ interface {
	engine.Store
	Transact(context.Context, bool, func(engine.Run) error) error
	Sole()
	ReadsDuringWrites() bool
	Follow(store.Follower)
	SetTimeLimit(time.Duration)
	Expired() (keys, fields int64)
} = (*file)(nil)

var (
	errTooManyFiles = errors.New("too many tenant files are in use: raise serve --tenants-open")
	errMissing      = errors.New("the tenant's file is missing")
	errForeign      = errors.New("the tenant's file is not a meowdis database")
	errGone         = errors.New("the tenant was removed, or the server is stopping")
)

func newFiles(most int, open func(string) (*local.Store, error), report func(error)) *files {
	return &files{
		slots: make(chan struct{}, most), opener: open, slotTimeout: 10 * time.Second, report: report,
		freed: make(chan struct{}), held: map[*local.Store]bool{},
	}
}

// acquire returns the open file. The caller must call release after use.
func (f *file) acquire(ctx context.Context) (*local.Store, error) {
	for {
		f.of.mu.Lock()
		wait := f.busy
		switch {
		case f.gone || f.of.gone:
			f.of.mu.Unlock()
			return nil, errGone
		case f.users > 0:
			f.users++
			f.of.mu.Unlock()
			return f.store, nil
		case wait == nil:
			f.busy = make(chan struct{})
			f.of.mu.Unlock()
			return f.activate(ctx)
		}
		f.of.mu.Unlock()
		select {
		case <-wait:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// activate takes a slot and opens the file. Only one caller at a time runs it.
func (f *file) activate(ctx context.Context) (s *local.Store, err error) {
	defer func() {
		f.of.mu.Lock()
		defer f.of.mu.Unlock()
		if close(f.busy); err == nil {
			f.users++
		}
		f.busy = nil
	}()
	if err := f.of.takeSlot(ctx); err != nil {
		return nil, err
	}
	if s = f.reuse(); s == nil {
		s, err = f.make()
	}
	if err != nil {
		<-f.of.slots
	}
	return s, err
}

// takeSlot takes a slot.
func (o *files) takeSlot(ctx context.Context) error {
	select {
	case o.slots <- struct{}{}:
		return nil
	default:
	}
	late := time.NewTimer(o.slotTimeout)
	defer late.Stop()
	select {
	case o.slots <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	case <-late.C:
		o.crowded.Add(1)
		return errTooManyFiles
	}
}

// reuse returns the idle store, or nil if the file is closed or no longer valid.
func (f *file) reuse() *local.Store {
	f.of.mu.Lock()
	s := f.store
	if s != nil {
		f.of.idle.Remove(f.idle)
	}
	f.of.mu.Unlock()
	if s == nil || s.Moved() == nil {
		return s
	}
	// The file was deleted or replaced while it was idle: open the current one.
	f.of.mu.Lock()
	end := f.detach(false)
	f.of.mu.Unlock()
	end()
	return nil
}

// makeRoom makes room for one more open file. The caller holds a slot: if no file is idle, then one is being closed.
func (o *files) makeRoom() {
	for {
		o.mu.Lock()
		first, end, wait := o.idle.Front(), func() {}, o.freed
		switch {
		case o.count < cap(o.slots):
			o.count++
			wait = nil
		case first != nil:
			end = first.Value.(*file).retire(true)
			wait = nil
		}
		o.mu.Unlock()
		if end(); wait == nil {
			return
		}
		<-wait
	}
}

// countClosed counts a closed file. The caller holds o.mu.
func (o *files) countClosed() {
	o.count--
	close(o.freed)
	o.freed = make(chan struct{})
}

// make opens the file, and closes another file if needed.
func (f *file) make() (*local.Store, error) {
	o := f.of
	o.makeRoom()
	o.mu.Lock()
	closing, gone := f.closing, f.gone || o.gone
	o.mu.Unlock()
	if closing != nil {
		<-closing
	}
	err := errGone
	var s *local.Store
	if !gone {
		err = store.Caught(func() (err error) {
			s, err = f.openFile()
			return err
		})
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if err != nil {
		o.countClosed()
		o.failed.Add(1)
		return nil, err
	}
	o.opened.Add(1)
	f.store, o.held[s] = s, true
	if o.hurry {
		s.Abandon()
	}
	return s, nil
}

func (f *file) openFile() (*local.Store, error) {
	if _, err := os.Stat(f.path); errors.Is(err, fs.ErrNotExist) {
		return nil, errMissing // opening would create an empty file
	}
	s, err := f.of.opener(f.path)
	if err != nil {
		return nil, err
	}
	if s.Foreign() {
		return nil, errors.Join(errForeign, s.Close())
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.follower != nil {
		s.Follow(f.follower)
	}
	s.SetTimeLimit(f.limit)
	return s, nil
}

// release ends a use of the file.
func (f *file) release() { f.end(false) }

// releaseAndClose ends a use of the file, and closes the file unless other calls use it.
func (f *file) releaseAndClose() { f.end(true) }

func (f *file) end(closes bool) {
	o := f.of
	o.mu.Lock()
	end := func() {}
	if f.users--; f.users == 0 {
		f.since = time.Now()
		f.idle = o.idle.PushBack(f)
		if f.gone || o.gone || closes {
			end = f.retire(false)
		}
	}
	idle := f.users == 0
	o.mu.Unlock()
	if idle {
		<-o.slots
	}
	end()
}

// retire removes an idle file from the list and returns a func that closes it. If handOver is set, another file takes
// its place. The caller holds of.mu.
func (f *file) retire(handOver bool) (end func()) {
	f.of.idle.Remove(f.idle)
	return f.detach(handOver)
}

// detach detaches the open store and returns a func that closes it. The caller holds of.mu.
func (f *file) detach(handOver bool) (end func()) {
	s, done := f.store, make(chan struct{})
	f.store, f.closing = nil, done
	return func() {
		// Commits are safe, and a damaged file has failed calls before: only a panic is reported.
		store.Guard(f.of.report, func() { s.Close() })
		keys, fields := s.Expired()
		f.of.mu.Lock()
		f.expired.keys += keys
		f.expired.fields += fields
		f.of.abandoned += s.Abandoned()
		delete(f.of.held, s)
		if !handOver {
			f.of.countClosed()
		}
		if f.closing == done {
			f.closing = nil
		}
		f.of.mu.Unlock()
		close(done)
		f.closed()
	}
}

// isOpen reports whether the file is open or opening.
func (f *file) isOpen() bool {
	f.of.mu.Lock()
	defer f.of.mu.Unlock()
	return f.store != nil || f.busy != nil
}

// remove prevents further opens of the file and closes it when no call uses it.
func (f *file) remove() {
	f.of.mu.Lock()
	f.gone = true
	end := func() {}
	if f.store != nil && f.users == 0 && f.busy == nil {
		end = f.retire(false)
	}
	f.of.mu.Unlock()
	end()
}

// stop prevents further opens of all files.
func (o *files) stop() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.gone = true
}

// abandon prevents further opens of all files. Running calls fail without effect.
func (o *files) abandon() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.gone, o.hurry = true, true
	for s := range o.held {
		s.Abandon()
	}
}

// failedCalls returns the number of calls that abandon made fail.
func (o *files) failedCalls() int64 {
	o.mu.Lock()
	defer o.mu.Unlock()
	n := o.abandoned
	for s := range o.held {
		n += s.Abandoned()
	}
	return n
}

// closeIdle closes files that have been idle since before a time.
func (o *files) closeIdle(before time.Time) {
	for {
		o.mu.Lock()
		first := o.idle.Front()
		if first == nil || !first.Value.(*file).since.Before(before) {
			o.mu.Unlock()
			return
		}
		end := first.Value.(*file).retire(false)
		o.mu.Unlock()
		end()
	}
}

// settle waits until all files are closed. Calls must have ended.
func (o *files) settle() {
	for ; o.open() > 0; time.Sleep(time.Millisecond) {
		o.closeIdle(time.Now().Add(time.Hour))
	}
}

// open returns the number of open files.
func (o *files) open() int {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.count
}

// Apply is like local.Store.Apply.
func (f *file) Apply(ctx context.Context, batches []store.Batch) ([]store.Result, error) {
	s, err := f.acquire(ctx)
	if err != nil {
		return nil, err
	}
	defer f.release()
	return s.Apply(ctx, batches)
}

// Transact is like local.Store.Transact.
func (f *file) Transact(ctx context.Context, readOnly bool, fn func(run func(store.Batch) (store.Result, error)) error) error {
	s, err := f.acquire(ctx)
	if err != nil {
		return err
	}
	defer f.release()
	return s.Transact(ctx, readOnly, fn)
}

// Sole marks a store without a watch for writes of other processes, which would open the file again and again for each
// blocked client.
func (f *file) Sole() {}

// ReadsDuringWrites is like local.Store.ReadsDuringWrites.
func (f *file) ReadsDuringWrites() bool { return true }

// Follow is like local.Store.Follow. It applies each time the file is opened.
func (f *file) Follow(follower store.Follower) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.follower = follower
}

// SetTimeLimit is like local.Store.SetTimeLimit.
func (f *file) SetTimeLimit(d time.Duration) {
	f.mu.Lock()
	f.limit = d
	f.mu.Unlock()
	f.of.mu.Lock()
	defer f.of.mu.Unlock()
	if f.store != nil {
		f.store.SetTimeLimit(d)
	}
}

// Expired is like local.Store.Expired, summed over all times the file was open.
func (f *file) Expired() (keys, fields int64) {
	f.of.mu.Lock()
	defer f.of.mu.Unlock()
	keys, fields = f.expired.keys, f.expired.fields
	if f.store != nil {
		more, moreFields := f.store.Expired()
		keys, fields = keys+more, fields+moreFields
	}
	return keys, fields
}
