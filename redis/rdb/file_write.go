package rdb

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// FileWriter writes a dump file that redis-server loads. It has version 10, or 12 if fields of
// hashes expire or vector sets exist.
//
// The format has the number of elements before the elements, so a value in several pieces is
// first written to a spool. A vector set must be one piece.
type FileWriter struct {
	file interface {
		io.Writer
		io.WriterAt
	}
	out     *bufio.Writer
	version int
	// Checksums of the file in either version.
	sum, sumExpiry uint64
	db             int
	buf, value     []byte

	spool       func() (Spool, error)
	spoolFile   Spool
	spoolWriter *bufio.Writer // to spoolFile
	total       tally         // of the spooled elements
	started     bool          // the current key has spooled pieces
}

// Spool stores a large value until its length is known: a temporary file.
type Spool interface {
	io.ReadWriteSeeker
	Truncate(size int64) error
}

// tally holds the facts that the format writes before a value.
type tally struct {
	bytes, elements, nodes uint64
	firstID                ID
	firstExpiry            int64 // 0 if no field expires
}

// NewFileWriter begins a file. It calls spool at the first large value.
func NewFileWriter(file interface {
	io.Writer
	io.WriterAt
}, spool func() (Spool, error)) *FileWriter {
	w := &FileWriter{
		file: file, out: bufio.NewWriterSize(file, 256<<10), spool: spool,
		version: version, sum: checksum(0, header(version)), sumExpiry: checksum(0, header(versionExpiry)),
	}
	w.out.Write(header(version))
	for _, about := range [][2]string{{"redis-ver", "7.0.15"}, {"redis-bits", "64"}} {
		w.write(appendBytes(appendBytes([]byte{opAux}, []byte(about[0])), []byte(about[1])))
	}
	return w
}

func header(version int) []byte { return fmt.Appendf(nil, "REDIS%04d", version) }

// write writes b. The error stays in w.out until End.
func (w *FileWriter) write(b []byte) error {
	w.sum, w.sumExpiry = checksum(w.sum, b), checksum(w.sumExpiry, b)
	_, err := w.out.Write(b)
	return err
}

// Write writes the next piece. A key reaches the file with its last piece.
func (w *FileWriter) Write(p Piece) error {
	if !p.First || !p.Last {
		if err := w.spoolPiece(p); err != nil {
			return fmt.Errorf("spooling a large value: %w", err)
		}
		if !p.Last {
			return nil
		}
	}
	w.buf = w.buf[:0]
	if p.DB != w.db {
		w.db = p.DB
		w.buf = appendLength(append(w.buf, opSelect), uint64(p.DB))
	}
	if p.ExpiresAt > 0 {
		w.buf = binary.LittleEndian.AppendUint64(append(w.buf, opExpiryMs), uint64(p.ExpiresAt))
	}
	if !p.First {
		return w.writeSpooled(p)
	}
	if v, ok := p.Value.(*VectorSet); ok {
		return w.vectorSet(p.Key, v)
	}
	if Weight(p.Value) >= largeValue {
		return w.large(p)
	}
	w.value = appendValue(w.value[:0], p.Value)
	if w.value[0] == typeHashExpiry {
		w.version = versionExpiry
	}
	if err := w.write(appendBytes(append(w.buf, w.value[0]), p.Key)); err != nil {
		return err
	}
	return w.write(w.value[1:])
}

// vectorSet writes a vector set without copying it.
func (w *FileWriter) vectorSet(key []byte, v *VectorSet) error {
	w.version = versionExpiry
	if err := w.write(v.appendHead(appendBytes(append(w.buf, typeModule), key))); err != nil {
		return err
	}
	for i := range v.Elements {
		w.buf = v.appendVector(w.buf[:0], i)
		if err := w.write(w.buf); err != nil {
			return err
		}
	}
	return w.write([]byte{modulePartEnd})
}

// Function writes the source of a library of functions. It may be called between keys.
func (w *FileWriter) Function(source []byte) error { return w.write(appendFunction(nil, source)) }

// Aux writes an auxiliary field. It may be called between keys. Redis skips fields that it does not know.
func (w *FileWriter) Aux(name, value []byte) error {
	return w.write(appendBytes(appendBytes([]byte{opAux}, name), value))
}

// Drop discards a key before its last piece.
func (w *FileWriter) Drop() { w.started = false }

