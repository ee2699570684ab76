package transfer

import (
	"io"
	"unicode/utf8"
)

// bufferedWriter writes text piece by piece, so that it never holds a long value twice. It keeps its
// first error.
type bufferedWriter struct {
	out io.Writer
	buf []byte
	err error
}

// piece limits the bytes encoded at a time. It is a multiple of 3 and 4 for base64.
const piece = 48 << 10

// flush writes the buffer.
func (w *bufferedWriter) flush() {
	w.write(w.buf)
	w.buf = w.buf[:0]
}

func (w *bufferedWriter) write(b []byte) {
	if w.err == nil && len(b) > 0 {
		_, w.err = w.out.Write(b)
	}
}

// text writes strings.
func (w *bufferedWriter) text(all ...string) {
	for _, s := range all {
		w.buf = append(w.buf, s...)
	}
	if len(w.buf) >= piece {
		w.flush()
	}
}

// bytes writes b unchanged.
func (w *bufferedWriter) bytes(b []byte) {
	if len(b) < piece {
		w.buf = append(w.buf, b...)
		w.text()
		return
	}
	w.flush()
	w.write(b)
}

// pieces encodes b with add, piece by piece. Pieces of text begin at character boundaries.
func (w *bufferedWriter) pieces(b []byte, isText bool, add func(out, b []byte) []byte) {
	for len(b) > 0 {
		n := min(piece, len(b))
		for back := 1; isText && n < len(b) && back < utf8.UTFMax && !utf8.RuneStart(b[n]); back++ {
			n--
		}
		w.buf = add(w.buf, b[:n])
		w.text()
		b = b[n:]
	}
}
