package transfer

import (
	"encoding/binary"
	"fmt"

	"github.com/klauspost/compress/zstd"

	"github.com/meowdis/meowdis/redis/xxh3"
)

// The archive format: docs/archive.md.
const (
	archiveMagic   = "\x89MEOW\r\n"
	archiveVersion = 1
	withLibraries  = 2 // version of an archive with function libraries
	withIndexes    = 3 // version of an archive with definitions of search
	blockMark      = "\xb7MDB"

	blockRecords   = 1
	blockEnd       = 2
	blockLibraries = 3
	blockIndexes   = 4

	headerSize   = 4 + 1 + 4 + 4 + 4 + 4
	headerSummed = headerSize - 4
	sumSize      = 8

	blockSize   = 1 << 20 // minimum size of a full block of records
	maxBlock    = 1 << 30
	maxElements = 1 << 24 // elements in all lists of a block
)

const (
	flagFirst = 1 << iota
	flagLast
	flagChanged
	flagVoid
)

// blockHeader precedes the payload of a block.
type blockHeader struct {
	kind        byte
	number      uint32
	stored, raw uint32
}

func (h blockHeader) append(out []byte) []byte {
	start := len(out)
	out = append(append(out, blockMark...), h.kind)
	for _, n := range []uint32{h.number, h.stored, h.raw} {
		out = binary.LittleEndian.AppendUint32(out, n)
	}
	return binary.LittleEndian.AppendUint32(out, uint32(xxh3.Hash(out[start:])))
}

// parseHeader reads a header. ok is false if it is damaged.
func parseHeader(b []byte) (h blockHeader, ok bool) {
	if string(b[:len(blockMark)]) != blockMark || binary.LittleEndian.Uint32(b[headerSummed:]) != uint32(xxh3.Hash(b[:headerSummed])) {
		return h, false
	}
	b = b[len(blockMark):]
	number := func(i int) uint32 { return binary.LittleEndian.Uint32(b[1+4*i:]) }
	return blockHeader{kind: b[0], number: number(0), stored: number(1), raw: number(2)}, true
}

// Totals counts the contents of an archive.
type Totals struct{ Keys, Parts, Elements uint64 }

func (t *Totals) add(p Part) {
	if p.First {
		t.Keys++
	}
	t.Parts++
	if p.Value != nil {
		t.Elements += uint64(p.Value.Len())
	}
}

func (t Totals) append(out []byte) []byte {
	for _, n := range []uint64{t.Keys, t.Parts, t.Elements} {
		out = binary.AppendUvarint(out, n)
	}
	return out
}

func newCompressor() *zstd.Encoder {
	e, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithLowerEncoderMem(true))
	if err != nil {
		panic(err) // only the options could be wrong
	}
	return e
}

func newDecompressor() *zstd.Decoder {
	d, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(maxBlock))
	if err != nil {
		panic(err) // only the options could be wrong
	}
	return d
}

// Damage is a position in an archive that cannot be read.
type Damage struct {
	Block  int   // its number
	Offset int64 // of its first byte
	Why    string
}

func (d *Damage) Error() string {
	return fmt.Sprintf("the archive is damaged in block %d, at byte %d: %s", d.Block, d.Offset, d.Why)
}
