package catalog

import (
	"context"
	"fmt"
	"sync"

	"github.com/meowdis/meowdis/store"
	"github.com/meowdis/meowdis/store/keytype"
)

// Store is what a catalog reads.
type Store interface {
	Apply(ctx context.Context, batches []store.Batch) ([]store.Result, error)
}

// Catalog answers questions about the keys of a store.
type Catalog struct {
	store Store
	now   func() int64
}

// New reads the keys of s by the clock now, in Unix ms.
func New(s Store, now func() int64) *Catalog { return &Catalog{store: s, now: now} }

// Order is what a page of keys is sorted by.
type Order int

const (
	ByName    Order = iota
	ByTTL           // what ends first, first; what never ends, last
	BySize          // elements, or bytes of a string or document; the largest first
	ByBytes         // bytes of key and value; the largest first
	ByType          // by the type's name
	ByUpdated       // the last change first
)

// Life says which keys to keep by when they end.
type Life int

const (
	AnyLife    Life = iota
	Expiring        // with a time to live
	Soon            // with an hour to live, or less
	Persistent      // without
)

// hour is how soon Soon is, in ms.
const hour = 3600_000

// Query chooses keys of a database.
type Query struct {
	DB      int
	Prefix  string // only names that begin with it; where keys go by name
	Order   Order
	Reverse bool   // from the other end
	Type    string // only this type; "" is any
	Life    Life
	Match   func(string) bool // only these names; nil is any. Only where keys go by name
}

// Plain reports whether q leaves nothing out but by its prefix.
func (q Query) Plain() bool { return q.Type == "" && q.Life == AnyLife && q.Match == nil }

// Keeps reports whether a key with these facts is one of q's at now, its name aside.
func (q Query) Keeps(f Facts, now int64) bool {
	if f.Type == "" || q.Type != "" && q.Type != f.Type {
		return false
	}
	switch q.Life {
	case Expiring:
		return f.Expires != 0
	case Soon:
		return f.Expires != 0 && f.Expires <= now+hour
	case Persistent:
		return f.Expires == 0
	}
	return true
}

// Facts is what is known of a key without its value. The type is "" when there
// is no such key.
type Facts struct {
	Type    string
	Size    int64 // elements, or bytes of a string or document; -1 when unknown
	Bytes   int64 // of key and value; -1 when unknown
	Expires int64 // Unix ms; 0 for never
	Created int64 // Unix ms; 0 when unknown
	Updated int64 // Unix ms; 0 when unknown
	Version int64
}

// Entry is a key, or a folder of keys whose names begin alike.
type Entry struct {
	Name   string // of a folder: all that the names share, with the delimiter
	Folder bool
	Facts  Facts // of a key
	Mark   Mark  // where a page after this entry begins
}

// Mark is a place between two entries. The zero Mark is the beginning, or for
// a page backwards the end.
type Mark struct {
	Set    bool
	Name   string
	Folder bool
	rank   store.Value // what the order goes by, where it is not the name
	id     int64
}

// Page is some entries in their order.
type Page struct {
	Entries []Entry
	Next    Mark // where the next page in the same direction begins
	End     bool // there is none
	Looked  int  // how many names were read
}

// factColumns are the columns that entry reads: of a hash with its expired fields.
var factColumns = sync.OnceValue(func() string {
	return `key, type, ` + keytype.Case(nil, func(t *keytype.Type) string {
		if t.Parts != nil {
			return `count`
		}
		return t.Counted(`NULL`)
	}) + `, dies_at, created_at, updated_at, version, id`
})

// entry reads factColumns.
func entry(row store.Row) Entry {
	name := string(row[0].Bytes())
	return Entry{Name: name, Mark: Mark{Set: true, Name: name, id: row[7].Int()}, Facts: Facts{
		Type: string(row[1].Bytes()), Size: row[2].Int(), Bytes: -1, Expires: row[3].Int(),
		Created: row[4].Int(), Updated: row[5].Int(), Version: row[6].Int(),
	}}
}

// read runs statements in one snapshot.
func (c *Catalog) read(ctx context.Context, stmts ...store.Stmt) ([][]store.Row, error) {
	results, err := c.store.Apply(ctx, []store.Batch{{Stmts: stmts, ReadOnly: true}})
	if err != nil {
		return nil, fmt.Errorf("reading the catalog: %w", err)
	}
	if r := results[0].Refused; r != nil {
		return nil, fmt.Errorf("reading the catalog: %s", r.Reason)
	}
	return results[0].Rows, nil
}

// After is the first name after all that begin with prefix; nil when there is
// none.
func After(prefix string) []byte {
	end := []byte(prefix)
	for len(end) > 0 {
		if end[len(end)-1] < 0xff {
			end[len(end)-1]++
			return end
		}
		end = end[:len(end)-1]
	}
	return nil
}

func blob(s string) store.Value { return store.Bytes([]byte(s)) }

// boundary is a bound as an argument: NULL for none.
func boundary(b []byte) store.Value {
	if b == nil {
		return store.Value{}
	}
	return store.Bytes(b)
}
