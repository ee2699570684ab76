package transfer

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/meowdis/meowdis/keyspace"
)

// Position is a position between two pages of a session's keys. All keys before it were
// yielded. A position is valid during the lifetime of the server, and for a meowdis file at any
// time.
type Position struct {
	DB     int
	Cursor string // SCAN cursor, "0" at the beginning of a database
}

// String returns the position in the form of ParsePosition.
func (p Position) String() string { return fmt.Sprintf("%d:%s", p.DB, p.Cursor) }

// ParsePosition reads DB:CURSOR.
func ParsePosition(s string) (Position, error) {
	db, cursor, ok := strings.Cut(s, ":")
	n, err := strconv.Atoi(db)
	if _, bad := strconv.ParseUint(cursor, 10, 64); !ok || err != nil || n < 0 || bad != nil {
		return Position{}, fmt.Errorf("%q is not a position: give DATABASE:CURSOR, as in 0:4711", s)
	}
	return Position{DB: n, Cursor: cursor}, nil
}

// ReadOptions selects the keys to read. The zero value selects all.
type ReadOptions struct {
	Match     string   // a SCAN pattern, "" for all keys
	Type      Type     // "" for all
	Databases []int    // nil for all databases with keys
	From      Position // start; Cursor "" for the beginning

	// List, if not nil, lists the keys of the session's file without commands. It applies Match
	// and Type itself.
	List List

	// Reached, if not nil, is called at every position reached. An error ends the source.
	Reached func(context.Context, Position) error
}

// scanCount sets the COUNT of SCAN.
const scanCount = 512

// reader reads keys from a session. One round trip reads the values of a page, runs the listing
// commands of the pages ahead, and reads the rest of the previous page's hashes.
type reader struct {
	session       keyspace.Session
	o             ReadOptions
	pace          pageSizer
	lister        *keyspace.Lister
	walk          *keyspace.Walk // walk of the selected database; nil if none is active
	deferred      []*reading     // hashes whose field expiries are requested next
	deferredTrips int            // number of askDeferred calls
	plain         bool           // without the compaction rules of series
}

// FromSession yields the keys of a session. It yields every key that exists throughout. A key
// that is created, changed or deleted during the read may be missing or have any of its states,
// and some servers yield it twice.
func FromSession(ctx context.Context, s keyspace.Session, o ReadOptions) Source {
	return func(yield func(Part, error) bool) {
		r, put := newReader(s, o), func(p Part) bool { return yield(p, nil) }
		err := r.all(ctx, func(db int, keys []Listed) error { return r.page(ctx, db, keys, put) },
			func(db int) error { return r.finishDatabase(ctx, db, put) })
		if err != nil && err != errStopped {
			yield(Part{}, err)
		}
	}
}

// FromKeys yields the named keys of the session's selected database. It omits missing keys, and the compaction rules of
// series.
func FromKeys(ctx context.Context, s keyspace.Session, names ...[]byte) Source {
	return named(ctx, s, true, names)
}

// FromKeysWithRules is FromKeys with the compaction rules of series, for a move of all keys.
func FromKeysWithRules(ctx context.Context, s keyspace.Session, names ...[]byte) Source {
	return named(ctx, s, false, names)
}

// named yields keys; plain leaves out the rules of series.
func named(ctx context.Context, s keyspace.Session, plain bool, names [][]byte) Source {
	return func(yield func(Part, error) bool) {
		r := newReader(s, ReadOptions{})
		r.plain = plain
		for some := range slices.Chunk(names, scanCount) {
			keys, err := r.look(ctx, s.DB(), some)
			if err == nil {
				err = r.page(ctx, s.DB(), keys, func(p Part) bool { return yield(p, nil) })
			}
			if err == errStopped {
				return
			}
			if err != nil {
				yield(Part{}, err)
				return
			}
		}
	}
}

func newReader(s keyspace.Session, o ReadOptions) *reader {
	return &reader{session: s, o: o, pace: newPageSizer(), lister: &keyspace.Lister{
		Client: s, Match: o.Match, Type: string(o.Type), Wants: func(name []byte) bool { return !IsOwn(name) }, Page: scanCount, Detail: keyspace.Described, Absolute: true}}
}

// errStopped ends a reader when the consumer takes no further parts.
var errStopped = fmt.Errorf("stopped")

// visitor receives a page of keys in the selected database.
type visitor func(db int, keys []Listed) error

// all visits all keys. ended, if not nil, is called after each database.
func (r *reader) all(ctx context.Context, visit visitor, ended func(db int) error) error {
	dbs := r.o.Databases
	if dbs == nil {
		var err error
		if dbs, err = Databases(ctx, r.session); err != nil {
			return err
		}
	}
	for _, db := range dbs {
		at := Position{db, "0"}
		switch from := r.o.From; {
		case from.Cursor != "" && db < from.DB:
			continue
		case from.Cursor != "" && db == from.DB:
			at = from
		}
		if err := selectDB(ctx, r.session, db); err != nil {
			return err
		}
		if err := r.database(ctx, at, visit); err != nil {
			return err
		}
		if ended != nil {
			if err := ended(db); err != nil {
				return err
			}
		}
		if err := r.passed(ctx, Position{db + 1, "0"}); err != nil {
			return err
		}
	}
	return nil
}

func (r *reader) passed(ctx context.Context, at Position) error {
	if r.o.Reached == nil {
		return nil
	}
	return r.o.Reached(ctx, at)
}

// database visits the keys of the selected database from a position. It reports a position once
// no earlier key is left for later.
func (r *reader) database(ctx context.Context, at Position, visit visitor) error {
	r.lister = r.lister.Clone()
	page, stop := r.pages(ctx, at)
	defer stop()
	var held Position // unreported while earlier hashes are left
	for asked := 0; ; {
		keys, next, err := page()
		if err != nil {
			return err
		}
		if len(keys) > 0 {
			if err := visit(at.DB, keys); err != nil {
				return err
			}
		}
		if at.Cursor = next; next == "0" {
			return nil
		}
		var reached Position
		if held.Cursor != "" && r.deferredTrips > asked {
			reached, held = held, Position{}
		}
		if len(r.deferred) == 0 {
			reached, held = at, Position{}
		} else if held.Cursor == "" {
			held, asked = at, r.deferredTrips
		}
		if reached.Cursor != "" {
			if err := r.passed(ctx, reached); err != nil {
				return err
			}
		}
	}
}

// pages returns a function that lists the selected database page by page. It returns the keys
// and the next cursor, "0" at the end.
func (r *reader) pages(ctx context.Context, from Position) (page func() ([]Listed, string, error), stop func()) {
	if r.o.List == nil {
		r.walk = r.lister.Walk(from.Cursor)
		return func() ([]Listed, string, error) {
			p, err := r.walk.Next(ctx)
			if err != nil {
				return nil, "", fmt.Errorf("listing the keys: %w", err)
			}
			return r.listed(from.DB, p.Keys), p.Next, nil
		}, func() { r.walk = nil }
	}
	after, err := strconv.ParseInt(from.Cursor, 10, 64)
	if err != nil {
		after = math.MaxInt64 // an invalid cursor lists nothing
	}
	l := r.o.List.from(ctx, from.DB, after)
	return func() ([]Listed, string, error) {
		keys, next, err := l.page(ctx)
		return keys, strconv.FormatInt(next, 10), err
	}, l.stop
}

// errReply reports a reply that does not fit its command.
var errReply = fmt.Errorf("the server's reply has an unexpected shape")
