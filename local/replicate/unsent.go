package replicate

import (
	"context"
	"fmt"

	"github.com/superfly/ltx"

	"github.com/meowdis/meowdis/local"
)

// Unsent returns how many transactions the server has committed since transaction after of the stream. It returns -1 if
// it does not know.
func (s *Shipper) Unsent(after uint64) int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.o.Commits == nil {
		return -1
	}
	for i := len(s.sent) - 1; i >= 0; i-- {
		if s.sent[i].last <= ltx.TXID(after) {
			return s.o.Commits() - s.sent[i].commits
		}
	}
	return -1
}

// Compare says how the file differs from the stream at transaction after, of a server that has not shipped yet.
func (s *Shipper) Compare(ctx context.Context, after uint64) (string, error) {
	all, err := s.place.all(ctx)
	if err != nil {
		return "", err
	}
	var at *ltx.FileInfo
	for _, f := range all {
		if f.MaxTXID == ltx.TXID(after) && (at == nil || f.MinTXID > at.MinTXID) {
			at = f
		}
	}
	if at == nil {
		return fmt.Sprintf("the place no longer has transaction %d to compare the file with", after), nil
	}
	h, err := s.place.head(ctx, at)
	if err != nil {
		return "", err
	}
	t, err := s.place.tail(ctx, at)
	if err != nil {
		return "", err
	}
	_, position := signature(h)
	switch same, changed, known, err := s.compare(ctx, position, t.PostApplyChecksum); {
	case err != nil:
		return "", err
	case same:
		return fmt.Sprintf("the file has no writes after transaction %d", after), nil
	case known:
		return fmt.Sprintf("the file has writes after transaction %d, in %d pages", after, changed.Len()), nil
	}
	return fmt.Sprintf("the file has writes after transaction %d", after), nil
}

// compare reports whether the file has the checksum sum, and which of its pages were written after a position of the
// stream, if that is known.
func (s *Shipper) compare(ctx context.Context, at local.Position, sum ltx.Checksum) (same bool, changed local.PageSet, known bool, err error) {
	snap, err := s.tail.Take()
	if err != nil {
		return false, changed, false, err
	}
	defer snap.Close()
	if err := s.sumAll(ctx, snap); err != nil {
		return false, changed, false, err
	}
	changed, known, err = s.since(snap, at)
	return s.total == sum, changed, known, err
}
