package transfer

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/meowdis/meowdis/keyspace"
	"github.com/meowdis/meowdis/redis/resp"
)

// Difference is a difference of a key or a definition between two places.
type Difference struct {
	Key  *Key   // nil for a definition
	What string // OnlyInA, OnlyInB, "type", "ttl", "value", "source" of a library, or "definition" of an index
	A, B string // descriptions of both sides; "" for OnlyInA and OnlyInB

	Library string // name of a library
	Index   *Index // of A, or of B if it is only there
}

// Values of Difference.What for keys and definitions that exist in one place only.
const (
	OnlyInA = "only in A"
	OnlyInB = "only in B"
)

// DiffOptions selects the keys and settings of a comparison.
type DiffOptions struct {
	Read ReadOptions
	A, B List // lists of A and B, or nil; Read.List is ignored
	Find Find // finds keys of B without commands; nil looks them up with commands
	// Unseen lists the keys of B that Find did not find; nil lists all. It takes a bit of memory for each key of B.
	Unseen ListUnseen
	// FindInA and UnseenInA do the same for A. Without Find, Diff then looks up the keys of B in A.
	FindInA   Find
	UnseenInA ListUnseen
	// ExpectedChange, if not nil, describes how a copy changed the keys of A. Diff then looks up only
	// the changed keys, and B may hold other keys.
	ExpectedChange *Change
	Tolerance      time.Duration    // allowed difference of expiries
	Found          func(Difference) // receives each difference
	Notify         Notify           // receives the keys that could not be compared
	Seen           func(Part)       // receives each compared part
}

// swapped returns the options and sessions to compare B with A.
func (o DiffOptions) swapped(a, b keyspace.Session) (DiffOptions, keyspace.Session, keyspace.Session) {
	found := o.Found
	o.A, o.B, o.Find, o.FindInA, o.Unseen, o.UnseenInA = o.B, o.A, o.FindInA, o.Find, o.UnseenInA, o.Unseen
	o.Found = func(d Difference) {
		switch d.A, d.B = d.B, d.A; d.What {
		case OnlyInA:
			d.What = OnlyInB
		case OnlyInB:
			d.What = OnlyInA
		}
		found(d)
	}
	return o, b, a
}

// Diff compares two sessions and returns the number of compared keys, which one or both have. It looks up every part of
// A in B, then the keys of B in A, or the other way around. If both have a List, it compares the lists side by side.
// Neither database, nor any large key, needs to fit in memory.
func Diff(ctx context.Context, a, b keyspace.Session, o DiffOptions) (keys int64, err error) {
	if o.Find == nil && o.FindInA != nil && o.ExpectedChange == nil {
		o, a, b = o.swapped(a, b)
	}
	read, back := o.Read, o.Read
	read.List, back.List = o.A, o.B
	d := &differ{o: o, b: newReader(b, back)}
	if o.A != nil && o.B != nil && o.ExpectedChange == nil {
		err := d.sideBySide(ctx, newReader(a, read), b)
		return d.keys, err
	}
	source := FromSession(ctx, a, read)
	if o.ExpectedChange != nil {
		read.List = o.A
		source = o.ExpectedChange.Apply(FromSession(ctx, a, read))
	}
	if o.Find != nil { // keys in the order of the file's index are on pages that are cached
		source = SortByName(ctx, source, SortOptions{})
	}
	if err := d.addAll(ctx, source); err != nil || o.ExpectedChange != nil {
		return d.keys, err
	}
	if o.Unseen != nil {
		back.List = func(ctx context.Context, db int, after, _ int64) ([]Listed, int64, error) {
			return o.Unseen(ctx, db, after, unseenPage, d.seen.has)
		}
	}
	return d.keys, newReader(b, back).all(ctx, func(db int, keys []Listed) error { return d.missing(ctx, a, db, keys) }, nil)
}

