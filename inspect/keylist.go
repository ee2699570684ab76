package inspect

import (
	"slices"

	"github.com/meowdis/meowdis/catalog"
)

// query is what the list shows of a database, and how.
type query struct {
	filter  filter
	kind    string // "": all types
	life    catalog.Life
	order   catalog.Order
	reverse bool
	flat    bool // no tree, even where there could be one
}

// chooses reports whether q leaves keys out.
func (q query) chooses() bool {
	return q.filter.text != "" || q.kind != "" || q.life != catalog.AnyLife
}

// tree reports whether folders are shown: only where the names make the order, and
// none is left out.
func (q query) tree() bool { return !q.flat && !q.chooses() && q.order == catalog.ByName && !q.reverse }

// load is rows that the list waits for.
type load int

const (
	nothingMore load = iota
	fromHead         // the first rows
	fromTail         // the last rows
	again            // the same rows anew
	more             // rows behind the last one
	less             // rows before the first one
)

// keyList is a window on the rows of a query, around the screen, and where the
// person is in it. However many rows there are, the window is small.
type keyList struct {
	query
	open    map[string]string // open folders, and the level of each
	rows    []row
	up      anchor // where the rows before the window begin, backwards
	down    anchor // where the rows behind the window begin
	atHead  bool   // the window begins with the first row
	atEnd   bool   // the window ends with the last row
	base    int64  // how many rows stand before the window; -1 while unknown
	jump    load   // what is to be loaded before all else
	stay    bool   // the jump keeps the selected row
	dirty   bool   // the rows changed while they were being loaded
	stale   bool   // rows are those of the query before
	asked   bool   // the person asked for what the jump loads
	touched bool   // the person has pressed a key since the query began
	owed    int    // how far the person moved beyond the rows that are there
	drawn   int    // how many keys had been gathered, or sorted, when rows were made
	looked  int64  // how many names were looked at for the rows, where a filter leaves most out
	halted  bool   // a job failed or was cancelled: nothing starts by itself
	cursor  int    // the selected row
	top     int    // the first row on the screen
	height  int    // rows on the screen

	marked  map[string]bool  // the names that are chosen, folders with their keys
	tallies map[string]tally // how many keys the folders hold, as far as they were counted
}

// tally is how much is in a folder.
type tally struct {
	keys    int64
	at      int64 // when it was counted, Unix ms
	stale   bool  // to be counted again
	bytes   int64 // of names and values
	sized   bool  // bytes were added up
	resized bool  // and are to be again
}

// show begins with the first rows of q. What is shown stays until they come.
func (l *keyList) show(q query) {
	l.query = q
	l.jump, l.stay, l.stale, l.asked, l.halted, l.touched, l.looked, l.owed = fromHead, false, true, true, false, false, 0, 0
}

// clear forgets everything but the query, which starts again.
func (l *keyList) clear() {
	*l = keyList{query: l.query, height: l.height, open: map[string]string{}, tallies: map[string]tally{}, marked: map[string]bool{}, base: -1}
	l.show(l.query)
}

// refresh loads the window anew and counts the folders again.
func (l *keyList) refresh(loading bool) {
	l.reload(loading)
	l.halted = false
	for name, t := range l.tallies {
		t.stale, t.resized = true, true
		l.tallies[name] = t
	}
}

// reload loads the window anew. What is being loaded already may be out of date,
// and is loaded once more.
func (l *keyList) reload(loading bool) {
	l.dirty = loading
	if l.jump == nothingMore {
		l.jump, l.stay = again, true
	}
}

// How often a folder is counted while others change the data: a big one takes a
// while.
const (
	bigFolder  = 100_000
	countEvery = 10_000 // ms
	countsInMs = 20     // keys that may be counted for each ms that passes
)

// recount lets the folders be counted again, the big ones now and then.
func (l *keyList) recount(now int64) {
	for name, t := range l.tallies {
		small := t.keys < bigFolder
		if small || now-t.at >= max(countEvery, t.keys/countsInMs) {
			t.stale, t.resized = true, t.resized || small
			l.tallies[name] = t
		}
	}
}

