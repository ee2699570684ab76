package keys

import (
	"slices"

	"github.com/meowdis/meowdis/keyspace/catalog"
)

// query is what the list shows of a database, and how.
type query struct {
	filter  filter
	kind    string // "": all types
	life    catalog.Life
	needle  string // what the values hold; "" for anything
	order   catalog.Order
	reverse bool
	flat    bool // no tree, even where there could be one
}

// Chooses reports whether q leaves keys out.
func (q query) Chooses() bool {
	return q.filter.text != "" || q.kind != "" || q.life != catalog.AnyLife || q.needle != ""
}

// filters is q as far as it leaves keys out.
func (q query) filters() query {
	return query{filter: q.filter, kind: q.kind, life: q.life, needle: q.needle}
}

// unfiltered is q without what leaves keys out.
func (q query) unfiltered() query {
	q.filter, q.kind, q.life, q.needle = filter{mode: q.filter.mode}, "", catalog.AnyLife, ""
	return q
}

// tree reports whether folders are shown: only where the names make the order, and
// none is left out.
func (q query) tree() bool { return !q.flat && !q.Chooses() && q.order == catalog.ByName && !q.reverse }

// window is a window on the rows of a query, around the screen, and where the
// person is in it. However many rows there are, the window is small.
type window struct {
	query
	open        map[string]string // open folders, and the level of each
	autoOpened  map[string]bool   // those of them that were opened with the one that they are all of
	justOpened  string            // the folder whose rows are looked at for that when they come; "" for none
	rows        []row
	prevPage    anchor   // where the rows before the window begin, backwards
	nextPage    anchor   // where the rows after the window begin
	atHead      bool     // the window begins with the first row
	atEnd       bool     // the window ends with the last row
	firstIndex  int64    // how many rows stand before the window; -1 while unknown
	jump        jump     // what is loaded before all else
	shown       rowState // whether the rows are those that the person asked for
	dirty       bool     // the rows changed while they were being loaded
	keyPressed  bool     // the person has pressed a key since the query began
	pendingMove int      // how far the person moved beyond the rows that are there
	drawnCount  int      // how many keys had been gathered, or sorted, when rows were made
	readCount   int64    // how many names were looked at for the rows, where a filter leaves most out
	halted      bool     // a job failed or was cancelled: nothing starts by itself
	cursor      int      // the selected row
	top         int      // the first row on the screen
	height      int      // rows on the screen
	centre      bool     // the selected row goes to the middle of the screen when those before it come

	marked  marks
	span    *span            // the range that is being marked; nil while none is
	tallies map[string]tally // how many keys the folders hold, as far as they were counted
}

// tally is how much is in a folder.
type tally struct {
	keys      int64
	countedAt int64 // when it was counted, Unix ms
	counted   freshness
	bytes     int64 // of names and values
	sized     freshness
	sampled   int64 // from how many keys the bytes are estimated; 0: they are no estimate
}

// freshness is how far a number can be relied on.
type freshness int

const (
	unknown  freshness = iota // it was never found out
	upToDate                  // nothing is known to have changed since
	outdated                  // it is shown until it is found out again
)

// markOutdated lets a number that is known be found out again.
func (f *freshness) markOutdated() {
	if *f == upToDate {
		*f = outdated
	}
}

// show begins with the first rows of q. What is shown stays until they come.
func (l *window) show(q query) {
	l.query = q
	l.halted, l.keyPressed, l.readCount, l.pendingMove, l.span = false, false, 0, 0, nil
	l.startQuery()
}

// clear forgets everything but the query, which starts again.
func (l *window) clear() {
	*l = window{query: l.query, height: l.height, open: map[string]string{}, autoOpened: map[string]bool{}, tallies: map[string]tally{}, firstIndex: -1}
	l.show(l.query)
}

// refresh loads the window anew and counts the folders again.
func (l *window) refresh(loading bool) {
	l.reload(loading)
	l.halted = false
	for name, t := range l.tallies {
		t.counted.markOutdated()
		t.sized.markOutdated()
		l.tallies[name] = t
	}
}

// reload loads the window anew. What is being loaded already may be out of date,
// and is loaded once more.
func (l *window) reload(loading bool) {
	l.dirty = loading
	l.reloadSame()
}

// How often a folder is counted while others change the data: a big one takes a
// while.
const (
	bigFolder  = 100_000
	countEvery = 10_000 // ms
	countsInMs = 20     // keys that may be counted for each ms that passes
)

// recount lets the folders be counted again, the big ones now and then; their bytes, too,
// where that costs nothing.
func (l *window) recount(now int64, sizes bool) {
	for name, t := range l.tallies {
		small := t.keys < bigFolder
		if small && sizes {
			t.sized.markOutdated()
		}
		if small || now-t.countedAt >= max(countEvery, t.keys/countsInMs) {
			t.counted.markOutdated()
		}
		l.tallies[name] = t
	}
}

