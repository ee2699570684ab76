package client

import (
	"context"

	"github.com/meowdis/meowdis/keyspace/catalog"
	"github.com/meowdis/meowdis/redis/rdb"
)

// Index answers queries over all keys that no Client command does: it is the catalog of a
// file. It is safe for concurrent use. A query ends early when its context does.
type Index interface {
	Keyspace

	// Bytes returns the bytes of the keys with prefix, including their values.
	Bytes(ctx context.Context, db int, prefix string) (int64, error)
	// KeyBytes returns the bytes of each key with its value; -1 for a missing key.
	KeyBytes(ctx context.Context, db int, names []string) ([]int64, error)
	// Facts looks up names. It returns an entry for each, without a type for a missing key.
	Facts(ctx context.Context, db int, names []string) ([]catalog.Entry, error)
	// Find returns the live keys of these names, in any order, with the values of small keys.
	Find(ctx context.Context, db int, names [][]byte) ([]catalog.Scanned, error)
	// Scan returns about most keys after a position in the file, with the values of small keys, and the next position.
	Scan(ctx context.Context, db int, after, most int64, wanted func(name []byte, typ string) bool) (keys []catalog.Scanned, next int64, err error)
	// Rows returns the table rows of a key; none for a missing key.
	Rows(ctx context.Context, db int, name string) ([]catalog.Table, error)
	// SearchValues tests the values of about n keys of q after a mark, in file order. It returns the keys with a value
	// that test accepts, and the keys whose values only commands can read.
	SearchValues(ctx context.Context, q catalog.Query, from catalog.Mark, n int, test catalog.ValueTest) (found catalog.Page, unsure []catalog.Entry, err error)
	// Fields passes about n fields of a hash after a position to the function that start returns. It returns the
	// position after them, and whether they are the last ones.
	Fields(ctx context.Context, db int, key string, after int64, n int, start func() func(rdb.Field)) (next int64, end bool, err error)
	// BeginningOfDocument returns the first n bytes of a JSON document, and its size; -1 for a missing key and for a key
	// of another type.
	BeginningOfDocument(ctx context.Context, db int, key string, n int64) (beginning []byte, size int64, err error)
	// Sort starts to sort keys by an order that the index does not have.
	Sort(q catalog.Query) *catalog.Sorting
	// SortTree starts to sort folders and their keys by TTL, size or bytes.
	SortTree(q catalog.Query, delimiter string) *catalog.Tree
	// Sum starts to add up the types of a database and the folders of a level.
	Sum(db int, prefix, delimiter string) *catalog.Summing
	// ExpiryCounts counts the expiring keys by span. spans are in ms and rise; a key counts in the shortest span
	// that covers its expiry.
	ExpiryCounts(ctx context.Context, db int, spans []int64) ([]int64, error)
	// NextExpiry returns when the next key of any database expires, in Unix ms; 0 for none.
	NextExpiry(ctx context.Context) (int64, error)
	// File returns facts about the file.
	File(ctx context.Context) (catalog.File, error)
	// DataVersion returns a number that changes with every commit to the file.
	DataVersion(ctx context.Context) (int64, error)
	// WALSize returns the bytes of the write-ahead log.
	WALSize() (int64, error)
}

// Keyspace is an ordered set of keys: an Index, or the scanned keys of a target without
// one.
type Keyspace interface {
	// Page returns up to n keys after a mark, or before it if back is set. They are in order
	// in both cases.
	Page(ctx context.Context, q catalog.Query, from catalog.Mark, back bool, n int) (catalog.Page, error)
	// Level returns up to n keys and folders of one level of the tree, in the same way.
	Level(ctx context.Context, db int, prefix, delimiter string, from catalog.Mark, back bool, n int) (catalog.Page, error)
	// Count returns the number of keys with prefix.
	Count(ctx context.Context, db int, prefix string) (int64, error)
}
