package rdb

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
)

// Piece is a piece of a key's value. The pieces of a key are consecutive. A small value, or
// one that the file stores as one string, is one piece. A piece of a string holds bytes; a
// piece of a stream holds entries, and the last piece also holds everything else of the
// stream.
type Piece struct {
	DB        int
	Key       []byte
	ExpiresAt int64 // Unix ms, 0 for never
	Value     Value
	Count     int64 // elements of all pieces; 0 before the end of a list or stream of unknown length

	First, Last bool

	// Err is set in a last piece for a *ModuleValue, or in a salvaged file for a broken value. The
	// caller must discard the key's pieces.
	Err error
}

// A piece ends with the element that exceeds one of these limits.
const (
	pieceElements = 1 << 12
	pieceBytes    = 1 << 20
)

// File reads a dump file key by key.
type File struct {
	r    *reader
	in   *meter
	note func(offset int64, what string)

	empty   int64
	version int
	db      int
	piece   Piece
	next    pieces                   // the rest of the current key
	library func(source []byte)      // nil skips libraries
	aux     func(name, value []byte) // nil skips fields
}

// NewFile opens the dump file in. note, if not nil, is called for each skipped part.
func NewFile(in *bufio.Reader, note func(offset int64, what string)) *File {
	m := &meter{in: in}
	if note == nil {
		note = func(int64, string) {}
	}
	return &File{r: &reader{r: m}, in: m, note: note}
}

// Salvage makes f continue after a key with an invalid value, if the end of the value is
// known.
func (f *File) Salvage() { f.r.salvage = true }

// OnFunction sets fn to receive the source of each library of functions. Without it, libraries
// are skipped.
func (f *File) OnFunction(fn func(source []byte)) { f.library = fn }

// OnAux sets fn to receive each auxiliary field, such as redis-ver.
func (f *File) OnAux(fn func(name, value []byte)) { f.aux = fn }

// Empty returns the number of skipped collections without elements. Some versions of Redis
// wrote them; Redis skips them, too.
func (f *File) Empty() int64 { return f.empty }

// Offset returns the number of bytes read from the file.
func (f *File) Offset() int64 { return f.in.offset }

// IsFile reports whether beginning is the start of a dump file.
func IsFile(beginning []byte) bool {
	_, err := fileVersion(beginning)
	return err == nil
}

const fileHeader = 9 // "REDIS" and four digits

func fileVersion(header []byte) (int, error) {
	if len(header) < fileHeader || string(header[:5]) != "REDIS" {
		return 0, errors.New("not a Redis dump file")
	}
	n, err := strconv.ParseUint(string(header[5:fileHeader]), 10, 16)
	if err != nil {
		return 0, errors.New("not a Redis dump file: its version is not a number")
	}
	return int(n), nil
}

// Damage is an error in the contents of a file.
type Damage struct {
	Offset int64  // bytes read of the file
	Key    []byte // key being read, or nil
	Err    error
}

func (d *Damage) Error() string {
	if d.Key != nil {
		return fmt.Sprintf("the dump file is damaged at byte %d, in the key %q: %v", d.Offset, d.Key, d.Err)
	}
	return fmt.Sprintf("the dump file is damaged at byte %d: %v", d.Offset, d.Err)
}

func (d *Damage) Unwrap() error { return d.Err }

// ErrTruncated reports a file that ends too early.
var ErrTruncated = errors.New("it ends here, and is incomplete")

// Next reads the next piece. It returns io.EOF at the end of a complete file. An error is
// final; it is a *Damage, unless the file is not a dump file or cannot be read.
func (f *File) Next() (p Piece, err error) {
	defer func() {
		if err != nil && err != io.EOF {
			err = f.failed(err)
		}
	}()
	defer catch(&err)
	if f.version == 0 {
		f.header()
	}
	for {
		if f.next == nil && !f.toKey() {
			f.footer()
			return Piece{}, io.EOF
		}
		f.r.limit = pieceLimit{pieceElements, pieceBytes}
		p = f.piece
		p.Value, p.Last = f.next()
		if f.r.valueErr != nil {
			for !p.Last {
				_, p.Last = f.next()
			}
			p.Value, p.Err = nil, f.r.valueErr
		}
		f.piece.First = false
		if p.Last {
			f.next, f.piece, f.r.valueErr = nil, Piece{}, nil
		}
		if p.Err == nil && p.First && p.Last && isEmpty(p.Value) {
			f.empty++
			continue
		}
		return p, nil
	}
}

// failed wraps an error of reading f.
func (f *File) failed(err error) error {
	if f.in.err != nil && !errors.Is(f.in.err, io.EOF) {
		return fmt.Errorf("at byte %d: %w", f.in.offset, f.in.err)
	}
	switch {
	case f.in.err != nil:
		err = ErrTruncated
	case f.version == 0:
		return err
	}
	return &Damage{Offset: f.in.offset, Key: f.piece.Key, Err: err}
}

func (f *File) header() {
	version, err := fileVersion(f.r.raw(fileHeader))
	switch {
	case err != nil:
		panic(failure{err})
	case version < 1 || version > newestVersion:
		panic(failure{fmt.Errorf("unsupported RDB version %d: versions up to %d can be read", version, newestVersion)})
	}
	f.version = version
}

