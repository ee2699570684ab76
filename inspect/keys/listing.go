package keys

import (
	"context"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/meowdis/meowdis/inspect/job"
	"github.com/meowdis/meowdis/keyspace/catalog"
)

// walker returns a walker over the target's index, the sorted keys or the scanned keys.
func (l *Pane) walker() *walker {
	q := l.query
	w := &walker{keys: l.Index, tree: q.tree(), delimiter: l.Delimiter, open: map[string]string{}}
	switch {
	case l.scan != nil:
		w.keys = l.scan.keys
	case l.sorted != nil:
		w.keys = l.sorted
	}
	for folder, level := range l.open {
		w.open[folder] = level
	}
	match, _ := q.filter.matcher()
	w.query = l.catalogQuery(q, match)
	return w
}

// catalogQuery returns q for an index.
func (l *Pane) catalogQuery(q query, match func(string) bool) catalog.Query {
	_, above, below := q.filter.split()
	return catalog.Query{DB: l.DB, Prefix: q.filter.prefix(), Order: q.order, Reverse: q.reverse, Type: q.kind, Lifetime: q.life,
		Match: match, Above: above, Below: below}
}

// search lists q from its first key. A filter by size needs the bytes of all keys, so it lists them by bytes
// instead of by name.
func (l *Pane) search(q query) {
	if q.order == catalog.ByName && q.filter.isSized() {
		q.order, q.reverse = catalog.ByBytes, false
	}
	if q == l.query && !l.halted {
		return
	}
	match, err := q.filter.matcher()
	if err != nil {
		l.Failure = err.Error()
		return
	}
	for _, p := range []job.Purpose{job.Scanning, job.Sorting, job.Listing, job.CountingFolder, job.MeasuringFolder} {
		l.Cancel(p)
	}
	was := l.query
	l.pendingRow = row{}
	l.show(q)
	l.chooseSource(was, match)
}

// searchKeepingCursor lists q with the cursor on the same key. If no key is selected, it uses the row
// selected before the filter was edited.
func (l *Pane) searchKeepingCursor(q query) {
	at := l.cursorRow()
	if at.Name == "" || q.HasFilter() {
		at = l.rowBeforeEdit
	}
	l.rowBeforeEdit = row{}
	was := l.query
	if l.search(q); at.Name == "" || l.query != q || was == q {
		return
	}
	if !l.tree() {
		at.level, at.depth = "", 0
	} else if !at.Folder {
		l.openFoldersOf(&at)
	}
	switch {
	case at.Folder && !l.tree():
		return
	case !at.Folder && l.order == catalog.ByName && !q.HasFilter():
		l.reveal(at.Name)
	case l.sorted != nil && l.isSorting():
		l.pendingRow = at
		return
	default:
		l.addToScan(at)
		l.rows = nil
		l.seek(l.walker(), at)
	}
	l.keyPressed = true
	l.rows[0].stale = true
}

// cursorRow returns the selected row, or a row without a name.
func (l *Pane) cursorRow() row {
	if r := l.selected(); r != nil && r.gone == 0 && l.shown != rowsPrevious {
		return *r
	}
	return row{}
}

// chooseSource decides whether q needs a scan or a sort, and starts it. A scan of all keys is reused
// for any order that its facts suffice for.
func (l *Pane) chooseSource(was query, match func(string) bool) {
	q := l.query
	cq := l.catalogQuery(q, match)
	alike := was.filters() == q.filters() && was.order == q.order
	if l.Index != nil && (was.needle != q.needle || was.find != q.find) {
		l.scan = nil
	}
	switch {
	case q.needle != "" && l.scan != nil && was.filters() == q.filters():
		l.scan.reorder(cq)
	case q.needle != "":
		l.closeSort()
		l.scan = l.valueScan(q, cq, match)
	case q.find.index != "" && l.scan != nil && was.filters() == q.filters() && l.scan.canOrder(cq):
		l.scan.reorder(cq)
	case q.find.index != "":
		l.closeSort()
		l.scan = newScan(cq, l.foundFeed(q, match), l.MaxScanned)
	case l.Index != nil && cq.Indexed() && (!q.tree() || q.order == catalog.ByName):
		l.closeSort()
	case l.sorted != nil && alike && was.tree() == q.tree() && (was.reverse == q.reverse || !q.tree() && !l.isSorting()):
		// The keys of a flat list can be read from either end.
	case l.Index != nil:
		l.sortBy(cq)
	case l.scan != nil && alike && was.reverse == q.reverse:
		// Only the tree was switched on or off.
	case l.scan != nil && l.scan.canOrder(cq) && was.filters() == q.filters():
		l.scan.reorder(cq)
	default:
		l.scan = newScan(cq, l.scanFeed(q, match), l.MaxScanned)
	}
}

// listedMsg carries the result of a load.
type listedMsg struct {
	walker *walker
	load   load
	rowPage
}

// list loads rows in a job.
func (l *Pane) list(what load) tea.Cmd {
	w := l.walker()
	at, back, n := l.loadRange(w, what)
	return l.Start(job.Listing, func(ctx context.Context) (tea.Msg, error) {
		s, err := w.walk(ctx, at, back, n)
		return listedMsg{w, what, s}, err
	})
}

