package keys

import (
	"slices"
)

// window holds the rows of a query around the screen, and the cursor. Its size does not depend on the
// number of rows.
type window struct {
	folders
	loadedRows
	scrolling

	query
	shown      rowState // whether the rows are the ones the user asked for
	dirty      bool     // the rows changed while they were loading
	keyPressed bool     // the user pressed a key since the query started
	halted     bool     // a job failed or was cancelled: no job starts by itself

	marked marks
	span   *span // the range being marked; nil for none
}

// folders holds the folders of the tree.
type folders struct {
	open       map[string]string // the open folders, each with its parent folder
	autoOpened map[string]bool   // the open folders that were opened together with their only parent
	justOpened string            // a folder just opened: if it holds a single folder, that opens too; "" for none
	tallies    map[string]tally  // the key counts of the folders counted so far
}

// loadedRows holds the rows in memory, and the starts of the rows around them.
type loadedRows struct {
	rows       []row
	prevPage   anchor // where the rows before the window start, backwards
	nextPage   anchor // where the rows after the window start
	atHead     bool   // the window starts with the first row
	atEnd      bool   // the window ends with the last row
	firstIndex int64  // the number of rows before the window; -1 while unknown
	jump       jump   // the rows to load first
	drawnCount int    // the number of keys scanned or sorted when the rows were made
	readCount  int64  // the number of names read for the rows, if a filter leaves most out
}

// scrolling places the rows on the screen.
type scrolling struct {
	pendingMove int  // rows still to move once they are loaded
	cursor      int  // the selected row
	top         int  // the first row on the screen
	height      int  // rows on the screen
	centre      bool // centre the selected row when the rows before it are loaded
}

// tally holds the number of keys in a folder and their size.
type tally struct {
	keys      int64
	countedAt int64 // Unix ms
	counted   freshness
	bytes     int64 // of names and values
	sized     freshness
	sampled   int64 // the number of keys that bytes is estimated from; 0: bytes is exact
}

// freshness marks a number as current or outdated.
type freshness int

const (
	unknown  freshness = iota // never computed
	upToDate                  // no later change is known
	outdated                  // shown until it is computed again
)

// markOutdated lets a known number be computed again.
func (f *freshness) markOutdated() {
	if *f == upToDate {
		*f = outdated
	}
}

// show starts with the first rows of q. The current rows stay until they are loaded.
func (l *window) show(q query) {
	l.query = q
	l.halted, l.keyPressed, l.readCount, l.pendingMove, l.span = false, false, 0, 0, nil
	l.startQuery()
}

// clear drops everything except the query, which starts again.
func (l *window) clear() {
	*l = window{query: l.query, scrolling: scrolling{height: l.height}, folders: folders{open: map[string]string{}, autoOpened: map[string]bool{}, tallies: map[string]tally{}}, loadedRows: loadedRows{firstIndex: -1}}
	l.show(l.query)
}

// refresh reloads the window and counts the folders again.
func (l *window) refresh(loading bool) {
	l.reload(loading)
	l.halted = false
	for name, t := range l.tallies {
		t.counted.markOutdated()
		t.sized.markOutdated()
		l.tallies[name] = t
	}
}

// reload reloads the window. If a load is running, its result may be out of date, so a second load
// follows.
func (l *window) reload(loading bool) {
	l.dirty = loading
	l.reloadSame()
}

// How often a folder is counted while other clients change the data: counting a large folder takes a
// while.
const (
	bigFolder  = 100_000
	countEvery = 10_000 // ms
	countsInMs = 20     // keys that may be counted per ms since the last count
)

// recount lets the folders be counted again, large folders less often. With sizes, the bytes of small
// folders are computed again too; this is set where it is cheap.
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

// nextLoad returns what to load next.
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

// loadRange returns where a load starts, whether it goes backwards, and how many rows it should return.
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

// add stores the result of a load.
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

// replace replaces the window with the rows of a jump.
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

// rowIndex returns the index of the row called name, or -1 if it is not in the window.
func (l *window) rowIndex(name string, folder bool) int {
	return slices.IndexFunc(l.rows, func(r row) bool { return r.Name == name && r.Folder == folder })
}

// minRows returns the least number of rows kept in memory.
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

// seek moves to a row that may be anywhere. The window starts with that row, and the rows around it
// load next.
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

// selected returns the row at the cursor, or nil.
func (l *window) selected() *row {
	if l.cursor < 0 || l.cursor >= len(l.rows) {
		return nil
	}
	return &l.rows[l.cursor]
}

// selectedKey returns the key row that the user moved to, or a row without a name.
func (l *window) selectedKey() row {
	if r := l.selected(); r != nil && !r.Folder && l.keepsCursor() {
		return *r
	}
	return row{}
}

// visible returns the rows on the screen.
func (l *window) visible() []row {
	from := min(max(l.top, 0), len(l.rows))
	return l.rows[from:min(from+l.height, len(l.rows))]
}

// undescribed returns the names on the screen whose facts are missing or stale.
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

// uncounted returns a folder on the screen that is not counted yet, the selected one first.
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

// Move moves n rows down, or up if n is negative. The part beyond the loaded rows follows when they
// load.
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

// maxScreensAhead bounds how many screens the user can move ahead of the loaded rows.
const maxScreensAhead = 10

// Home moves to the first row, and loads it if necessary.
func (l *window) Home() {
	l.halted, l.pendingMove = false, 0
	if l.atHead && l.shown == rowsCurrent {
		l.Move(-l.cursor)
		return
	}
	l.readCount = 0
	l.jumpTo(jumpFirst)
}

// End moves to the last row, and loads it if necessary.
func (l *window) End() {
	l.halted, l.pendingMove = false, 0
	if l.atEnd && l.shown == rowsCurrent {
		l.Move(len(l.rows))
		return
	}
	l.readCount = 0
	l.jumpTo(jumpLast)
}

// clamp keeps the cursor on a row and the screen around the cursor.
func (l *window) clamp() {
	n := len(l.rows)
	l.cursor = max(min(l.cursor, n-1), 0)
	l.top = max(min(l.top, l.cursor), l.cursor-l.height+1, 0)
	if l.atEnd {
		l.top = max(min(l.top, n-l.height), 0)
	}
}

// dropFaded removes the rows that have faded by now and returns their number.
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

// fadeMs sets how long a deleted key stays on the screen, in ms.
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

// openChain opens the only entry of the folder just opened, if that entry is a folder.
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

// chainHead returns the folder that folder was opened together with.
func (l *window) chainHead(folder string) string {
	for l.autoOpened[folder] {
		folder = l.open[folder]
	}
	return folder
}

// closeFolder closes a folder and the folders in it.
func (l *window) closeFolder(folder string) {
	delete(l.open, folder)
	delete(l.autoOpened, folder)
	for inner, level := range l.open {
		if level == folder {
			l.closeFolder(inner)
		}
	}
}
