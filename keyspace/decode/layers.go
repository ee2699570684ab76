package decode

import (
	"bytes"
	"compress/zlib"
	"errors"
	"io"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// open opens the outermost layer of b, up to most bytes. name is "" if b has no layer. cut
// marks b as truncated; more marks inner as truncated.
func open(b []byte, cut bool, most int) (name string, inner []byte, more bool) {
	for _, c := range compressions {
		if !c.begins(b) {
			continue
		}
		if inner, more, ok := inflate(b, cut, most, c.reader); ok {
			return c.name, inner, more
		}
	}
	if inner, ok := fromBase64(b, cut, most); ok {
		return "base64", inner, cut
	}
	return "", nil, false
}

type compression struct {
	name   string
	begins func([]byte) bool
	reader func(io.Reader) (io.ReadCloser, error)
}

var compressions = []compression{
	{"gzip", hasMagic("\x1f\x8b\x08"), func(r io.Reader) (io.ReadCloser, error) { return gzip.NewReader(r) }},
	{"zstd", hasMagic("\x28\xb5\x2f\xfd"), openZstd},
	{"zlib", isZlib, zlib.NewReader},
}

func hasMagic(magic string) func([]byte) bool {
	return func(b []byte) bool { return bytes.HasPrefix(b, []byte(magic)) }
}

// isZlib checks the two-byte header of a zlib stream: deflate with a window of 32 KB, and the
// header checksum.
func isZlib(b []byte) bool {
	return len(b) > 2 && b[0] == 0x78 && (int(b[0])<<8|int(b[1]))%31 == 0
}

// zstdWindow limits the memory of a zstd frame, in bytes.
const zstdWindow = 8 << 20

func openZstd(r io.Reader) (io.ReadCloser, error) {
	d, err := zstd.NewReader(r, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(zstdWindow), zstd.WithDecoderLowmem(true))
	if err != nil {
		return nil, err
	}
	return d.IOReadCloser(), nil
}

// inflate reads at most most bytes. If b is cut, it accepts a stream that ends early.
func inflate(b []byte, cut bool, most int, reader func(io.Reader) (io.ReadCloser, error)) (inner []byte, more, ok bool) {
	r, err := reader(bytes.NewReader(b))
	if err != nil {
		return nil, false, false
	}
	defer r.Close()
	inner, err = io.ReadAll(io.LimitReader(r, int64(most)+1))
	switch {
	case len(inner) > most:
		return inner[:most], true, true
	case err == nil:
		return inner, false, true
	case cut && len(inner) > 0 && errors.Is(err, io.ErrUnexpectedEOF):
		return inner, true, true
	}
	return nil, false, false
}

// minBase64 prevents words and numbers from being taken for base64.
const minBase64 = 16

// fromBase64 decodes b if the decoded bytes are text or a recognised format. Random letters
// decode to neither.
func fromBase64(b []byte, cut bool, most int) ([]byte, bool) {
	b = bytes.TrimSpace(b)
	if len(b) < minBase64 || len(b) > most || bytes.ContainsAny(b, " ,.:{}[]\"") {
		return nil, false
	}
	if cut {
		b = b[:len(b)/4*4]
	}
	encoding := base64Of(b)
	inner := make([]byte, encoding.DecodedLen(len(b)))
	n, err := encoding.Strict().Decode(inner, b)
	if err != nil {
		return nil, false
	}
	inner = inner[:n]
	return inner, isText(inner, cut) || isRecognised(inner)
}

// IsWord reports whether b is printable ASCII without spaces and punctuation of JSON, PHP or JWT that Value shows as
// it is. It is much faster than Value.
func IsWord(b []byte) bool {
	for _, c := range b {
		switch {
		case c <= ' ' || c > '~':
			return false
		case c == ',' || c == '.' || c == ':' || c == '"' || c == '{' || c == '}' || c == '[' || c == ']':
			return false
		}
	}
	if isZlib(b) || bytes.HasPrefix(b, []byte("GIF8")) || bytes.HasPrefix(b, []byte("RIFF")) {
		return false
	}
	_, encoded := fromBase64(b, false, len(b))
	return !encoded
}

// isRecognised reports whether b begins like a known binary format.
func isRecognised(b []byte) bool {
	for _, c := range compressions {
		if c.begins(b) {
			return true
		}
	}
	_, is := picture(b)
	return is
}
