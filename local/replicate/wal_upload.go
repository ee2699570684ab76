package replicate

import (
	"context"
	"errors"
	"fmt"
	"hash"
	"hash/crc32"
	"iter"
	"log/slog"
	"path/filepath"
	"sync"
	"time"

	"github.com/superfly/ltx"

	"github.com/meowdis/meowdis/local"
	"github.com/meowdis/meowdis/store"
	"github.com/meowdis/meowdis/store/logging"
)

// Shipper streams a file to a place. Every second or so, it sends the current content of the changed pages.
// While the place cannot be reached, it only remembers which pages have changed, so neither the WAL nor memory
// grows during an outage.
type Shipper struct {
	o       Options
	tail    *local.Tail
	place   *Place
	id      uint32
	levels  []*level
	tried   ltx.TXID // last transaction of a file that may have been written
	started bool
	fatal   error     // set once nothing more can be shipped
	swept   time.Time // the last removal of old files
	sent    []upload  // the last successful ones
	pageChecksums
	waiting chan chan error
	ended   chan struct{} // closed at the end of Run
	end     sync.Once

	mu     sync.Mutex
	status Status
}

// pageChecksums holds the checksums of the file's pages.
type pageChecksums struct {
	sums   []ltx.Checksum // of each page, as of the last snapshot
	total  ltx.Checksum   // of all pages
	hasher hash.Hash64
}

// Options configures a Shipper.
type Options struct {
	Path      string        // of the database file
	CreatedAt int64         // creation time of the database, which identifies it
	Every     time.Duration // interval between two uploads; 0 means one second
	Keep      time.Duration // how far back the file can be restored; 0 means one day
	Lease     *Lease        // renewed by the caller; nil streams without a lease
	Fence     uint64        // fencing number of the lease that last streamed this file to the place; 0 if unknown
	// Began, if not nil, is called before the first upload with the fencing number of the lease. Its error stops that upload.
	Began   func(fence uint64) error
	Commits func() int64 // returns how many transactions the server has committed; nil means it is not known
	Now     func() time.Time
	Log     *slog.Logger
}

// Status holds the state of a stream.
type Status struct {
	Place     string
	TXID      uint64    // last transaction in the place
	At        time.Time // when the place was last up to date; zero for never
	LastError string    // error of the last upload, or ""
	Pending   int       // pages to be sent
}

// upload records a successful Ship.
type upload struct {
	last    ltx.TXID
	commits int64 // of the server, before
}

// maxUploads limits the uploads that are remembered: more than are under way when a lease is lost.
const maxUploads = 64

// level collects the changes for the next file of one level.
type level struct {
	number  int
	every   time.Duration
	first   ltx.TXID     // first transaction of the next file
	before  ltx.Checksum // checksum before first
	last    time.Time    // when the last file was written
	whole   bool
	changed local.PageSet
}

// The time that a file of each level covers.
const (
	minutes = time.Minute
	hours   = time.Hour
	days    = 24 * time.Hour
)

// Errors that stop a stream for good.
var (
	// ErrSuperseded reports a file that another server's copy has replaced as the writer.
	ErrSuperseded  = errors.New("another server has written there since this file was streamed, and its writes would be replaced")
	ErrOtherFile   = errors.New("it has another file's stream: restore that (meowdis restore), or choose another place")
	errRivalServer = errors.New("another server is streaming to it, too: stop one of them, and restart the other")
)

// NewShipper returns a Shipper. It ships nothing before Run.
func NewShipper(place *Place, tail *local.Tail, o Options) *Shipper {
	if o.Every == 0 {
		o.Every = time.Second
	}
	if o.Keep == 0 {
		o.Keep = days
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	s := &Shipper{o: o, place: place, tail: tail, pageChecksums: pageChecksums{hasher: ltx.NewHasher()}, waiting: make(chan chan error), ended: make(chan struct{})}
	s.id = crc32.ChecksumIEEE(fmt.Append(nil, o.CreatedAt))
	s.status.Place = place.String()
	for _, l := range []level{{number: 0}, {number: 1, every: minutes}, {number: 2, every: hours}, {number: snapshotLevel, every: days}} {
		l.last = o.Now()
		s.levels = append(s.levels, &l)
	}
	return s
}

// Status returns the current state of the stream.
func (s *Shipper) Status() Status {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.status
}

// Run ships until ctx ends, and then once more, for at most patience.
func (s *Shipper) Run(ctx context.Context, patience time.Duration) {
	defer s.end.Do(func() { close(s.ended) })
	tick := time.NewTicker(s.o.Every)
	defer tick.Stop()
	var waiting []chan error
	for ctx.Err() == nil {
		waiting = s.shipFor(ctx, waiting)
		select {
		case <-tick.C:
		case one := <-s.waiting:
			waiting = append(waiting, one)
		case <-ctx.Done():
		}
	}
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), patience)
	defer cancel()
	s.shipFor(last, waiting)
}