// The opcodes of entries that are not keys.
const (
	opSlotInfo    = 0xf4
	opFunction    = 0xf5
	opFunctionOld = 0xf6 // of Redis 7.0's release candidates
	opModuleAux   = 0xf7
	opIdle        = 0xf8
	opFrequency   = 0xf9
	opAux         = 0xfa
	opResize      = 0xfb
	opExpiryMs    = 0xfc
	opExpiry      = 0xfd
	opSelect      = 0xfe
	opEnd         = 0xff
)

// toKey reads up to the value of the next key, and opens it. It returns false at the end.
func (f *File) toKey() bool {
	for {
		f.piece.First = true
		switch op := f.r.byte(); op {
		case opEnd:
			return false
		case opSelect:
			n := f.r.length()
			must(n <= math.MaxInt32)
			f.db = int(n)
		case opExpiry:
			f.piece.ExpiresAt = int64(binary.LittleEndian.Uint32(f.r.raw(4))) * 1000
		case opExpiryMs:
			f.piece.ExpiresAt = int64(f.r.uint64())
		case opResize:
			f.r.length()
			f.r.length()
		case opSlotInfo:
			for range 3 {
				f.r.length()
			}
		case opIdle:
			f.r.length()
		case opFrequency:
			f.r.byte()
		case opAux:
			if name, value := f.r.string(), f.r.string(); f.aux != nil {
				f.aux(name, value)
			}
		case opFunction, opFunctionOld:
			f.function(op)
		case opModuleAux:
			at := f.in.offset
			name, _ := f.r.moduleType()
			f.note(at, "data of the module "+name+auxAdvice[name])
			f.r.skipModule()
		default:
			f.key(op)
			return true
		}
	}
}

// auxAdvice says what the data of modules means for a user.
var auxAdvice = map[string]string{"ft_index0": ": create its search indexes again with FT.CREATE"}

// key opens a key.
func (f *File) key(typ byte) {
	f.r.valueErr = nil
	f.piece.DB, f.piece.Key = f.db, f.r.string()
	if f.piece.ExpiresAt < 0 {
		f.piece.ExpiresAt = 1 // in the past
	}
	if typ == typeModule {
		f.module()
		return
	}
	f.next, f.piece.Count = f.r.open(typ)
}

// module opens a key with a module's value: a Module, a vector set, or a value that only its
// module can read.
func (f *File) module() {
	name, version := f.r.moduleType()
	if slices.Contains(moduleNames, name) {
		f.next, f.piece.Count = func() (Value, bool) { return f.r.moduleValue(name, version), true }, 1
		return
	}
	if name == vectorSetModule && version == 0 {
		var ok bool
		if f.next, f.piece.Count, ok = f.r.vectorSet(); ok {
			return
		}
	}
	f.r.skipModule()
	f.next, f.r.valueErr = once(List(nil)), &ModuleValue{name}
}

// function reads a library of functions.
func (f *File) function(op byte) {
	if op == opFunction && f.library != nil {
		f.library(f.r.string())
		return
	}
	f.note(f.in.offset, "a library of functions")
	f.r.string()
	if op == opFunctionOld {
		f.r.string() // engine
		if f.r.length() != 0 {
			f.r.string() // description
		}
		f.r.string() // code; the first string was the name
	}
}

// footer verifies the file's checksum; 0 means none.
func (f *File) footer() {
	f.piece = Piece{}
	if f.version < 5 {
		return
	}
	computed := f.in.sum
	if stored := f.r.uint64(); stored != 0 && stored != computed {
		panic(failure{ErrChecksum})
	}
}

// ErrChecksum reports a wrong checksum. Any value of the file may be wrong.
var ErrChecksum = errors.New("wrong checksum: the file is damaged")

// Verify reads a whole dump file and returns ErrChecksum if it was changed. summed is false
// for a file without a checksum, which cannot be verified.
func Verify(in io.Reader) (summed bool, err error) {
	r := bufio.NewReaderSize(in, 1<<20)
	header, err := r.Peek(fileHeader)
	if err != nil && !errors.Is(err, io.EOF) {
		return false, err
	}
	version, err := fileVersion(header)
	if err != nil || version < 5 {
		return false, nil // File reports the error in detail
	}
	sum, held := uint64(0), make([]byte, 0, 2<<20)
	for {
		n, err := r.Read(held[len(held):cap(held)])
		held = held[:len(held)+n]
		if body := len(held) - 8; body > 0 {
			sum = checksum(sum, held[:body])
			held = held[:copy(held, held[body:])]
		}
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return false, err
		}
	}
	if len(held) < 8 {
		return true, ErrChecksum
	}
	stored := binary.LittleEndian.Uint64(held)
	if stored != 0 && stored != sum {
		return true, ErrChecksum
	}
	return stored != 0, nil
}

// meter counts and checksums the bytes read.
type meter struct {
	in     *bufio.Reader
	offset int64
	sum    uint64
	err    error // first error
}

func (m *meter) Read(b []byte) (int, error) {
	n, err := m.in.Read(b)
	m.read(b[:n], err)
	return n, err
}

func (m *meter) ReadByte() (byte, error) {
	c, err := m.in.ReadByte()
	if err == nil {
		m.read([]byte{c}, nil)
	} else {
		m.read(nil, err)
	}
	return c, err
}

func (m *meter) read(b []byte, err error) {
	m.offset += int64(len(b))
	m.sum = checksum(m.sum, b)
	if m.err == nil {
		m.err = err
	}
}
