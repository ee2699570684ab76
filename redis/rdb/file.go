package rdb

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
)

// Piece is a piece of a key's value. The pieces of a key follow each other; a
// value that the file holds as one string, or a small one, is one piece. Pieces
// of a string are its bytes, of a stream its entries: everything else about the
// stream is in the last one.
type Piece struct {
	DB        int
	Key       []byte
	ExpiresAt int64 // Unix ms, 0 for never
	Value     Value
	Count     int64 // elements of all pieces; 0 in front of lists and streams whose number is not known

	First, Last bool

	// Err, in a last piece, is a *ModuleValue, or in a file that is salvaged what is wrong with
	// the value: its pieces are void.
	Err error
}

// A piece ends with the element that goes beyond one of these.
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
	next    pieces              // what is left of the current key
	library func(source []byte) // nil to pass over them
}

// NewFile reads the dump file in. note, which may be nil, is called with the parts that
// are passed over.
func NewFile(in *bufio.Reader, note func(offset int64, what string)) *File {
	m := &meter{in: in}
	if note == nil {
		note = func(int64, string) {}
	}
	return &File{r: &reader{r: m}, in: m, note: note}
}

// Salvage has the file read on after a key whose value makes no sense, as long as it is clear
// where it ends.
func (f *File) Salvage() { f.r.salvage = true }

// OnFunction has fn called with the source of each library of functions, which is passed over
// otherwise.
func (f *File) OnFunction(fn func(source []byte)) { f.library = fn }

// Empty is how many collections without elements were passed over, as Redis does: versions of
// it have written some.
func (f *File) Empty() int64 { return f.empty }

// Offset is how many bytes of the file have been read.
func (f *File) Offset() int64 { return f.in.offset }

// IsFile reports whether a file that begins with these bytes is a dump file.
func IsFile(beginning []byte) bool {
	_, err := fileVersion(beginning)
	return err == nil
}

const fileHeader = 9 // "REDIS" and four digits

func fileVersion(header []byte) (int, error) {
	if len(header) < fileHeader || string(header[:5]) != "REDIS" {
		return 0, errors.New("this is no dump file of Redis")
	}
	n, err := strconv.ParseUint(string(header[5:fileHeader]), 10, 16)
	if err != nil {
		return 0, errors.New("this is no dump file of Redis: its version is no number")
	}
	return int(n), nil
}

// Damage is an error in what a file holds.
type Damage struct {
	Offset int64  // how much of the file had been read
	Key    []byte // that was being read, nil for none
	Err    error
}

func (d *Damage) Error() string {
	if d.Key != nil {
		return fmt.Sprintf("the dump file is damaged at byte %d, in the key %q: %v", d.Offset, d.Key, d.Err)
	}
	return fmt.Sprintf("the dump file is damaged at byte %d: %v", d.Offset, d.Err)
}

func (d *Damage) Unwrap() error { return d.Err }

// ErrTruncated is the error of a file that ends in the middle.
var ErrTruncated = errors.New("it ends here, and is incomplete")

// Next reads the next piece; io.EOF is the end of a file that was whole. After any
// error there is nothing more to read. It is a *Damage, unless the file is of another
// kind or cannot be read.
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
		f.r.room = room{pieceElements, pieceBytes}
		p = f.piece
		p.Value, p.Last = f.next()
		if f.r.broken != nil {
			for !p.Last {
				_, p.Last = f.next()
			}
			p.Value, p.Err = nil, f.r.broken
		}
		f.piece.First = false
		if p.Last {
			f.next, f.piece, f.r.broken = nil, Piece{}, nil
		}
		if p.Err == nil && p.First && p.Last && isEmpty(p.Value) {
			f.empty++
			continue
		}
		return p, nil
	}
}

// failed is the error of reading f.
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
	case version < 1 || version > newest:
		panic(failure{fmt.Errorf("the file has version %d of Redis's format, and the versions up to %d can be read", version, newest)})
	}
	f.version = version
}

// What is in a file beside keys begins with one of these.
const (
	opSlotInfo    = 0xf4
	opFunction    = 0xf5
	opFunctionOld = 0xf6 // of the release candidates
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

// toKey reads up to the value of the next key, which it opens; false is the end.
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
			f.r.string()
			f.r.string()
		case opFunction, opFunctionOld:
			f.function(op)
		case opModuleAux:
			at := f.in.offset
			name, _ := f.r.moduleType()
			f.note(at, "data of the module "+name)
			f.r.skipModule()
		default:
			f.key(op)
			return true
		}
	}
}

// key opens a key.
func (f *File) key(typ byte) {
	f.r.broken = nil
	f.piece.DB, f.piece.Key = f.db, f.r.string()
	if f.piece.ExpiresAt < 0 {
		f.piece.ExpiresAt = 1 // long ago
	}
	if typ == typeModule {
		f.module()
		return
	}
	f.next, f.piece.Count = f.r.open(typ)
}

// module opens a key that holds a value of a module: a vector set, or what only the module can
// read.
func (f *File) module() {
	name, version := f.r.moduleType()
	if name == vectorSetModule && version == 0 {
		var ok bool
		if f.next, f.piece.Count, ok = f.r.vectorSet(); ok {
			return
		}
	}
	f.r.skipModule()
	f.next, f.r.broken = once(List(nil)), &ModuleValue{name}
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
		f.r.string() // its engine
		if f.r.length() != 0 {
			f.r.string() // a description
		}
		f.r.string() // its code, where the first one was its name
	}
}

// footer checks the file's checksum, which may be 0 for none.
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

// ErrChecksum is the error of a file whose checksum is wrong, so that any of its values may be.
var ErrChecksum = errors.New("the checksum is wrong: the file is damaged somewhere")

// Verify reads a whole dump file and returns ErrChecksum when it is not as it was written. summed
// is false for one without a checksum, of which it is not known.
func Verify(in io.Reader) (summed bool, err error) {
	r := bufio.NewReaderSize(in, 1<<20)
	header, err := r.Peek(fileHeader)
	if err != nil && !errors.Is(err, io.EOF) {
		return false, err
	}
	version, err := fileVersion(header)
	if err != nil || version < 5 {
		return false, nil // reading it says more
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

// meter counts and sums up what is read.
type meter struct {
	in     *bufio.Reader
	offset int64
	sum    uint64
	err    error // the first one
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