// shipFor ships once, and answers the calls of Sync that wait for it. It returns the calls that must wait for another
// attempt.
func (s *Shipper) shipFor(ctx context.Context, waiting []chan error) []chan error {
	err := s.Ship(ctx)
	if err != nil && s.fatal == nil {
		return waiting
	}
	for _, one := range waiting {
		one <- err
	}
	return nil
}

var errStreamEnded = errors.New("the stream has ended")

// Sync waits until the place has everything that was committed before the call. While the place cannot be reached it
// waits; an error means that it never will, or that ctx or Run has ended.
func (s *Shipper) Sync(ctx context.Context) error {
	done := make(chan error, 1)
	select {
	case s.waiting <- done:
	case <-s.ended:
		return errStreamEnded
	case <-ctx.Done():
		return ctx.Err()
	}
	select {
	case err := <-done:
		return err
	case <-s.ended:
		select {
		case err := <-done:
			return err
		default:
			return errStreamEnded
		}
	case <-ctx.Done():
		return ctx.Err()
	}
}

// recoverLogged calls fn, and logs and returns its panic as an error.
func recoverLogged(log *slog.Logger, fn func() error) error {
	err := store.Caught(fn)
	if p := (*store.Panic)(nil); errors.As(err, &p) {
		logging.Panic(log)(p)
	}
	return err
}

// Ship uploads new changes once. It updates the Status, and logs when shipping begins to fail or recovers.
func (s *Shipper) Ship(ctx context.Context) error {
	commits := int64(0)
	if s.o.Commits != nil {
		commits = s.o.Commits()
	}
	err := recoverLogged(s.o.Log, func() error { return s.ship(ctx) })
	s.mu.Lock()
	defer s.mu.Unlock()
	was := s.status.LastError
	s.status.Pending = s.levels[0].pending(len(s.sums))
	s.status.LastError = ""
	switch {
	case err == nil:
		s.status.At = s.o.Now()
		s.status.TXID = uint64(s.levels[0].first - 1)
		if s.sent = append(s.sent, upload{s.levels[0].first - 1, commits}); len(s.sent) > maxUploads {
			s.sent = s.sent[1:]
		}
		if was != "" {
			s.o.Log.Info("streaming the file works again", "to", s.place)
		}
	case ctx.Err() != nil && was == "":
	default:
		if s.status.LastError = err.Error(); was == "" {
			s.o.Log.Error("streaming the file failed; the server continues and tries again", "to", s.place, "error", err)
		}
	}
	return err
}

func (s *Shipper) ship(ctx context.Context) (err error) {
	if err := s.tail.Advance(); err != nil { // first, so that the WAL can restart even if shipping fails
		return err
	}
	if err := s.mayWrite(); err != nil {
		return err
	}
	snap, err := s.tail.Take()
	if err != nil {
		return err
	}
	defer snap.Close()
	for _, l := range s.levels {
		l.addChanges(snap, len(s.sums))
	}
	if !s.started {
		if err := s.begin(ctx, snap); err != nil {
			return err
		}
		s.started = true
	}
	now := s.o.Now()
	files, err := s.due(ctx, snap, now)
	snap.Close() // releases the WAL before the uploads
	defer func() {
		for _, f := range files {
			err = errors.Join(err, f.made.remove())
		}
	}()
	for _, f := range files {
		if err == nil {
			err = s.mayWrite()
		}
		if err == nil {
			err = s.write(ctx, f)
		}
	}
	if err == nil {
		err = s.sweep(ctx, now)
	}
	return err
}

