package xxh3

// accumulators holds the state of a long input.
type accumulators [8]uint64

var start = accumulators{prime32n3, prime64n1, prime64n2, prime64n3, prime64n4, prime32n2, prime64n5, prime32n1}

// add adds a stripe, with the secret at offset at.
func (a *accumulators) add(b []byte, at int) {
	b, key := b[:stripe], secret[at:at+stripe]
	for i := 0; i < len(a); i += 2 {
		v, w := u64(b[8*i:8*i+8]), u64(b[8*i+8:8*i+16])
		x, y := v^u64(key[8*i:8*i+8]), w^u64(key[8*i+8:8*i+16])
		a[i] += w + uint64(uint32(x))*(x>>32)
		a[i+1] += v + uint64(uint32(y))*(y>>32)
	}
}

// block adds a whole block.
func (a *accumulators) block(b []byte) {
	for i := range block / stripe {
		a.add(b[i*stripe:], i*consume)
	}
	for i := range a {
		a[i] = (a[i] ^ a[i]>>47 ^ secretAt(secretScramble+8*i)) * prime32n1
	}
}

// end returns the hash of an input of n bytes. rest is its last block, 1 to 1024 bytes, and
// last its last stripe.
func (a accumulators) end(rest, last []byte, n int) uint64 {
	for i := range (len(rest) - 1) / stripe {
		a.add(rest[i*stripe:], i*consume)
	}
	a.add(last, secretLast)
	h := uint64(n) * prime64n1
	for i := 0; i < len(a); i += 2 {
		h += fold(a[i]^secretAt(secretMerge+8*i), a[i+1]^secretAt(secretMerge+8*i+8))
	}
	return avalanche(h)
}

// Hasher computes Hash of the bytes written to it, in any pieces. The zero value is ready to
// use.
type Hasher struct {
	acc   accumulators // of the bytes before held
	total int
	held  [block]byte  // the last block, which may be full
	n     int          // bytes in held
	tail  [stripe]byte // the end of the previous block
}

// New returns a Hasher.
func New() *Hasher { return &Hasher{} }

// Write adds b. It never fails.
func (h *Hasher) Write(b []byte) (int, error) {
	n := len(b)
	for len(b) > 0 {
		if h.n == block {
			h.take(h.held[:])
			for h.n = 0; len(b) > block; b = b[block:] {
				h.take(b[:block])
			}
		}
		k := copy(h.held[h.n:], b)
		h.n, b = h.n+k, b[k:]
	}
	h.total += n
	return n, nil
}

// take adds a block that is not the last.
func (h *Hasher) take(b []byte) {
	if h.acc == (accumulators{}) {
		h.acc = start
	}
	h.acc.block(b)
	copy(h.tail[:], b[block-stripe:])
}

// Sum64 returns the hash of the bytes written so far.
func (h *Hasher) Sum64() uint64 {
	held := h.held[:h.n]
	switch {
	case h.total <= block:
		return Hash(held)
	case h.n >= stripe:
		return h.acc.end(held, held[h.n-stripe:], h.total)
	}
	var last [stripe]byte
	copy(last[copy(last[:], h.tail[h.n:]):], held)
	return h.acc.end(held, last[:], h.total)
}
