package replicate

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/superfly/ltx"

	"github.com/meowdis/meowdis/local"
)

// Follower keeps a copy of a file up to date with the file's stream.
type Follower struct {
	o     FollowOptions
	place *Place
	copy  *local.Copy

	at       ltx.TXID // last transaction in the copy; 0 if its state is unknown
	sum      ltx.Checksum
	sums     map[ltx.TXID]ltx.Checksum // at recent transactions that the copy has applied
	looked   time.Time                 // the last listing of all levels
	atLevel0 bool                      // the last listing of level 0 reached the copy's transaction

	mu     sync.Mutex
	status Following
}

// FollowOptions configures a Follower.
type FollowOptions struct {
	Every time.Duration // interval between two polls; 0 means one second
	Now   func() time.Time
	Log   *slog.Logger
	// Standby, if not nil, makes Run end with its lease when the holder's has ended.
	Standby *Standby
}

// Following is the status of a copy.
type Following struct {
	Place     string
	TXID      uint64    // last transaction in the copy; 0 before the first poll
	Written   time.Time // when that transaction was written to the file
	LastPoll  time.Time // last successful poll; zero for never
	LastError string    // error of the last poll, or ""
	Copying   bool      // a large part of the file is being copied
}

// NewFollower returns a Follower for a copy in any state. Run brings it up to date.
func NewFollower(place *Place, copied *local.Copy, o FollowOptions) *Follower {
	if o.Every == 0 {
		o.Every = time.Second
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	return &Follower{o: o, place: place, copy: copied, status: Following{Place: place.String()}}
}

// Status returns the current status of the copy.
func (f *Follower) Status() Following {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.status
}

// Run follows until ctx ends. With a Standby it also ends when the copy may be written: it then returns the lease, which
// is held and renewed.
func (f *Follower) Run(ctx context.Context) *Lease {
	tick := time.NewTicker(f.o.Every)
	defer tick.Stop()
	for ctx.Err() == nil {
		f.Follow(ctx)
		if s := f.o.Standby; s != nil && ctx.Err() == nil && f.standBy(ctx, s) {
			return s.lease
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
		}
	}
	return nil
}

// standBy reports whether the copy may be written from now on.
func (f *Follower) standBy(ctx context.Context, s *Standby) (promoted bool) {
	err := recoverLogged(f.o.Log, func() error {
		took, err := s.look(ctx)
		if err != nil || !took {
			return err
		}
		s.lease.Start()
		if err = f.takeOver(ctx, s.lease); err != nil {
			s.lease.Stop()
			s.reset()
			return err
		}
		promoted = true
		return nil
	})
	if err != nil && ctx.Err() == nil {
		f.o.Log.Warn("the lease cannot be taken or read", "place", f.place, "error", err)
	}
	return promoted
}

// Follow polls the stream once and applies new files. It updates the Status, and logs when following begins to
// fail or recovers.
func (f *Follower) Follow(ctx context.Context) error {
	err := recoverLogged(f.o.Log, func() error { return f.follow(ctx) })
	f.mu.Lock()
	defer f.mu.Unlock()
	was := f.status.LastError
	f.status.LastError, f.status.Copying = "", false
	switch {
	case err == nil:
		f.status.LastPoll = f.o.Now()
		if was != "" {
			f.o.Log.Info("the copy is following again", "place", f.place)
		}
	case ctx.Err() != nil && was == "":
	default:
		if f.status.LastError = err.Error(); was == "" {
			f.o.Log.Error("the copy cannot follow the stream; it stays unchanged, and meowdis tries again", "place", f.place, "error", err)
		}
	}
	return err
}

func (f *Follower) follow(ctx context.Context) error {
	files, err := f.newFiles(ctx)
	if err != nil || files == nil {
		return err
	}
	if files[0].MinTXID == 1 {
		f.mu.Lock()
		f.status.Copying = true
		f.mu.Unlock()
	}
	err = f.apply(ctx, files)
	if errors.Is(err, local.ErrCopyChanged) || errors.Is(err, errDiverged) {
		f.o.Log.Warn("replacing the copy", "place", f.place, "why", err)
		f.reset()
	}
	return err
}

// newFiles returns the files between the copy and the end of the stream. Most polls list only level 0, since a
// bucket charges for each request.
func (f *Follower) newFiles(ctx context.Context) (files []*ltx.FileInfo, err error) {
	if f.at > 0 && f.o.Now().Sub(f.looked) < time.Minute {
		news, err := f.place.list(ctx, 0)
		if err == nil {
			news, err = f.place.valid(ctx, news)
		}
		if err != nil {
			return nil, fmt.Errorf("reading %s: %w", f.place, err)
		}
		was := f.atLevel0
		f.atLevel0 = slices.ContainsFunc(news, func(n *ltx.FileInfo) bool { return n.MaxTXID >= f.at })
		gone := was && !f.atLevel0 // files were swept, or the whole stream was removed
		if files, err = plan(news, f.at); err == nil && !gone && !f.place.isSealed(f.at) {
			return files, nil
		}
	}
	all, err := f.place.all(ctx)
	if err != nil {
		return nil, err
	}
	f.looked = f.o.Now()
	if _, last := chain(all, 0); last < f.at || f.place.isSealed(f.at) { // the stream was restarted, or continued without this transaction
		f.reset()
	}
	if files, err = plan(all, f.at); err == nil && f.at == 0 && files == nil {
		err = ErrEmpty
	}
	if err != nil {
		return nil, fmt.Errorf("following %s: %w", f.place, err)
	}
	return files, nil
}

// errDiverged means that the stream does not continue from the copy's state.
var errDiverged = errors.New("the stream continued from a different state than the copy's")

// reset makes the next poll replace the whole copy.
func (f *Follower) reset() { f.at, f.sum, f.sums = 0, 0, nil }

// maxSums limits how many transactions back the copy remembers checksums: two hours, longer than the range of
// the files that a copy applies after an outage.
const maxSums = 7200

// recordSums records the checksums of applied transactions.
func (f *Follower) recordSums(through map[ltx.TXID]ltx.Checksum) {
	if f.sums == nil {
		f.sums = map[ltx.TXID]ltx.Checksum{}
	}
	maps.Copy(f.sums, through)
	if len(f.sums) > 2*maxSums {
		maps.DeleteFunc(f.sums, func(at ltx.TXID, _ ltx.Checksum) bool { return at+maxSums < f.at })
	}
}

// diverges reports whether a file belongs to a stream that the copy did not follow. A file may begin before the
// copy's transaction; it is checked at its own beginning. litestream's own files have no checksums.
func (f *Follower) diverges(h ltx.Header) bool {
	return h.MinTXID > 1 && h.PreApplyChecksum != 0 && f.sums[h.MinTXID-1] != h.PreApplyChecksum
}

// apply applies the files to the copy in one transaction.
func (f *Follower) apply(ctx context.Context, files []*ltx.FileInfo) error {
	pages, stop := f.pages(ctx, files)
	defer stop()
	head, err := f.place.head(ctx, files[len(files)-1])
	if err != nil {
		return err
	}
	var end pageOrEnd
	err = f.copy.Put(ctx, files[0].MinTXID == 1, head.Commit, func() (local.Page, error) {
		var more bool
		if end, more = <-pages; !more {
			end.err = context.Cause(ctx)
		}
		return end.page, end.err
	})
	if err != nil {
		return err
	}
	f.at, f.sum = head.MaxTXID, end.sum
	f.recordSums(end.sums)
	f.mu.Lock()
	defer f.mu.Unlock()
	f.status.TXID, f.status.Written = uint64(f.at), time.UnixMilli(head.Timestamp)
	return nil
}

// pageOrEnd carries a page, or the checksum or error at the end of the files.
type pageOrEnd struct {
	page local.Page
	sum  ltx.Checksum
	sums map[ltx.TXID]ltx.Checksum // after each file
	err  error
}

// send sends p to a caller that may end ctx instead of receiving it.
func (p pageOrEnd) send(ctx context.Context, to chan<- pageOrEnd) error {
	select {
	case to <- p:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// pages sends the pages of the files in order, until the caller calls stop. It closes the channel when ctx ends.
func (f *Follower) pages(ctx context.Context, files []*ltx.FileInfo) (pages <-chan pageOrEnd, stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	to := make(chan pageOrEnd)
	var done sync.WaitGroup
	done.Go(func() {
		end := pageOrEnd{sums: map[ltx.TXID]ltx.Checksum{}}
		at, sum := f.at, f.sum
		end.err = recoverLogged(f.o.Log, func() error {
			for i, file := range files {
				t, err := f.place.read(ctx, file, func(h ltx.Header, page local.Page) error {
					if i == 0 && f.diverges(h) || h.MinTXID == at+1 && sum != 0 && h.PreApplyChecksum != 0 && h.PreApplyChecksum != sum {
						return errDiverged
					}
					page.Data = append([]byte(nil), page.Data...)
					return pageOrEnd{page: page}.send(ctx, to)
				})
				if at, sum = file.MaxTXID, t.PostApplyChecksum; err != nil {
					return err
				}
				end.sums[at] = sum
			}
			return nil
		})
		end.sum = sum
		if end.send(ctx, to) != nil {
			close(to)
		}
	})
	return to, func() { cancel(); done.Wait() }
}