// mayWrite returns an error if this server must not write to the place.
func (s *Shipper) mayWrite() error {
	l := s.o.Lease
	if s.fatal == nil && l != nil {
		s.fatal = l.Lost()
	}
	switch {
	case s.fatal != nil || l == nil:
		return s.fatal
	case !l.Held():
		return errLeaseUnknown
	}
	return l.Err()
}

// base returns the transaction before the first one of this server's lease.
func (s *Shipper) base() ltx.TXID {
	if s.o.Lease == nil {
		return 0
	}
	return ltx.TXID(s.o.Lease.Fence() << fenceShift)
}

// addChanges adds the changes of a snapshot. had is the previous number of pages.
func (l *level) addChanges(snap *local.Snapshot, had int) {
	l.whole = l.whole || snap.Whole
	if l.whole {
		l.changed = local.PageSet{}
		return
	}
	l.changed.AddAll(snap.Changed)
	for page := had + 1; page <= int(snap.Pages()); page++ {
		l.changed.Add(uint32(page))
	}
}

// pages returns the page numbers of the next file; the database has pages 1 to of.
func (l *level) pages(of uint32) iter.Seq[uint32] {
	return func(yield func(uint32) bool) {
		if !l.whole {
			for page := range l.changed.All() {
				if page > of || !yield(page) {
					return
				}
			}
			return
		}
		for page := uint32(1); page <= of && yield(page); page++ {
		}
	}
}

// pending returns the number of pages of the next file; the database has of pages.
func (l *level) pending(of int) int {
	if l.whole {
		return of
	}
	return l.changed.Len()
}

// file describes a file to be uploaded.
type file struct {
	level *level
	info  *ltx.FileInfo
	made  *spool
}

// due encodes the files that are due, from one snapshot.
func (s *Shipper) due(ctx context.Context, snap *local.Snapshot, now time.Time) (files []file, err error) {
	last := s.levels[0].first - 1
	for _, l := range s.levels {
		news := l.whole || l.changed.Len() > 0
		switch {
		case l.number == 0 && news:
			last = max(s.tried, last, s.base()) + 1
			s.tried = last
		case l.number == 0 || s.levels[0].whole || l.first > last || now.Sub(l.last) < l.every:
			continue
		case !news:
			l.last = now
			continue
		}
		f := file{l, &ltx.FileInfo{Level: l.number, MinTXID: l.first, MaxTXID: last, CreatedAt: now}, &spool{dir: filepath.Dir(s.o.Path)}}
		files = append(files, f)
		if err := s.encode(ctx, f, snap); err != nil {
			return files, fmt.Errorf("reading the file: %w", err)
		}
	}
	return files, nil
}

// write uploads a file and clears its changes from the level.
func (s *Shipper) write(ctx context.Context, f file) error {
	b, err := f.made.body()
	if err != nil {
		return err
	}
	const slowest = 100 << 10 // bytes a second
	ctx, cancel := context.WithTimeout(ctx, time.Minute+time.Duration(f.info.Size/slowest)*time.Second)
	defer cancel()
	l := f.level
	switch err := s.place.write(ctx, f.info, b); {
	case errors.Is(err, errExists) && l.number == 0:
		s.fatal = errRivalServer
		return errRivalServer
	case errors.Is(err, errExists): // an earlier attempt succeeded although it reported an error
	case err != nil:
		return s.place.failed("writing", f.info, err)
	}
	whole := l.whole
	l.startNext(f.info, s.total)
	for _, higher := range s.levels[1:] {
		if l.number == 0 && whole && higher.number != snapshotLevel { // their own file would be as large
			higher.startNext(f.info, s.total)
		}
	}
	return nil
}

// startNext prepares the next file of the level, which follows f.
func (l *level) startNext(f *ltx.FileInfo, sum ltx.Checksum) {
	l.first, l.before, l.last = f.MaxTXID+1, sum, f.CreatedAt
	l.whole = l.number == snapshotLevel
	if l.whole {
		l.first, l.before = 1, 0
	}
	l.changed = local.PageSet{}
}
