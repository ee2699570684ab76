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

// choice is q as far as it leaves keys out.
func (q query) choice() query {
	return query{filter: q.filter, kind: q.kind, life: q.life, needle: q.needle}
}

// all is q without what leaves keys out.
func (q query) all() query {
	q.filter, q.kind, q.life, q.needle = filter{manner: q.filter.manner}, "", catalog.AnyLife, ""
	return q
}

// tree reports whether folders are shown: only where the names make the order, and
// none is left out.
func (q query) tree() bool { return !q.flat && !q.Chooses() && q.order == catalog.ByName && !q.reverse }

// window is a window on the rows of a query, around the screen, and where the
// person is in it. However many rows there are, the window is small.
type window struct {
	query
	open    map[string]string // open folders, and the level of each
	chained map[string]bool   // those of them that were opened with the one that they are all of
	opening string            // the folder whose rows are looked at for that when they come; "" for none
	rows    []row
	up      anchor   // where the rows before the window begin, backwards
	down    anchor   // where the rows after the window begin
	atHead  bool     // the window begins with the first row
	atEnd   bool     // the window ends with the last row
	base    int64    // how many rows stand before the window; -1 while unknown
	jump    jump     // what is loaded before all else
	shown   presence // whether the rows are those that the person asked for
	dirty   bool     // the rows changed while they were being loaded
	touched bool     // the person has pressed a key since the query began
	owed    int      // how far the person moved beyond the rows that are there
	drawn   int      // how many keys had been gathered, or sorted, when rows were made
	looked  int64    // how many names were looked at for the rows, where a filter leaves most out
	halted  bool     // a job failed or was cancelled: nothing starts by itself
	cursor  int      // the selected row
	top     int      // the first row on the screen
	height  int      // rows on the screen
	centre  bool     // the selected row goes to the middle of the screen when those before it come

	marked  marks
	span    *span            // the range that is being marked; nil while none is
	tallies map[string]tally // how many keys the folders hold, as far as they were counted
}

// tally is how much is in a folder.
type tally struct {
	keys    int64
	at      int64 // when it was counted, Unix ms
	counted figure
	bytes   int64 // of names and values
	sized   figure
	asked   int64 // from how many keys the bytes are estimated; 0: they are no estimate
}

// figure is how far a number can be relied on.
type figure int

const (
	unknown  figure = iota // it was never found out
	upToDate               // nothing is known to have changed since
	outdated               // it is shown until it is found out again
)

// age lets a number that is known be found out again.
func (f *figure) age() {
	if *f == upToDate {
		*f = outdated
	}
}

// show begins with the first rows of q. What is shown stays until they come.
func (l *window) show(q query) {
	l.query = q
	l.halted, l.touched, l.looked, l.owed, l.span = false, false, 0, 0, nil
	l.begin()
}

// clear forgets everything but the query, which starts again.
func (l *window) clear() {
	*l = window{query: l.query, height: l.height, open: map[string]string{}, chained: map[string]bool{}, tallies: map[string]tally{}, base: -1}
	l.show(l.query)
}

// refresh loads the window anew and counts the folders again.
func (l *window) refresh(loading bool) {
	l.reload(loading)
	l.halted = false
	for name, t := range l.tallies {
		t.counted.age()
		t.sized.age()
		l.tallies[name] = t
	}
}

// reload loads the window anew. What is being loaded already may be out of date,
// and is loaded once more.
func (l *window) reload(loading bool) {
	l.dirty = loading
	l.anew()
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
			t.sized.age()
		}
		if small || now-t.at >= max(countEvery, t.keys/countsInMs) {
			t.counted.age()
		}
		l.tallies[name] = t
	}
}

// wants is what to load next.
func (l *window) wants() load {
	switch {
	case l.halted:
		return nothingMore
	case l.jump != nowhere:
		return l.jump.load()
	case !l.atEnd && len(l.rows) < l.top+2*l.height:
		return more
	case !l.atHead && l.top < l.height:
		return less
	}
	return nothingMore
}

// from is where the load begins, whether it goes backwards, and how many rows it
// should find.
func (l *window) from(w *walker, what load) (at anchor, back bool, n int) {
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
			return w.after(l.rows[0]), false, n
		}
	}
	return anchor{}, false, n
}

