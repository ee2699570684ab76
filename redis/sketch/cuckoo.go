package sketch

import (
	"encoding/binary"
	"math/bits"

	"github.com/meowdis/meowdis/redis/rdb"
)

// Cuckoo holds a cuckoo filter: a chain of filters with buckets of fingerprints.
type Cuckoo struct {
	Items, Buckets, Deletes, Filters     uint64 // Buckets of the first filter
	BucketSize, MaxIterations, Expansion uint16 // Expansion is a power of two, or 0 for a filter that does not grow
	Body                                 *Body  // a byte per fingerprint, 0 for none
}

// CuckooHash holds the fingerprint of an item, and the hashes that lead to its buckets.
type CuckooHash struct {
	fingerprint byte
	first       uint64
}

const (
	cuckooHead    = 38
	cuckooVersion = 4
	maxCuckoo     = 1 << 16 // filters
)

// NewCuckoo returns an empty filter for capacity items.
func NewCuckoo(capacity uint64, bucketSize, maxIterations, expansion uint16) (*Cuckoo, error) {
	c := &Cuckoo{
		Buckets: powerOfTwo(capacity / uint64(bucketSize)), Filters: 1, BucketSize: bucketSize, MaxIterations: maxIterations,
		Body: EmptyBody(),
	}
	if expansion > 0 {
		c.Expansion = uint16(powerOfTwo(uint64(expansion)))
	}
	if !c.Valid() {
		return nil, ErrTooLarge
	}
	return c, nil
}

// powerOfTwo returns the least power of two that is not below n.
func powerOfTwo(n uint64) uint64 {
	if n <= 1 {
		return 1
	}
	return 1 << bits.Len64(n-1)
}

// buckets returns the buckets of filter i, and false if they would exceed MaxBytes.
func (c *Cuckoo) buckets(i uint64) (n uint64, ok bool) {
	n = c.Buckets
	limit := uint64(MaxBytes) / uint64(c.BucketSize)
	for ; i > 0 && c.Expansion > 1 && n <= limit; i-- {
		n *= uint64(c.Expansion)
	}
	return n, n <= limit
}

// start returns the place of filter i in the body.
func (c *Cuckoo) start(i uint64) (at int64) {
	if c.Expansion <= 1 {
		return int64(i * c.Buckets * uint64(c.BucketSize))
	}
	n := c.Buckets
	for ; i > 0; i-- {
		at += int64(n * uint64(c.BucketSize))
		n *= uint64(c.Expansion)
	}
	return at
}

// Valid reports whether CF.LOADCHUNK accepts the head.
func (c *Cuckoo) Valid() bool {
	if c.BucketSize == 0 || c.BucketSize > 255 || c.Filters == 0 || c.Filters > maxCuckoo || c.MaxIterations == 0 || c.Expansion > 32768 {
		return false
	}
	if c.Expansion == 0 && c.Filters > 1 || c.Buckets == 0 || c.Buckets&(c.Buckets-1) != 0 || c.Buckets > 1<<56-1 {
		return false
	}
	_, ok := c.buckets(c.Filters - 1)
	return ok
}

// Hash returns the hashes of an item.
func (c *Cuckoo) Hash(item []byte) CuckooHash {
	h := murmur64(item, 0)
	return CuckooHash{byte(h%255 + 1), h}
}

// other returns the hash that leads to the other bucket.
func other(fingerprint byte, hash uint64) uint64 { return hash ^ uint64(fingerprint)*0x5bd1e995 }

// bucket returns the place of the bucket of a hash in filter i.
func (c *Cuckoo) bucket(i, hash uint64) int64 {
	n, _ := c.buckets(i)
	return c.start(i) + int64(hash%n)*int64(c.BucketSize)
}

// pair returns the places of an item's two buckets in filter i.
func (c *Cuckoo) pair(i uint64, h CuckooHash) [2]int64 {
	return [2]int64{c.bucket(i, h.first), c.bucket(i, other(h.fingerprint, h.first))}
}

// Ready reports whether the item's buckets are loaded.
func (c *Cuckoo) Ready(h CuckooHash) bool {
	ok := true
	for i := range c.Filters {
		for _, at := range c.pair(i, h) {
			ok = c.Body.ready(at, int64(c.BucketSize)) && ok
		}
	}
	return ok
}

// find returns the first slot of a bucket with the fingerprint.
func (c *Cuckoo) find(bucket int64, fingerprint byte) (at int64, ok bool) {
	for at = bucket; at < bucket+int64(c.BucketSize); at++ {
		if c.Body.byteAt(at) == fingerprint {
			return at, true
		}
	}
	return 0, false
}

