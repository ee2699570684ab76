package keys

import (
	"context"
	"errors"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/meowdis/meowdis/inspect/client"
	"github.com/meowdis/meowdis/inspect/job"
	"github.com/meowdis/meowdis/keyspace"
	"github.com/meowdis/meowdis/keyspace/catalog"
)

// scan searches a target without an index for the keys of a query. It pauses by itself at a limit: a
// server may have a billion keys, and a REST endpoint charges for each command.
type scan struct {
	keys          *scannedKeys // the keys on the screen
	rescanned     *scannedKeys // the keys of a new scan from the start, until it replaces keys; nil otherwise
	query         catalog.Query
	feed          feed
	walk          *keyspace.Walk // at next; nil while a job has it, and after a job failed
	next          string
	mark          catalog.Mark
	done          bool
	scanned       int64 // roughly the number of keys read
	limit         int64 // the scan pauses when scanned reaches it
	count         int   // keys to read for the next page
	maxKeys       int   // the most keys kept
	releasedCount int64 // keys released; keys holds the ones after them
	inValues      bool  // the scan searches values
	unread        int64 // values that could not be read
}

// feed returns the next page of a scan.
type feed func(ctx context.Context, s scan) (scannedMsg, error)

// scannedMsg carries a page returned by a feed.
type scannedMsg struct {
	scan    *scan
	entries []catalog.Entry
	walk    *keyspace.Walk
	next    string
	mark    catalog.Mark
	done    bool
	looked  int
	unread  int
}

const (
	firstPage   = 500
	largestPage = 10_000
	firstLimit  = 100_000

	// maxScanned limits the keys in memory, and maxScannedBytes roughly their size. Beyond either limit
	// the scan pauses; when it continues, the next keys replace them.
	maxScanned      = 1_000_000
	maxScannedBytes = 256 << 20
)

func newScan(q catalog.Query, f feed, most int) *scan {
	return &scan{keys: newGathered(q), query: q, feed: f, next: "0", count: firstPage, limit: firstLimit, maxKeys: most}
}

// restart scans from the start. The keys found before stay on the screen until the new scan pauses or
// ends.
func (s *scan) restart() {
	s.walk = nil
	s.rescanned, s.next, s.mark, s.done, s.scanned, s.count = newGathered(s.query), "0", catalog.Mark{}, false, 0, firstPage
	s.limit, s.releasedCount, s.unread = max(s.limit, firstLimit), 0, 0
}

// canOrder reports whether the facts found so far suffice for the order of q.
func (s *scan) canOrder(q catalog.Query) bool {
	switch q.Order {
	case catalog.ByName:
		return true
	case catalog.ByBytes:
		return s.query.Order == catalog.ByBytes
	}
	return s.query.Order != catalog.ByName || s.query.Lifetime != catalog.AnyLifetime
}

// reorder sorts the keys found so far, and the keys still to come, in the order of q.
func (s *scan) reorder(q catalog.Query) {
	s.query = q
	for _, g := range []*scannedKeys{s.keys, s.rescanned} {
		if g != nil {
			g.reorder(q)
		}
	}
}

// addKnown adds a key that the user already knows of.
func (s *scan) addKnown(e catalog.Entry) {
	for _, g := range []*scannedKeys{s.keys, s.rescanned} {
		if g != nil {
			g.add([]catalog.Entry{e})
		}
	}
}

// paused reports whether the scan paused by itself.
func (s *scan) paused() bool { return !s.done && s.scanned >= s.limit }

// full reports whether the scan paused because the most keys are kept.
func (s *scan) full() bool { return s.paused() && s.isFull(s.keys) }

func (s *scan) isFull(g *scannedKeys) bool {
	return g.len() >= s.maxKeys || g.size() >= maxScannedBytes
}

// extendLimit lets a paused scan continue to ten times the keys. A full scan releases its keys.
func (s *scan) extendLimit() {
	if s.full() {
		s.releasedCount += int64(s.keys.len())
		s.keys = newGathered(s.query)
	}
	s.limit = 10 * s.scanned
}

func (s *scan) add(f scannedMsg) {
	into := s.keys
	if s.rescanned != nil {
		into = s.rescanned
	}
	into.add(f.entries)
	s.walk, s.next, s.mark, s.done = f.walk, f.next, f.mark, f.done
	s.scanned += int64(f.looked)
	s.unread += int64(f.unread)
	s.count = min(2*s.count, largestPage)
	if s.isFull(into) {
		s.limit = min(s.limit, s.scanned)
	}
	if s.done || s.paused() {
		s.keys, s.rescanned = into, nil
	}
}

