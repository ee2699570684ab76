package transfer

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/klauspost/compress/zstd"

	"github.com/meowdis/meowdis/internal/readfull"
	"github.com/meowdis/meowdis/redis/xxh3"
)

// ArchiveOptions configures reading an archive.
type ArchiveOptions struct {
	// Damaged, if not nil, is called for damage, and reading continues at the next intact
	// block. If it is nil, damage is returned as a *Damage error.
	Damaged func(*Damage)
	// Definitions, if not nil, receives the definitions.
	Definitions *Definitions
}

// IsArchive reports whether a file with this beginning is an archive.
func IsArchive(beginning []byte) bool { return bytes.HasPrefix(beginning, []byte(archiveMagic)) }

var (
	errNotArchive = errors.New("this is not a meowdis archive")
	errLostPart   = errors.New("a part of it is missing in the archive")
	errVoid       = errors.New("it could not be read completely when the archive was made")
)

// FromArchive yields the keys of an archive. It yields no part of a damaged block.
func FromArchive(in io.Reader, o ArchiveOptions) Source {
	return func(yield func(Part, error) bool) {
		r := &archiveReader{in: bufio.NewReaderSize(in, 64<<10), o: o, zip: newDecompressor(), yield: yield}
		defer func() { r.zip.Close() }()
		if err := r.all(); err != nil && err != errStopped {
			yield(Part{}, err)
		}
	}
}

type archiveReader struct {
	in     *bufio.Reader
	o      ArchiveOptions
	zip    *zstd.Decoder
	yield  func(Part, error) bool
	offset int64
	next   int // number of the next block
	key    *Key
	totals Totals
	lost   bool // damage was found
}

func (r *archiveReader) all() error {
	head := make([]byte, len(archiveMagic)+1)
	n, err := io.ReadFull(r.in, head)
	r.offset += int64(n)
	switch {
	case err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF):
		return err
	case err != nil || !IsArchive(head):
		return errNotArchive
	case head[len(archiveMagic)] < archiveVersion || head[len(archiveMagic)] > withIndexes:
		return fmt.Errorf("this archive has version %d, and this meowdis reads the versions up to %d; use a newer meowdis", head[len(archiveMagic)], withIndexes)
	}
	for {
		kind, payload, err := r.block()
		if err == nil && kind == blockEnd {
			return r.end(payload)
		}
		switch {
		case err == nil && kind == blockLibraries:
			err = r.libraries(payload)
		case err == nil && kind == blockIndexes:
			err = r.indexes(payload)
		case err == nil:
			err = r.records(payload)
		}
		var d *Damage
		switch {
		case errors.As(err, &d):
			if err := r.damaged(d); err != nil {
				return err
			}
		case err != nil:
			return err
		}
	}
}

// damaged reports damage, and returns nil if reading may continue.
func (r *archiveReader) damaged(d *Damage) error {
	if err := r.endKey(); err != nil {
		return err
	}
	if r.o.Damaged == nil {
		return d
	}
	r.o.Damaged(d)
	r.lost = true
	if d.Why == whyTruncated {
		return errStopped
	}
	return nil
}

// endKey ends the current key with an error, as records of it are missing.
func (r *archiveReader) endKey() error {
	k := r.key
	if r.key = nil; k == nil {
		return nil
	}
	return stoppedUnless(r.yield(Part{Key: k, Last: true, Err: errLostPart}, nil))
}

const whyTruncated = "it ends here, and is incomplete"

func (r *archiveReader) damage(at int64, format string, args ...any) *Damage {
	return &Damage{Block: r.next, Offset: at, Why: fmt.Sprintf(format, args...)}
}

// block reads the next block. The error for a damaged block is a *Damage, and the next block
// can still be read.
func (r *archiveReader) block() (kind byte, payload []byte, err error) {
	at := r.offset
	h, err := r.header()
	if err != nil {
		return 0, nil, err
	}
	stored, err := r.take(int64(h.stored) + sumSize)
	if err != nil {
		return 0, nil, err
	}
	if int64(h.number) != int64(r.next) {
		d := r.damage(at, "block %d follows", h.number)
		if int64(h.number) < int64(r.next) {
			return 0, nil, d
		}
		if r.next = int(h.number); r.o.Damaged == nil {
			return 0, nil, d
		}
		if err := r.damaged(d); err != nil {
			return 0, nil, err
		}
	}
	stored, sum := stored[:h.stored], stored[h.stored:]
	if binary.LittleEndian.Uint64(sum) != xxh3.Hash(stored) {
		err = r.damage(at, "its checksum is wrong")
	} else if h.raw > maxBlock || h.kind < blockRecords || h.kind > blockIndexes {
		err = r.damage(at, "its header makes no sense")
	} else if payload, err = r.zip.DecodeAll(stored, nil); err != nil || len(payload) != int(h.raw) {
		err = r.damage(at, "it cannot be decompressed")
	}
	if h.stored >= largeRecord { // the decoder would keep its buffer
		r.zip.Close()
		r.zip = newDecompressor()
	}
	r.next++
	return h.kind, payload, err
}

// header reads the header of a block. If it is damaged, it first searches for the next header.
func (r *archiveReader) header() (h blockHeader, err error) {
	at, ok := r.offset, false
	for {
		b, err := r.in.Peek(headerSize)
		if err != nil && !errors.Is(err, io.EOF) {
			return h, err
		}
		if err != nil {
			return h, r.damage(at, whyTruncated)
		}
		if h, ok = parseHeader(b); ok {
			break
		}
		r.in.Discard(1)
		r.offset++
	}
	if r.offset > at {
		return h, r.damage(at, "its header is damaged")
	}
	r.in.Discard(headerSize)
	r.offset += headerSize
	return h, nil
}

// take reads n bytes. It allocates memory only as data arrives.
func (r *archiveReader) take(n int64) ([]byte, error) {
	at := r.offset
	b, err := readfull.Bytes(r.in, n)
	r.offset += int64(len(b))
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		err = r.damage(at, whyTruncated)
	}
	return b, err
}

// end compares the totals at the end of the archive with the records read.
func (r *archiveReader) end(payload []byte) error {
	if err := r.endKey(); err != nil {
		return err
	}
	if want := r.totals.append(nil); !r.lost && !bytes.Equal(want, payload) {
		return r.damage(r.offset, "it does not hold as much as its end says")
	}
	return nil
}
