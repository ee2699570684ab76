package catalog

import (
	"context"
	"errors"
	"slices"
	"sync"

	"github.com/meowdis/meowdis/store"
	"github.com/meowdis/meowdis/store/schema"
)

// Page returns about n keys of q after from, or before from if back is set, in q's order in
// both directions. q must be Indexed. A page of a selective query may be short or empty without
// being the last; Examined counts the names read.
func (c *Catalog) Page(ctx context.Context, q Query, from Mark, back bool, n int) (Page, error) {
	var p Page
	var err error
	switch {
	case q.Order == ByName && q.Match != nil:
		p, err = c.pageOfMatches(ctx, q, from, back != q.Reverse, n)
	case q.Order == ByName:
		p, err = c.pageByName(ctx, q, from, back != q.Reverse, n)
	case q.Indexed():
		p, err = c.pageByExpiry(ctx, q, from, back != q.Reverse, n)
	default:
		return p, errors.New("no index has this order: Sort makes it")
	}
	if back {
		slices.Reverse(p.Entries)
	}
	return p, err
}

// span returns the bounds of a page's names: from low, and below high if high is not nil.
func (q Query) span(from Mark, down bool) (low, high []byte) {
	low, high = []byte(q.Prefix), PrefixEnd(q.Prefix)
	switch {
	case from.Set && down:
		high = []byte(from.Name)
	case from.Set:
		low = append([]byte(from.Name), 0)
	}
	return low, high
}

// maxExamined limits the names that a page with filters reads.
const maxExamined = 10_000

// Statements by name, each with and without an upper bound, forward and backward. ?1 is the
// database, ?2 and ?3 the bounds, ?4 the number of rows.
var (
	sqlNames = sync.OnceValue(func() map[direction]string {
		return directions(`SELECT key FROM keys WHERE `, ` LIMIT ?4`)
	})
	sqlLastName = sync.OnceValue(func() map[direction]string {
		return lastNames()
	})
	sqlBy = sync.OnceValue(func() map[direction]string {
		return directions(`SELECT `+factColumns()+` FROM keys WHERE `+filter+` AND `, ` LIMIT ?4`)
	})
)

// filter excludes keys that have expired at ?5, have a type other than ?6, expire after ?7 or, if
// ?8 is set, have an expiry.
const filter = `(dies_at IS NULL OR dies_at > ?5) AND (?6 IS NULL OR type = ?6) AND (?7 IS NULL OR dies_at <= ?7)
	AND (?8 = 0 OR dies_at IS NULL)`

type direction struct{ descending, bounded bool }

func directions(head, tail string) map[direction]string {
	forms := map[direction]string{}
	for _, d := range []direction{{false, false}, {false, true}, {true, false}, {true, true}} {
		bound, order := ` AND ?3 IS NULL`, ` ORDER BY key`
		if d.bounded {
			bound = ` AND key < ?3`
		}
		if d.descending {
			order += ` DESC`
		}
		forms[d] = head + `db = ?1 AND key >= ?2` + bound + order + tail
	}
	return forms
}

// lastNames returns the statements that find the last of ?4 names. They read only the index.
func lastNames() map[direction]string {
	forms := directions(`SELECT key FROM keys WHERE `, ` LIMIT ?4`)
	for d, sql := range forms {
		furthest := map[bool]string{false: `max`, true: `min`}[d.descending]
		forms[d] = `SELECT ` + furthest + `(key), count(*) FROM (` + sql + `)`
	}
	return forms
}

// filters returns the arguments ?5 to ?8.
func (c *Catalog) filters(q Query) []store.Value {
	now := c.now()
	args := []store.Value{store.Int(now), {}, {}, store.Int(0)}
	if q.Type != "" {
		args[1] = store.String(q.Type)
	}
	switch q.Lifetime {
	case Expiring:
		args[2] = store.Int(1 << 62)
	case Soon:
		args[2] = store.Int(now + hour)
	case Persistent:
		args[3] = store.Int(1)
	}
	return args
}

// pageByName returns a page in name order.
func (c *Catalog) pageByName(ctx context.Context, q Query, from Mark, down bool, n int) (Page, error) {
	low, high := q.span(from, down)
	p := Page{End: true, Examined: n}
	if !q.OnlyPrefix() {
		// Limit the page to the next maxExamined names.
		d := direction{down, high != nil}
		rows, err := c.read(ctx, store.Stmt{SQL: sqlLastName()[d], Args: []store.Value{
			store.Int(int64(q.DB)), store.Bytes(low), boundary(high), store.Int(maxExamined)}})
		if err != nil {
			return p, err
		}
		p.Examined = int(rows[0][0][1].Int())
		if p.Examined == maxExamined {
			last := string(rows[0][0][0].Bytes())
			p.Next, p.End = Mark{Set: true, Name: last}, false
			if down {
				low = []byte(last)
			} else {
				high = append([]byte(last), 0)
			}
		}
	}
	args := append([]store.Value{store.Int(int64(q.DB)), store.Bytes(low), boundary(high), store.Int(int64(n))}, c.filters(q)...)
	rows, err := c.read(ctx, store.Stmt{SQL: sqlBy()[direction{down, high != nil}], Args: args})
	if err != nil {
		return p, err
	}
	p.addRows(rows[0], n)
	return p, nil
}

// addRows converts rows to entries. n is the LIMIT of the query.
func (p *Page) addRows(rows []store.Row, n int) {
	for _, row := range rows {
		p.Entries = append(p.Entries, entry(row))
	}
	if len(rows) == n {
		p.End, p.Next = false, p.Entries[n-1].Mark
	}
}

