package replicate

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/superfly/ltx"

	"github.com/meowdis/meowdis/local"
)

// begin finds the end of the stream and decides which pages to send: none, if the stream ends with the current
// state of the file; the pages written since, if the WAL goes back that far; otherwise all pages.
func (s *Shipper) begin(ctx context.Context, snap *local.Snapshot) error {
	all, err := s.place.all(ctx)
	if err != nil {
		return err
	}
	newest := s.newest(all)
	if newest == nil {
		s.continueAt(0, 0)
		return cmp.Or(s.sumAll(ctx, snap), s.seal(ctx, 0), s.began())
	}
	h, err := s.place.head(ctx, newest)
	if err != nil {
		return err
	}
	t, err := s.place.tail(ctx, newest)
	if err != nil {
		return err
	}
	id, position := signature(h)
	if id != s.id {
		s.fatal = fmt.Errorf("streaming to %s: %w", s.place, ErrOtherFile)
		return s.fatal
	}
	if err := s.sumAll(ctx, snap); err != nil {
		return err
	}
	changed, known, err := s.since(snap, position)
	if err == nil && !known && s.total != t.PostApplyChecksum && s.isSuperseded(h.MaxTXID) {
		s.fatal = fmt.Errorf("streaming to %s: %w", s.place, ErrSuperseded)
		err = s.fatal
	}
	if err = cmp.Or(err, s.seal(ctx, h.MaxTXID)); err != nil {
		return err
	}
	s.continueAt(h.MaxTXID, t.PostApplyChecksum)
	_, broken := plan(all, 0)
	switch {
	case broken != nil:
		s.restart()
		s.o.Log.Warn("the stream has a gap: sending the whole file", "to", s.place, "why", broken)
	case s.total == t.PostApplyChecksum:
		s.setChanged(local.PageSet{})
	case known:
		s.setChanged(changed)
	default:
		s.restart()
		s.o.Log.Info("the stream cannot be continued: sending the whole file", "to", s.place)
	}
	return s.began()
}

// began reports the fencing number of the lease that streams this file from now on.
func (s *Shipper) began() error {
	if s.o.Began == nil || s.o.Lease == nil {
		return nil
	}
	return s.o.Began(s.o.Lease.Fence())
}

// isSuperseded reports whether another server has written the newest transaction of the place, after this file was last
// streamed to it.
func (s *Shipper) isSuperseded(newest ltx.TXID) bool {
	return s.o.Fence > 0 && fenceOf(newest) > s.o.Fence
}

// seal ends the stream of earlier holders of the lease.
func (s *Shipper) seal(ctx context.Context, after ltx.TXID) error {
	if s.o.Lease == nil {
		return nil
	}
	return s.o.Lease.Seal(ctx, uint64(after))
}

// Check returns an error that would stop the stream for good. It returns nil if the place cannot be reached.
func (s *Shipper) Check(ctx context.Context) error {
	all, err := s.place.all(ctx)
	newest := s.newest(all)
	if err != nil || newest == nil {
		return nil
	}
	h, err := s.place.head(ctx, newest)
	if err != nil {
		return nil
	}
	id, position := signature(h)
	if id != s.id {
		return fmt.Errorf("streaming to %s: %w", s.place, ErrOtherFile)
	}
	if !s.isSuperseded(h.MaxTXID) {
		return nil
	}
	t, err := s.place.tail(ctx, newest)
	if err != nil {
		return nil
	}
	same, _, known, err := s.compare(ctx, position, t.PostApplyChecksum)
	if err == nil && !same && !known {
		err = fmt.Errorf("streaming to %s: %w", s.place, ErrSuperseded)
	}
	return err
}

// newest returns the file with the highest transaction, or nil. It also records when the last snapshot was
// written.
func (s *Shipper) newest(all []*ltx.FileInfo) (newest *ltx.FileInfo) {
	var whole time.Time
	for _, f := range all {
		if newest == nil || cmp.Or(cmp.Compare(f.MaxTXID, newest.MaxTXID), cmp.Compare(f.MinTXID, newest.MinTXID)) > 0 {
			newest = f
		}
		if f.MinTXID == 1 && f.CreatedAt.After(whole) {
			whole = f.CreatedAt
		}
	}
	if newest != nil {
		s.levels[len(s.levels)-1].last = whole
	}
	return newest
}

// since returns the pages that have changed since a position, if the WAL goes back to it.
func (s *Shipper) since(snap *local.Snapshot, p local.Position) (local.PageSet, bool, error) {
	return s.tail.Since(snap, p, func(sum uint64) bool { return uint64(fold32(sum)) == p.Sum })
}

// continueAt makes the next files begin after the transaction last.
func (s *Shipper) continueAt(last ltx.TXID, sum ltx.Checksum) {
	s.tried = last
	for _, l := range s.levels {
		if l.number != snapshotLevel {
			l.first, l.before = last+1, sum
		} else {
			l.first, l.whole = 1, true
		}
	}
}

// restart makes the next file a snapshot, which depends on no earlier file.
func (s *Shipper) restart() {
	l := s.levels[0]
	l.first, l.before, l.whole = 1, 0, true
}

// setChanged makes all levels except snapshots send only these pages.
func (s *Shipper) setChanged(pages local.PageSet) {
	for _, l := range s.levels {
		if l.number == snapshotLevel {
			continue
		}
		l.whole, l.changed = false, local.PageSet{}
		l.changed.AddAll(pages)
	}
}
