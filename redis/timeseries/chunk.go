package timeseries

import (
	"encoding/binary"
	"math"
	"math/bits"
)

// Chunk is a compressed chunk, as dump files contain it. Timestamps are stored as differences of differences, and
// values as the bits that differ from the last one. docs: redis.io/docs/latest/develop/data-types/timeseries/, after
// Facebook's Gorilla (Pelkonen et al., 2015).
type Chunk struct {
	Samples  uint64
	Position uint64 // in bits
	First    Sample
	Last     Sample
	Delta    uint64
	Leading  uint64
	Trailing uint64
	Data     []byte // little-endian words of 64 bits, filled from the lowest
}

// NewChunk returns an empty chunk of size bytes, a multiple of 8.
func NewChunk(size int) *Chunk { return &Chunk{Leading: 32, Trailing: 32, Data: make([]byte, size)} }

const bitsPerWord = 64

// widths lists the bits of a timestamp's second difference, each after its prefix: ones, and a zero except for the last.
var widths = []struct{ prefix, prefixBits, bits uint64 }{
	{0b01, 2, 5}, {0b011, 3, 8}, {0b0111, 4, 11}, {0b01111, 5, 15}, {0b011111, 6, 32}, {0b111111, 6, 64},
}

// Append adds a sample after the last one. It returns false, and changes nothing, if the sample does not fit.
func (c *Chunk) Append(s Sample) bool {
	if math.IsNaN(s.Value) {
		s.Value = math.Float64frombits(0x7ff8000000000000)
	}
	if c.Samples == 0 {
		c.Samples, c.First, c.Last = 1, s, s
		return true
	}
	next := *c
	if !next.appendTime(s.At) || !next.appendValue(s.Value) {
		c.erase(next.Position)
		return false
	}
	next.Samples, next.Last = c.Samples+1, s
	*c = next
	return true
}

func (c *Chunk) free() uint64 { return uint64(len(c.Data))*8 - c.Position }

func (c *Chunk) appendTime(at int64) bool {
	delta := uint64(at) - uint64(c.Last.At)
	second := int64(delta - c.Delta)
	c.Delta = delta
	if second == 0 {
		return c.free() >= 2 && c.write(0, 1)
	}
	for _, w := range widths {
		if w.bits < bitsPerWord && (second < -(1<<(w.bits-1)) || second >= 1<<(w.bits-1)) {
			continue
		}
		return c.free() >= w.prefixBits+w.bits+1 && c.write(w.prefix, w.prefixBits) && c.write(uint64(second), w.bits)
	}
	return false
}

func (c *Chunk) appendValue(v float64) bool {
	x := math.Float64bits(v) ^ math.Float64bits(c.Last.Value)
	if x == 0 {
		return c.write(0, 1)
	}
	leading, trailing := min(31, uint64(bits.LeadingZeros64(x))), uint64(bits.TrailingZeros64(x))
	n, kept := bitsPerWord-leading-trailing, bitsPerWord-c.Leading-c.Trailing
	c.write(1, 1)
	if leading >= c.Leading && trailing >= c.Trailing && 11+n > kept {
		return c.free() >= kept+1 && c.write(0, 1) && c.write(x>>c.Trailing, kept)
	}
	if c.free() < 11+n+1 {
		return false
	}
	c.Leading, c.Trailing = leading, trailing
	return c.write(1, 1) && c.write(leading, 5) && c.write(n-1, 6) && c.write(x>>trailing, n)
}

// write appends the lowest n bits of x, which must fit. It returns true.
func (c *Chunk) write(x, n uint64) bool {
	if n < bitsPerWord {
		x &= 1<<n - 1
	}
	word, shift := c.Position/bitsPerWord, c.Position%bitsPerWord
	c.or(word, x<<shift)
	if shift+n > bitsPerWord {
		c.or(word+1, x>>(bitsPerWord-shift))
	}
	c.Position += n
	return true
}

func (c *Chunk) or(word, x uint64) {
	at := c.Data[8*word:]
	binary.LittleEndian.PutUint64(at, binary.LittleEndian.Uint64(at)|x)
}

// erase clears the bits from Position up to end.
func (c *Chunk) erase(end uint64) {
	for p := c.Position; p < end; p++ {
		c.Data[p/8] &^= 1 << (p % 8)
	}
}

// Decode returns the samples. ok is false for a chunk that contradicts itself.
func (c *Chunk) Decode() (all []Sample, ok bool) {
	if c.Samples == 0 {
		return nil, c.Position == 0
	}
	if len(c.Data)%8 != 0 || c.Position > uint64(len(c.Data))*8 || c.Samples-1 > c.Position/2 {
		return nil, false
	}
	r := chunkReader{chunk: c, at: uint64(c.First.At), value: math.Float64bits(c.First.Value), leading: 32, trailing: 32}
	all = append(make([]Sample, 0, c.Samples), c.First)
	for range c.Samples - 1 {
		r.readTime()
		r.readValue()
		s := Sample{int64(r.at), math.Float64frombits(r.value)}
		if r.bad || s.At <= all[len(all)-1].At {
			return nil, false
		}
		all = append(all, s)
	}
	last := all[len(all)-1]
	return all, r.position == c.Position && last.At == c.Last.At && r.value == math.Float64bits(c.Last.Value)
}

// chunkReader reads the bits of a chunk.
type chunkReader struct {
	chunk             *Chunk
	position          uint64
	at, delta         uint64
	value             uint64 // the bits of the last one
	leading, trailing uint64
	bad               bool
}

func (r *chunkReader) read(n uint64) (x uint64) {
	if r.bad = r.bad || n > bitsPerWord || r.position+n > r.chunk.Position; r.bad || n == 0 {
		return 0
	}
	word, shift := r.position/bitsPerWord, r.position%bitsPerWord
	x = binary.LittleEndian.Uint64(r.chunk.Data[8*word:]) >> shift
	if shift+n > bitsPerWord {
		x |= binary.LittleEndian.Uint64(r.chunk.Data[8*word+8:]) << (bitsPerWord - shift)
	}
	r.position += n
	if n < bitsPerWord {
		x &= 1<<n - 1
	}
	return x
}

func (r *chunkReader) readTime() {
	if r.read(1) == 1 {
		i := 0
		for i < len(widths)-1 && r.read(1) == 1 {
			i++
		}
		n := widths[i].bits
		second := r.read(n) << (bitsPerWord - n)
		r.delta += uint64(int64(second) >> (bitsPerWord - n))
	}
	r.at += r.delta
}

func (r *chunkReader) readValue() {
	if r.read(1) == 0 {
		return
	}
	if r.read(1) == 1 {
		r.leading = r.read(5)
		n := r.read(6) + 1
		r.trailing = bitsPerWord - r.leading - n
		if r.leading+n > bitsPerWord {
			r.bad = true
			return
		}
	}
	r.value ^= r.read(bitsPerWord-r.leading-r.trailing) << r.trailing
}
