package keys

import (
	"context"
	"errors"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/meowdis/meowdis/inspect/job"
	"github.com/meowdis/meowdis/inspect/target"
	"github.com/meowdis/meowdis/keyspace"
	"github.com/meowdis/meowdis/keyspace/catalog"
)

// scan is the search for the keys of a query on a target that has no index for
// it. It stops by itself now and then: a server may have a billion keys, and a
// REST endpoint charges for each command.
type scan struct {
	keys          *gathered // what is shown
	rescanned     *gathered // what a scan from the beginning has found, until it takes the place of keys; else nil
	query         catalog.Query
	feed          feed
	walk          *keyspace.Walk // at next; nil while a job has it, and when that came to nothing
	next          string
	mark          catalog.Mark
	done          bool
	scanned       int64 // how many keys were looked at, about
	limit         int64 // of scanned, where it stops until it is told to go on
	count         int   // how many keys the next page looks at
	maxKeys       int   // how many keys are kept
	releasedCount int64 // how many keys were let go of: keys has those after them
	inValues      bool  // the values are searched
	unread        int64 // how many of them could not be read
}

// feed finds the next page of a scan's keys.
type feed func(ctx context.Context, s scan) (scannedMsg, error)

// scannedMsg is what a feed found.
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

	// maxScanned is how many keys are kept, and mostGatheredBytes about how much memory
	// they may take: what comes after them is listed in their place.
	maxScanned      = 1_000_000
	maxScannedBytes = 256 << 20
)

func newScan(q catalog.Query, f feed, most int) *scan {
	return &scan{keys: newGathered(q), query: q, feed: f, next: "0", count: firstPage, limit: firstLimit, maxKeys: most}
}

// restart scans from the beginning. What was found before is shown until then.
func (s *scan) restart() {
	s.walk = nil
	s.rescanned, s.next, s.mark, s.done, s.scanned, s.count = newGathered(s.query), "0", catalog.Mark{}, false, 0, firstPage
	s.limit, s.releasedCount, s.unread = max(s.limit, firstLimit), 0, 0
}

// canOrder reports whether what was found is all that the order of q needs.
func (s *scan) canOrder(q catalog.Query) bool {
	return q.Order == catalog.ByName || s.query.Order != catalog.ByName || s.query.Life != catalog.AnyLife
}

// reorder brings what was found, and what is still to be, in the order of q.
func (s *scan) reorder(q catalog.Query) {
	s.query = q
	for _, g := range []*gathered{s.keys, s.rescanned} {
		if g != nil {
			g.reorder(q)
		}
	}
}

// addKnown takes in a key that the person knows already.
func (s *scan) addKnown(e catalog.Entry) {
	for _, g := range []*gathered{s.keys, s.rescanned} {
		if g != nil {
			g.add([]catalog.Entry{e})
		}
	}
}

// paused reports whether the scan has stopped by itself.
func (s *scan) paused() bool { return !s.done && s.scanned >= s.limit }

// full reports whether a scan has stopped since no more keys are kept.
func (s *scan) full() bool { return s.paused() && s.isFull(s.keys) }

func (s *scan) isFull(g *gathered) bool { return g.len() >= s.maxKeys || g.size() >= maxScannedBytes }

// extendLimit lets a paused scan go on, ten times as far; one that is full lets its keys go.
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

// scanFeed scans the target with commands, for the keys of q. Where the order or
// the choice needs to know more than names, all keys are asked.
func (l *Room) scanFeed(q query, match func(string) bool) feed {
	conn, clock, db, pattern := l.Conn, l.Clock, l.DB, q.filter.glob()
	byName := l.KeyFor("open_by_name")
	asked, detail := q.needsFacts(), q.detail()
	keeps := catalog.Query{Type: q.kind, Life: q.life}
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
		var no keyspace.Refusal
		switch {
		case errors.As(err, &no) && conn.Refusals.Has("SCAN"):
			return scannedMsg{}, target.Refusal(string(no) + " (press " + byName + " to open a key by name)")
		case errors.As(err, &no):
			return scannedMsg{}, target.Refusal(no)
		case err != nil:
			return scannedMsg{}, err
		}
		f := scannedMsg{walk: walk, next: page.Next, done: page.Next == "0", looked: count}
		for _, k := range page.Keys {
			e := catalog.Entry{Name: string(k.Name)}
			if asked {
				if e.Facts, err = target.FactsOf(k); err != nil {
					return scannedMsg{}, err
				}
				if !keeps.Keeps(e.Facts, clock()) {
					continue
				}
			}
			f.entries = append(f.entries, e)
		}
		return f, nil
	}
}

// scanPage runs the scan a page further.
func (l *Room) scanPage() tea.Cmd {
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

// onScanned takes a page of the scan in. The list is drawn anew when there is
// enough that is new.
func (l *Room) onScanned(f scannedMsg) {
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

// forgetKey takes a key that is gone out of what was scanned, and out of its folders.
func (l *Room) forgetKey(name string) {
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

// KeepScanning lets a scan that stopped by itself go on.
func (l *Room) KeepScanning() tea.Cmd {
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
