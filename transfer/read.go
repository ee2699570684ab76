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

// Position is a place between two pages of the keys of a session: what is behind
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

// reader reads keys from a session.
type reader struct {
	session Session
	o       ReadOptions
	pace    pace
	lister  *keyspace.Lister
	lacks   map[string]bool // commands beside the lister's that the server is known not to know
}

// FromSession yields the keys of a session. A key that is there from start to
// end is yielded; one that is made, changed or deleted meanwhile may be yielded
// in any state, or not at all, and by some servers twice.
func FromSession(ctx context.Context, s Session, o ReadOptions) Source {
	return func(yield func(Part, error) bool) {
		r := newReader(s, o)
		err := r.all(ctx, func(db int, keys []Listed) error {
			return r.page(ctx, db, keys, func(p Part) bool { return yield(p, nil) })
		})
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
	r := &reader{session: s, o: o, pace: newPace(), lacks: map[string]bool{}}
	r.lister = r.newLister()
	return r
}

// errStopped ends a reader whose parts nobody wants any more.
var errStopped = fmt.Errorf("stopped")

// visitor takes a page of keys in the selected database.
type visitor func(db int, keys []Listed) error

// all visits all keys.
func (r *reader) all(ctx context.Context, visit visitor) error {
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
	}
	return nil
}

// database visits the keys of the selected database from a position on.
func (r *reader) database(ctx context.Context, at Position, visit visitor) error {
	r.lister = r.lister.Again()
	page, stop := r.pages(ctx, at)
	defer stop()
	for {
		keys, next, err := page(at.Cursor)
		if err != nil {
			return err
		}
		if len(keys) > 0 {
			if err := visit(at.DB, keys); err != nil {
				return err
			}
		}
		if at.Cursor = next; next == "0" {
			at = Position{at.DB + 1, "0"}
		}
		if r.o.Passed != nil {
			if err := r.o.Passed(ctx, at); err != nil {
				return err
			}
		}
		if next == "0" {
			return nil
		}
	}
}

// pages is how the keys of the selected database are found, page by page: it returns the
// page at a cursor, which is that of the page before, and the cursor of the next one,
// "0" for none.
func (r *reader) pages(ctx context.Context, from Position) (page func(cursor string) ([]Listed, string, error), stop func()) {
	if r.o.List == nil {
		return func(cursor string) ([]Listed, string, error) {
			names, next, err := r.scan(ctx, cursor)
			if err != nil {
				return nil, "", err
			}
			keys, err := r.look(ctx, from.DB, names)
			return keys, next, err
		}, func() {}
	}
	after, err := strconv.ParseInt(from.Cursor, 10, 64)
	if err != nil {
		after = math.MaxInt64 // nothing lies behind it
	}
	l := r.o.List.from(ctx, from.DB, after)
	return func(string) ([]Listed, string, error) {
		keys, next, err := l.page(ctx)
		return keys, strconv.FormatInt(next, 10), err
	}, l.stop
}

// newLister lists the keys of the database that is selected.
func (r *reader) newLister() *keyspace.Lister {
	return &keyspace.Lister{Client: r.session, Match: r.o.Match, Type: string(r.o.Type), Page: scanCount, Absolute: true}
}

// scan returns a page of names and the cursor of the next page, "0" for none.
func (r *reader) scan(ctx context.Context, cursor string) (names [][]byte, next string, err error) {
	if names, next, err = r.lister.Scan(ctx, cursor); err != nil {
		return nil, "", fmt.Errorf("listing the keys: %w", err)
	}
	return slices.DeleteFunc(names, isTemporary), next, nil
}

// errReply is a reply that is none of the command's.
var errReply = fmt.Errorf("the server's reply has an unexpected shape")
