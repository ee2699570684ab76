package transfer

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/meowdis/meowdis/resp"
)

// Difference is one way in which a key is not the same in two places.
type Difference struct {
	Key  *Key
	What string // OnlyInA, OnlyInB, "type", "ttl" or "value"
	A, B string // what is found, for people; "" where What says all
}

// The differences of keys that are in one place only.
const (
	OnlyInA = "only in A"
	OnlyInB = "only in B"
)

// DiffOptions choose what is compared.
type DiffOptions struct {
	Read ReadOptions
	A, B List // of the two, nil where there is none; Read.List is neither
	// Arrived, which may be nil, is how the keys of A were to arrive in B: then only they are
	// looked for, and B may hold more.
	Arrived   *Change
	Tolerance time.Duration    // by how much expiries may differ
	Found     func(Difference) // is told of each
	Notify    Notify           // is told of the keys that could not be compared
	Seen      func(Part)       // is shown each part that was compared
}

// Diff compares two sessions: every part of A is looked up in B, and then the keys
// of B are looked up in A. Two that list their keys are gone through side by side.
// Neither side need fit into memory, not even a key. It returns the number of keys
// that were compared.
func Diff(ctx context.Context, a, b Session, o DiffOptions) (keys int64, err error) {
	read, back := o.Read, o.Read
	read.List, back.List = o.A, o.B
	d := &differ{o: o, b: newReader(b, back)}
	if o.A != nil && o.B != nil && o.Arrived == nil {
		err := d.sideBySide(ctx, newReader(a, read), b)
		return d.keys, err
	}
	source := FromSession(ctx, a, read)
	if o.Arrived != nil {
		read.List = o.A
		source = o.Arrived.Of(FromSession(ctx, a, read))
	}
	for p, err := range source {
		if err != nil {
			return d.keys, err
		}
		if err := d.add(ctx, p); err != nil {
			return d.keys, err
		}
		o.Seen(p)
	}
	if err := d.flush(ctx); err != nil {
		return d.keys, err
	}
	if o.Arrived != nil {
		return d.keys, nil
	}
	return d.keys, newReader(b, back).all(ctx, func(db int, keys []Listed) error { return d.missing(ctx, a, db, keys) })
}

// differ looks the parts of A up in B.
type differ struct {
	o      DiffOptions
	b      *reader
	keys   int64
	checks []check
	bytes  int
	found  *Key  // a value of it has been told to differ
	at     int64 // elements of the current key that are in earlier parts
}

// check is a part of A that waits to be looked up.
type check struct {
	part Part
	at   int64 // elements of its key in earlier parts
	head int   // how many calls ask for the head of its key
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
	if len(d.checks) < batchKeys && d.bytes < pageBytes {
		return nil
	}
	return d.flush(ctx)
}

// valueSize is about how many bytes a value takes.
func valueSize(v Value) int {
	if s := len(blobOf(v)); s > 0 {
		return s
	}
	return v.Len() * 2 * perElement
}

// flush looks up what waits, all of it in one database.
func (d *differ) flush(ctx context.Context) error {
	if len(d.checks) == 0 {
		return nil
	}
	if err := selectDB(ctx, d.b.session, d.checks[0].part.Key.DB); err != nil {
		return err
	}
	var calls [][][]byte
	var ends []int
	for i := range d.checks {
		c := &d.checks[i]
		if c.part.First {
			head := d.headCalls(c.part.Key)
			calls, c.head = append(calls, head...), len(head)
		}
		if args := c.lookUp(); args != nil {
			calls = append(calls, args)
		}
		ends = append(ends, len(calls))
	}
	replies, err := d.b.session.Pipeline(ctx, calls)
	if err != nil {
		return err
	}
	checks, start := d.checks, 0
	d.checks, d.bytes = nil, 0
	for i, c := range checks {
		if err := d.compare(ctx, c, replies[start:ends[i]]); err != nil {
			return err
		}
		start = ends[i]
	}
	return nil
}