func (l *Pane) onListed(r listedMsg) {
	first := l.shown == rowsPrevious
	was := l.selectedKey()
	l.takeTotals(r.rows)
	l.add(r.walker, r.load, r.rowPage)
	if r.load == loadSame && was.Name != "" && l.scan != nil && l.scan.keys.has(was.Name) && l.rowIndex(was.Name, false) < 0 {
		l.seek(r.walker, was) // many keys were found before it
	}
	if r.load == loadLast && !r.walker.tree && !l.atHead {
		l.firstIndex = l.rowsBefore()
	}
	// A single folder at the root is opened: only its contents are informative.
	if rows := l.rows; first && r.walker.tree && len(rows) == 1 && rows[0].Folder && l.atEnd && len(l.open) == 0 {
		l.toggle(rows[0])
	}
	l.openChain()
}

// takeTotals stores the totals of folders that came with their rows.
func (l *Pane) takeTotals(rows []row) {
	for _, r := range rows {
		if f := r.Facts; r.Folder && f.Size > 0 {
			t := tally{keys: f.Size, countedAt: l.Now, counted: upToDate}
			if f.Bytes >= 0 {
				t.bytes, t.sized = f.Bytes, upToDate
			}
			l.tallies[r.Name] = t
		}
	}
}

// rowsBefore returns the number of rows before a window that ends with the last row, or -1 if it is
// unknown.
func (l *Pane) rowsBefore() int64 {
	n := int64(-1)
	switch {
	case l.scan != nil:
		n = int64(l.scan.keys.len())
	case l.sorted != nil:
		n = l.sorted.Len()
	case !l.HasFilter():
		n = l.Total
	}
	return max(n-int64(len(l.rows)), -1)
}

// talliedMsg carries the number of keys in a folder.
type talliedMsg struct {
	folder string
	keys   int64
}

// tally counts the keys of a folder in a job.
func (l *Pane) tally(folder string) tea.Cmd {
	w := l.walker()
	return l.Start(job.CountingFolder, func(ctx context.Context) (tea.Msg, error) {
		n, err := w.keys.Count(ctx, w.query.DB, folder)
		return talliedMsg{folder, n}, err
	})
}

func (l *Pane) onTallied(c talliedMsg) {
	t := l.tallies[c.folder]
	t.keys, t.countedAt, t.counted = c.keys, l.Now, upToDate
	l.tallies[c.folder] = t
	if i := l.rowIndex(c.folder, true); c.keys == 0 && i >= 0 && l.rows[i].gone == 0 {
		// All its keys have expired.
		l.rows[i].gone = l.Now
	}
}

// Fill starts the jobs whose results the list needs.
func (l *Pane) Fill() tea.Cmd {
	var cmds []tea.Cmd
	l.followSpan()
	if s := l.scan; s != nil && !s.done && !s.paused() && !l.halted && !l.Running(job.Scanning) && !l.Conn.Refusals.Has("SCAN") {
		cmds = append(cmds, l.scanPage())
	}
	if l.isSorting() && !l.halted && !l.Running(job.Sorting) {
		cmds = append(cmds, l.sortMore())
	}
	if what := l.nextLoad(); what != loadNone && !l.Running(job.Listing) && l.canList(what) {
		cmds = append(cmds, l.list(what))
	}
	if missing := l.undescribed(); len(missing) > 0 && !l.Running(job.Describing) {
		cmds = append(cmds, l.describe(missing))
	}
	folder, uncounted := l.uncounted()
	if uncounted && !l.Running(job.CountingFolder) && !l.Running(job.Listing) {
		cmds = append(cmds, l.tally(folder))
	}
	if l.canMeasureNow() && !uncounted && !l.Running(job.Listing) && !l.Running(job.MeasuringFolder) && !l.Running(job.Summarizing) && !l.Running(job.Writing) {
		cmds = append(cmds, l.sumBytes())
	}
	return tea.Batch(cmds...)
}

// reveal selects a key in the list and opens its folders.
func (l *Pane) reveal(name string) {
	if l.HasFilter() || l.order != catalog.ByName {
		return // the list may not contain it
	}
	r := row{Entry: catalog.Entry{Name: name, Mark: catalog.Mark{Set: true, Name: name}}}
	l.openFoldersOf(&r)
	l.addToScan(r)
	l.rows = nil
	l.Cancel(job.Listing)
	l.seek(l.walker(), r)
	l.rows[0].stale = true
}

// openFoldersOf opens the folders of a key in the tree and places its row in them.
func (l *Pane) openFoldersOf(r *row) {
	if !l.tree() {
		return
	}
	r.level, r.depth = "", 0
	for folder := catalog.FolderOf(r.Name, "", l.Delimiter); folder != ""; folder = catalog.FolderOf(r.Name, r.level, l.Delimiter) {
		l.open[folder] = r.level
		r.level = folder
		r.depth++
	}
}

// addToScan adds a key to the scanned keys: the scan may not have reached it yet.
func (l *Pane) addToScan(r row) {
	if l.scan != nil {
		l.scan.addKnown(r.Entry)
	}
}