// add takes in what a load found.
func (l *window) add(w *walker, what load, s stretch) {
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
		if l.top += len(s.rows); l.centre {
			l.top, l.centre = l.cursor-l.height/2, false
		}
		if l.base >= 0 {
			l.base -= int64(len(s.rows))
		}
		l.trimTail(w)
	default:
		l.replace(what, s)
		l.took(what)
	}
	if l.atHead {
		l.base = 0
	}
	if l.dirty {
		l.dirty = false
		l.anew()
	}
	if l.clamp(); l.owed != 0 {
		l.Move(0)
	}
}

// replace puts the rows of a jump in place of the window.
func (l *window) replace(what load, s stretch) {
	selected, offset := l.selected(), l.cursor-l.top
	var name string
	var folder bool
	if selected != nil {
		name, folder = selected.Name, selected.Folder
	}
	stay := l.stays()
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
	switch i := l.find(name, folder); {
	case what == fromTail:
	case stay && i >= 0:
		l.cursor, l.top = i, i-offset
	case !stay:
		l.cursor, l.top = 0, 0
	}
}

// find is the row of a name, -1 when it is not in the window.
func (l *window) find(name string, folder bool) int {
	return slices.IndexFunc(l.rows, func(r row) bool { return r.Name == name && r.Folder == folder })
}

// windowed is how many rows are kept at least.
func (l *window) windowed() int { return max(8*l.height, 400) }

func (l *window) trimHead(w *walker) {
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

func (l *window) trimTail(w *walker) {
	keep := max(l.windowed(), l.top+3*l.height, l.cursor+1)
	if len(l.rows) <= keep {
		return
	}
	l.rows = slices.Clone(l.rows[:keep])
	l.atEnd, l.down = false, w.after(l.rows[keep-1])
}

// seek goes to a row that may be anywhere: the window begins with it, and the rows
// around it come.
func (l *window) seek(w *walker, r row) {
	if i := l.find(r.Name, r.Folder); i >= 0 {
		l.cursor = i
		l.clamp()
		return
	}
	l.rows, l.cursor, l.top, l.base, l.centre = []row{r}, 0, 0, -1, true
	l.atHead, l.atEnd, l.owed = false, false, 0
	l.arrive()
	l.up, l.down = w.before(r), w.after(r)
}

// selected is the row under the cursor, nil when there is none.
func (l *window) selected() *row {
	if l.cursor < 0 || l.cursor >= len(l.rows) {
		return nil
	}
	return &l.rows[l.cursor]
}

// standing is the row of the key that the person has gone to; one without a name where
// they have not.
func (l *window) standing() row {
	if r := l.selected(); r != nil && !r.Folder && l.stays() {
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
	n += l.owed
	if l.owed = 0; l.shown != arrived {
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

// Home goes to the first row, which may have to be loaded.
func (l *window) Home() {
	l.halted, l.owed = false, 0
	if l.atHead && l.shown == arrived {
		l.Move(-l.cursor)
		return
	}
	l.looked = 0
	l.ask(toFirst)
}

// End goes to the last row, which may have to be loaded.
func (l *window) End() {
	l.halted, l.owed = false, 0
	if l.atEnd && l.shown == arrived {
		l.Move(len(l.rows))
		return
	}
	l.looked = 0
	l.ask(toLast)
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

// drop removes the rows that faded at now.
func (l *window) drop(now int64) (dropped int) {
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
func (l *window) toggle(r row) {
	if l.opening = ""; !l.isOpen(r) {
		l.open[r.Name], l.opening = r.level, r.Name
	} else {
		l.shut(r.Name)
	}
	l.halted = false
	l.ask(inPlace)
}

func (l *window) isOpen(r row) bool {
	_, open := l.open[r.Name]
	return r.Folder && open
}

// unchain opens what is in the folder that was opened, when that is a single folder.
func (l *window) unchain() {
	i := l.find(l.opening, true)
	if l.opening == "" || l.jump != nowhere {
		return
	}
	level, below := l.opening, l.rows[i+1:]
	if l.opening = ""; i < 0 || len(below) == 0 || below[0].level != level || !below[0].Folder || l.isOpen(below[0]) {
		return
	}
	if only := len(below) == 1 && l.atEnd || len(below) > 1 && below[1].level != level; !only {
		return
	}
	if l.cursor == i {
		l.cursor++
	}
	l.toggle(below[0])
	l.chained[below[0].Name] = true
}

// head is the folder with which one was opened.
func (l *window) head(folder string) string {
	for l.chained[folder] {
		folder = l.open[folder]
	}
	return folder
}

// shut closes a folder, and those in it.
func (l *window) shut(folder string) {
	delete(l.open, folder)
	delete(l.chained, folder)
	for inner, level := range l.open {
		if level == folder {
			l.shut(inner)
		}
	}
}
