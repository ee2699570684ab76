package keys

import (
	"context"
	"math"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/meowdis/meowdis/inspect/client"
	"github.com/meowdis/meowdis/inspect/screen"
	"github.com/meowdis/meowdis/inspect/ui"
	"github.com/meowdis/meowdis/keyspace"
	"github.com/meowdis/meowdis/keyspace/catalog"
	"github.com/meowdis/meowdis/keyspace/display"
)

// A search in values scans the keys of the list and keeps the ones whose values contain a text. It returns an
// ordinary list.

// ValueSearcher reports which keys contain a text in their values, and how many of them could not be read.
type ValueSearcher func(ctx context.Context, db int, keys []keyspace.Key, text string) (holds []bool, unread int, err error)

// maxValuePage limits the keys per page of a search in values.
const maxValuePage = 500

// EditValueSearch asks the user what to search for in the values of the listed keys.
func (l *Pane) EditValueSearch() tea.Cmd {
	note := `in all keys; ignores case unless you type capitals; "\x00" in quotes`
	if c := l.filters(); c.filter.text != "" || c.kind != "" || c.life != catalog.AnyLifetime {
		note = `in the keys of this list; ignores case unless you type capitals; "\x00" in quotes`
	}
	l.Dialog = &ui.Question{Title: "Search in values", Note: note, Prompt: screen.NewPrompt(l.needle), Answer: func(text string) tea.Cmd {
		q := l.query
		q.needle = text
		switch l.InValue = false; {
		case q == l.query && text != "":
			return l.RefreshAll()
		case text == "":
			l.searchKeepingCursor(q)
		default:
			l.search(q)
		}
		return nil
	}}
	return nil
}

// ValueSearch returns the text searched in values, or "".
func (l *Pane) ValueSearch() string { return l.needle }

// valueScan returns a scan of the keys of cq for the ones that contain the needle of q.
func (l *Pane) valueScan(q query, cq catalog.Query, match func(string) bool) *scan {
	pages, most := l.scanFeed(q, match), int64(firstLimit)
	if l.Index != nil {
		pages, most = indexFeed(l.Index, cq), math.MaxInt64 // a file search does not disturb other clients
	}
	holding, db := l.SearchValues, l.DB
	s := newScan(cq, func(ctx context.Context, s scan) (scannedMsg, error) {
		s.count = min(s.count, maxValuePage)
		f, err := pages(ctx, s)
		if err != nil {
			return f, err
		}
		keys := make([]keyspace.Key, len(f.entries))
		for i, e := range f.entries {
			keys[i] = keyspace.Key{Name: []byte(e.Name), Type: e.Facts.Type, Count: e.Facts.Size}
		}
		holds, unread, err := holding(ctx, db, keys, q.needle)
		if err != nil {
			return f, err
		}
		found := f.entries[:0]
		for i, e := range f.entries {
			if holds[i] {
				found = append(found, e)
			}
		}
		f.entries, f.unread = found, unread
		return f, nil
	}, l.MaxScanned)
	s.limit, s.count, s.inValues = most, firstValuePage, true
	return s
}

// firstValuePage sets the number of keys on the first page of a search in values.
const firstValuePage = 50

// indexFeed returns a feed that pages through an index.
func indexFeed(ix client.Index, cq catalog.Query) feed {
	names := cq
	names.Order, names.Reverse, names.Above, names.Below = catalog.ByName, false, 0, 0
	return func(ctx context.Context, s scan) (scannedMsg, error) {
		p, err := ix.Page(ctx, names, s.mark, false, s.count)
		looked := max(p.Examined, len(p.Entries))
		if err == nil && cq.IsSized() {
			p.Entries, err = sized(ctx, ix, cq, p.Entries)
		}
		return scannedMsg{entries: p.Entries, mark: p.Next, done: p.End, looked: looked}, err
	}
}

// sized returns the entries of which q accepts the bytes.
func sized(ctx context.Context, ix client.Index, q catalog.Query, entries []catalog.Entry) (kept []catalog.Entry, err error) {
	names := make([]string, len(entries))
	for i, e := range entries {
		names[i] = e.Name
	}
	bytes, err := ix.KeyBytes(ctx, q.DB, names)
	if err != nil {
		return nil, err
	}
	for i, e := range entries {
		if e.Facts.Bytes = bytes[i]; q.AcceptsBytes(bytes[i]) {
			kept = append(kept, e)
		}
	}
	return kept, nil
}

// searchedPlace describes the progress of a search in values.
func (l *Pane) searchedPlace(s *scan) []string {
	var parts []string
	switch {
	case s.done && s.rescanned == nil:
		parts = append(parts, "searched all values")
	default:
		parts = append(parts, l.scannedOf(s.scanned, "searched the values of "))
	}
	if s.unread > 0 {
		parts = append(parts, display.Counted(s.unread, "key", "keys")+" not read")
	}
	return parts
}

// needsFacts reports whether the query needs more than the names of all keys.
func (q query) needsFacts() bool {
	return q.order != catalog.ByName || q.life != catalog.AnyLifetime || q.needle != "" || q.filter.isSized()
}

// detail returns how much to fetch about each key.
func (q query) detail() keyspace.Detail {
	switch {
	case q.order == catalog.ByBytes || q.filter.isSized():
		return keyspace.Measured
	case q.needsFacts():
		return keyspace.Described
	}
	return keyspace.Names
}
