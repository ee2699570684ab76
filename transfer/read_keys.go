package transfer

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/meowdis/meowdis/keyspace"
	"github.com/meowdis/meowdis/redis/rdb"
	"github.com/meowdis/meowdis/redis/resp"
)

var (
	// ErrGone is the Part.Err of a key that was deleted or expired during reading.
	ErrGone = errors.New("it was deleted while it was read")

	errUnstableType = errors.New("its type changed during each attempt to read it; try again when fewer clients write")
)

const (
	batchKeys  = 1024    // keys per read; a page of SCAN may exceed its COUNT
	wholeBytes = 8 << 20 // a longer string is read and written in parts
	attempts   = 3       // to read a changing key
)

// page yields the keys of a page. It reads values that were not listed, in batches of small
// keys, and retries keys whose type changed. During a walk it may leave the last hashes for
// later.
func (r *reader) page(ctx context.Context, db int, keys []Listed, yield func(Part) bool) error {
	for attempt := range attempts {
		names, err := r.values(ctx, keys, yield)
		if err != nil {
			return err
		}
		if r.walk == nil || attempt > 0 {
			more, err := r.yieldDeferred(ctx, yield)
			if err != nil {
				return err
			}
			names = append(names, more...)
		}
		if len(names) == 0 {
			return nil
		}
		if keys, err = r.look(ctx, db, names); err != nil {
			return err
		}
	}
	for _, k := range keys {
		if k.Err == nil {
			k.Err = errUnstableType
		}
		if !yield(k.part()) {
			return errStopped
		}
	}
	return nil
}

// finishDatabase yields the hashes that page left for later, after the last page of a database.
func (r *reader) finishDatabase(ctx context.Context, db int, yield func(Part) bool) error {
	names, err := r.yieldDeferred(ctx, yield)
	if err != nil || len(names) == 0 {
		return err
	}
	keys, err := r.look(ctx, db, names)
	if err != nil {
		return err
	}
	return r.page(ctx, db, keys, yield)
}

// look describes the keys and omits missing ones.
func (r *reader) look(ctx context.Context, db int, names [][]byte) ([]Listed, error) {
	described, err := r.lister.Describe(ctx, names)
	return r.listed(db, described), err
}

// listed converts described keys.
func (r *reader) listed(db int, described []keyspace.Key) []Listed {
	keys := make([]Listed, 0, len(described))
	for _, d := range described {
		k := Listed{Key: &Key{DB: db, Name: d.Name, Type: Type(d.Type), ExpiresAt: d.ExpiresAt, Count: max(d.Count, 0)}, Err: d.Failed()}
		if k.Err == nil && !movable(k.Type) {
			k.Err = fmt.Errorf("it has the type %s, which cannot be moved", d.Type)
		} else if k.Key.length() == "" {
			k.Count = 1
		}
		keys = append(keys, k)
	}
	return keys
}

// values yields the values of keys, and returns the names of keys that had another type when
// read.
func (r *reader) values(ctx context.Context, keys []Listed, yield func(Part) bool) (again [][]byte, err error) {
	var batch smallKeys
	flush := func() error {
		if len(batch.keys) == 0 {
			return nil
		}
		changed, err := r.whole(ctx, batch.keys, yield)
		again = append(again, changed...)
		batch = smallKeys{keys: batch.keys[:0]}
		return err
	}
	for _, k := range keys {
		if k.Err != nil || k.Value != nil {
			if !yield(k.part()) {
				return nil, errStopped
			}
			continue
		}
		most := r.pace.elements()
		if k.isLarge(most) {
			changed, err := r.inParts(ctx, k.Key, yield)
			if err != nil {
				return nil, err
			}
			again = append(again, changed...)
			continue
		}
		if !batch.fits(k.Key, most) {
			if err := flush(); err != nil {
				return nil, err
			}
		}
		batch.add(k.Key)
	}
	err = flush()
	return again, err
}

// size returns the number of elements of a key, or the bytes of a string.
func (k *Key) size() (elements, bytes int64) {
	if k.Type == StringType {
		return 0, k.Count
	}
	return k.Count, 0
}

// isLarge reports whether a key is read in parts because it has more than most elements or wholeBytes bytes. A vector
// set always is.
func (k *Key) isLarge(most int64) bool {
	elements, bytes := k.size()
	return k.Type == VectorSetType || elements > most || bytes > wholeBytes
}

// smallKeys is a batch of keys that are read in one round trip.
type smallKeys struct {
	keys            []*Key
	elements, bytes int64
}

