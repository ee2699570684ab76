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

// Survey is what a copy would find.
type Survey struct {
	Keys     int64
	Existing int64 // are at the destination already
	Types    map[Type]int64
}

// TakeSurvey counts the keys of one session, and how many of them are in another
// one, which may be nil, as change would have them arrive. seen is told of each so many keys.
func TakeSurvey(ctx context.Context, from Session, o ReadOptions, to Session, change Change, seen func(n int64)) (Survey, error) {
	found := Survey{Types: map[Type]int64{}}
	r := newReader(from, o)
	err := r.all(ctx, func(n int, keys []Listed) error {
		keys = slices.DeleteFunc(keys, func(k Listed) bool { return k.Err != nil })
		there := make([]bool, len(keys))
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
			if there[i] {
				found.Existing++
			}
		}
		seen(int64(len(keys)))
		return nil
	})
	return found, err
}

// existing tells which keys the session's database has. It asks for all at once, and for
// each only when it has some of them.
func existing(ctx context.Context, s Session, names [][]byte) ([]bool, error) {
	there := make([]bool, len(names))
	if len(names) == 0 {
		return there, nil
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
		for i := range there {
			there[i] = n > 0
		}
		return there, nil
	}
	replies, err := s.Pipeline(ctx, each(names, func(name []byte) [][]byte { return call("EXISTS", name) }))
	if err != nil {
		return nil, err
	}
	for i, v := range replies {
		if err := refused(v); err != nil {
			return nil, err
		}
		n, _ := integer(v)
		there[i] = n > 0
	}
	return there, nil
}

func nameOf(k Listed) []byte { return k.Name }

// described is existing for a server without EXISTS.
func described(ctx context.Context, s Session, names [][]byte) ([]bool, error) {
	there := make([]bool, len(names))
	keys, err := (&keyspace.Lister{Client: s}).Describe(ctx, names)
	for _, k := range keys {
		for i, name := range names {
			there[i] = there[i] || bytes.Equal(name, k.Name)
		}
	}
	return there, err
}
