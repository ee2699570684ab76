package transfer

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"slices"
	"time"
)

// SortOptions configures SortByName.
type SortOptions struct {
	Bytes   int              // memory for a run; 0 for 64 MB. The first run takes a 64th of it
	Now     func() time.Time // nil for the system clock
	Written func() error     // is called when the sink has received every key that was read; nil for none
}

const (
	runBytes = 64 << 20
	runTime  = 3 * time.Second // a slow source is not held back for longer
	// A larger key, or one in several parts, ends a run.
	sortedBytes = 1 << 20
)

// SortByName returns the keys of source in runs that are sorted by name. A file keeps its keys in an
// index by name: keys in random order write a page of the index for each key, and sorted keys fill
// one page after another.
//
// A run ends when it fills its memory, after some seconds, at a large key and when the database
// changes. Keys of one name keep their order. Runs begin small and double, so that a source that
// stalls or fails early has its keys written.
func SortByName(ctx context.Context, source Source, o SortOptions) Source {
	if o.Now == nil {
		o.Now = time.Now
	}
	o.Bytes = cmp.Or(o.Bytes, runBytes)
	return func(yield func(Part, error) bool) {
		r := &sortedRun{o: o, yield: yield, limit: o.Bytes / 64}
		for p, err := range source {
			if err == nil && ctx.Err() != nil {
				yield(Part{}, context.Cause(ctx))
				return
			}
			if err == nil {
				err = r.put(p)
			} else if ended := r.end(); ended != nil {
				err = ended
			}
			if err != nil {
				if err != errStopped {
					yield(Part{}, err)
				}
				return
			}
		}
		if err := r.end(); err != nil && err != errStopped {
			yield(Part{}, err)
		}
	}
}

// sortedRun collects the records of small keys, encoded as in an archive: a key then takes little more
// memory than its name and value.
type sortedRun struct {
	o      SortOptions
	yield  func(Part, error) bool
	db     int
	began  time.Time
	record block
	chunks [][]byte
	keys   []sortedKey
	bytes  int
	limit  int // of bytes
}

// sortedKey refers to the record of a key.
type sortedKey struct {
	name          uint64 // eight bytes of the name, after the prefix that all names share
	chunk, offset uint32
}

const (
	runChunk  = 1 << 20
	clockKeys = 1024 // keys between two readings of the clock
)

func (r *sortedRun) put(p Part) error {
	small := p.First && p.Last && weight(p.Value) <= sortedBytes
	if p.Err == nil && (p.First && !small || r.full(p.Key.DB)) {
		if err := r.end(); err != nil {
			return err
		}
	}
	if p.Err != nil || !small {
		return stoppedUnless(r.yield(p, nil))
	}
	if len(r.keys) == 0 {
		r.db, r.began = p.Key.DB, r.o.Now()
	}
	r.record = r.record[:0]
	if err := writeRecord(&r.record, p); err != nil {
		return err
	}
	last := len(r.chunks) - 1
	if last < 0 || cap(r.chunks[last])-len(r.chunks[last]) < len(r.record) {
		r.chunks = append(r.chunks, make([]byte, 0, max(runChunk, len(r.record))))
		last++
	}
	r.keys = append(r.keys, sortedKey{chunk: uint32(last), offset: uint32(len(r.chunks[last]))})
	r.chunks[last] = append(r.chunks[last], r.record...)
	r.bytes += len(r.record) + binary.Size(sortedKey{})
	return nil
}

// full reports whether the run ends before a key of database db.
func (r *sortedRun) full(db int) bool {
	n := len(r.keys)
	return n > 0 && (db != r.db || r.bytes >= r.limit || n%clockKeys == 0 && r.o.Now().Sub(r.began) > runTime)
}

// end yields the keys of the run.
func (r *sortedRun) end() error {
	r.sort()
	if r.bytes >= r.limit {
		r.limit = min(2*r.limit, r.o.Bytes)
	}
	keys, chunks := r.keys, r.chunks
	r.keys, r.chunks, r.bytes = r.keys[:0], nil, 0
	for _, k := range keys {
		d := &recordReader{b: chunks[k.chunk][k.offset:]}
		p := d.part()
		if d.bad {
			p.Value, p.Err = nil, errUnsortable
		}
		if !r.yield(p, nil) {
			return errStopped
		}
	}
	if r.o.Written == nil {
		return nil
	}
	return r.o.Written()
}

var errUnsortable = errors.New("its value is invalid")

// sort orders the keys by name. Keys of one name keep their order.
func (r *sortedRun) sort() {
	if len(r.keys) == 0 {
		return
	}
	shared := r.name(r.keys[0])
	for _, k := range r.keys {
		shared = shared[:sharedPrefix(shared, r.name(k))]
	}
	for i, k := range r.keys {
		var next [8]byte
		copy(next[:], r.name(k)[len(shared):])
		r.keys[i].name = binary.BigEndian.Uint64(next[:])
	}
	slices.SortFunc(r.keys, func(a, b sortedKey) int {
		if a.name != b.name {
			return cmp.Compare(a.name, b.name)
		}
		return cmp.Or(bytes.Compare(r.name(a), r.name(b)), cmp.Compare(a.chunk, b.chunk), cmp.Compare(a.offset, b.offset))
	})
}

// name returns the name of a key.
func (r *sortedRun) name(k sortedKey) []byte {
	d := &recordReader{b: r.chunks[k.chunk][k.offset+2:]} // after the flags and the type
	d.number()
	return d.bytes()
}

// sharedPrefix returns the length of the prefix that a and b share.
func sharedPrefix(a, b []byte) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}
