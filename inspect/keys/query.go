package keys

import (
	"github.com/meowdis/meowdis/keyspace/catalog"
)

// query says which keys of a database the list shows, and how.
type query struct {
	filter  filter
	kind    string // "": any type
	life    catalog.Lifetime
	needle  string // text that the values contain; "": any value
	find    find   // a query of a search index; no index: any key
	order   catalog.Order
	reverse bool
	flat    bool // no tree, even where one is possible
}

// HasFilter reports whether q leaves keys out.
func (q query) HasFilter() bool {
	return q.filter.text != "" || q.kind != "" || q.life != catalog.AnyLifetime || q.needle != "" || q.find.index != ""
}

// filters returns the part of q that leaves keys out.
func (q query) filters() query {
	return query{filter: q.filter, kind: q.kind, life: q.life, needle: q.needle, find: q.find}
}

// unfiltered returns q without the part that leaves keys out.
func (q query) unfiltered() query {
	q.filter, q.kind, q.life, q.needle, q.find = filter{mode: q.filter.mode}, "", catalog.AnyLifetime, "", find{}
	return q
}

// tree reports whether folders are shown: only if no key is left out, in the orders that folders have.
func (q query) tree() bool {
	switch {
	case q.flat || q.HasFilter():
		return false
	case q.order == catalog.ByName:
		return !q.reverse
	}
	return q.order == catalog.ByTTL || q.order == catalog.BySize || q.order == catalog.ByBytes
}

// shares reports whether folders show their share of the level.
func (q query) shares() bool {
	return q.tree() && (q.order == catalog.ByBytes || q.order == catalog.BySize)
}
