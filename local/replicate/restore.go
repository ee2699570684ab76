package replicate

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"time"

	"github.com/superfly/ltx"

	"github.com/meowdis/meowdis/internal/atomicfile"
	"github.com/meowdis/meowdis/local"
)

// Restored describes a restored file.
type Restored struct {
	TXID  uint64    // its last transaction
	At    time.Time // when that transaction was written
	Bytes int64
}

// Restore writes the file at path as it was at a moment, or its latest state if moment is zero. The file
// appears complete, checked and synced, or not at all. It must not exist. progress, if not nil, is called with
// the bytes of the stream that are read and their total.
func (p *Place) Restore(ctx context.Context, path string, moment time.Time, progress func(done, total int64)) (r Restored, err error) {
	for attempt := 1; ; attempt++ {
		r, err = p.tryRestore(ctx, path, moment, progress)
		if !errors.Is(err, fs.ErrNotExist) || attempt == attempts { // a concurrent sweep may have removed files
			return r, err
		}
	}
}

func (p *Place) tryRestore(ctx context.Context, path string, moment time.Time, progress func(done, total int64)) (r Restored, err error) {
	for _, left := range []string{"-wal", "-shm", "-journal"} {
		if _, err := os.Lstat(path + left); err == nil {
			return r, fmt.Errorf("%s%s exists and belongs to another file: move it away first", path, left)
		}
	}
	if err := atomicfile.Check(path, false); err != nil {
		return r, fmt.Errorf("restoring to %s: %w", path, err)
	}
	files, err := p.planFor(ctx, moment)
	if err != nil {
		return r, err
	}
	err = atomicfile.Write(path, false, func(f *os.File) error {
		r, err = p.writeTo(ctx, f, files, progress)
		if err != nil {
			return err
		}
		return local.CheckPages(f.Name())
	})
	if err != nil {
		return r, fmt.Errorf("restoring to %s: %w", path, err)
	}
	return r, nil
}

// writeTo writes the combined pages of the files.
func (p *Place) writeTo(ctx context.Context, f *os.File, files []*ltx.FileInfo, progress func(done, total int64)) (r Restored, err error) {
	var last ltx.Header
	var end ltx.Trailer
	var done, total int64
	for _, file := range files {
		total += file.Size
	}
	for _, file := range files {
		end, err = p.read(ctx, file, func(h ltx.Header, page local.Page) error {
			last = h
			_, err := f.WriteAt(page.Data, int64(page.Number-1)*int64(h.PageSize))
			return err
		})
		if err != nil {
			return r, err
		}
		if done += file.Size; progress != nil {
			progress(done, total)
		}
	}
	r = Restored{TXID: uint64(last.MaxTXID), At: time.UnixMilli(last.Timestamp), Bytes: int64(last.Commit) * int64(last.PageSize)}
	if err := f.Truncate(r.Bytes); err != nil {
		return r, err
	}
	return r, verifySum(f, last, end)
}

// errMixed is returned for a stream whose files do not fit together.
var errMixed = errors.New("its files do not fit together; several servers may have streamed to it: " +
	"try an earlier moment (--at)")

// verifySum compares the checksum of a restored file with the checksum in the last file of the stream.
// litestream's own files have none.
func verifySum(f *os.File, h ltx.Header, t ltx.Trailer) error {
	if t.PostApplyChecksum == 0 {
		return nil
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return err
	}
	sum, err := ltx.ChecksumReader(bufio.NewReaderSize(f, 1<<20), int(h.PageSize))
	if err == nil && sum != t.PostApplyChecksum {
		err = errMixed
	}
	return err
}