// spoolPiece spools the elements of a piece until the last one.
func (w *FileWriter) spoolPiece(p Piece) (err error) {
	if p.First || !w.started {
		if err := w.startSpool(); err != nil {
			return err
		}
	}
	t, out := &w.total, w.buf[:0]
	switch v := p.Value.(type) {
	case String:
		out = v
	case List:
		var n uint64
		out, n = v.appendNodes(out)
		t.nodes += n
	case Set:
		out = v.appendMembers(out)
	case ZSet:
		out = v.appendMembers(out)
	case Hash:
		for i := range v {
			if at := v[i].ExpiresAt; at > 0 && (t.firstExpiry == 0 || at < t.firstExpiry) {
				t.firstExpiry = at
			}
			out = v[i].appendExpiry(out, 1)
		}
	case *Stream:
		if len(v.Entries) > 0 && t.elements == 0 {
			t.firstID = v.Entries[0].ID
		}
		var n uint64
		out, n = v.appendNodes(out)
		t.nodes += n
	}
	t.elements += uint64(p.Value.Len())
	t.bytes += uint64(len(out))
	_, err = w.spoolWriter.Write(out)
	return err
}

func (w *FileWriter) startSpool() (err error) {
	if w.spoolFile == nil {
		if w.spoolFile, err = w.spool(); err != nil {
			return err
		}
		w.spoolWriter = bufio.NewWriterSize(nil, 64<<10)
	}
	if _, err := w.spoolFile.Seek(0, io.SeekStart); err != nil {
		return err
	}
	w.spoolWriter.Reset(w.spoolFile)
	w.total, w.started = tally{}, true
	return w.spoolFile.Truncate(0)
}

// writeSpooled writes the key whose elements are all spooled.
func (w *FileWriter) writeSpooled(p Piece) error {
	w.started = false
	if err := w.spoolWriter.Flush(); err != nil {
		return err
	}
	if _, err := w.spoolFile.Seek(0, io.SeekStart); err != nil {
		return err
	}
	t := w.total
	in := bufio.NewReaderSize(io.LimitReader(w.spoolFile, int64(t.bytes)), 64<<10)
	start := func(typ byte, n uint64) error {
		return w.write(appendLength(appendBytes(append(w.buf, typ), p.Key), n))
	}
	var err error
	switch v := p.Value.(type) {
	case String:
		err = start(typeString, t.bytes)
	case List:
		err = start(typeQuicklist2, t.nodes)
	case Set:
		err = start(typeSet, t.elements)
	case ZSet:
		err = start(typeZSet2, t.elements)
	case Hash:
		return w.hash(p.Key, in)
	case *Stream:
		if err = errors.Join(start(typeStream2, t.nodes), w.copy(in)); err == nil {
			err = w.write(v.appendEnd(nil, t.elements, t.firstID, false))
		}
		return err
	}
	return errors.Join(err, w.copy(in))
}

// hash writes the fields of a hash: only now is it known whether any field expires.
func (w *FileWriter) hash(key []byte, in *bufio.Reader) error {
	first := w.total.firstExpiry
	if first > 0 {
		w.version = versionExpiry
		w.buf = appendBytes(append(w.buf, typeHashExpiry), key)
		w.buf = binary.LittleEndian.AppendUint64(w.buf, uint64(first))
	} else {
		w.buf = appendBytes(append(w.buf, typeHash), key)
	}
	if err := w.write(appendLength(w.buf, w.total.elements)); err != nil {
		return err
	}
	r := &reader{r: in}
	for range w.total.elements {
		f, err := r.field()
		if err != nil {
			return err
		}
		w.buf = w.buf[:0]
		if first > 0 {
			w.buf = f.appendExpiry(w.buf, first)
		} else {
			w.buf = appendBytes(appendBytes(w.buf, f.Name), f.Value)
		}
		if err := w.write(w.buf); err != nil {
			return err
		}
	}
	return nil
}

// field reads a field written by spoolPiece.
func (r *reader) field() (f Field, err error) {
	defer catch(&err)
	return Field{ExpiresAt: r.number(), Name: r.string(), Value: r.string()}, nil
}

func (w *FileWriter) copy(in io.Reader) error {
	piece := make([]byte, 64<<10)
	for {
		n, err := in.Read(piece)
		if err := w.write(piece[:n]); err != nil {
			return err
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// End ends the file.
func (w *FileWriter) End() error {
	if err := w.write([]byte{opEnd}); err != nil {
		return err
	}
	sum := w.sum
	if w.version == versionExpiry {
		sum = w.sumExpiry
	}
	w.out.Write(binary.LittleEndian.AppendUint64(nil, sum))
	if err := w.out.Flush(); err != nil || w.version == version {
		return err
	}
	_, err := w.file.WriteAt(header(w.version), 0)
	return err
}
