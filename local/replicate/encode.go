package replicate

import (
	"bufio"
	"context"

	"github.com/superfly/ltx"

	"github.com/meowdis/meowdis/local"
)

// encode writes the pages of a snapshot to a file whose range ends with it.
func (s *Shipper) encode(ctx context.Context, f file, snap *local.Snapshot) error {
	if f.level.number == 0 {
		s.resize(snap.Pages())
	}
	out := bufio.NewWriterSize(f.made, 64<<10)
	e, err := ltx.NewEncoder(out)
	if err != nil {
		return err
	}
	h := ltx.Header{
		Version: ltx.Version, PageSize: uint32(snap.PageSize()), Commit: snap.Pages(),
		MinTXID: f.info.MinTXID, MaxTXID: f.info.MaxTXID, Timestamp: f.info.CreatedAt.UnixMilli(),
		PreApplyChecksum: f.level.before,
	}
	s.sign(&h, snap.Position())
	if err := e.EncodeHeader(h); err != nil {
		return err
	}
	for number := range f.level.pages(snap.Pages()) {
		if number == ltx.LockPgno(h.PageSize) {
			continue
		}
		data, err := snap.Page(number)
		if err != nil {
			return err
		}
		if f.level.number == 0 {
			s.sum(number, data)
		}
		if err := e.EncodePage(ltx.PageHeader{Pgno: number}, data); err != nil {
			return err
		}
		if err := ctx.Err(); err != nil {
			return err
		}
	}
	e.SetPostApplyChecksum(s.total)
	if err := e.Close(); err != nil {
		return err
	}
	err = out.Flush()
	f.info.Size = f.made.size
	return err
}

// sign records in the header which database the file belongs to, and the position in its WAL: the next server
// continues from there. litestream ignores both.
func (s *Shipper) sign(h *ltx.Header, p local.Position) {
	h.WALOffset, h.WALSalt1, h.WALSalt2 = p.Offset, p.Salt[0], p.Salt[1]
	h.NodeID = uint64(s.id)<<32 | uint64(fold32(p.Sum))
}

func fold32(sum uint64) uint32 { return uint32(sum) ^ uint32(sum>>32) }

// signature returns the values that sign has stored. The position's sum is shortened.
func signature(h ltx.Header) (id uint32, p local.Position) {
	return uint32(h.NodeID >> 32), local.Position{Salt: [2]uint32{h.WALSalt1, h.WALSalt2}, Offset: h.WALOffset, Sum: h.NodeID & (1<<32 - 1)}
}

// sum updates the checksum of a page and the total.
func (s *Shipper) sum(number uint32, data []byte) {
	of := &s.sums[number-1]
	s.total = ltx.ChecksumFlag | (s.total ^ *of)
	*of = ltx.ChecksumPageWithHasher(s.hasher, number, data)
	s.total = ltx.ChecksumFlag | (s.total ^ *of)
}

// resize sets the number of page checksums.
func (s *Shipper) resize(pages uint32) {
	for len(s.sums) > int(pages) {
		end := len(s.sums) - 1
		s.total = ltx.ChecksumFlag | (s.total ^ s.sums[end])
		s.sums = s.sums[:end]
	}
	s.sums = append(s.sums, make([]ltx.Checksum, int(pages)-len(s.sums))...)
}

// sumAll reads the whole file to compute all checksums.
func (s *Shipper) sumAll(ctx context.Context, snap *local.Snapshot) error {
	s.resize(0)
	s.resize(snap.Pages())
	for number := uint32(1); number <= snap.Pages(); number++ {
		if number == ltx.LockPgno(uint32(snap.PageSize())) {
			continue
		}
		data, err := snap.Page(number)
		if err != nil {
			return err
		}
		s.sum(number, data)
		if err := ctx.Err(); err != nil {
			return err
		}
	}
	return nil
}