// wants is what to load next.
func (l *keyList) wants() load {
	switch {
	case l.halted:
		return nothingMore
	case l.jump != nothingMore:
		return l.jump
	case !l.atEnd && len(l.rows) < l.top+2*l.height:
		return more
	case !l.atHead && l.top < l.height:
		return less
	}
	return nothingMore
}

// from is where the load begins, whether it goes backwards, and how many rows it
// should find.
func (l *keyList) from(w *walker, what load) (at anchor, back bool, n int) {
	n = max(3*l.height, 50)
	switch what {
	case fromTail:
		return anchor{}, true, n
	case more:
		return l.down, false, n
	case less:
		return l.up, true, n
	case again:
		n = max(n, len(l.rows))
		if !l.atHead && len(l.rows) > 0 {
			return w.behind(l.rows[0]), false, n
		}
	}
	return anchor{}, false, n
}

// add takes in what a load found.
func (l *keyList) add(w *walker, what load, s stretch) {
	l.looked += int64(s.looked)
	switch what {
	case more:
		l.rows = append(l.rows, s.rows...)
		l.down, l.atEnd = s.next, s.end
		l.trimHead(w)
	case less:
		l.rows = append(s.rows, l.rows...)
		l.up, l.atHead = s.next, s.end
		l.cursor += len(s.rows)
		l.top += len(s.rows)
		if l.base >= 0 {
			l.base -= int64(len(s.rows))
		}
		l.trimTail(w)
	default:
		if l.jump == what {
			l.jump, l.asked = nothingMore, false // else the person wants to be elsewhere by now
		}
		l.replace(what, s)
	}
	if l.atHead {
		l.base = 0
	}
	if l.dirty {
		l.dirty, l.jump, l.stay = false, again, true
	}
	if l.clamp(); l.owed != 0 {
		l.move(0)
	}
}

// replace puts the rows of a jump in place of the window.
func (l *keyList) replace(what load, s stretch) {
	selected, offset := l.selected(), l.cursor-l.top
	var name string
	var folder bool
	if selected != nil {
		name, folder = selected.Name, selected.Folder
	}
	stay := l.stay && !l.stale && l.touched // who has done nothing yet is at the first row
	switch {
	case what == fromTail:
		l.rows, l.up, l.atHead, l.atEnd, l.base = s.rows, s.next, s.end, true, -1
		l.cursor = len(l.rows) - 1
		l.top = l.cursor - l.height + 1
	case what == again && !l.atHead && len(l.rows) > 0:
		l.rows = append(l.rows[:1:1], s.rows...)
		l.down, l.atEnd, l.base = s.next, s.end, -1
	default:
		l.rows, l.down, l.atHead, l.atEnd, l.base = s.rows, s.next, true, s.end, 0
	}
	l.stale = false
	switch i := l.find(name, folder); {
	case what == fromTail:
	case stay && i >= 0:
		l.cursor, l.top = i, i-offset
	case !stay:
		l.cursor, l.top = 0, 0
	}
}

// find is the row of a name, -1 when it is not in the window.
func (l *keyList) find(name string, folder bool) int {
	return slices.IndexFunc(l.rows, func(r row) bool { return r.Name == name && r.Folder == folder })
}

// windowed is how many rows are kept at least.
func (l *keyList) windowed() int { return max(8*l.height, 400) }

func (l *keyList) trimHead(w *walker) {
	drop := min(len(l.rows)-l.windowed(), l.top-2*l.height)
	if drop <= 0 {
		return
	}
	l.rows = slices.Clone(l.rows[drop:])
	l.top -= drop
	l.cursor -= drop
	l.atHead, l.up = false, w.before(l.rows[0])
	if l.base >= 0 {
		l.base += int64(drop)
	}
}

func (l *keyList) trimTail(w *walker) {
	keep := max(l.windowed(), l.top+3*l.height, l.cursor+1)
	if len(l.rows) <= keep {
		return
	}
	l.rows = slices.Clone(l.rows[:keep])
	l.atEnd, l.down = false, w.behind(l.rows[keep-1])
}

