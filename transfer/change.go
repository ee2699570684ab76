package transfer

import (
	"bytes"
	"context"
)

// Change chooses keys, and says what becomes of them on their way. The zero value lets all
// pass as they are.
type Change struct {
	Wanted func(k *Key) bool    // nil: all are
	DB     func(db int) int     // nil: they stay in their databases
	From   []byte               // names that begin with it …
	To     []byte               // … begin with this instead
	Expiry func(at int64) int64 // Unix ms or 0 for never; nil: as it was
}

// Key is the key as it arrives, k itself when nothing changes.
func (c Change) Key(k *Key) *Key {
	if c.DB == nil && c.Expiry == nil && len(c.From)+len(c.To) == 0 {
		return k
	}
	changed := *k
	if c.DB != nil {
		changed.DB = c.DB(k.DB)
	}
	if rest, ok := bytes.CutPrefix(k.Name, c.From); ok && len(c.From)+len(c.To) > 0 {
		changed.Name = append(bytes.Clone(c.To), rest...)
	}
	if c.Expiry != nil {
		changed.ExpiresAt = c.Expiry(k.ExpiresAt)
	}
	return &changed
}

// Of yields the keys of source that are wanted, as they arrive.
func (c Change) Of(source Source) Source {
	return func(yield func(Part, error) bool) {
		var of, changed *Key
		for p, err := range source {
			if err == nil {
				if p.Key != of {
					if of, changed = p.Key, nil; c.Wanted == nil || c.Wanted(of) {
						changed = c.Key(of)
					}
				}
				if changed == nil {
					continue
				}
				p.Key = changed
			}
			if !yield(p, err) {
				return
			}
		}
	}
}

// Counter is the sink that only counts what it is given, and how much of that is at the
// destination already.
type Counter struct {
	to    Session // nil: nothing is there
	db    func(int) int
	names [][]byte
	at    int // their database
	found Counts
}

// NewCounter makes the sink that counts for a session, which may be nil; db says where the
// keys of a database go, nil meaning into the same.
func NewCounter(to Session, db func(int) int) *Counter {
	if db == nil {
		db = func(n int) int { return n }
	}
	return &Counter{to: to, db: db, found: Counts{Types: map[Type]int64{}}}
}

// Found is what was counted, complete after Close.
func (s *Counter) Found() Counts { return s.found }

// Put counts a key by its last part.
func (s *Counter) Put(ctx context.Context, p Part) error {
	if !p.Last || p.Err != nil {
		return nil
	}
	s.found.Keys++
	s.found.Types[p.Key.Type]++
	if s.to == nil {
		return nil
	}
	if db := s.db(p.Key.DB); db != s.at || len(s.names) == batchKeys {
		if err := s.ask(ctx); err != nil {
			return err
		}
		s.at = db
	}
	s.names = append(s.names, p.Key.Name)
	return nil
}

func (s *Counter) ask(ctx context.Context) error {
	if len(s.names) == 0 {
		return nil
	}
	if err := selectDB(ctx, s.to, s.at); err != nil {
		return err
	}
	there, err := existing(ctx, s.to, s.names)
	for _, is := range there {
		if is.there {
			s.found.Existing++
		}
	}
	s.names = s.names[:0]
	return err
}

// Close asks for the last keys.
func (s *Counter) Close(ctx context.Context, cause error) error {
	if cause != nil {
		return cause
	}
	return s.ask(ctx)
}
