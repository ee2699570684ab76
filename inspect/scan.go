package inspect

import (
	"context"
	"errors"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/meowdis/meowdis/catalog"
)

// scan is the search for the keys of a query on a target that has no index for
// it. It stops by itself now and then: a server may have a billion keys, and a
// REST endpoint charges for each command.
type scan struct {
	keys    *gathered // what is shown
	coming  *gathered // what a scan from the beginning has found, until it takes the place of keys; else nil
	query   catalog.Query
	feed    feed
	next    string
	mark    catalog.Mark
	done    bool
	scanned int64 // how many keys were looked at, about
	limit   int64 // of scanned, where it stops until it is told to go on
	count   int   // how many keys the next page looks at
	most    int   // how many keys are kept
	passed  int64 // how many keys were let go of: keys has those behind them
}

// feed finds the next page of a scan's keys.
type feed func(ctx context.Context, s scan) (fed, error)

// fed is what a feed found.
type fed struct {
	scan    *scan
	entries []catalog.Entry
	next    string
	mark    catalog.Mark
	done    bool
	looked  int
}

const (
	firstPage   = 500
	largestPage = 10_000
	firstLimit  = 100_000

	// mostGathered is how many keys are kept, and mostGatheredBytes about how much memory
	// they may take: what comes behind them is listed in their place.
	mostGathered      = 1_000_000
	mostGatheredBytes = 256 << 20
)

func newScan(q catalog.Query, f feed) *scan {
	return &scan{keys: newGathered(q), query: q, feed: f, next: "0", count: firstPage, limit: firstLimit, most: mostGathered}
}

// again scans from the beginning. What was found before is shown until then.
func (s *scan) again() {
	s.coming, s.next, s.mark, s.done, s.scanned, s.count = newGathered(s.query), "0", catalog.Mark{}, false, 0, firstPage
	s.limit, s.passed = max(s.limit, firstLimit), 0
}

// paused reports whether the scan has stopped by itself.
func (s *scan) paused() bool { return !s.done && s.scanned >= s.limit }

// full reports whether a scan has stopped since no more keys are kept.
func (s *scan) full() bool { return s.paused() && s.isFull(s.keys) }

func (s *scan) isFull(g *gathered) bool { return g.len() >= s.most || g.size() >= mostGatheredBytes }

// goOn lets a paused scan go on, ten times as far; one that is full lets its keys go.
func (s *scan) goOn() {
	if s.full() {
		s.passed += int64(s.keys.len())
		s.keys = newGathered(s.query)
	}
	s.limit = 10 * s.scanned
}

func (s *scan) add(f fed) {
	into := s.keys
	if s.coming != nil {
		into = s.coming
	}
	into.add(f.entries)
	s.next, s.mark, s.done = f.next, f.mark, f.done
	s.scanned += int64(f.looked)
	s.count = min(2*s.count, largestPage)
	if s.isFull(into) {
		s.limit = min(s.limit, s.scanned)
	}
	if s.done || s.paused() {
		s.keys, s.coming = into, nil
	}
}

// scanFeed scans the target with commands, for the keys of q. Where the order or
// the choice needs to know more than names, all keys are asked.
func (m *Model) scanFeed(q query, match func(string) bool) feed {
	db, pattern := m.db, q.filter.glob()
	asked := q.order != catalog.ByName || q.life != catalog.AnyLife
	keeps := catalog.Query{Type: q.kind, Life: q.life}
	return func(ctx context.Context, s scan) (fed, error) {
		count := s.count
		if asked {
			count = min(count, 1000)
		}
		words := []string{"SCAN", s.next, "COUNT", decimal(int64(count))}
		if pattern != "" {
			words = append(words, "MATCH", pattern)
		}
		if q.kind != "" {
			words = append(words, "TYPE", q.kind)
		}
		v, err := m.conn.one(ctx, db, command(words...))
		var no refusal
		if errors.As(err, &no) && m.conn.refusals.has("SCAN") {
			return fed{}, refusal(string(no) + " (press o to open a key by name)")
		}
		if err != nil {
			return fed{}, err
		}
		next, elems := cursorReply(v)
		f := fed{next: next, done: next == "", looked: count}
		var names []string
		for _, e := range elems {
			if name := text(e); match == nil || match(name) {
				names = append(names, name)
			}
		}
		if !asked {
			for _, name := range names {
				f.entries = append(f.entries, catalog.Entry{Name: name})
			}
			return f, nil
		}
		found, err := m.conn.describe(ctx, db, names, m.options.Now())
		for i, facts := range found {
			if keeps.Keeps(facts, m.options.Now()) {
				f.entries = append(f.entries, catalog.Entry{Name: names[i], Facts: facts})
			}
		}
		return f, err
	}
}

// gather runs the scan a page further.
func (m *Model) gather() tea.Cmd {
	s := m.scan
	state := *s
	return m.start(scanning, func(ctx context.Context) (tea.Msg, error) {
		f, err := s.feed(ctx, state)
		f.scan = s
		return f, err
	})
}

// gathers takes a page of the scan in. The list is drawn anew when there is
// enough that is new.
func (m *Model) gathers(f fed) {
	s := m.scan
	if f.scan != s {
		return
	}
	before := s.keys.len()
	s.add(f)
	l := &m.keys
	if now := s.keys.len(); now > before && (len(l.rows) < 2*l.height || now > l.drawn+l.drawn/8) || s.done || s.paused() {
		l.drawn = s.keys.len()
		l.refresh(m.running(listing))
	}
}

// forget takes a key that is gone out of what was scanned, and out of its folders.
func (m *Model) forget(name string) {
	if m.scan == nil || !m.scan.keys.remove(name) {
		return
	}
	for folder, t := range m.keys.tallies {
		if strings.HasPrefix(name, folder) {
			t.stale = true
			m.keys.tallies[folder] = t
		}
	}
}

// keepScanning lets a scan that stopped by itself go on.
func (m *Model) keepScanning() tea.Cmd {
	if m.scan == nil || !m.scan.paused() {
		return nil
	}
	if m.scan.full() {
		m.keys.tallies = map[string]tally{}
		m.keys.show(m.keys.query)
	}
	m.scan.goOn()
	m.keys.halted = false
	return nil
}
