package transfer

import (
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"math"

	"github.com/klauspost/compress/zstd"

	"github.com/meowdis/meowdis/redis/rdb"
	"github.com/meowdis/meowdis/redis/xxh3"
	"github.com/meowdis/meowdis/store/keytype"
)

// ArchiveWriter is a sink that writes an archive.
type ArchiveWriter struct {
	out     io.Writer
	zip     *zstd.Encoder
	block   block  // records
	stored  []byte // reused buffer
	number  uint32
	totals  Totals
	version byte
	started bool
}

// block holds encoded records.
type block []byte

func (b *block) Write(more []byte) (int, error) {
	*b = append(*b, more...)
	return len(more), nil
}

// NewArchiveWriter returns a sink that writes an archive to out.
func NewArchiveWriter(out io.Writer) *ArchiveWriter {
	return &ArchiveWriter{out: out, zip: newCompressor(), version: archiveVersion}
}

// Definitions writes definitions. It must be called before the first Put.
func (w *ArchiveWriter) Definitions(all Definitions) error {
	commands := all.Indexes.Commands()
	if len(all.Libraries) > 0 {
		w.version = withLibraries
	}
	if len(commands) > 0 {
		w.version = withIndexes
	}
	if len(all.Libraries) > 0 {
		if err := w.flush(blockLibraries, appendWords(nil, all.Libraries)); err != nil {
			return err
		}
	}
	if len(commands) == 0 {
		return nil
	}
	payload := binary.AppendUvarint(nil, uint64(len(commands)))
	for _, command := range commands {
		payload = appendWords(payload, command)
	}
	return w.flush(blockIndexes, payload)
}

// appendWords appends the number of words, and each with its length.
func appendWords(out []byte, words [][]byte) []byte {
	out = binary.AppendUvarint(out, uint64(len(words)))
	for _, word := range words {
		out = append(binary.AppendUvarint(out, uint64(len(word))), word...)
	}
	return out
}

// Put adds a record.
func (w *ArchiveWriter) Put(_ context.Context, p Part) error {
	w.totals.add(p)
	if weight(p.Value) >= largeRecord {
		return w.large(p)
	}
	if err := writeRecord(&w.block, p); err != nil {
		return err
	}
	if len(w.block) < blockSize {
		return nil
	}
	return w.flush(blockRecords, w.block)
}

// largeRecord limits records in memory, in bytes. A larger record forms its own block and is
// compressed while it is encoded.
const largeRecord = 8 << 20

// large writes a large record.
func (w *ArchiveWriter) large(p Part) error {
	if len(w.block) > 0 {
		if err := w.flush(blockRecords, w.block); err != nil {
			return err
		}
	}
	var size byteCounter
	if err := writeRecord(&size, p); err != nil {
		return err
	}
	if size > maxBlock {
		return errPartTooLarge
	}
	var stored pieces
	w.zip.ResetContentSize(&stored, int64(size))
	if err := writeRecord(w.zip, p); err != nil {
		return err
	}
	if err := w.zip.Close(); err != nil {
		return err
	}
	return w.write(blockRecords, int(size), stored)
}

var errPartTooLarge = fmt.Errorf("a part of a key is larger than %d bytes", maxBlock)

// byteCounter counts the bytes written.
type byteCounter int64

func (n *byteCounter) Write(b []byte) (int, error) {
	*n += byteCounter(len(b))
	return len(b), nil
}

// pieces collects written bytes without copying them twice.
type pieces [][]byte

func (p *pieces) Write(b []byte) (int, error) {
	for rest := b; len(rest) > 0; {
		last := len(*p) - 1
		if last < 0 || len((*p)[last]) == cap((*p)[last]) {
			*p = append(*p, make([]byte, 0, blockSize))
			last++
		}
		room := (*p)[last]
		n := min(len(rest), cap(room)-len(room))
		(*p)[last] = append(room, rest[:n]...)
		rest = rest[n:]
	}
	return len(b), nil
}

// Close writes the end block. With a cause it does not, so readers detect that the archive is
// incomplete.
func (w *ArchiveWriter) Close(_ context.Context, cause error) error {
	if len(w.block) > 0 {
		if err := w.flush(blockRecords, w.block); err != nil && cause == nil {
			return err
		}
	}
	if cause != nil {
		return cause
	}
	return w.flush(blockEnd, w.totals.append(nil))
}

// flush writes the records in memory.
func (w *ArchiveWriter) flush(kind byte, payload []byte) error {
	if len(payload) > maxBlock {
		return errPartTooLarge
	}
	w.stored = w.zip.EncodeAll(payload, w.stored[:0])
	w.block = w.block[:0]
	return w.write(kind, len(payload), pieces{w.stored})
}

