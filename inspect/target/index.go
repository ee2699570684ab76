package target

import (
	"context"

	"github.com/meowdis/meowdis/keyspace/catalog"
)

// Index is what a target knows about all its keys at once, and a Client cannot
// tell: a file's catalog. It may be asked from any goroutine, many at a time. An
// answer ends early when its context does.
type Index interface {
	Keyspace

	// Weigh adds up the bytes of the keys whose names begin with prefix, and of
	// their values.
	Weigh(ctx context.Context, db int, prefix string) (int64, error)
	// Facts looks names up: an entry for each, without a type where there is no
	// such key.
	Facts(ctx context.Context, db int, names []string) ([]catalog.Entry, error)
	// Rows is the rows of tables of a key; none when there is no such key.
	Rows(ctx context.Context, db int, name string) ([]catalog.Table, error)
	// Sort begins to sort keys by what the index does not have in order.
	Sort(q catalog.Query) *catalog.Sorting
	// Sum begins to add up the types of a database and the folders of a level.
	Sum(db int, prefix, delimiter string) *catalog.Summing
	// Deaths counts the keys that end within each of rising spans of ms, and not
	// within the one before it.
	Deaths(ctx context.Context, db int, spans []int64) ([]int64, error)
	// NextDeath is when the next key ends, of any database, in Unix ms; 0 when none does.
	NextDeath(ctx context.Context) (int64, error)
	// File is facts of the file.
	File(ctx context.Context) (catalog.File, error)
	// DataVersion changes when anybody commits a change to the file.
	DataVersion(ctx context.Context) (int64, error)
	// WALSize is the bytes of the write-ahead log.
	WALSize() (int64, error)
}

// Keyspace is keys in an order: an Index, or what was scanned so far of a target
// without one.
type Keyspace interface {
	// Page is up to n keys after a mark, or before it with back; in their order
	// either way.
	Page(ctx context.Context, q catalog.Query, from catalog.Mark, back bool, n int) (catalog.Page, error)
	// Level is up to n keys and folders of one level of the tree, likewise.
	Level(ctx context.Context, db int, prefix, delimiter string, from catalog.Mark, back bool, n int) (catalog.Page, error)
	// Tally counts the keys whose names begin with prefix.
	Tally(ctx context.Context, db int, prefix string) (int64, error)
}
