package transfer

import (
	"bytes"
	"context"

	"github.com/meowdis/meowdis/keyspace"
)

// Change selects and modifies keys during a transfer. The zero value keeps all keys unchanged.
type Change struct {
	Wanted func(k *Key) bool    // nil selects all
	DB     func(db int) int     // nil keeps the database
	From   []byte               // name prefix to replace
	To     []byte               // its replacement
	Expiry func(at int64) int64 // Unix ms, 0 for never; nil keeps the expiry
}

// Key returns the changed key, or k itself without changes.
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

// selected returns the changed key, or nil if the change does not select k.
func (c Change) selected(k *Key) *Key {
	if c.Wanted != nil && !c.Wanted(k) {
		return nil
	}
	return c.Key(k)
}

// Apply yields the selected keys of source, changed.
func (c Change) Apply(source Source) Source {
	return func(yield func(Part, error) bool) {
		var of, changed *Key
		for p, err := range source {
			if err == nil {
				if p.Key != of {
					of, changed = p.Key, c.selected(p.Key)
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

// Counter is a sink that counts its keys, and how many of them already exist at the
// destination.
type Counter struct {
	to    keyspace.Session // nil for an empty destination
	db    func(int) int
	names [][]byte
	at    int // database of names
	found Counts
}

// NewCounter returns a sink that counts for a destination, which may be nil. db maps source to
// destination databases; nil keeps the number.
func NewCounter(to keyspace.Session, db func(int) int) *Counter {
	if db == nil {
		db = func(n int) int { return n }
	}
	return &Counter{to: to, db: db, found: Counts{Types: map[Type]int64{}}}
}

// Found returns the counts. They are complete after Close.
func (s *Counter) Found() Counts { return s.found }

// Put counts a key at its last part.
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

// Close looks up the remaining keys.
func (s *Counter) Close(ctx context.Context, cause error) error {
	if cause != nil {
		return cause
	}
	return s.ask(ctx)
}