// fits reports whether the batch, with k, has at most batchKeys keys, most elements and wholeBytes bytes.
func (b *smallKeys) fits(k *Key, most int64) bool {
	elements, bytes := k.size()
	return len(b.keys) < batchKeys && b.elements+elements <= most && b.bytes+bytes <= wholeBytes
}

func (b *smallKeys) add(k *Key) {
	elements, bytes := k.size()
	b.keys, b.elements, b.bytes = append(b.keys, k), b.elements+elements, b.bytes+bytes
}

// inParts yields a large key in parts. It first yields the hashes left for later, which would otherwise wait for the
// whole large key.
func (r *reader) inParts(ctx context.Context, k *Key, yield func(Part) bool) (again [][]byte, err error) {
	if again, err = r.yieldDeferred(ctx, yield); err != nil {
		return nil, err
	}
	if k.Type == VectorSetType {
		return again, r.vectorSet(ctx, k, yield)
	}
	return again, r.large(ctx, k, yield)
}

// reading holds a key while its value is read.
type reading struct {
	key   *Key
	value Value // nil if the key is missing or has another type
	bytes int   // size of the reply
	err   error // error reply of the server
}

// result returns the value read, or the reason why there is none.
func (r *reading) result() (Value, error) {
	if r.value == nil {
		return nil, cmp.Or(r.err, ErrGone)
	}
	return r.value, nil
}

// whole reads keys in one round trip and yields all but hashes whose fields may expire. It
// yields the hashes left by earlier calls, and returns the names of the keys that were missing
// or had another type.
func (r *reader) whole(ctx context.Context, keys []*Key, yield func(Part) bool) (again [][]byte, err error) {
	var t keyspace.RoundTrip
	reads := make([]*reading, len(keys))
	for i, k := range keys {
		reads[i] = &reading{key: k}
		r.askValue(&t, reads[i])
	}
	done := r.askDeferred(&t)
	if r.walk != nil {
		r.walk.AddCalls(&t)
	}
	if err := t.Run(ctx, r.session); err != nil {
		return nil, err
	}
	elements, bytes := 0, 0
	for _, read := range reads {
		if read.value != nil && read.key.Type != StringType {
			elements, bytes = elements+read.value.Len(), bytes+read.bytes
		}
		if h, ok := read.value.(rdb.Hash); ok && len(h) > 0 && !r.lister.Lacks(fieldExpiry) {
			r.deferred = append(r.deferred, read)
		} else {
			done = append(done, read)
		}
	}
	r.pace.observe(elements, bytes)
	if again, err = yieldAll(done, yield); err == nil && bytes >= largeValueBytes { // release the memory before the next page
		var more [][]byte
		more, err = r.yieldDeferred(ctx, yield)
		again = append(again, more...)
	}
	return again, err
}

// yieldDeferred yields the hashes left for later.
func (r *reader) yieldDeferred(ctx context.Context, yield func(Part) bool) (again [][]byte, err error) {
	if len(r.deferred) == 0 {
		return nil, nil
	}
	var t keyspace.RoundTrip
	done := r.askDeferred(&t)
	if err := t.Run(ctx, r.session); err != nil {
		return nil, err
	}
	return yieldAll(done, yield)
}

// askDeferred requests the field expiries of the hashes left for later.
func (r *reader) askDeferred(t *keyspace.RoundTrip) (done []*reading) {
	for _, read := range r.deferred {
		r.askFieldExpiries(t, read)
	}
	done, r.deferred = r.deferred, nil
	r.deferredTrips++
	return done
}

// askValue requests a value, and the data that the value's command does not return, except
// field expiries.
func (r *reader) askValue(t *keyspace.RoundTrip, read *reading) {
	t.Add([][][]byte{read.key.readAll()}, func(_ context.Context, replies []resp.Value) error {
		read.value, read.err = read.key.decode(replies[0])
		read.bytes = sizeOf(replies[0])
		return nil
	})
	r.askRest(t, read)
}

// yieldAll yields the values read, and returns the names of the missing keys.
func yieldAll(reads []*reading, yield func(Part) bool) (again [][]byte, err error) {
	for _, read := range reads {
		part := Part{Key: read.key, First: true, Last: true, Err: read.err}
		switch {
		case read.err == nil && read.value == nil:
			again = append(again, read.key.Name)
			continue
		case read.err == nil:
			part = Whole(read.key, read.value)
		}
		if !yield(part) {
			return nil, errStopped
		}
	}
	return again, nil
}

// sizeOf returns the size of a reply in bytes.
func sizeOf(v resp.Value) int {
	n := len(v.Str) + perElement
	for i := range v.Elems {
		n += sizeOf(v.Elems[i])
	}
	return n
}