// seek goes to a row that may be anywhere: the window begins with it, and the rows
// around it come.
func (l *keyList) seek(w *walker, r row) {
	if i := l.find(r.Name, r.Folder); i >= 0 {
		l.cursor = i
		l.clamp()
		return
	}
	l.rows, l.cursor, l.top, l.base = []row{r}, 0, 0, -1
	l.atHead, l.atEnd, l.jump, l.asked, l.owed = false, false, nothingMore, false, 0
	l.up, l.down = w.before(r), w.behind(r)
}

// selected is the row under the cursor, nil when there is none.
func (l *keyList) selected() *row {
	if l.cursor < 0 || l.cursor >= len(l.rows) {
		return nil
	}
	return &l.rows[l.cursor]
}

// standing is the row of the key that the person has gone to; one without a name where
// they have not.
func (l *keyList) standing() row {
	if r := l.selected(); r != nil && !r.Folder && l.touched && l.stay && !l.stale {
		return *r
	}
	return row{}
}

// visible is what is on the screen.
func (l *keyList) visible() []row {
	from := min(max(l.top, 0), len(l.rows))
	return l.rows[from:min(from+l.height, len(l.rows))]
}

// undescribed is the names on the screen of which nothing more is known.
func (l *keyList) undescribed() []string {
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
func (l *keyList) uncounted() (string, bool) {
	if l.halted {
		return "", false
	}
	wants := func(r row) bool {
		t, known := l.tallies[r.Name]
		return r.Folder && (!known || t.stale)
	}
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

// move goes n rows down, or up when n is negative: as far as rows are there, and the rest of
// the way when more of them come.
func (l *keyList) move(n int) {
	l.halted = false
	n += l.owed
	if l.owed = 0; l.asked {
		l.owed = max(min(n, mostOwed*l.height), -mostOwed*l.height)
		return
	}
	l.cursor += n
	switch last := max(len(l.rows)-1, 0); {
	case l.cursor > last && !l.atEnd:
		l.owed = min(l.cursor-last, mostOwed*l.height)
	case l.cursor < 0 && !l.atHead:
		l.owed = max(l.cursor, -mostOwed*l.height)
	}
	l.clamp()
}

// mostOwed is how many screens a person can be ahead of what is loaded.
const mostOwed = 10

func (l *keyList) home() {
	l.halted, l.owed = false, 0
	if l.atHead && !l.asked {
		l.move(-l.cursor)
		return
	}
	l.jump, l.stay, l.asked, l.looked = fromHead, false, true, 0
}

func (l *keyList) end() {
	l.halted, l.owed = false, 0
	if l.atEnd && !l.asked {
		l.move(len(l.rows))
		return
	}
	l.jump, l.stay, l.asked, l.looked = fromTail, false, true, 0
}

// clamp keeps the cursor on a row, and the screen around it.
func (l *keyList) clamp() {
	n := len(l.rows)
	l.cursor = max(min(l.cursor, n-1), 0)
	l.top = max(min(l.top, l.cursor), l.cursor-l.height+1, 0)
	if l.atEnd {
		l.top = max(min(l.top, n-l.height), 0)
	}
}

// drop removes the rows that faded at now.
func (l *keyList) drop(now int64) (dropped int) {
	selected := l.cursor
	kept := l.rows[:0]
	for i, r := range l.rows {
		if r.gone == 0 || now < r.gone+fade {
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

// fade is for how long a key that is gone stays on the screen, in ms.
const fade = 3000

// toggle opens a folder, or closes it with all the folders in it.
func (l *keyList) toggle(r row) {
	if _, open := l.open[r.Name]; !open {
		l.open[r.Name] = r.level
	} else {
		l.shut(r.Name)
	}
	l.jump, l.stay, l.asked, l.halted = again, true, true, false
}

// shut closes a folder, and those in it.
func (l *keyList) shut(folder string) {
	delete(l.open, folder)
	for inner, level := range l.open {
		if level == folder {
			l.shut(inner)
		}
	}
}