// pageOfMatches returns a page, in name order, of the keys that q.Match accepts. It reads names from
// the index and looks up only matching names.
func (c *Catalog) pageOfMatches(ctx context.Context, q Query, from Mark, down bool, n int) (Page, error) {
	low, high := q.span(from, down)
	rows, err := c.read(ctx, store.Stmt{SQL: sqlNames()[direction{down, high != nil}], Args: []store.Value{
		store.Int(int64(q.DB)), store.Bytes(low), boundary(high), store.Int(maxExamined)}})
	if err != nil {
		return Page{}, err
	}
	p := Page{End: len(rows[0]) < maxExamined}
	var names []string
	for _, row := range rows[0] {
		name := string(row[0].Bytes())
		p.Examined++
		p.Next = Mark{Set: true, Name: name}
		if q.Match(name) {
			names = append(names, name)
		}
		if len(names) == n {
			p.End = false
			break
		}
	}
	found, err := c.Facts(ctx, q.DB, names)
	for _, e := range found {
		if q.Accepts(e.Facts, c.now()) {
			p.Entries = append(p.Entries, e)
		}
	}
	return p, err
}

var sqlFacts = sync.OnceValue(func() string {
	return `SELECT ` + factColumns() + ` FROM keys WHERE db = ?1 AND key = ?2 AND (dies_at IS NULL OR dies_at > ?3)`
})

// Facts looks up names and returns an entry for each. The entry of a missing key has no type.
func (c *Catalog) Facts(ctx context.Context, db int, names []string) ([]Entry, error) {
	if len(names) == 0 {
		return nil, nil
	}
	stmts := make([]store.Stmt, len(names))
	for i, name := range names {
		stmts[i] = store.Stmt{SQL: sqlFacts(), Args: []store.Value{store.Int(int64(db)), blob(name), store.Int(c.now())}}
	}
	rows, err := c.read(ctx, stmts...)
	if err != nil {
		return nil, err
	}
	entries := make([]Entry, len(names))
	for i, name := range names {
		entries[i] = Entry{Name: name, Mark: Mark{Set: true, Name: name}}
		if len(rows[i]) > 0 {
			entries[i] = entry(rows[i][0])
		}
	}
	return entries, nil
}

// Keys with an expiry in expiry order, from the index keys_by_death, after or before (?2, ?3).
const (
	expiringFilter = ` AND db = ?1 AND ` + schema.DiesAt + ` > ?5 AND (?6 IS NULL OR type = ?6)
		AND (?7 IS NULL OR ` + schema.DiesAt + ` <= ?7) AND ?8 = 0 `
)

var (
	sqlByExpiry = sync.OnceValue(func() string {
		return `SELECT ` + factColumns() + ` FROM keys INDEXED BY keys_by_death WHERE ` + schema.DiesAt + ` >= ?2 AND (` + schema.DiesAt + ` > ?2 OR id > ?3)` +
			expiringFilter + `ORDER BY ` + schema.DiesAt + `, id LIMIT ?4`
	})
	sqlByExpiryDescending = sync.OnceValue(func() string {
		return `SELECT ` + factColumns() + ` FROM keys INDEXED BY keys_by_death WHERE ` + schema.DiesAt + ` <= ?2 AND (` + schema.DiesAt + ` < ?2 OR id < ?3)` +
			expiringFilter + `ORDER BY ` + schema.DiesAt + ` DESC, id DESC LIMIT ?4`
	})
)

// pageByExpiry returns a page in order of expiry. Keys without an expiry follow in name order.
func (c *Catalog) pageByExpiry(ctx context.Context, q Query, from Mark, down bool, n int) (Page, error) {
	ends := q
	ends.Order, ends.Lifetime = ByName, Persistent
	endless := from.Set && from.rank.IsNull()
	persistent := q.Lifetime == Persistent || q.Lifetime == AnyLifetime
	if persistent && (endless || down && !from.Set) {
		p, err := c.pageByName(ctx, ends, from, down, n)
		if !p.End || !down || err != nil {
			return p, err
		}
		more, err := c.pageOfExpiring(ctx, q, Mark{}, down, n)
		more.Entries = append(p.Entries, more.Entries...)
		return more, err
	}
	p, err := c.pageOfExpiring(ctx, q, from, down, n)
	if !p.End || down || !persistent || err != nil {
		return p, err
	}
	more, err := c.pageByName(ctx, ends, Mark{}, down, n)
	more.Entries = append(p.Entries, more.Entries...)
	return more, err
}

// pageOfExpiring returns a page of the keys with an expiry.
func (c *Catalog) pageOfExpiring(ctx context.Context, q Query, from Mark, down bool, n int) (Page, error) {
	sql, at, id := sqlByExpiry(), int64(0), int64(0)
	if down {
		sql, at, id = sqlByExpiryDescending(), 1<<62, 1<<62
	}
	if from.Set {
		at, id = from.rank.Int(), from.id
	}
	args := append([]store.Value{store.Int(int64(q.DB)), store.Int(at), store.Int(id), store.Int(int64(n))}, c.filters(q)...)
	rows, err := c.read(ctx, store.Stmt{SQL: sql, Args: args})
	if err != nil {
		return Page{}, err
	}
	p := Page{End: true, Examined: n}
	for _, row := range rows[0] {
		e := entry(row)
		e.Mark.rank = row[3]
		p.Entries = append(p.Entries, e)
	}
	if len(rows[0]) == n {
		p.End, p.Next = false, p.Entries[n-1].Mark
	}
	return p, nil
}