// write writes a block. raw is the size of the uncompressed payload.
func (w *ArchiveWriter) write(kind byte, raw int, stored pieces) error {
	var head []byte
	if !w.started {
		head = append([]byte(archiveMagic), w.version)
		w.started = true
	}
	size, sum := 0, xxh3.New()
	for _, piece := range stored {
		size += len(piece)
		sum.Write(piece)
	}
	head = blockHeader{kind, w.number, uint32(size), uint32(raw)}.append(head)
	w.number++
	_, err := w.out.Write(head)
	for _, piece := range append(stored, binary.LittleEndian.AppendUint64(nil, sum.Sum64())) {
		if err == nil {
			_, err = w.out.Write(piece)
		}
	}
	return err
}

// writeRecord writes the record of a part.
func writeRecord(to io.Writer, p Part) error {
	typ := keytype.Of(string(p.Key.Type)).Number
	if typ == 0 {
		return fmt.Errorf("%s: an archive has no type %s", p.Key, p.Key.Type)
	}
	flags := byte(0)
	for i, on := range []bool{p.First, p.Last, p.Last && p.Changed, p.Err != nil} {
		if on {
			flags |= 1 << i
		}
	}
	w := &recordWriter{bufferedWriter{out: to, buf: make([]byte, 0, smallRecord)}}
	w.buf = append(w.buf, flags, typ)
	if p.First {
		w.number(uint64(p.Key.DB))
		w.string(p.Key.Name)
		w.number(uint64(p.Key.ExpiresAt))
		w.number(uint64(p.Key.Count))
	}
	if p.Err == nil {
		w.value(p.Value, p.Last)
	}
	w.flush()
	return w.err
}

const smallRecord = 128 // bytes that most records fit into

// recordWriter encodes the fields of records.
type recordWriter struct{ bufferedWriter }

func (w *recordWriter) number(n uint64) { w.buf = binary.AppendUvarint(w.buf, n) }

func (w *recordWriter) signed(n int64) { w.number(uint64(n)) }

func (w *recordWriter) string(b []byte) {
	w.number(uint64(len(b)))
	w.bytes(b)
}

func (w *recordWriter) strings(all [][]byte) {
	for _, b := range all {
		w.string(b)
	}
}

func (w *recordWriter) id(id rdb.ID) {
	w.number(id.Ms)
	w.number(id.Seq)
}

func (w *recordWriter) value(value Value, last bool) {
	switch v := value.(type) {
	case rdb.String:
		w.string(v)
		return
	case Document:
		w.string(v)
		return
	case *rdb.Module:
		w.string(rdb.Dump(v, nil))
		return
	}
	w.number(uint64(value.Len()))
	switch v := value.(type) {
	case rdb.List:
		w.strings(v)
	case rdb.Set:
		w.strings(v)
	case rdb.ZSet:
		for _, m := range v {
			w.string(m.Name)
			w.buf = binary.LittleEndian.AppendUint64(w.buf, math.Float64bits(m.Score))
		}
	case rdb.Hash:
		for _, f := range v {
			w.string(f.Name)
			w.string(f.Value)
			w.signed(f.ExpiresAt)
		}
	case *rdb.Stream:
		for _, e := range v.Entries {
			w.id(e.ID)
			w.number(uint64(len(e.Fields)))
			w.strings(e.Fields)
		}
		if last {
			w.streamState(v)
		}
	case *VectorSet:
		w.vectors(v)
	case *Elements:
		for _, parts := range v.List {
			w.number(uint64(len(parts)))
			w.strings(parts)
		}
	case *Array:
		for _, s := range v.Slots {
			w.number(s.Index)
			w.string(s.Value)
		}
		if last {
			w.number(v.Next)
		}
	}
}

func (w *recordWriter) vectors(v *VectorSet) {
	for _, n := range []int64{int64(v.Kind), v.M, int64(v.Dim), int64(v.Input)} {
		w.signed(n)
	}
	for _, e := range v.Elements {
		w.string(e.Name)
		w.string(e.Record)
		if e.Attributes == nil {
			w.number(0)
		} else {
			w.number(1)
			w.string(e.Attributes)
		}
	}
}

func (w *recordWriter) streamState(s *rdb.Stream) {
	w.id(s.Last)
	w.id(s.Deleted)
	w.signed(s.Added)
	w.number(uint64(len(s.Groups)))
	for _, g := range s.Groups {
		w.string(g.Name)
		w.id(g.Last)
		w.signed(g.Read)
		w.number(uint64(len(g.Consumers)))
		for _, c := range g.Consumers {
			w.string(c.Name)
			w.signed(c.SeenAt)
			w.signed(c.ActiveAt)
			w.number(uint64(len(c.Pending)))
			for _, p := range c.Pending {
				w.id(p.ID)
				w.signed(p.DeliveredAt)
				w.signed(p.Deliveries)
			}
		}
	}
}