// Has reports whether the item may be in the filter. Its buckets must be ready.
func (c *Cuckoo) Has(h CuckooHash) bool {
	for i := range c.Filters {
		for _, bucket := range c.pair(i, h) {
			if _, ok := c.find(bucket, h.fingerprint); ok {
				return true
			}
		}
	}
	return false
}

// Get returns how often the item may be in the filter.
func (c *Cuckoo) Get(h CuckooHash) (n int64) {
	for i := range c.Filters {
		for _, bucket := range c.pair(i, h) {
			for at := bucket; at < bucket+int64(c.BucketSize); at++ {
				if c.Body.byteAt(at) == h.fingerprint {
					n++
				}
			}
		}
	}
	return n
}

// Add adds an item. done is false if blocks must be loaded first. err is ErrFull or ErrTooLarge.
func (c *Cuckoo) Add(h CuckooHash) (done bool, err error) {
	for {
		if !c.Ready(h) {
			return false, nil
		}
		for i := c.Filters; i > 0; i-- {
			for _, bucket := range c.pair(i-1, h) {
				if at, ok := c.find(bucket, 0); ok {
					c.Body.setByte(at, h.fingerprint)
					c.Items++
					return true, nil
				}
			}
		}
		evicted, ready := c.evict(h)
		switch {
		case !ready:
			return false, nil
		case evicted:
			c.Items++
			return true, nil
		case c.Expansion == 0:
			return true, ErrFull
		}
		if _, ok := c.buckets(c.Filters); !ok || c.Filters >= maxCuckoo {
			return true, ErrTooLarge
		}
		c.Body.endAt(c.Len())
		c.Filters++
	}
}

// evict makes room in the newest filter by moving fingerprints to their other buckets. It changes nothing unless it
// succeeds. ready is false if blocks must be loaded first.
func (c *Cuckoo) evict(h CuckooHash) (ok, ready bool) {
	type change struct {
		at  int64
		old byte
	}
	var changes []change
	newest := c.Filters - 1
	n, _ := c.buckets(newest)
	start, size := c.start(newest), int64(c.BucketSize)
	bucket, victim, fingerprint := h.first%n, int64(0), h.fingerprint
	ready = true
	for range c.MaxIterations {
		at := start + int64(bucket)*size + victim
		old := c.Body.byteAt(at)
		changes = append(changes, change{at, old})
		c.Body.setByte(at, fingerprint)
		fingerprint = old
		bucket = other(fingerprint, bucket) % n
		if ready = c.Body.ready(start+int64(bucket)*size, size); !ready {
			break
		}
		if at, free := c.find(start+int64(bucket)*size, 0); free {
			c.Body.setByte(at, fingerprint)
			return true, true
		}
		victim = (victim + 1) % size
	}
	for i := len(changes) - 1; i >= 0; i-- {
		c.Body.setByte(changes[i].at, changes[i].old)
	}
	return false, ready
}

// Delete removes an item once, and reports whether it was found. done is false if blocks must be loaded first.
func (c *Cuckoo) Delete(h CuckooHash, step func(int)) (found, done bool) {
	if !c.Ready(h) {
		return false, false
	}
	for i := c.Filters; i > 0; i-- {
		for _, bucket := range c.pair(i-1, h) {
			at, ok := c.find(bucket, h.fingerprint)
			if !ok {
				continue
			}
			compacts := c.Filters > 1 && float64(c.Deletes+1) > 0.10*float64(c.Items-1)
			if compacts && !c.Body.ready(0, c.Len()) {
				return false, false
			}
			c.Body.setByte(at, 0)
			c.Items--
			c.Deletes++
			if compacts {
				c.Compact(false, step)
			}
			return true, true
		}
	}
	return false, true
}

// Compact moves fingerprints of newer filters to free slots of older ones, and removes the newest filter when it is
// empty. It ends at a filter that cannot be emptied unless always is set. The body must be loaded.
func (c *Cuckoo) Compact(always bool, step func(int)) {
	for i := c.Filters - 1; i > 0; i-- {
		emptied := c.empty(i, step)
		if emptied && i == c.Filters-1 {
			c.Filters--
		}
		if !emptied && !always {
			break
		}
	}
	c.Deletes = 0
}

