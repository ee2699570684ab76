package readfull

// Pieces gathers bytes of unknown number, in pieces that are joined once: a buffer
// that grows would be there twice each time, and leave as much garbage. The zero value is
// empty.
type Pieces struct {
	full [][]byte
	last []byte
	n    int // bytes in full
}

// pieceSize is how many bytes are gathered before another piece begins.
const pieceSize = 64 << 10

// Reset forgets what was gathered.
func (p *Pieces) Reset() { p.full, p.last, p.n = nil, p.last[:0], 0 }

// Byte adds one byte.
func (p *Pieces) Byte(c byte) {
	if len(p.last) >= pieceSize {
		p.cut()
	}
	p.last = append(p.last, c)
}

// Add adds a copy of b, which is best short.
func (p *Pieces) Add(b []byte) {
	if len(p.last)+len(b) > pieceSize {
		p.cut()
	}
	p.last = append(p.last, b...)
}

func (p *Pieces) cut() {
	if len(p.last) > 0 {
		p.full = append(p.full, append([]byte(nil), p.last...))
		p.n += len(p.last)
		p.last = p.last[:0]
	}
}

// Len is how many bytes were gathered.
func (p *Pieces) Len() int { return p.n + len(p.last) }

// Join returns all of them, in memory of their own, never nil, and forgets them.
func (p *Pieces) Join() []byte {
	all := make([]byte, 0, p.Len())
	for _, piece := range p.full {
		all = append(all, piece...)
	}
	all = append(all, p.last...)
	p.Reset()
	return all
}
