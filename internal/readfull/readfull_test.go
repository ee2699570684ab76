package readfull

import (
	"bytes"
	"errors"
	"io"
	"testing"
)

// counting is a reader of zeros that ends.
type counting struct{ left int }

func (c *counting) Read(b []byte) (int, error) {
	if c.left == 0 {
		return 0, io.EOF
	}
	n := min(len(b), c.left)
	c.left -= n
	for i := range b[:n] {
		b[i] = 'x'
	}
	return n, nil
}

func TestBytes(t *testing.T) {
	for _, n := range []int{0, 1, chunk, chunk + 1, growth*chunk - 1, growth*chunk + 1, 70_000_001} {
		b, err := Bytes(&counting{n + 5}, int64(n))
		if err != nil || len(b) != n || bytes.Count(b, []byte("x")) != n || cap(b) > n+n/100+64<<10 {
			t.Errorf("%d: %d bytes, with room for %d, %v", n, len(b), cap(b), err)
		}
	}
}

// TestLie claims much more than comes: as little room is made.
func TestLie(t *testing.T) {
	for _, comes := range []int{0, 10, chunk, 3 * chunk} {
		b, err := Bytes(&counting{comes}, 1<<40)
		if len(b) != comes || cap(b) > growth*max(comes, 2*chunk) {
			t.Errorf("%d: %d bytes, with room for %d", comes, len(b), cap(b))
		}
		if want := io.ErrUnexpectedEOF; comes > 0 && !errors.Is(err, want) || comes == 0 && err != io.EOF {
			t.Errorf("%d: %v", comes, err)
		}
	}
}

// TestPieces gathers bytes in steps of several sizes.
func TestPieces(t *testing.T) {
	var p Pieces
	for _, step := range []int{1, 3, 1000, pieceSize - 1, pieceSize, 3 * pieceSize} {
		var want []byte
		for range 200_000/step + 3 {
			b := bytes.Repeat([]byte{byte(len(want))}, step)
			if want = append(want, b...); step == 1 {
				p.Byte(b[0])
			} else {
				p.Add(b)
			}
		}
		if p.Len() != len(want) {
			t.Errorf("%d bytes of %d", p.Len(), len(want))
		}
		if got := p.Join(); !bytes.Equal(got, want) || cap(got) != len(want) && len(want) > 1<<20 {
			t.Errorf("steps of %d: other bytes, or room for %d", step, cap(got))
		}
	}
	if got := p.Join(); got == nil || len(got) > 0 {
		t.Errorf("nothing is %v", got)
	}
}

// largest is a reader that notes the most bytes asked for at a time.
type largest struct {
	io.Reader
	n int
}

func (l *largest) Read(b []byte) (int, error) {
	l.n = max(l.n, len(b))
	return l.Reader.Read(b)
}

// TestPiecewise reads and grows by the piece: one copy of 100 MB would hold up all goroutines.
func TestPiecewise(t *testing.T) {
	text := bytes.Repeat([]byte("abc"), 7<<20)
	r := &largest{bytes.NewReader(text), 0}
	if b, err := Bytes(r, int64(len(text))); err != nil || !bytes.Equal(b, text) {
		t.Errorf("%d bytes, %v", len(b), err)
	}
	if r.n > 1<<20 {
		t.Errorf("%d bytes at a time", r.n)
	}
}