// empty moves the fingerprints of filter i to older filters, and reports whether none is left.
func (c *Cuckoo) empty(i uint64, step func(int)) bool {
	n, _ := c.buckets(i)
	start, emptied := c.start(i), true
	for slot := range int64(n) * int64(c.BucketSize) {
		step(1)
		fingerprint := c.Body.byteAt(start + slot)
		if fingerprint == 0 {
			continue
		}
		h := CuckooHash{fingerprint, uint64(slot) / uint64(c.BucketSize)}
		if to, ok := c.freeBefore(i, h); ok {
			c.Body.setByte(to, fingerprint)
			c.Body.setByte(start+slot, 0)
		} else {
			emptied = false
		}
	}
	return emptied
}

// freeBefore returns a free slot for a fingerprint in the filters before i.
func (c *Cuckoo) freeBefore(i uint64, h CuckooHash) (int64, bool) {
	for j := range i {
		for _, bucket := range c.pair(j, h) {
			if at, ok := c.find(bucket, 0); ok {
				return at, true
			}
		}
	}
	return 0, false
}

// Head returns the header of CF.SCANDUMP.
func (c *Cuckoo) Head() []byte {
	var out []byte
	for _, n := range []uint64{c.Items, c.Buckets, c.Deletes, c.Filters} {
		out = binary.LittleEndian.AppendUint64(out, n)
	}
	for _, n := range []uint16{c.BucketSize, c.MaxIterations, c.Expansion} {
		out = binary.LittleEndian.AppendUint16(out, n)
	}
	return out
}

// ParseCuckoo parses a header of CF.SCANDUMP. ok is false if its length is wrong; see Valid.
func ParseCuckoo(head []byte, body *Body) (c *Cuckoo, ok bool) {
	if len(head) != cuckooHead {
		return nil, false
	}
	number := func(i int) uint64 { return binary.LittleEndian.Uint64(head[8*i:]) }
	short := func(i int) uint16 { return binary.LittleEndian.Uint16(head[32+2*i:]) }
	return &Cuckoo{
		Items: number(0), Buckets: number(1), Deletes: number(2), Filters: number(3),
		BucketSize: short(0), MaxIterations: short(1), Expansion: short(2), Body: body,
	}, true
}

// Chunk returns the chunk of CF.SCANDUMP at an offset: a small filter is returned whole, even from an offset inside it.
// n is 0 after the last filter.
func (c *Cuckoo) Chunk(off int64) (at, n int64) {
	for i := range c.Filters {
		buckets, _ := c.buckets(i)
		start, length := c.start(i), int64(buckets)*int64(c.BucketSize)
		if off >= start+length {
			continue
		}
		if length <= maxChunk {
			return start, length
		}
		return off, min(start+length-off, maxChunk)
	}
	return 0, 0
}

// Len returns the bytes of all filters.
func (c *Cuckoo) Len() int64 { return c.start(c.Filters) }

// Memory returns the bytes that Redis's filter takes.
func (c *Cuckoo) Memory() int64 { return 40 + 16*int64(c.Filters) + c.Len() }

// Stored returns the body.
func (c *Cuckoo) Stored() *Body { return c.Body }

// Dump returns the value of a dump file. The whole body must be loaded.
func (c *Cuckoo) Dump() *rdb.Module {
	m := &rdb.Module{Name: CuckooName, Version: cuckooVersion}
	m.Numbers(c.Filters, c.Buckets, c.Items, c.Deletes, uint64(c.BucketSize), uint64(c.MaxIterations), uint64(c.Expansion))
	for i := range c.Filters {
		n, _ := c.buckets(i)
		m.Numbers(n)
		m.String(c.Body.Bytes(c.start(i), int64(n)*int64(c.BucketSize)))
	}
	return m
}

func cuckooOf(m *rdb.Module) (*Cuckoo, bool) {
	r := m.Reader()
	c := &Cuckoo{Filters: r.Number(), Buckets: r.Number(), Items: r.Number(), BucketSize: 2, MaxIterations: 20, Expansion: 1, Body: EmptyBody()}
	if m.Version >= cuckooVersion {
		c.Deletes = r.Number()
		size, iterations, expansion := r.Number(), r.Number(), r.Number()
		if max(size, iterations, expansion) > 1<<16-1 {
			return nil, false
		}
		c.BucketSize, c.MaxIterations, c.Expansion = uint16(size), uint16(iterations), uint16(expansion)
	}
	if !c.Valid() {
		return nil, false
	}
	for i := range c.Filters {
		n, _ := c.buckets(i)
		if m.Version >= cuckooVersion && r.Number() != n {
			return nil, false
		}
		data := r.String()
		if uint64(len(data)) != n*uint64(c.BucketSize) {
			return nil, false
		}
		c.Body.Write(c.start(i), data)
	}
	return c, r.Done()
}
