package inspect

import (
	"context"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/meowdis/meowdis/catalog"
)

// walker is how the list goes through the keys: in the target's index, or in what
// was scanned.
func (m *Model) walker() *walker {
	q := m.keys.query
	w := &walker{keys: m.options.Index, tree: q.tree(), delimiter: m.options.Delimiter, open: map[string]string{}}
	switch {
	case m.scan != nil:
		w.keys = m.scan.keys
	case m.sorted != nil:
		w.keys = m.sorted
	}
	for folder, level := range m.keys.open {
		w.open[folder] = level
	}
	match, _ := q.filter.matcher()
	w.query = catalog.Query{
		DB: m.db, Prefix: q.filter.prefix(), Order: q.order, Reverse: q.reverse, Type: q.kind, Life: q.life, Match: match,
	}
	return w
}

// search shows q from its first key on.
func (m *Model) search(q query) {
	if q == m.keys.query && !m.keys.halted {
		return
	}
	match, err := q.filter.matcher()
	if err != nil {
		m.failure = err.Error()
		return
	}
	for _, p := range []purpose{scanning, sorting, listing, tallying, sizing} {
		m.cancel(p)
	}
	was := m.keys.query
	m.goal = row{}
	m.keys.show(q)
	m.plan(was, match)
}

// searchAround shows q with the person where they are: at the key under the cursor, or
// where no key is left at the row from before the filter was edited.
func (m *Model) searchAround(q query) {
	at := m.stands()
	if at.Name == "" || q.chooses() {
		at = m.stood
	}
	m.stood = row{}
	was := m.keys.query
	if m.search(q); at.Name == "" || m.keys.query != q || was == q {
		return
	}
	l := &m.keys
	if !l.tree() {
		at.level, at.depth = "", 0
	}
	switch {
	case at.Folder && !l.tree():
		return
	case !at.Folder && l.order == catalog.ByName && !q.chooses():
		m.reveal(at.Name)
	case m.sorted != nil && m.isSorting():
		m.goal = at
		return
	default:
		l.rows = nil
		l.seek(m.walker(), at)
	}
	l.stale, l.touched = false, true
	l.rows[0].stale = true
}

// stands is the row that the person is at; one without a name where there is none.
func (m *Model) stands() row {
	if r := m.keys.selected(); r != nil && r.gone == 0 && !m.keys.stale {
		return *r
	}
	return row{}
}

// plan decides whether the list needs a scan or an order of its own, and begins it.
// A scan of all keys serves any order that it knows enough for.
func (m *Model) plan(was query, match func(string) bool) {
	q := m.keys.query
	cq := catalog.Query{DB: m.db, Prefix: q.filter.prefix(), Order: q.order, Reverse: q.reverse, Type: q.kind, Life: q.life, Match: match}
	alike := was.filter == q.filter && was.kind == q.kind && was.life == q.life && was.order == q.order
	switch {
	case m.options.Index != nil && cq.Indexed():
		m.leaveOrder()
	case m.sorted != nil && alike && (was.reverse == q.reverse || !m.isSorting()):
		// It can be read from either end.
	case m.options.Index != nil:
		m.sortBy(cq)
	case m.scan != nil && alike && was.reverse == q.reverse:
		// Only the tree came or went.
	default:
		m.scan = newScan(cq, m.scanFeed(q, match))
	}
}

// listed is what a load found.
type listed struct {
	walker *walker
	load   load
	stretch
}

// list loads what the list wants.
func (m *Model) list(what load) tea.Cmd {
	w := m.walker()
	at, back, n := m.keys.from(w, what)
	return m.start(listing, func(ctx context.Context) (tea.Msg, error) {
		s, err := w.walk(ctx, at, back, n)
		return listed{w, what, s}, err
	})
}

func (m *Model) lists(l listed) {
	first := m.keys.stale
	was := m.keys.standing()
	m.keys.add(l.walker, l.load, l.stretch)
	if l.load == again && was.Name != "" && m.scan != nil && m.scan.keys.has(was.Name) && m.keys.find(was.Name, false) < 0 {
		m.keys.seek(l.walker, was) // so many keys were found before it
	}
	if l.load == fromTail && !l.walker.tree && !m.keys.atHead {
		m.keys.base = m.rowsBefore()
	}
	// A single folder at the root says nothing: what is in it does.
	if rows := m.keys.rows; first && l.walker.tree && len(rows) == 1 && rows[0].Folder && m.keys.atEnd && len(m.keys.open) == 0 {
		m.keys.toggle(rows[0])
	}
}

// rowsBefore is how many rows stand before a window that ends with the last one,
// -1 when that cannot be told.
func (m *Model) rowsBefore() int64 {
	n := int64(-1)
	switch {
	case m.scan != nil:
		n = int64(m.scan.keys.len())
	case m.sorted != nil:
		n = m.sorted.Len()
	case !m.filtered():
		n = m.total
	}
	return max(n-int64(len(m.keys.rows)), -1)
}

// countedFolder is the number of keys in a folder.
type countedFolder struct {
	folder string
	keys   int64
}

// tally counts the keys of a folder.
func (m *Model) tally(folder string) tea.Cmd {
	w := m.walker()
	return m.start(tallying, func(ctx context.Context) (tea.Msg, error) {
		n, err := w.keys.Tally(ctx, w.query.DB, folder)
		return countedFolder{folder, n}, err
	})
}

func (m *Model) tallies(c countedFolder) {
	t := m.keys.tallies[c.folder]
	t.keys, t.at, t.stale = c.keys, m.now, false
	m.keys.tallies[c.folder] = t
	if i := m.keys.find(c.folder, true); c.keys == 0 && i >= 0 && m.keys.rows[i].gone == 0 {
		// All that was in it has expired.
		m.keys.rows[i].gone = m.now
	}
}

// fillList starts the jobs that the list waits for.
func (m *Model) fillList() tea.Cmd {
	var cmds []tea.Cmd
	l := &m.keys
	if s := m.scan; s != nil && !s.done && !s.paused() && !l.halted && !m.running(scanning) && !m.conn.refusals.has("SCAN") {
		cmds = append(cmds, m.gather())
	}
	if m.isSorting() && !l.halted && !m.running(sorting) {
		cmds = append(cmds, m.sortOn())
	}
	if what := l.wants(); what != nothingMore && !m.running(listing) && m.canList(what) {
		cmds = append(cmds, m.list(what))
	}
	if missing := l.undescribed(); len(missing) > 0 && !m.running(describing) {
		cmds = append(cmds, m.ask(missing))
	}
	folder, uncounted := l.uncounted()
	if uncounted && !m.running(tallying) && !m.running(listing) {
		cmds = append(cmds, m.tally(folder))
	}
	if m.options.Index != nil && !uncounted && !m.running(listing) && !m.running(sizing) && !m.running(overviewing) && !m.running(writing) {
		cmds = append(cmds, m.size())
	}
	return tea.Batch(cmds...)
}
