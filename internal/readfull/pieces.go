package readfull

// Pieces collects an unknown number of bytes in pieces that are joined once. A growing buffer
// would exist twice at each growth, and leave as much garbage. The zero value is empty.
type Pieces struct {
	full [][]byte
	last []byte
	n    int // bytes in full
}

const pieceSize = 64 << 10

// Reset drops the collected bytes.
func (p *Pieces) Reset() { p.full, p.last, p.n = nil, p.last[:0], 0 }

// Byte adds one byte.
func (p *Pieces) Byte(c byte) {
	if len(p.last) >= pieceSize {
		p.cut()
	}
	p.last = append(p.last, c)
}

// Add adds a copy of b, which should be short.
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

// Len returns the number of collected bytes.
func (p *Pieces) Len() int { return p.n + len(p.last) }

// Join returns all bytes in a new slice, never nil, and drops them.
func (p *Pieces) Join() []byte {
	all := make([]byte, 0, p.Len())
	for _, piece := range p.full {
		all = append(all, piece...)
	}
	all = append(all, p.last...)
	p.Reset()
	return all
}