// DiffSource looks up every part of source in b, which may hold other keys, and returns the number of compared keys.
func DiffSource(ctx context.Context, source Source, b keyspace.Session, o DiffOptions) (keys int64, err error) {
	d := &differ{o: o, b: newReader(b, o.Read)}
	err = d.addAll(ctx, source)
	return d.keys, err
}

func (d *differ) addAll(ctx context.Context, source Source) error {
	for p, err := range source {
		if err != nil {
			return err
		}
		if err := d.add(ctx, p); err != nil {
			return err
		}
		d.o.Seen(p)
	}
	return d.flush(ctx)
}

const unseenPage = 8192 // keys that a page covers; it lists few

// differ looks up the parts of A in B.
type differ struct {
	o      DiffOptions
	seen   idSet // keys of B that Find found
	b      *reader
	keys   int64
	checks []check
	bytes  int
	found  *Key  // key with a reported difference
	at     int64 // number of the current key's elements in earlier parts
}

// check queues a part of A for the lookup in B.
type check struct {
	part Part
	at   int64 // number of its key's elements in earlier parts
}

func (d *differ) add(ctx context.Context, p Part) error {
	if p.Err != nil {
		if !errors.Is(p.Err, ErrGone) {
			d.o.Notify(p.Key, p.Err)
		}
		return nil
	}
	if len(d.checks) > 0 && d.checks[0].part.Key.DB != p.Key.DB {
		if err := d.flush(ctx); err != nil {
			return err
		}
	}
	if p.First {
		d.at = 0
		d.keys++
	}
	d.checks = append(d.checks, check{part: p, at: d.at})
	d.at += int64(p.Value.Len())
	d.bytes += valueSize(p.Value)
	releaseMemory(p.Value)
	if len(d.checks) < batchKeys && d.bytes < pageBytes {
		return nil
	}
	return d.flush(ctx)
}

// valueSize estimates the size of a value in bytes.
func valueSize(v Value) int {
	if s := len(blobOf(v)); s > 0 {
		return s
	}
	return v.Len() * 2 * perElement
}

// flush looks up the queued parts, which are all of one database.
func (d *differ) flush(ctx context.Context) error {
	if len(d.checks) == 0 {
		return nil
	}
	db := d.checks[0].part.Key.DB
	if err := d.findKeys(ctx, db); err != nil || len(d.checks) == 0 {
		return err
	}
	if err := selectDB(ctx, d.b.session, db); err != nil {
		return err
	}
	var t keyspace.RoundTrip
	var heads []keyspace.Key
	checks := d.checks
	d.checks, d.bytes = nil, 0
	replies, head := make([][]resp.Value, len(checks)), make([]int, len(checks))
	for i, c := range checks {
		if c.part.First {
			head[i] = len(heads)
			heads = append(heads, keyspace.Key{Name: c.part.Key.Name, Type: string(c.part.Key.Type)})
		}
		if args := c.lookUp(); args != nil {
			t.Add([][][]byte{args}, func(_ context.Context, got []resp.Value) error {
				replies[i] = got
				return nil
			})
		}
	}
	d.b.lister.AddDescribe(&t, heads)
	if err := t.Run(ctx, d.b.session); err != nil {
		return err
	}
	for i, c := range checks {
		if c.part.First && !d.compareMetadata(c.part.Key, heads[head[i]]) {
			d.found = c.part.Key
		}
		if d.found == c.part.Key {
			continue // report one difference per value
		}
		err := d.compare(ctx, c, replies[i])
		replies[i] = nil
		releaseMemory(c.part.Value)
		if err != nil {
			return err
		}
	}
	return nil
}

