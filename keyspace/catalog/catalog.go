package catalog

import (
	"context"
	"fmt"
	"sync"

	"github.com/meowdis/meowdis/store"
	"github.com/meowdis/meowdis/store/keytype"
)

// Store is the source of a catalog's rows.
type Store interface {
	Apply(ctx context.Context, batches []store.Batch) ([]store.Result, error)
}

// Catalog reads the keys of a store.
type Catalog struct {
	store Store
	now   func() int64
}

// New returns a catalog of s. The clock now returns Unix ms.
func New(s Store, now func() int64) *Catalog { return &Catalog{store: s, now: now} }

// Order describes the sort order of a page of keys.
type Order int

const (
	ByName    Order = iota
	ByTTL           // soonest expiry first; keys without expiry last
	BySize          // elements, or bytes of a string or document; largest first
	ByBytes         // bytes of key and value; largest first
	ByType          // by type name
	ByUpdated       // latest change first
)

// Lifetime selects keys by their time to live.
type Lifetime int

const (
	AnyLifetime Lifetime = iota
	Expiring             // with an expiry
	Soon                 // expires within an hour
	Persistent           // without an expiry
)

// hour limits the remaining life of Soon, in ms.
const hour = 3600_000

// Query selects keys of one database.
type Query struct {
	DB       int
	Prefix   string // only names with this prefix; for ByName only
	Order    Order
	Reverse  bool   // reverses the order
	Type     string // only keys of this type; "" selects all
	Lifetime Lifetime
	Match    func(string) bool // only names it accepts; nil accepts all; for ByName only
	Above    int64             // only keys of more bytes, 0 for any; for orders of Sort other than ByName
	Below    int64             // only keys of fewer bytes, 0 for any
}

// OnlyPrefix reports whether q filters only by prefix.
func (q Query) OnlyPrefix() bool { return q.Type == "" && q.Lifetime == AnyLifetime && q.Match == nil }

// IsSized reports whether q filters by bytes.
func (q Query) IsSized() bool { return q.Above > 0 || q.Below > 0 }

// AcceptsBytes reports whether q selects a key of so many bytes.
func (q Query) AcceptsBytes(n int64) bool { return n > q.Above && (q.Below == 0 || n < q.Below) }

// Accepts reports whether q selects a key with these facts at now (Unix ms), regardless of its
// name and its bytes.
func (q Query) Accepts(f Facts, now int64) bool {
	if f.Type == "" || q.Type != "" && q.Type != f.Type {
		return false
	}
	switch q.Lifetime {
	case Expiring:
		return f.Expires != 0
	case Soon:
		return f.Expires != 0 && f.Expires <= now+hour
	case Persistent:
		return f.Expires == 0
	}
	return true
}

// Facts holds the metadata of a key without its value. Type is "" if the key is missing.
type Facts struct {
	Type    string
	Size    int64 // elements, or bytes of a string or document; -1 if unknown
	Bytes   int64 // of key and value; -1 if unknown
	Expires int64 // Unix ms; 0 for never
	Created int64 // Unix ms; 0 if unknown
	Updated int64 // Unix ms; 0 if unknown
	Version int64
}

// Entry is a key, or a folder of keys with a common prefix.
type Entry struct {
	Name   string // of a folder: the common prefix, including the delimiter
	Folder bool
	Facts  Facts   // of a folder in Levels: Size is its number of keys, Expires when its next key expires
	Share  float64 // of its folder, in Levels by bytes or size; 0 if unknown
	Mark   Mark    // start of a page after this entry
}

// Mark is a position between two entries. The zero Mark is the beginning, or the end for a
// backward page.
type Mark struct {
	Set    bool
	Name   string
	Folder bool
	rank   store.Value // sort value, unless the order is by name
	id     int64
}

// Page is a run of entries in order.
type Page struct {
	Entries  []Entry
	Next     Mark // start of the next page in the same direction
	End      bool // no further page
	Examined int  // number of names read
}

// factColumns lists the columns that entry reads. A hash's size includes its expired fields.
var factColumns = sync.OnceValue(func() string {
	return `key, type, ` + keytype.Case(nil, func(t *keytype.Type) string {
		if t.Parts != nil {
			return `count`
		}
		return t.Counted(`NULL`)
	}) + `, dies_at, created_at, updated_at, version, id`
})

// entry converts a row of factColumns.
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

// PrefixEnd returns the first name that sorts after every name with the prefix, or nil if no such
// name exists.
func PrefixEnd(prefix string) []byte {
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

// boundary converts a bound to an argument; nil becomes NULL.
func boundary(b []byte) store.Value {
	if b == nil {
		return store.Value{}
	}
	return store.Bytes(b)
}
