package keys

import (
	"context"
	"math"
	"slices"

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

// maxValuePage limits the keys whose values are read by commands for a page.
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
	holding := l.holding(q.needle)
	if l.Index != nil && q.find.index == "" {
		s := newScan(cq, indexedValues(l.Index, cq, l.TestValues(q.needle), holding), l.MaxScanned)
		s.limit, s.inValues = math.MaxInt64, true // a file search does not disturb other clients
		return s
	}
	pages := l.scanFeed(q, match)
	if q.find.index != "" {
		pages = l.foundFeed(q, match)
	}
	s := newScan(cq, func(ctx context.Context, s scan) (scannedMsg, error) {
		s.count = min(s.count, maxValuePage)
		f, err := pages(ctx, s)
		if err == nil {
			f.entries, f.unread, err = holding(ctx, f.entries)
		}
		return f, err
	}, l.MaxScanned)
	s.limit, s.count, s.inValues = firstLimit, firstValuePage, true
	return s
}

// holding returns a function that returns the entries whose values contain needle, and the number of values that
// it could not read.
func (l *Pane) holding(needle string) func(ctx context.Context, entries []catalog.Entry) (found []catalog.Entry, unread int, err error) {
	search, db := l.SearchValues, l.DB
	return func(ctx context.Context, entries []catalog.Entry) (found []catalog.Entry, unread int, err error) {
		keys := make([]keyspace.Key, len(entries))
		for i, e := range entries {
			keys[i] = keyspace.Key{Name: []byte(e.Name), Type: e.Facts.Type, Count: e.Facts.Size}
		}
		holds, unread, err := search(ctx, db, keys, needle)
		if err != nil {
			return nil, 0, err
		}
		for i, e := range entries {
			if holds[i] {
				found = append(found, e)
			}
		}
		return found, unread, nil
	}
}

// firstValuePage sets the number of keys on the first page of a search in the values of a server.
const firstValuePage = 50

// indexedValues returns a feed that tests the values in an index, and has the others read by commands.
func indexedValues(ix client.Index, cq catalog.Query, test catalog.ValueTest, holding func(context.Context, []catalog.Entry) ([]catalog.Entry, int, error)) feed {
	return func(ctx context.Context, s scan) (scannedMsg, error) {
		p, unsure, err := ix.SearchValues(ctx, cq, s.mark, s.count, test)
		f := scannedMsg{mark: p.Next, done: p.End, looked: p.Examined}
		for some := range slices.Chunk(unsure, maxValuePage) {
			if err != nil {
				break
			}
			var found []catalog.Entry
			var unread int
			found, unread, err = holding(ctx, some)
			p.Entries, f.unread = append(p.Entries, found...), f.unread+unread
		}
		if err == nil && cq.IsSized() {
			p.Entries, err = sized(ctx, ix, cq, p.Entries)
		}
		f.entries = p.Entries
		return f, err
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
