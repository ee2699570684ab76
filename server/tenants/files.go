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

	"github.com/meowdis/meowdis/local"
	"github.com/meowdis/meowdis/store"
)

// files are those of all tenants, of which some are open.
//
//	closed ──slot──▶ opening ──▶ in use ◀──slot──▶ idle ──▶ closing ──▶ closed
//
// A call uses its file while it runs, and no longer: clients that are connected, wait, listen or track
// hold none. There are as many slots as files may be open. A file that is in use has one, and so has
// who is about to use it; those that are idle have none. So whoever has a slot and finds too many
// files open finds an idle one among them, and closes the one that has been idle for longest.
type files struct {
	slots    chan struct{}
	opener   func(path string) (*local.Store, error)
	patience time.Duration // for a slot

	mu    sync.Mutex
	count int           // files that are open, or about to be, or not closed yet
	freed chan struct{} // is closed when they become fewer
	idle  list.List     // of *file; the first has been idle for longest

	opened, failed, crowded atomic.Int64
}

// file is the store of one tenant: engine.Store, over a file that is opened when a call needs it.
type file struct {
	of     *files
	path   string
	closed func() // is told after it was closed

	mu       sync.Mutex // for what Follow and SetTimeLimit say
	follower store.Follower
	limit    time.Duration

	// Under the lock of the files.
	store   *local.Store  // nil while it is closed
	users   int           // calls
	busy    chan struct{} // until it is closed, somebody opens the file
	closing chan struct{} // until it is closed, somebody closes what was open
	idle    *list.Element
	since   time.Time // it has been idle
	expired struct{ keys, fields int64 }
	gone    bool // it is not to be opened any more
}

var (
	errCrowded = errors.New("as many files of tenants are in use as may be open (serve --tenants-open)")
	errMissing = errors.New("the tenant's file is not there any more")
	errForeign = errors.New("the tenant's file is another program's")
	errGone    = errors.New("the tenant was removed, or the server stops")
)

func newFiles(most int, open func(string) (*local.Store, error)) *files {
	return &files{slots: make(chan struct{}, most), opener: open, freed: make(chan struct{}), patience: 10 * time.Second}
}

