// Package readfull reads long values whose announced length cannot be trusted.
package readfull

import "io"

const (
	chunk  = 1 << 20 // bytes allocated before any have arrived
	growth = 8       // each later allocation, as a multiple of the received bytes
)

// Bytes reads and returns n bytes. It allocates little at first, and later a multiple of the
// bytes received; it discards a seventh of n at most. The error is io.ReadFull's.
func Bytes(r io.Reader, n int64) ([]byte, error) {
	room := n
	for room > chunk {
		room = room/growth + 1
	}
	b := make([]byte, room)
	for have := 0; ; {
		got, err := io.ReadFull(r, b[have:min(len(b), have+chunk)])
		if have += got; err == io.EOF && have > 0 {
			err = io.ErrUnexpectedEOF
		}
		if err != nil || int64(have) == n {
			return b[:have], err
		}
		if have == len(b) {
			b = grown(b, min(n, int64(have)*growth))
		}
	}
}

// grown copies b to a slice of n bytes, a piece at a time. The compiler makes one operation of a make and a copy of
// everything, which also clears the rest: for 100 MB, all goroutines would wait for it when a collection begins.
func grown(b []byte, n int64) []byte {
	more := make([]byte, n)
	for at := 0; at < len(b); at += chunk {
		copy(more[at:], b[at:min(len(b), at+chunk)])
	}
	return more
}
