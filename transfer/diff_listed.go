package transfer

import (
	"bytes"
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/meowdis/meowdis/keyspace"
	"github.com/meowdis/meowdis/redis/rdb"
	"github.com/meowdis/meowdis/redis/resp"
)

// sideBySide compares two files that list their keys. Both list in the same order, so one pass
// over each finds the keys that only one file has, and compares small values directly. It looks
// up other keys as in any session.
func (d *differ) sideBySide(ctx context.Context, a *reader, b keyspace.Session) error {
	dbs := d.o.Read.Databases
	if dbs == nil {
		in, err := Databases(ctx, a.session)
		if err != nil {
			return err
		}
		more, err := Databases(ctx, b)
		if err != nil {
			return err
		}
		dbs = append(in, more...)
		slices.Sort(dbs)
		dbs = slices.Compact(dbs)
	}
	for _, db := range dbs {
		if err := selectDB(ctx, a.session, db); err != nil {
			return err
		}
		if err := d.database(ctx, db, a); err != nil {
			return err
		}
	}
	return nil
}

// keyList holds the unread keys of a listing.
type keyList struct {
	*listing
	keys []Listed
	end  bool
}

// first returns the next key, or nil at the end.
func (l *keyList) first(ctx context.Context) (*Listed, error) {
	for len(l.keys) == 0 && !l.end {
		keys, next, err := l.page(ctx)
		if err != nil {
			return nil, err
		}
		l.keys, l.end = keys, next == 0
	}
	if len(l.keys) == 0 {
		return nil, nil
	}
	return &l.keys[0], nil
}

// database compares the keys of a database.
func (d *differ) database(ctx context.Context, db int, a *reader) error {
	left, right := keyList{listing: d.o.A.from(ctx, db, 0)}, keyList{listing: d.o.B.from(ctx, db, 0)}
	defer left.stop()
	defer right.stop()
	var later []Listed
	for {
		x, err := left.first(ctx)
		if err != nil {
			return err
		}
		y, err := right.first(ctx)
		if err != nil {
			return err
		}
		if x == nil && y == nil {
			return d.lookUp(ctx, db, a, later)
		}
		order := compareOrder(x, y)
		switch {
		case order > 0:
			d.keys++
			d.reportOnly(y.Key, OnlyInB)
		case order < 0:
			d.keys++
			d.reportOnly(x.Key, OnlyInA)
		case x.Value != nil && y.Value != nil:
			d.keys++
			d.compareListed(x, y)
			d.o.Seen(x.part())
		default:
			later = append(later, *x)
		}
		if order <= 0 {
			left.keys = left.keys[1:]
		}
		if order >= 0 {
			right.keys = right.keys[1:]
		}
		if len(later) == batchKeys {
			if err := d.lookUp(ctx, db, a, later); err != nil {
				return err
			}
			later = later[:0]
		}
	}
}

// compareOrder compares the positions of x and y. A nil key sorts last.
func compareOrder(x, y *Listed) int {
	switch {
	case y == nil:
		return -1
	case x == nil:
		return 1
	}
	return cmp.Or(cmp.Compare(x.Place, y.Place), bytes.Compare(x.Name, y.Name))
}

// reportOnly reports a key that only one file has, unless it is about to expire.
func (d *differ) reportOnly(k *Key, what string) {
	if k.ExpiresAt == 0 || k.ExpiresAt > time.Now().Add(d.o.Tolerance).UnixMilli() {
		d.o.Found(Difference{Key: k, What: what})
	}
}

// lookUp reads and compares keys of A.
func (d *differ) lookUp(ctx context.Context, db int, a *reader, keys []Listed) error {
	var failed error
	err := a.page(ctx, db, keys, func(p Part) bool {
		if failed = d.add(ctx, p); failed == nil {
			d.o.Seen(p)
		}
		return failed == nil
	})
	if failed != nil {
		return failed
	}
	if err != nil {
		return err
	}
	return d.flush(ctx)
}

// compareListed compares two keys of the same name whose values were listed.
func (d *differ) compareListed(x, y *Listed) {
	if !d.sameMetadata(x.Key, y.Key) {
		return
	}
	c := check{part: x.part()}
	a, b := c.compareElements(c.replyFor(y.Value))
	if h, ok := x.Value.(rdb.Hash); ok && a == b {
		a, b = d.compareTimes(h, alignFields(h, y.Value.(rdb.Hash)))
	}
	if a != b {
		d.o.Found(Difference{Key: x.Key, What: "value", A: a, B: b})
	}
}

// replyFor returns the reply of lookUp's command for v, a value of the same type.
func (c check) replyFor(v Value) resp.Value {
	switch v := v.(type) {
	case rdb.List:
		return resp.MakeArray(each(v, resp.MakeBulk)...)
	case rdb.Set:
		in := make(map[string]bool, len(v))
		for _, m := range v {
			in[string(m)] = true
		}
		return resp.MakeArray(each(c.part.Value.(rdb.Set), func(m []byte) resp.Value {
			if in[string(m)] {
				return resp.One
			}
			return resp.Zero
		})...)
	case rdb.ZSet:
		scores := make(map[string]float64, len(v))
		for _, m := range v {
			scores[string(m.Name)] = m.Score
		}
		return resp.MakeArray(each(c.part.Value.(rdb.ZSet), func(m rdb.Member) resp.Value {
			if score, ok := scores[string(m.Name)]; ok {
				return resp.MakeDouble(score)
			}
			return resp.Nil
		})...)
	case rdb.Hash:
		return resp.MakeArray(each(alignFields(c.part.Value.(rdb.Hash), v), func(f rdb.Field) resp.Value {
			if f.Name == nil {
				return resp.Nil
			}
			return resp.MakeBulk(f.Value)
		})...)
	}
	return resp.MakeBulk(blobOf(v))
}

// alignFields returns the fields of found in the order of h. The name of a missing field is nil.
func alignFields(h, found rdb.Hash) rdb.Hash {
	at := make(map[string]int, len(found))
	for i, f := range found {
		at[string(f.Name)] = i
	}
	out := make(rdb.Hash, len(h))
	for i, f := range h {
		if j, ok := at[string(f.Name)]; ok {
			out[i] = found[j]
		}
	}
	return out
}