// scanFeed returns a feed that scans the target with commands for the keys of q. If the order or the
// filter needs more than names, it asks for the facts of each key.
func (l *Pane) scanFeed(q query, match func(string) bool) feed {
	conn, clock, db, pattern := l.Conn, l.Clock, l.DB, q.filter.glob()
	openByName := l.KeyFor("open_by_name")
	asked, detail := q.needsFacts(), q.detail()
	keeps := l.catalogQuery(q, match)
	return func(ctx context.Context, s scan) (scannedMsg, error) {
		count := s.count
		if asked {
			count = min(count, 1000)
		}
		walk := s.walk
		if walk == nil {
			lister := conn.Lister(db, clock, detail)
			lister.Match, lister.Type = pattern, q.kind
			if match != nil {
				lister.Wants = func(name []byte) bool { return match(string(name)) }
			}
			walk = lister.Walk(s.next)
		}
		walk.Resize(count)
		page, err := walk.Next(ctx)
		if err != nil {
			return scannedMsg{}, scanError(err, conn, openByName)
		}
		f := scannedMsg{walk: walk, next: page.Next, done: page.Next == "0", looked: count}
		if !asked {
			f.entries = namesIn(page.Keys)
			return f, nil
		}
		if f.entries, err = entriesIn(page.Keys, keeps, clock); err != nil {
			return scannedMsg{}, err
		}
		return f, nil
	}
}

// namesIn returns entries with the names of keys.
func namesIn(keys []keyspace.Key) []catalog.Entry {
	entries := make([]catalog.Entry, len(keys))
	for i, k := range keys {
		entries[i].Name = string(k.Name)
	}
	return entries
}

// entriesIn returns entries with the names and facts of the keys that match q.
func entriesIn(keys []keyspace.Key, q catalog.Query, clock func() int64) (entries []catalog.Entry, err error) {
	for _, k := range keys {
		e := catalog.Entry{Name: string(k.Name)}
		if e.Facts, err = client.FactsOf(k); err != nil {
			return nil, err
		}
		if q.Accepts(e.Facts, clock()) && (!q.IsSized() || q.AcceptsBytes(e.Facts.Bytes)) {
			entries = append(entries, e)
		}
	}
	return entries, nil
}

// scanError returns err for the user. If the server refuses SCAN, it names the key that opens a Redis key by name.
func scanError(err error, conn *client.Conn, openByName string) error {
	var no keyspace.Refusal
	switch {
	case !errors.As(err, &no):
		return err
	case conn.Refusals.Has("SCAN"):
		return client.Refusal(string(no) + " (press " + openByName + " to open a key by name)")
	}
	return client.Refusal(no)
}

// scanPage scans one more page in a job.
func (l *Pane) scanPage() tea.Cmd {
	s := l.scan
	state := *s
	s.walk = nil
	total := l.Total
	return l.Start(job.Scanning, func(ctx context.Context) (tea.Msg, error) {
		if state.inValues {
			job.CostOf(ctx).Progress(state.scanned, total)
		}
		f, err := s.feed(ctx, state)
		f.scan = s
		return f, err
	})
}

// onScanned stores a page of the scan. The list is redrawn when enough keys are new.
func (l *Pane) onScanned(f scannedMsg) {
	s := l.scan
	if f.scan != s {
		return
	}
	before := s.keys.len()
	s.add(f)
	if now := s.keys.len(); now > before && (len(l.rows) < 2*l.height || now > l.drawnCount+l.drawnCount/8) || s.done || s.paused() {
		l.drawnCount = s.keys.len()
		l.refresh(l.Running(job.Listing))
	}
}

// forgetKey removes a deleted key from the scanned keys and marks its folders to be counted again.
func (l *Pane) forgetKey(name string) {
	if l.scan == nil || !l.scan.keys.remove(name) {
		return
	}
	for folder, t := range l.tallies {
		if strings.HasPrefix(name, folder) {
			t.counted.markOutdated()
			l.tallies[folder] = t
		}
	}
}

// KeepScanning continues a scan that paused by itself.
func (l *Pane) KeepScanning() tea.Cmd {
	if l.scan == nil || !l.scan.paused() {
		return nil
	}
	if l.scan.full() {
		l.tallies = map[string]tally{}
		l.show(l.query)
	}
	l.scan.extendLimit()
	l.halted = false
	return nil
}