// lend returns the open file, for a call that gives it back.
func (f *file) lend(ctx context.Context) (*local.Store, error) {
	for {
		f.of.mu.Lock()
		wait := f.busy
		switch {
		case f.gone:
			f.of.mu.Unlock()
			return nil, errGone
		case f.users > 0:
			f.users++
			f.of.mu.Unlock()
			return f.store, nil
		case wait == nil:
			f.busy = make(chan struct{})
			f.of.mu.Unlock()
			return f.begin(ctx)
		}
		f.of.mu.Unlock()
		select {
		case <-wait:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// begin makes the file one in use. Its caller alone is busy with that.
func (f *file) begin(ctx context.Context) (s *local.Store, err error) {
	defer func() {
		f.of.mu.Lock()
		defer f.of.mu.Unlock()
		if close(f.busy); err == nil {
			f.users++
		}
		f.busy = nil
	}()
	if err := f.of.slot(ctx); err != nil {
		return nil, err
	}
	if s = f.wake(); s == nil {
		s, err = f.make()
	}
	if err != nil {
		<-f.of.slots
	}
	return s, err
}

// slot takes one.
func (o *files) slot(ctx context.Context) error {
	select {
	case o.slots <- struct{}{}:
		return nil
	default:
	}
	late := time.NewTimer(o.patience)
	defer late.Stop()
	select {
	case o.slots <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	case <-late.C:
		o.crowded.Add(1)
		return errCrowded
	}
}

// wake returns the file if it is open, and as it should be.
func (f *file) wake() *local.Store {
	f.of.mu.Lock()
	s := f.store
	if s != nil {
		f.of.idle.Remove(f.idle)
	}
	f.of.mu.Unlock()
	if s == nil || s.Moved() == nil {
		return s
	}
	// It was deleted or replaced while no one used it: what is there now is the file.
	f.of.mu.Lock()
	end := f.leave(false)
	f.of.mu.Unlock()
	end()
	return nil
}

// room makes it so that one more file may be opened. Its caller has a slot: when there is no room, and
// no file is idle, one is being closed.
func (o *files) room() {
	for {
		o.mu.Lock()
		first, end, wait := o.idle.Front(), func() {}, o.freed
		switch {
		case o.count < cap(o.slots):
			o.count++
			wait = nil
		case first != nil:
			end = first.Value.(*file).rest(true)
			wait = nil
		}
		o.mu.Unlock()
		if end(); wait == nil {
			return
		}
		<-wait
	}
}

// free says that there is one open file less. It is under the lock.
func (o *files) free() {
	o.count--
	close(o.freed)
	o.freed = make(chan struct{})
}

// make opens the file, and closes another one for it if need be.
func (f *file) make() (*local.Store, error) {
	o := f.of
	o.room()
	o.mu.Lock()
	closing, gone := f.closing, f.gone
	o.mu.Unlock()
	if closing != nil {
		<-closing
	}
	err := errGone
	var s *local.Store
	if !gone {
		s, err = f.openFile()
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if err != nil {
		o.free()
		o.failed.Add(1)
		return nil, err
	}
	o.opened.Add(1)
	f.store = s
	return s, nil
}

func (f *file) openFile() (*local.Store, error) {
	if _, err := os.Stat(f.path); errors.Is(err, fs.ErrNotExist) {
		return nil, errMissing // which a new one would hide
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

// back ends a use of the file.
func (f *file) back() { f.end(false) }

// backAndClose ends a use of the file, and closes it unless there are others.
func (f *file) backAndClose() { f.end(true) }

func (f *file) end(closes bool) {
	o := f.of
	o.mu.Lock()
	end := func() {}
	if f.users--; f.users == 0 {
		f.since = time.Now()
		f.idle = o.idle.PushBack(f)
		if f.gone || closes {
			end = f.rest(false)
		}
	}
	idle := f.users == 0
	o.mu.Unlock()
	if idle {
		<-o.slots
	}
	end()
}

// rest takes an idle file, and returns what closes it. With handOver its room is for another one. It is
// under the lock.
func (f *file) rest(handOver bool) (end func()) {
	f.of.idle.Remove(f.idle)
	return f.leave(handOver)
}

// leave takes the open file away, and returns what closes it. It is under the lock.
func (f *file) leave(handOver bool) (end func()) {
	s, done := f.store, make(chan struct{})
	f.store, f.closing = nil, done
	return func() {
		_ = s.Close() // what is committed is; a damaged file has said so to its clients
		keys, fields := s.Expired()
		f.of.mu.Lock()
		f.expired.keys += keys
		f.expired.fields += fields
		if !handOver {
			f.of.free()
		}
		if f.closing == done {
			f.closing = nil
		}
		f.of.mu.Unlock()
		close(done)
		f.closed()
	}
}

// isOpen reports whether the file is open, or is about to be.
func (f *file) isOpen() bool {
	f.of.mu.Lock()
	defer f.of.mu.Unlock()
	return f.store != nil || f.busy != nil
}

// abandon keeps the file from being opened again, and closes it as soon as no call uses it; with
// hurry calls end without a trace.
func (f *file) abandon(hurry bool) {
	f.of.mu.Lock()
	f.gone = true
	end := func() {}
	if f.store != nil && f.users == 0 && f.busy == nil {
		end = f.rest(false)
	}
	s := f.store
	f.of.mu.Unlock()
	if hurry && s != nil {
		s.Abandon()
	}
	end()
}

// abandoned is how many calls have failed because of abandon.
func (f *file) abandoned() int64 {
	f.of.mu.Lock()
	defer f.of.mu.Unlock()
	if f.store == nil {
		return 0
	}
	return f.store.Abandoned()
}

// closeIdle closes the files that were idle before a time.
func (o *files) closeIdle(before time.Time) {
	for {
		o.mu.Lock()
		first := o.idle.Front()
		if first == nil || !first.Value.(*file).since.Before(before) {
			o.mu.Unlock()
			return
		}
		end := first.Value.(*file).rest(false)
		o.mu.Unlock()
		end()
	}
}

// settle waits until all files are closed. No call uses one any more.
func (o *files) settle() {
	for ; o.open() > 0; time.Sleep(time.Millisecond) {
		o.closeIdle(time.Now().Add(time.Hour))
	}
}

// open is how many files are open.
func (o *files) open() int {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.count
}

// Apply is as that of local.Store.
func (f *file) Apply(ctx context.Context, batches []store.Batch) ([]store.Result, error) {
	s, err := f.lend(ctx)
	if err != nil {
		return nil, err
	}
	defer f.back()
	return s.Apply(ctx, batches)
}

// Transact is as that of local.Store.
func (f *file) Transact(ctx context.Context, readOnly bool, fn func(run func(store.Batch) (store.Result, error)) error) error {
	s, err := f.lend(ctx)
	if err != nil {
		return err
	}
	defer f.back()
	return s.Transact(ctx, readOnly, fn)
}

// Sole says that no one looks for what other processes write: for each client that waits that would
// open its file again and again.
func (f *file) Sole() {}

// Beside is as that of local.Store.
func (f *file) Beside() bool { return true }

// Follow is as that of local.Store, for each time that the file is opened.
func (f *file) Follow(follower store.Follower) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.follower = follower
}

// SetTimeLimit is as that of local.Store.
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

// Expired is as that of local.Store, for all times that the file was open.
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
