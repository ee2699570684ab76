package transfer

import (
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/klauspost/compress/zstd"
	"github.com/zeebo/xxh3"

	"github.com/meowdis/meowdis/keytype"
	"github.com/meowdis/meowdis/rdb"
)

// ArchiveWriter is the sink that writes an archive.
type ArchiveWriter struct {
	out     io.Writer
	zip     *zstd.Encoder
	block   []byte // records
	stored  []byte // kept for its room
	number  uint32
	totals  Totals
	started bool
}

// NewArchiveWriter makes a sink that writes an archive to out.
func NewArchiveWriter(out io.Writer) *ArchiveWriter {
	return &ArchiveWriter{out: out, zip: newCompressor()}
}

// Put adds a record.
func (w *ArchiveWriter) Put(_ context.Context, p Part) error {
	var err error
	if n := weight(p.Value); n > blockSize { // in one go, since growing would copy it
		w.block = slices.Grow(w.block, n)
	}
	if w.block, err = appendRecord(w.block, p); err != nil {
		return err
	}
	w.totals.add(p)
	if len(w.block) < blockSize {
		return nil
	}
	return w.flush(blockRecords, w.block)
}

// Close writes the end. With a cause it does not, so that nobody takes the archive
// for a whole one.
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

// flush writes a block.
func (w *ArchiveWriter) flush(kind byte, payload []byte) error {
	if len(payload) > maxBlock {
		return fmt.Errorf("a part of a key is larger than %d bytes", maxBlock)
	}
	var head []byte
	if !w.started {
		head = append([]byte(archiveMagic), archiveVersion)
		w.started = true
	}
	if len(payload) > 2*blockSize {
		w.stored = slices.Grow(w.stored[:0], len(payload)+len(payload)/256+sumSize+64)
	}
	w.stored = w.zip.EncodeAll(payload, w.stored[:0])
	head = blockHeader{kind, w.number, uint32(len(w.stored)), uint32(len(payload))}.append(head)
	w.stored = binary.LittleEndian.AppendUint64(w.stored, xxh3.Hash(w.stored))
	w.number++
	w.block = w.block[:0]
	for _, b := range [][]byte{head, w.stored} {
		if _, err := w.out.Write(b); err != nil {
			return err
		}
	}
	if len(payload) > 16*blockSize {
		w.block, w.stored = nil, nil // such a block is rare
	}
	return nil
}

// appendRecord appends the record of a part.
func appendRecord(out []byte, p Part) ([]byte, error) {
	typ := keytype.Of(string(p.Key.Type)).Number
	if typ == 0 {
		return out, fmt.Errorf("%s: an archive has no type %s", p.Key, p.Key.Type)
	}
	flags := byte(0)
	for i, on := range []bool{p.First, p.Last, p.Last && p.Changed, p.Err != nil} {
		if on {
			flags |= 1 << i
		}
	}
	out = append(out, flags, typ)
	if p.First {
		out = appendBytes(binary.AppendUvarint(out, uint64(p.Key.DB)), p.Key.Name)
		out = binary.AppendUvarint(out, uint64(p.Key.ExpiresAt))
		out = binary.AppendUvarint(out, uint64(p.Key.Count))
	}
	if p.Err != nil {
		return out, nil
	}
	return appendValue(out, p.Value, p.Last), nil
}

func appendBytes(out, b []byte) []byte {
	return append(binary.AppendUvarint(out, uint64(len(b))), b...)
}

func appendValue(out []byte, value Value, last bool) []byte {
	switch v := value.(type) {
	case rdb.String:
		return appendBytes(out, v)
	case Document:
		return appendBytes(out, v)
	}
	out = binary.AppendUvarint(out, uint64(value.Len()))
	switch v := value.(type) {
	case rdb.List:
		out = appendAll(out, v)
	case rdb.Set:
		out = appendAll(out, v)
	case rdb.ZSet:
		for _, m := range v {
			out = binary.LittleEndian.AppendUint64(appendBytes(out, m.Name), math.Float64bits(m.Score))
		}
	case rdb.Hash:
		for _, f := range v {
			out = binary.AppendUvarint(appendBytes(appendBytes(out, f.Name), f.Value), uint64(f.ExpiresAt))
		}
	case *rdb.Stream:
		for _, e := range v.Entries {
			out = binary.AppendUvarint(appendID(out, e.ID), uint64(len(e.Fields)))
			out = appendAll(out, e.Fields)
		}
		if last {
			out = appendStreamState(out, v)
		}
	case *VectorSet:
		for _, n := range []int64{int64(v.Kind), v.M, int64(v.Dim), int64(v.Input)} {
			out = binary.AppendUvarint(out, uint64(n))
		}
		for _, e := range v.Elements {
			out = appendBytes(appendBytes(out, e.Name), e.Record)
			if e.Attributes == nil {
				out = binary.AppendUvarint(out, 0)
			} else {
				out = appendBytes(binary.AppendUvarint(out, 1), e.Attributes)
			}
		}
	case *Array:
		for _, s := range v.Slots {
			out = appendBytes(binary.AppendUvarint(out, s.Index), s.Value)
		}
		if last {
			out = binary.AppendUvarint(out, v.Next)
		}
	}
	return out
}

func appendAll(out []byte, all [][]byte) []byte {
	for _, b := range all {
		out = appendBytes(out, b)
	}
	return out
}

func appendID(out []byte, id rdb.ID) []byte {
	return binary.AppendUvarint(binary.AppendUvarint(out, id.Ms), id.Seq)
}

func appendStreamState(out []byte, s *rdb.Stream) []byte {
	number := func(n int64) { out = binary.AppendUvarint(out, uint64(n)) }
	out = appendID(appendID(out, s.Last), s.Deleted)
	number(s.Added)
	number(int64(len(s.Groups)))
	for _, g := range s.Groups {
		out = appendID(appendBytes(out, g.Name), g.Last)
		number(g.Read)
		number(int64(len(g.Consumers)))
		for _, c := range g.Consumers {
			out = appendBytes(out, c.Name)
			number(c.SeenAt)
			number(c.ActiveAt)
			number(int64(len(c.Pending)))
			for _, p := range c.Pending {
				out = appendID(out, p.ID)
				number(p.DeliveredAt)
				number(p.Deliveries)
			}
		}
	}
	return out
}