// nextLoad is what to load next.
func (l *window) nextLoad() load {
	switch {
	case l.halted:
		return loadNone
	case l.jump != noJump:
		return l.jump.load()
	case !l.atEnd && len(l.rows) < l.top+2*l.height:
		return loadAfter
	case !l.atHead && l.top < l.height:
		return loadBefore
	}
	return loadNone
}

// loadRange is where the load begins, whether it goes backwards, and how many rows it
// should find.
func (l *window) loadRange(w *walker, what load) (at anchor, back bool, n int) {
	n = max(3*l.height, 50)
	switch what {
	case loadLast:
		return anchor{}, true, n
	case loadAfter:
		return l.nextPage, false, n
	case loadBefore:
		return l.prevPage, true, n
	case loadSame:
		n = max(n, len(l.rows))
		if !l.atHead && len(l.rows) > 0 {
			return w.after(l.rows[0]), false, n
		}
	}
	return anchor{}, false, n
}

// add takes in what a load found.
func (l *window) add(w *walker, what load, s rowPage) {
	l.readCount += int64(s.looked)
	switch what {
	case loadAfter:
		l.rows = append(l.rows, s.rows...)
		l.nextPage, l.atEnd = s.next, s.end
		l.trimHead(w)
	case loadBefore:
		l.rows = append(s.rows, l.rows...)
		l.prevPage, l.atHead = s.next, s.end
		l.cursor += len(s.rows)
		if l.top += len(s.rows); l.centre {
			l.top, l.centre = l.cursor-l.height/2, false
		}
		if l.firstIndex >= 0 {
			l.firstIndex -= int64(len(s.rows))
		}
		l.trimTail(w)
	default:
		l.replace(what, s)
		l.onJumpLoaded(what)
	}
	if l.atHead {
		l.firstIndex = 0
	}
	if l.dirty {
		l.dirty = false
		l.reloadSame()
	}
	if l.clamp(); l.pendingMove != 0 {
		l.Move(0)
	}
}

// replace puts the rows of a jump in place of the window.
func (l *window) replace(what load, s rowPage) {
	selected, offset := l.selected(), l.cursor-l.top
	var name string
	var folder bool
	if selected != nil {
		name, folder = selected.Name, selected.Folder
	}
	stay := l.keepsCursor()
	switch {
	case what == loadLast:
		l.rows, l.prevPage, l.atHead, l.atEnd, l.firstIndex = s.rows, s.next, s.end, true, -1
		l.cursor = len(l.rows) - 1
		l.top = l.cursor - l.height + 1
	case what == loadSame && !l.atHead && len(l.rows) > 0:
		l.rows = append(l.rows[:1:1], s.rows...)
		l.nextPage, l.atEnd, l.firstIndex = s.next, s.end, -1
	default:
		l.rows, l.nextPage, l.atHead, l.atEnd, l.firstIndex = s.rows, s.next, true, s.end, 0
	}
	switch i := l.rowIndex(name, folder); {
	case what == loadLast:
	case stay && i >= 0:
		l.cursor, l.top = i, i-offset
	case !stay:
		l.cursor, l.top = 0, 0
	}
}

// rowIndex is the row of a name, -1 when it is not in the window.
func (l *window) rowIndex(name string, folder bool) int {
	return slices.IndexFunc(l.rows, func(r row) bool { return r.Name == name && r.Folder == folder })
}

// minRows is how many rows are kept at least.
func (l *window) minRows() int { return max(8*l.height, 400) }

func (l *window) trimHead(w *walker) {
	drop := min(len(l.rows)-l.minRows(), l.top-2*l.height)
	if drop <= 0 {
		return
	}
	l.rows = slices.Clone(l.rows[drop:])
	l.top -= drop
	l.cursor -= drop
	l.atHead, l.prevPage = false, w.before(l.rows[0])
	if l.firstIndex >= 0 {
		l.firstIndex += int64(drop)
	}
}

func (l *window) trimTail(w *walker) {
	keep := max(l.minRows(), l.top+3*l.height, l.cursor+1)
	if len(l.rows) <= keep {
		return
	}
	l.rows = slices.Clone(l.rows[:keep])
	l.atEnd, l.nextPage = false, w.after(l.rows[keep-1])
}

// seek goes to a row that may be anywhere: the window begins with it, and the rows
// around it come.
func (l *window) seek(w *walker, r row) {
	if i := l.rowIndex(r.Name, r.Folder); i >= 0 {
		l.cursor = i
		l.clamp()
		return
	}
	l.rows, l.cursor, l.top, l.firstIndex, l.centre = []row{r}, 0, 0, -1, true
	l.atHead, l.atEnd, l.pendingMove = false, false, 0
	l.finishJump()
	l.prevPage, l.nextPage = w.before(r), w.after(r)
}

// selected is the row under the cursor, nil when there is none.
func (l *window) selected() *row {
	if l.cursor < 0 || l.cursor >= len(l.rows) {
		return nil
	}
	return &l.rows[l.cursor]
}

// selectedKey is the row of the key that the person has gone to; one without a name where
// they have not.
func (l *window) selectedKey() row {
	if r := l.selected(); r != nil && !r.Folder && l.keepsCursor() {
		return *r
	}
	return row{}
}

