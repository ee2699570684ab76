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

	at     ltx.TXID // of the copy; 0 for one that may be in any state
	sum    ltx.Checksum
	sums   map[ltx.TXID]ltx.Checksum // at the transactions that it came through, but for those long ago
	looked time.Time                 // at all levels
	there  bool                      // the file of the copy's transaction, or a later one, when it last looked at level 0

	mu     sync.Mutex
	status Following
}

// FollowOptions say how a copy is kept.
type FollowOptions struct {
	Every time.Duration // how often the place is looked at; 0 is a second
	Now   func() time.Time
	Log   *slog.Logger
}

// Following is how a copy is doing.
type Following struct {
	Place   string
	TXID    uint64    // the last transaction that is in the copy; 0 before the first look
	Written time.Time // when that was written to the file
	Heard   time.Time // when the place was last looked at; zero for never
	Failing string    // why not since, "" when it was
	Copying bool      // a large part of the file is on its way
}

// NewFollower makes one for a copy, in whatever state that is. It is brought up to date by Run.
func NewFollower(place *Place, copied *local.Copy, o FollowOptions) *Follower {
	if o.Every == 0 {
		o.Every = time.Second
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	return &Follower{o: o, place: place, copy: copied, status: Following{Place: place.String()}}
}

// Status is how the copy is doing now.
func (f *Follower) Status() Following {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.status
}

// Run follows until ctx ends.
func (f *Follower) Run(ctx context.Context) {
	tick := time.NewTicker(f.o.Every)
	defer tick.Stop()
	for ctx.Err() == nil {
		f.Follow(ctx)
		select {
		case <-tick.C:
		case <-ctx.Done():
		}
	}
}

// Follow applies what is new now. What becomes of it is the Status, and a line of the log when that
// changes.
func (f *Follower) Follow(ctx context.Context) error {
	err := caught(f.o.Log, func() error { return f.follow(ctx) })
	f.mu.Lock()
	defer f.mu.Unlock()
	was := f.status.Failing
	f.status.Failing, f.status.Copying = "", false
	switch {
	case err == nil:
		f.status.Heard = f.o.Now()
		if was != "" {
			f.o.Log.Info("the copy follows again", "place", f.place)
		}
	case ctx.Err() != nil && was == "":
	default:
		if f.status.Failing = err.Error(); was == "" {
			f.o.Log.Error("the copy does not follow, and stays as it is until it does", "place", f.place, "error", err)
		}
	}
	return err
}

func (f *Follower) follow(ctx context.Context) error {
	files, err := f.news(ctx)
	if err != nil || files == nil {
		return err
	}
	if files[0].MinTXID == 1 {
		f.mu.Lock()
		f.status.Copying = true
		f.mu.Unlock()
	}
	err = f.apply(ctx, files)
	if errors.Is(err, local.ErrStrayed) || errors.Is(err, errFork) {
		f.o.Log.Warn("the copy is made anew", "place", f.place, "why", err)
		f.forget()
	}
	return err
}

// news are the files that lead from where the copy is to the end of the stream. Most of the time it
// asks for one level, since a bucket counts each question.
func (f *Follower) news(ctx context.Context) (files []*ltx.FileInfo, err error) {
	if f.at > 0 && f.o.Now().Sub(f.looked) < time.Minute {
		news, err := f.place.list(ctx, 0)
		if err != nil {
			return nil, fmt.Errorf("reading %s: %w", f.place, err)
		}
		was := f.there
		f.there = slices.ContainsFunc(news, func(n *ltx.FileInfo) bool { return n.MaxTXID >= f.at })
		gone := was && !f.there // swept, or all is
		if files, err = plan(news, f.at); err == nil && !gone {
			return files, nil
		}
	}
	all, err := f.place.all(ctx)
	if err != nil {
		return nil, err
	}
	f.looked = f.o.Now()
	if _, last := chain(all, 0); last < f.at { // it has begun anew
		f.forget()
	}
	if files, err = plan(all, f.at); err == nil && f.at == 0 && files == nil {
		err = ErrEmpty
	}
	if err != nil {
		return nil, fmt.Errorf("following %s: %w", f.place, err)
	}
	return files, nil
}

// errFork is that the stream does not go on from what the copy is, as far as the copy knows.
var errFork = errors.New("the stream has gone on from another state than the copy's")

// forget has the copy be made anew.
func (f *Follower) forget() { f.at, f.sum, f.sums = 0, 0, nil }

// sumsKept is how many transactions back the copy knows its sums: those of two hours, which is more than
// the files go back that a copy takes which could not reach the place for a while.
const sumsKept = 7200

// came notes the sums at transactions that the copy came through.
func (f *Follower) came(through map[ltx.TXID]ltx.Checksum) {
	if f.sums == nil {
		f.sums = map[ltx.TXID]ltx.Checksum{}
	}
	maps.Copy(f.sums, through)
	if len(f.sums) > 2*sumsKept {
		maps.DeleteFunc(f.sums, func(at ltx.TXID, _ ltx.Checksum) bool { return at+sumsKept < f.at })
	}
}

// forks reports whether a file is of a stream in which the copy was not. It may begin before the
// transaction of the copy, which is checked where it begins then. litestream's own files have no sums.
func (f *Follower) forks(h ltx.Header) bool {
	return h.MinTXID > 1 && h.PreApplyChecksum != 0 && f.sums[h.MinTXID-1] != h.PreApplyChecksum
}

// apply makes the copy what the files say, in one transaction.
func (f *Follower) apply(ctx context.Context, files []*ltx.FileInfo) error {
	pages, stop := f.pages(ctx, files)
	defer stop()
	head, err := f.place.head(ctx, files[len(files)-1])
	if err != nil {
		return err
	}
	var end pageOrEnd
	err = f.copy.Put(ctx, files[0].MinTXID == 1, head.Commit, func() (local.Page, error) {
		end = <-pages
		return end.page, end.err
	})
	if err != nil {
		return err
	}
	f.at, f.sum = head.MaxTXID, end.sum
	f.came(end.sums)
	f.mu.Lock()
	defer f.mu.Unlock()
	f.status.TXID, f.status.Written = uint64(f.at), time.UnixMilli(head.Timestamp)
	return nil
}

// pageOrEnd is a page, or at the end the sum of the file or an error.
type pageOrEnd struct {
	page local.Page
	sum  ltx.Checksum
	sums map[ltx.TXID]ltx.Checksum // after each of the files
	err  error
}

// pages sends the pages of the files, one after the other, until stop is called.
func (f *Follower) pages(ctx context.Context, files []*ltx.FileInfo) (pages <-chan pageOrEnd, stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	to := make(chan pageOrEnd)
	var done sync.WaitGroup
	done.Go(func() {
		end := pageOrEnd{sums: map[ltx.TXID]ltx.Checksum{}}
		at, sum := f.at, f.sum
		end.err = caught(f.o.Log, func() error {
			for i, file := range files {
				t, err := f.place.read(ctx, file, func(h ltx.Header, page local.Page) error {
					if i == 0 && f.forks(h) || h.MinTXID == at+1 && sum != 0 && h.PreApplyChecksum != 0 && h.PreApplyChecksum != sum {
						return errFork
					}
					page.Data = append([]byte(nil), page.Data...)
					select {
					case to <- pageOrEnd{page: page}:
						return nil
					case <-ctx.Done():
						return ctx.Err()
					}
				})
				if at, sum = file.MaxTXID, t.PostApplyChecksum; err != nil {
					return err
				}
				end.sums[at] = sum
			}
			return nil
		})
		end.sum = sum
		select {
		case to <- end:
		case <-ctx.Done():
		}
	})
	return to, func() { cancel(); done.Wait() }
}
