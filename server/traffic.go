package server

import "sync/atomic"

// traffic counts the bytes and system calls of a server's connections.
type traffic struct {
	in, out       atomic.Uint64 // bytes
	reads, writes atomic.Uint64 // system calls on sockets
	whole         *traffic      // a total that also counts, or nil
}

func (t *traffic) read(n int) {
	if n > 0 {
		t.in.Add(uint64(n))
		t.reads.Add(1)
		if t.whole != nil {
			t.whole.read(n)
		}
	}
}

func (t *traffic) wrote(n int) {
	if n > 0 {
		t.out.Add(uint64(n))
		t.writes.Add(1)
		if t.whole != nil {
			t.whole.wrote(n)
		}
	}
}

func (t *traffic) reset() {
	for _, n := range []*atomic.Uint64{&t.in, &t.out, &t.reads, &t.writes} {
		n.Store(0)
	}
}
