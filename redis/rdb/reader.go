package rdb

import (
	"bufio"
	"encoding/binary"
	"errors"
	"io"
	"strconv"

	"github.com/meowdis/meowdis/internal/readfull"
)

// maxString is Redis's limit for a string, 512 MB.
const maxString = 512 << 20

// reader reads the parts of an RDB file or payload in order.
//
// Decoders fail by panicking with an error, so they read like the format. The exported
// functions recover and return it.
type reader struct {
	r     source
	limit pieceLimit // limit of the current piece

	// With salvage, reading continues after an invalid value if the end of the value is known.
	// valueErr is the first error in the current value.
	salvage  bool
	valueErr error
}

// source reads the input of a reader.
type source interface {
	io.Reader
	io.ByteReader
}

// newReader reads from r, and may buffer bytes that it does not return.
func newReader(r io.Reader) *reader { return &reader{r: bufio.NewReader(r)} }

// failure holds the value of a decoder's panic.
type failure struct{ error }

func failFormat() { panic(failure{ErrFormat}) }

// must fails with ErrFormat unless ok.
func must(ok bool) {
	if !ok {
		failFormat()
	}
}

// must is like the function must, for data whose end is known: with salvage, it only records
// the error.
func (r *reader) must(ok bool) { r.attempt(func() { must(ok) }) }

// attempt runs fn, which decodes bytes already read. With salvage, its failure is recorded and
// reading continues.
func (r *reader) attempt(fn func()) {
	if r.salvage {
		defer func() {
			switch f := recover().(type) {
			case nil:
			case failure:
				r.valueErr = f.error
			default:
				panic(f)
			}
		}()
	}
	fn()
}

// catch converts a failure to an error. An unexpected end is bad data.
func catch(err *error) {
	switch f := recover().(type) {
	case nil:
	case failure:
		*err = f.error
		if errors.Is(*err, io.EOF) || errors.Is(*err, io.ErrUnexpectedEOF) {
			*err = ErrFormat
		}
	default:
		panic(f)
	}
}

// typed reads a type byte and a value of that type.
func (r *reader) typed() (v Value, err error) {
	defer catch(&err)
	return r.value(r.byte()), nil
}

func (r *reader) byte() byte {
	b, err := r.r.ReadByte()
	if err != nil {
		panic(failure{err})
	}
	return b
}

// raw reads n bytes. Its allocation stays close to the number of bytes received.
func (r *reader) raw(n uint64) []byte {
	must(n <= maxString)
	if n <= 64<<10 {
		b := make([]byte, n)
		if _, err := io.ReadFull(r.r, b); err != nil {
			panic(failure{err})
		}
		return b
	}
	b, err := readfull.Bytes(r.r, int64(n))
	if err != nil {
		panic(failure{err})
	}
	return b
}

func (r *reader) uint64() uint64 { return binary.LittleEndian.Uint64(r.raw(8)) }

// The two high bits of a length's first byte select its form.
const (
	length6       = 0
	length14      = 1
	lengthBig     = 2
	lengthEncoded = 3 // not a length: the other bits are the encoding of a string

	length32 = 0x80
	length64 = 0x81
)

// The encodings of strings.
const (
	encodedInt8 = iota
	encodedInt16
	encodedInt32
	encodedLZF
)

func (r *reader) lengthOrEncoding() (n uint64, encoded bool) {
	b := r.byte()
	switch b >> 6 {
	case length6:
		return uint64(b), false
	case length14:
		return uint64(b&63)<<8 | uint64(r.byte()), false
	case lengthEncoded:
		return uint64(b & 63), true
	}
	switch b {
	case length32:
		return uint64(binary.BigEndian.Uint32(r.raw(4))), false
	case length64:
		return binary.BigEndian.Uint64(r.raw(8)), false
	}
	failFormat()
	return 0, false
}

func (r *reader) length() uint64 {
	n, encoded := r.lengthOrEncoding()
	must(!encoded)
	return n
}

// number reads a length as a signed number.
func (r *reader) number() int64 {
	n := int64(r.length())
	must(n >= 0)
	return n
}

func (r *reader) string() []byte {
	n, encoded := r.lengthOrEncoding()
	var b []byte
	if encoded {
		b = r.encoded(n)
	} else {
		b = r.raw(n)
	}
	r.limit.bytes -= len(b)
	return b
}

// encoded reads a string with the given encoding.
func (r *reader) encoded(encoding uint64) []byte {
	switch encoding {
	case encodedInt8:
		return decimal(int64(int8(r.byte())))
	case encodedInt16:
		return decimal(int64(int16(binary.LittleEndian.Uint16(r.raw(2)))))
	case encodedInt32:
		return decimal(int64(int32(binary.LittleEndian.Uint32(r.raw(4)))))
	case encodedLZF:
		packed, size := r.length(), r.length()
		in := r.raw(packed)
		var out []byte
		r.attempt(func() {
			must(size <= maxString)
			out = decompress(in, size)
		})
		return out
	}
	failFormat()
	return nil
}

func decimal(n int64) []byte { return strconv.AppendInt(nil, n, 10) }

// decompress decompresses LZF. A control byte c below 32 means c+1 literal bytes. Any other
// byte copies an earlier run: its length is in the three high bits (7: more in the next byte),
// its distance in the five low bits and the next byte.
func decompress(in []byte, size uint64) []byte {
	// Three bytes encode a run of at most 264.
	must(size <= 264*uint64(len(in)))
	out := make([]byte, 0, size)
	next := func() int {
		must(len(in) > 0)
		b := in[0]
		in = in[1:]
		return int(b)
	}
	for len(in) > 0 {
		control := next()
		if control < 32 {
			n := control + 1
			must(n <= len(in))
			out = append(out, in[:n]...)
			in = in[n:]
		} else {
			n := control >> 5
			if n == 7 {
				n += next()
			}
			from := len(out) - (control&31)<<8 - next() - 1
			must(from >= 0)
			for i := range n + 2 {
				out = append(out, out[from+i])
			}
		}
		must(uint64(len(out)) <= size)
	}
	must(uint64(len(out)) == size)
	return out
}
