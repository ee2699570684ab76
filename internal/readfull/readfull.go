// Package readfull reads long values whose length the sender claims, and may lie about.
package readfull

import "io"

const (
	enough = 1 << 20 // is made room for before anything has come
	times  = 8       // as much as has come is made room for then
)

// Bytes reads n bytes and returns them. It makes room for
// little before they come, and again for some times as much as has come: what is thrown
// away by that is a seventh of n at most. The error is io.ReadFull's.
func Bytes(r io.Reader, n int64) ([]byte, error) {
	room := n
	for room > enough {
		room = room/times + 1
	}
	b := make([]byte, room)
	for have := 0; ; {
		got, err := io.ReadFull(r, b[have:])
		if have += got; err == io.EOF && have > 0 {
			err = io.ErrUnexpectedEOF
		}
		if err != nil || int64(have) == n {
			return b[:have], err
		}
		more := make([]byte, min(n, int64(have)*times))
		copy(more, b)
		b = more
	}
}
