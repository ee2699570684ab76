package transfer

import (
	"bytes"
	"context"
	"slices"

	"github.com/meowdis/meowdis/keyspace"
)

// CountKeys returns the number of keys in the given databases, or in all if dbs is nil. It may
// include expired keys.
func CountKeys(ctx context.Context, s keyspace.Session, dbs []int) (sum int64, err error) {
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

// Counts holds the counts of a Preview.
type Counts struct {
	Keys     int64
	Existing int64 // already exist at the destination
	Types    map[Type]int64
}

// Preview counts the keys that change selects in one session, and how many of them already
// exist, after the change, in the session to, which may be nil. seen receives the number of
// keys seen since the last call.
func Preview(ctx context.Context, from keyspace.Session, o ReadOptions, to keyspace.Session, change Change, seen func(n int64)) (Counts, error) {
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

// presence holds whether a key exists, or why this is unknown.
type presence struct {
	there bool
	err   error
}

// existing reports which keys exist in the session's database. It sends one EXISTS for all
// names, and one per name only if some exist.
func existing(ctx context.Context, s keyspace.Session, names [][]byte) ([]presence, error) {
	found := make([]presence, len(names))
	if len(names) == 0 {
		return found, nil
	}
	v, err := s.Do(ctx, call("EXISTS", names...)...)
	if err != nil {
		return nil, err
	}
	if unknown(v) {
		return existingByType(ctx, s, names)
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
	if slices.ContainsFunc(replies, unknown) { // EXISTS of all names was refused because of one of them
		return existingByType(ctx, s, names)
	}
	for i, v := range replies {
		n, _ := integer(v)
		found[i] = presence{n > 0, refused(v)}
	}
	return found, nil
}

func nameOf(k Listed) []byte { return k.Name }

// existingByType does the same as existing for a server without EXISTS.
func existingByType(ctx context.Context, s keyspace.Session, names [][]byte) ([]presence, error) {
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