// visible is what is on the screen.
func (l *window) visible() []row {
	from := min(max(l.top, 0), len(l.rows))
	return l.rows[from:min(from+l.height, len(l.rows))]
}

// undescribed is the names on the screen of which nothing more is known.
func (l *window) undescribed() []string {
	if l.halted {
		return nil
	}
	var missing []string
	for _, r := range l.visible() {
		if !r.Folder && r.gone == 0 && (r.stale || r.Facts.Type == "") {
			missing = append(missing, r.Name)
		}
	}
	return missing
}

// uncounted is a folder on the screen whose keys are to be counted, the selected
// one first.
func (l *window) uncounted() (string, bool) {
	if l.halted {
		return "", false
	}
	wants := func(r row) bool { return r.Folder && l.tallies[r.Name].counted != upToDate }
	if r := l.selected(); r != nil && wants(*r) {
		return r.Name, true
	}
	for _, r := range l.visible() {
		if wants(r) {
			return r.Name, true
		}
	}
	return "", false
}

// Move goes n rows down, or up when n is negative: as far as rows are there, and the rest of
// the way when more of them come.
func (l *window) Move(n int) {
	l.halted = false
	n += l.pendingMove
	if l.pendingMove = 0; l.shown != rowsCurrent {
		l.pendingMove = max(min(n, maxScreensAhead*l.height), -maxScreensAhead*l.height)
		return
	}
	l.cursor += n
	switch last := max(len(l.rows)-1, 0); {
	case l.cursor > last && !l.atEnd:
		l.pendingMove = min(l.cursor-last, maxScreensAhead*l.height)
	case l.cursor < 0 && !l.atHead:
		l.pendingMove = max(l.cursor, -maxScreensAhead*l.height)
	}
	l.clamp()
}

// maxScreensAhead is how many screens a person can be ahead of what is loaded.
const maxScreensAhead = 10

// Home goes to the first row, which may have to be loaded.
func (l *window) Home() {
	l.halted, l.pendingMove = false, 0
	if l.atHead && l.shown == rowsCurrent {
		l.Move(-l.cursor)
		return
	}
	l.readCount = 0
	l.jumpTo(jumpFirst)
}

// End goes to the last row, which may have to be loaded.
func (l *window) End() {
	l.halted, l.pendingMove = false, 0
	if l.atEnd && l.shown == rowsCurrent {
		l.Move(len(l.rows))
		return
	}
	l.readCount = 0
	l.jumpTo(jumpLast)
}

// clamp keeps the cursor on a row, and the screen around it.
func (l *window) clamp() {
	n := len(l.rows)
	l.cursor = max(min(l.cursor, n-1), 0)
	l.top = max(min(l.top, l.cursor), l.cursor-l.height+1, 0)
	if l.atEnd {
		l.top = max(min(l.top, n-l.height), 0)
	}
}

// dropFaded removes the rows that faded at now.
func (l *window) dropFaded(now int64) (dropped int) {
	selected := l.cursor
	kept := l.rows[:0]
	for i, r := range l.rows {
		if r.gone == 0 || now < r.gone+fadeMs {
			kept = append(kept, r)
			continue
		}
		dropped++
		if i < selected {
			l.cursor--
		}
	}
	l.rows = kept
	if dropped > 0 {
		l.clamp()
	}
	return dropped
}

// fadeMs is for how long a key that is gone stays on the screen, in ms.
const fadeMs = 3000

// toggle opens a folder, or closes it with all the folders in it.
func (l *window) toggle(r row) {
	if l.justOpened = ""; !l.isOpen(r) {
		l.open[r.Name], l.justOpened = r.level, r.Name
	} else {
		l.closeFolder(r.Name)
	}
	l.halted = false
	l.jumpTo(keepRow)
}

func (l *window) isOpen(r row) bool {
	_, open := l.open[r.Name]
	return r.Folder && open
}

// openChain opens what is in the folder that was opened, when that is a single folder.
func (l *window) openChain() {
	i := l.rowIndex(l.justOpened, true)
	if l.justOpened == "" || l.jump != noJump {
		return
	}
	level, below := l.justOpened, l.rows[i+1:]
	if l.justOpened = ""; i < 0 || len(below) == 0 || below[0].level != level || !below[0].Folder || l.isOpen(below[0]) {
		return
	}
	if only := len(below) == 1 && l.atEnd || len(below) > 1 && below[1].level != level; !only {
		return
	}
	if l.cursor == i {
		l.cursor++
	}
	l.toggle(below[0])
	l.autoOpened[below[0].Name] = true
}

// chainHead is the folder with which one was opened.
func (l *window) chainHead(folder string) string {
	for l.autoOpened[folder] {
		folder = l.open[folder]
	}
	return folder
}

// closeFolder closes a folder, and those in it.
func (l *window) closeFolder(folder string) {
	delete(l.open, folder)
	delete(l.autoOpened, folder)
	for inner, level := range l.open {
		if level == folder {
			l.closeFolder(inner)
		}
	}
}
