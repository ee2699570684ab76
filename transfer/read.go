package transfer

import (
	"context"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/meowdis/meowdis/keyspace"
)

// Position is a place between two pages of the keys of a session: what is before
// it has been yielded. It can be continued from as long as the server lives, and
// on a meowdis file at any time.
type Position struct {
	DB     int
	Cursor string // of SCAN, "0" at the beginning of a database
}

// String is the position as ParsePosition reads it.
func (p Position) String() string { return fmt.Sprintf("%d:%s", p.DB, p.Cursor) }

// ParsePosition reads DB:CURSOR.
func ParsePosition(s string) (Position, error) {
	db, cursor, ok := strings.Cut(s, ":")
	n, err := strconv.Atoi(db)
	if _, bad := strconv.ParseUint(cursor, 10, 64); !ok || err != nil || n < 0 || bad != nil {
		return Position{}, fmt.Errorf("%q is no position: it has the form DATABASE:CURSOR, as in 0:4711", s)
	}
	return Position{DB: n, Cursor: cursor}, nil
}

// ReadOptions choose what is read from a session. The zero value is everything.
type ReadOptions struct {
	Match     string   // a pattern of SCAN, "" for all keys
	Type      Type     // "" for all
	Databases []int    // nil for all that hold keys
	From      Position // where to go on; Cursor "" at the beginning

	// List, which may be nil, lists the keys of a session's file by other means than
	// its commands. It goes by Match and Type itself.
	List List

	// Passed, which may be nil, is called at every position that is reached. An
	// error ends the source.
	Passed func(context.Context, Position) error
}

// scanCount is the number of keys that SCAN is asked to look at.
const scanCount = 512

// reader reads keys from a session. A round trip that reads the values of a page asks for
// what the pages ahead need, too, and for the rest of the hashes of the page before.
type reader struct {
	session Session
	o       ReadOptions
	pace    pace
	lister  *keyspace.Lister
	walk    *keyspace.Walk // through the selected database; nil while none is under way
	later   []*reading     // hashes whose fields may expire: when is asked next
	asked   int            // how often that was asked
}

// FromSession yields the keys of a session. A key that is there from start to
// end is yielded; one that is made, changed or deleted meanwhile may be yielded
// in any state, or not at all, and by some servers twice.
func FromSession(ctx context.Context, s Session, o ReadOptions) Source {
	return func(yield func(Part, error) bool) {
		r, put := newReader(s, o), func(p Part) bool { return yield(p, nil) }
		err := r.all(ctx, func(db int, keys []Listed) error { return r.page(ctx, db, keys, put) },
			func(db int) error { return r.rest(ctx, db, put) })
		if err != nil && err != errStopped {
			yield(Part{}, err)
		}
	}
}

// FromKeys yields the keys of those names that are in the session's database.
func FromKeys(ctx context.Context, s Session, names ...[]byte) Source {
	return func(yield func(Part, error) bool) {
		r := newReader(s, ReadOptions{})
		keys, err := r.look(ctx, s.DB(), names)
		if err == nil {
			err = r.page(ctx, s.DB(), keys, func(p Part) bool { return yield(p, nil) })
		}
		if err != nil && err != errStopped {
			yield(Part{}, err)
		}
	}
}

func newReader(s Session, o ReadOptions) *reader {
	return &reader{session: s, o: o, pace: newPace(), lister: &keyspace.Lister{
		Client: s, Match: o.Match, Type: string(o.Type), Wants: func(name []byte) bool { return !isTemporary(name) }, Page: scanCount, Detail: keyspace.Described, Absolute: true}}
}

// errStopped ends a reader whose parts are not wanted any more.
var errStopped = fmt.Errorf("stopped")

// visitor takes a page of keys in the selected database.
type visitor func(db int, keys []Listed) error

// all visits all keys. After those of a database it calls ended, which may be nil.
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
		if from := r.o.From; from.Cursor != "" {
			if db < from.DB {
				continue
			}
			if db == from.DB {
				at = from
			}
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
	if r.o.Passed == nil {
		return nil
	}
	return r.o.Passed(ctx, at)
}

// database visits the keys of the selected database from a position on. A position is
// reached when nothing of the pages before it is left for later.
func (r *reader) database(ctx context.Context, at Position, visit visitor) error {
	r.lister = r.lister.Again()
	page, stop := r.pages(ctx, at)
	defer stop()
	var held Position // waits for what is left for later
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
		if held.Cursor != "" && r.asked > asked {
			reached, held = held, Position{}
		}
		if len(r.later) == 0 {
			reached, held = at, Position{}
		} else if held.Cursor == "" {
			held, asked = at, r.asked
		}
		if reached.Cursor != "" {
			if err := r.passed(ctx, reached); err != nil {
				return err
			}
		}
	}
}

// pages is how the keys of the selected database are found, page by page: it returns the
// next page, and the cursor of the one after that, "0" for none.
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
		after = math.MaxInt64 // nothing comes after it
	}
	l := r.o.List.from(ctx, from.DB, after)
	return func() ([]Listed, string, error) {
		keys, next, err := l.page(ctx)
		return keys, strconv.FormatInt(next, 10), err
	}, l.stop
}

// errReply is a reply that is none of the command's.
var errReply = fmt.Errorf("the server's reply has an unexpected shape")
