package replicate

import (
	"context"
	"slices"
	"time"

	"github.com/superfly/ltx"
)

const (
	sweepEvery = 10 * time.Minute
	keepLevel0 = 10 * time.Minute // for files of level 0 that a file of level 1 also covers
)

// sweep removes files that no restore within the retention time needs.
func (s *Shipper) sweep(ctx context.Context, now time.Time) error {
	if now.Sub(s.swept) < sweepEvery {
		return nil
	}
	listed, err := s.place.listAll(ctx)
	var all []*ltx.FileInfo
	if err == nil {
		all, err = s.place.valid(ctx, slices.Clone(listed))
	}
	if err == nil {
		if _, broken := plan(all, 0); broken != nil { // files were removed from outside
			s.restart()
			s.o.Log.Warn("the stream has a gap: sending the whole file", "to", s.place, "why", broken)
			return nil
		}
		var gone []*ltx.FileInfo
		for _, f := range listed {
			if s.place.isSealed(f.MaxTXID) {
				gone = append(gone, f)
			}
		}
		gone = append(gone, obsolete(all, now, s.o.Keep)...)
		err = s.place.remove(ctx, gone)
	}
	if err == nil && s.o.Lease != nil {
		oldest := ltx.TXID(0)
		if base := oldBase(all, now, s.o.Keep); base != nil {
			oldest = base.MaxTXID
		}
		err = s.o.Lease.forgetSeals(ctx, uint64(oldest))
	}
	if err == nil {
		s.swept = now
	}
	return err
}

// obsolete returns the files older than the newest snapshot that is older than keep, and files of level 0 older
// than keepLevel0 that a file of level 1 covers.
func obsolete(all []*ltx.FileInfo, now time.Time, keep time.Duration) (gone []*ltx.FileInfo) {
	base := oldBase(all, now, keep)
	for _, f := range all {
		past := base != nil && f != base && f.MaxTXID <= base.MaxTXID
		if past || f.Level == 0 && now.Sub(f.CreatedAt) >= keepLevel0 && covered(f, all) {
			gone = append(gone, f)
		}
	}
	return gone
}

// oldBase returns the newest snapshot that is older than keep, or nil.
func oldBase(all []*ltx.FileInfo, now time.Time, keep time.Duration) (base *ltx.FileInfo) {
	for _, f := range all {
		if f.MinTXID == 1 && now.Sub(f.CreatedAt) >= keep && (base == nil || f.MaxTXID > base.MaxTXID) {
			base = f
		}
	}
	return base
}

func covered(f *ltx.FileInfo, all []*ltx.FileInfo) bool {
	for _, o := range all {
		if o.Level == 1 && o.MinTXID <= f.MinTXID && o.MaxTXID >= f.MaxTXID {
			return true
		}
	}
	return false
}
