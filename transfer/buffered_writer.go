package transfer

import (
	"io"
	"unicode/utf8"
)

// spill writes text that is made piece by piece: what is long is never there twice. Its
// first error stays.
type spill struct {
	out io.Writer
	buf []byte
	err error
}

// piece is how many bytes are made at a time: of base64, those of whole letters.
const piece = 48 << 10

// flush writes what is in the buffer.
func (w *spill) flush() {
	w.write(w.buf)
	w.buf = w.buf[:0]
}

func (w *spill) write(b []byte) {
	if w.err == nil && len(b) > 0 {
		_, w.err = w.out.Write(b)
	}
}

// text writes strings.
func (w *spill) text(all ...string) {
	for _, s := range all {
		w.buf = append(w.buf, s...)
	}
	if len(w.buf) >= piece {
		w.flush()
	}
}

// bytes writes b as it is.
func (w *spill) bytes(b []byte) {
	if len(b) < piece {
		w.buf = append(w.buf, b...)
		w.text()
		return
	}
	w.flush()
	w.write(b)
}

// pieces writes what add makes of b; of text each piece begins with a letter.
func (w *spill) pieces(b []byte, isText bool, add func(out, b []byte) []byte) {
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
