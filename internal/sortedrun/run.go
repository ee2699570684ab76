package sortedrun

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"iter"
	"slices"
)

// Run collects encoded records, which take little more memory than their bytes.
type Run struct {
	name    func(record []byte) []byte
	chunks  [][]byte
	records []position
	bytes   int
	limit   int // of bytes; doubles with each full run
	most    int
}

// position locates a record.
type position struct {
	name          uint64 // eight bytes of the name, after the prefix that all names share
	chunk, offset uint32
}

const (
	maxBytes      = 64 << 20
	firstShare    = 64 // of maxBytes: the first run is small, so that an input that stalls or fails early is written
	chunkBytes    = 1 << 20
	positionBytes = 16
)

// New returns an empty run. name returns the name in a record, which begins at the slice that it gets and ends
// before it. most limits the bytes of a run; 0 stands for 64 MB.
func New(name func(record []byte) []byte, most int) *Run {
	most = cmp.Or(most, maxBytes)
	return &Run{name: name, limit: most / firstShare, most: most}
}

// Len returns the number of records.
func (r *Run) Len() int { return len(r.records) }

// Full reports whether the run has reached its limit.
func (r *Run) Full() bool { return len(r.records) > 0 && r.bytes >= r.limit }

// Add copies a record.
func (r *Run) Add(record []byte) {
	last := len(r.chunks) - 1
	if last < 0 || cap(r.chunks[last])-len(r.chunks[last]) < len(record) {
		r.chunks = append(r.chunks, make([]byte, 0, max(chunkBytes, len(record))))
		last++
	}
	r.records = append(r.records, position{chunk: uint32(last), offset: uint32(len(r.chunks[last]))})
	r.chunks[last] = append(r.chunks[last], record...)
	r.bytes += len(record) + positionBytes
}

// Drain returns the records by name, and empties the run. Records of one name keep their order. A record is
// followed by other records. The caller may keep it.
func (r *Run) Drain() iter.Seq[[]byte] {
	r.sort()
	if r.Full() {
		r.limit = min(2*r.limit, r.most)
	}
	records, chunks := r.records, r.chunks
	r.records, r.chunks, r.bytes = nil, nil, 0
	return func(yield func([]byte) bool) {
		for _, p := range records {
			if !yield(chunks[p.chunk][p.offset:]) {
				return
			}
		}
	}
}

func (r *Run) sort() {
	if len(r.records) == 0 {
		return
	}
	shared := r.nameAt(r.records[0])
	for _, p := range r.records {
		shared = shared[:sharedPrefix(shared, r.nameAt(p))]
	}
	for i, p := range r.records {
		var next [8]byte
		copy(next[:], r.nameAt(p)[len(shared):])
		r.records[i].name = binary.BigEndian.Uint64(next[:])
	}
	slices.SortFunc(r.records, func(a, b position) int {
		if a.name != b.name {
			return cmp.Compare(a.name, b.name)
		}
		return cmp.Or(bytes.Compare(r.nameAt(a), r.nameAt(b)), cmp.Compare(a.chunk, b.chunk), cmp.Compare(a.offset, b.offset))
	})
}

func (r *Run) nameAt(p position) []byte { return r.name(r.chunks[p.chunk][p.offset:]) }

// sharedPrefix returns the length of the prefix that a and b share.
func sharedPrefix(a, b []byte) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}