// headCalls ask for what a key is, and how much of it there is. There are none for a
// server that lacks one of them: then the lister finds out.
func (d *differ) headCalls(k *Key) [][][]byte {
	if d.b.lister.Lacks("TYPE") || d.b.lister.Lacks("PEXPIRETIME") {
		return nil
	}
	calls := [][][]byte{call("TYPE", k.Name), call("PEXPIRETIME", k.Name)}
	if length := k.length(); length != "" {
		calls = append(calls, call(length, k.Name))
	}
	return calls
}

// compare tells how a part differs from what was found in B.
func (d *differ) compare(ctx context.Context, c check, replies []resp.Value) error {
	k := c.part.Key
	if c.part.First {
		same, err := d.compareHead(ctx, k, replies[:c.head])
		if err != nil {
			return err
		}
		if !same {
			d.found = k
		}
		replies = replies[c.head:]
	}
	if d.found == k {
		return nil // one difference of a value is enough
	}
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
		d.o.Found(Difference{k, "value", a, b})
	}
	return nil
}

// refusedHead is what keeps the head of a key from being compared.
func refusedHead(replies []resp.Value) error {
	for _, v := range replies {
		if v.IsError() && !wrongType(v) {
			return refused(v)
		}
	}
	return nil
}

// compareHead tells how a key differs but for its elements; same is false when
// there is no need to look at these.
func (d *differ) compareHead(ctx context.Context, k *Key, replies []resp.Value) (same bool, err error) {
	if len(replies) == 0 || slices.ContainsFunc(replies, unknown) {
		return d.describeHead(ctx, k)
	}
	if err := refusedHead(replies); err != nil {
		d.o.Notify(k, err)
		return false, nil
	}
	typ, left := Type(text(replies[0])), int64(0)
	if n, ok := integer(replies[1]); ok {
		left = max(n, 0)
	}
	if typ == "none" {
		d.foundOnly(k, OnlyInA)
		return false, nil
	}
	there := &Key{Type: typ, ExpiresAt: left, Count: k.Count}
	if len(replies) > 2 {
		there.Count, _ = integer(replies[2])
	}
	return d.sameHead(k, there), nil
}

// describeHead is compareHead for a server that lacks the usual commands.
func (d *differ) describeHead(ctx context.Context, k *Key) (same bool, err error) {
	keys, err := d.b.look(ctx, k.DB, [][]byte{k.Name})
	switch {
	case err != nil:
		return false, err
	case len(keys) == 0:
		d.foundOnly(k, OnlyInA)
		return false, nil
	case keys[0].Err != nil:
		d.o.Notify(k, keys[0].Err)
		return false, nil
	}
	there := *keys[0].Key
	if there.Count == 0 { // nobody counts there
		there.Count = k.Count
	}
	return d.sameHead(k, &there), nil
}

// sameHead tells how two keys differ but for their elements; it is false when there
// is no need to look at these.
func (d *differ) sameHead(k, there *Key) bool {
	if there.Type != k.Type {
		d.o.Found(Difference{k, "type", string(k.Type), string(there.Type)})
		return false
	}
	if !d.sameTime(k.ExpiresAt, there.ExpiresAt) {
		d.o.Found(Difference{k, "ttl", showTime(k.ExpiresAt), showTime(there.ExpiresAt)})
	}
	if there.Count != k.Count {
		d.o.Found(Difference{k, "value", fmt.Sprintf("length %d", k.Count), strconv.FormatInt(there.Count, 10)})
		return false
	}
	return true
}

// sameTime reports whether two expiries are the same, as far as that matters.
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

// missing tells which of the keys of B are not in A.
func (d *differ) missing(ctx context.Context, a Session, db int, keys []Listed) error {
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
		if !there[i] {
			d.foundOnly(k.Key, OnlyInB)
		}
	}
	return nil
}