// findKeys compares the queued keys that Find returns with their values, and removes them from the queue.
func (d *differ) findKeys(ctx context.Context, db int) error {
	if d.o.Find == nil {
		return nil
	}
	var names [][]byte
	for _, c := range d.checks {
		if c.part.First && c.part.Last {
			names = append(names, c.part.Key.Name)
		}
	}
	listed, err := d.o.Find(ctx, db, names)
	if err != nil {
		return err
	}
	found := make(map[string]*Listed, len(listed))
	for i := range listed {
		found[string(listed[i].Name)] = &listed[i]
		d.seen.add(listed[i].ID)
	}
	d.checks = slices.DeleteFunc(d.checks, func(c check) bool {
		y := found[string(c.part.Key.Name)]
		if !c.part.First || !c.part.Last || y != nil && y.Value == nil {
			return false
		}
		if y == nil {
			d.reportOnly(c.part.Key, OnlyInA)
		} else {
			d.compareListed(&Listed{Key: c.part.Key, Value: c.part.Value}, y)
		}
		return true
	})
	if len(d.checks) == 0 {
		d.bytes = 0
	}
	return nil
}

// compare reports the difference between a part and the reply from B.
func (d *differ) compare(ctx context.Context, c check, replies []resp.Value) error {
	k := c.part.Key
	a, b, err := d.compareValue(ctx, c, replies)
	if no := Refusal(""); errors.As(err, &no) {
		d.found = k
		d.o.Notify(k, no)
		return nil
	}
	if err != nil {
		return err
	}
	if a != b {
		d.found = k
		d.o.Found(Difference{Key: k, What: "value", A: a, B: b})
	}
	return nil
}

// compareMetadata reports differences of type, expiry and length. same is false if the elements
// need no comparison.
func (d *differ) compareMetadata(k *Key, found keyspace.Key) (same bool) {
	if found.Type == keyspace.None {
		d.reportOnly(k, OnlyInA)
		return false
	}
	err := found.Failed()
	if err == nil && found.Type == string(k.Type) {
		err = found.NoCount
	}
	if err != nil {
		d.o.Notify(k, err)
		return false
	}
	there := &Key{Type: Type(found.Type), ExpiresAt: found.ExpiresAt, Count: found.Count}
	if found.Count < 0 { // the server has no command for the count
		there.Count = k.Count
	}
	return d.sameMetadata(k, there)
}

// sameMetadata reports differences of type, expiry and length, and returns false if the elements
// need no comparison.
func (d *differ) sameMetadata(k, there *Key) bool {
	if there.Type != k.Type {
		d.o.Found(Difference{Key: k, What: "type", A: string(k.Type), B: string(there.Type)})
		return false
	}
	if !d.sameTime(k.ExpiresAt, there.ExpiresAt) {
		d.o.Found(Difference{Key: k, What: "ttl", A: showTime(k.ExpiresAt), B: showTime(there.ExpiresAt)})
	}
	if there.Count != k.Count && !dumped(k.Type) { // a payload is one element
		d.o.Found(Difference{Key: k, What: "value", A: fmt.Sprintf("length %d", k.Count), B: strconv.FormatInt(there.Count, 10)})
		return false
	}
	return true
}

// sameTime reports whether two expiries are equal within the tolerance.
func (d *differ) sameTime(a, b int64) bool {
	if a == 0 || b == 0 {
		return a == b
	}
	return max(a, b)-min(a, b) <= d.o.Tolerance.Milliseconds()
}

func showTime(ms int64) string {
	if ms == 0 {
		return "never"
	}
	return time.UnixMilli(ms).UTC().Format("2006-01-02T15:04:05.000Z")
}

// missing reports the keys of B that A lacks.
func (d *differ) missing(ctx context.Context, a keyspace.Session, db int, keys []Listed) error {
	keys = slices.DeleteFunc(keys, func(k Listed) bool {
		if k.Err != nil {
			d.o.Notify(k.Key, k.Err)
		}
		return k.Err != nil
	})
	if err := selectDB(ctx, a, db); err != nil {
		return err
	}
	there, err := existing(ctx, a, each(keys, nameOf))
	if err != nil {
		return err
	}
	for i, k := range keys {
		switch {
		case there[i].err != nil:
			d.o.Notify(k.Key, there[i].err)
		case !there[i].there:
			d.keys++
			d.reportOnly(k.Key, OnlyInB)
		}
	}
	return nil
}
