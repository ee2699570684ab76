package transfer

import "context"

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
// one; db says where the keys of a database would go, nil meaning into the same.
// seen is told of each so many keys.
func TakeSurvey(ctx context.Context, from Session, o ReadOptions, to Session, db func(int) int, seen func(n int64)) (Survey, error) {
	found := Survey{Types: map[Type]int64{}}
	r := newReader(from, o)
	err := r.all(ctx, func(n int, names [][]byte) error {
		keys, err := r.look(ctx, n, names, func(Part) bool { return true })
		if err != nil {
			return err
		}
		if db != nil {
			n = db(n)
		}
		there, err := existing(ctx, to, n, keys)
		if err != nil {
			return err
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

// existing tells which keys a database has.
func existing(ctx context.Context, s Session, db int, keys []*Key) ([]bool, error) {
	if err := selectDB(ctx, s, db); err != nil || len(keys) == 0 {
		return nil, err
	}
	calls := make([][][]byte, len(keys))
	for i, k := range keys {
		calls[i] = call("EXISTS", k.Name)
	}
	replies, err := s.Pipeline(ctx, calls)
	if err != nil {
		return nil, err
	}
	there := make([]bool, len(keys))
	for i, v := range replies {
		if err := refused(v); err != nil {
			return nil, err
		}
		n, _ := integer(v)
		there[i] = n > 0
	}
	return there, nil
}
