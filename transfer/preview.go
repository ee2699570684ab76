package transfer

import (
	"bytes"
	"context"
	"slices"

	"github.com/meowdis/meowdis/keyspace"
)

// CountKeys is the number of keys in databases of a session, nil meaning all of
// them. Keys that have expired may be among them.
func CountKeys(ctx context.Context, s Session, dbs []int) (sum int64, err error) {
	if dbs == nil {
		if dbs, err = Databases(ctx, s); err != nil {
			return 0, err
		}
	}
	for _, db := range dbs {
		if err := selectDB(ctx, s, db); err != nil {
			return 0, err
		}
		v, err := s.Do(ctx, call("DBSIZE")...)
		if err != nil {
			return 0, err
		}
		n, _ := integer(v)
		sum += n
	}
	return sum, nil
}

// Counts is what a copy would find.
type Counts struct {
	Keys     int64
	Existing int64 // are at the destination already
	Types    map[Type]int64
}

// Preview counts the keys of one session, and how many of them are in another
// one, which may be nil, as change would have them arrive. seen is called with the
// number of keys seen since the last call.
func Preview(ctx context.Context, from Session, o ReadOptions, to Session, change Change, seen func(n int64)) (Counts, error) {
	found := Counts{Types: map[Type]int64{}}
	r := newReader(from, o)
	err := r.all(ctx, func(n int, keys []Listed) error {
		keys = slices.DeleteFunc(keys, func(k Listed) bool { return k.Err != nil })
		there := make([]presence, len(keys))
		if to != nil {
			if change.DB != nil {
				n = change.DB(n)
			}
			if err := selectDB(ctx, to, n); err != nil {
				return err
			}
			var err error
			if there, err = existing(ctx, to, each(keys, func(k Listed) []byte { return change.Key(k.Key).Name })); err != nil {
				return err
			}
		}
		for i, k := range keys {
			found.Keys++
			found.Types[k.Type]++
			if there[i].there {
				found.Existing++
			}
		}
		seen(int64(len(keys)))
		return nil
	}, nil)
	return found, err
}

// presence is whether a key exists, or why the server does not say.
type presence struct {
	there bool
	err   error
}

// existing reports which keys the session's database has. It asks for all at once, and for
// each only when it has some of them.
func existing(ctx context.Context, s Session, names [][]byte) ([]presence, error) {
	found := make([]presence, len(names))
	if len(names) == 0 {
		return found, nil
	}
	v, err := s.Do(ctx, call("EXISTS", names...)...)
	if err != nil {
		return nil, err
	}
	if unknown(v) {
		return described(ctx, s, names)
	}
	n, ok := integer(v)
	if ok && (n == 0 || n == int64(len(names))) {
		for i := range found {
			found[i].there = n > 0
		}
		return found, nil
	}
	replies, err := s.Pipeline(ctx, each(names, func(name []byte) [][]byte { return call("EXISTS", name) }))
	if err != nil {
		return nil, err
	}
	if slices.ContainsFunc(replies, unknown) { // the call with all of them was refused for a name
		return described(ctx, s, names)
	}
	for i, v := range replies {
		n, _ := integer(v)
		found[i] = presence{n > 0, refused(v)}
	}
	return found, nil
}

func nameOf(k Listed) []byte { return k.Name }

// described is existing for a server without EXISTS.
func described(ctx context.Context, s Session, names [][]byte) ([]presence, error) {
	found := make([]presence, len(names))
	keys, err := (&keyspace.Lister{Client: s}).Describe(ctx, names)
	for _, k := range keys {
		for i, name := range names {
			if bytes.Equal(name, k.Name) {
				found[i] = presence{k.Err == nil, k.Err}
			}
		}
	}
	return found, err
}
