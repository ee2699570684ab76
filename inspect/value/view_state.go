package value

import (
	"cmp"

	"github.com/meowdis/meowdis/inspect/client"
	"github.com/meowdis/meowdis/keyspace/display"
)

// searchHit holds the result of a search.
type searchHit struct {
	needle    string // the last search
	foundByte int64  // one past the byte a search found, until the user moves; 0: none
	foundLen  int    // the number of bytes found
	jumping   bool   // the line found is not on the screen yet
}

// phase tracks the loading of the wanted key.
type phase int

const (
	noKey    phase = iota // no key is wanted
	awaiting              // the user waits for the wanted key; the screen shows another key, or an older version
	settled               // the wanted key is shown
	stopped               // a job failed or was cancelled; no job starts by itself
)

// showing selects the content of the pane.
type showing int

const (
	showsNothing  showing = iota
	showsValue            // a value, or that the key is missing
	showsDeleted          // a value that expired or was deleted while on the screen
	showsTooLarge         // only the facts: the value is too large to fetch
)

// viewState holds the open value, with the opened elements stacked on top of it.
type viewState struct {
	phase           phase
	showing         showing
	Key             string // the key on the screen
	wanted          string // the key to show
	Kind            string
	size            int64 // -1 while unknown
	expires         int64 // Unix ms; 0: never
	sheets          []*sheet
	expiryCheckedAt int64 // when the elements were last checked for expiry
	width           int
	height          int // lines for the value itself
}

// setWanted makes key the wanted key. The user waits for it unless it is on the screen.
func (v *viewState) setWanted(key string) {
	still := v.phase == awaiting && v.wanted == key
	v.wanted, v.phase = key, awaiting
	if v.Shows(key) && !still {
		v.phase = settled
	}
}

// Shows reports whether the pane shows key, in its current or an older version.
func (v *viewState) Shows(key string) bool { return v.showing != showsNothing && v.Key == key }

// gone reports whether the key on the screen no longer exists.
func (v *viewState) gone() bool {
	return v.showing == showsDeleted || v.showing != showsNothing && v.Kind == ""
}

// allowJobs lets stopped jobs start again.
func (v *viewState) allowJobs() {
	if v.phase == stopped {
		v.phase = settled
	}
}

// sheet returns the top sheet, or nil if there is nothing to scroll.
func (v *viewState) sheet() *sheet {
	if len(v.sheets) == 0 {
		return nil
	}
	return v.sheets[len(v.sheets)-1]
}

// openedMsg carries a key's facts and the beginning of its value. The kind is "" if the key is missing.
type openedMsg struct {
	key      string
	kind     string
	expires  int64
	size     int64
	first    *chunk       // nil for a type that cannot be shown
	from     chunkRequest // the request that returned first
	tooLarge bool         // the value is too large to fetch; first is nil
	firsts   *client.SeenNames
	chart    *chart    // of a time series
	text     string    // a large value that was fetched whole, or the beginning of a larger one
	tree     *document // and its tree, if it is JSON
	opened   *opened   // the opened element, read again; nil for none
}

// onOpened shows o. If the pane already shows the key, the position and the form stay. It reports
// whether the opened element was deleted.
func (v *viewState) onOpened(o openedMsg) (deleted bool) {
	same := v.Shows(o.key)
	if v.wanted == o.key {
		v.phase = settled
	}
	if same && o.kind == "" {
		v.showing = showsDeleted
		return false
	}
	old := v.sheets
	*v = viewState{
		phase: v.phase, showing: showsValue, Key: o.key, wanted: v.wanted, Kind: o.kind, size: o.size, expires: o.expires,
		width: v.width, height: v.height,
	}
	if o.tooLarge {
		v.showing = showsTooLarge
	}
	if o.first == nil {
		return false
	}
	s := newSheet(display.Whole(o.key), sourceOf(o.kind), o.size)
	s.firsts, s.chart = o.firsts, o.chart
	s.startFrom(o.from)
	switch {
	case s.src.fetchedWhole && o.tree != nil:
		if s = newHeld(s.title, o.text); o.tree.isCut() {
			s.note = "reading the rest"
		}
		s.decoded(o.tree)
	case s.src.fetchedWhole:
		s = newWhole(s.title, cmp.Or(o.text, string(o.first.data)))
	}
	v.sheets = []*sheet{s}
	if same && len(old) > 0 {
		v.sheets = s.restoreSheets(old)
		s = v.sheets[0]
	}
	if s.src != nil && s.src.columns == nil && int(o.size) <= o.first.size {
		s.decodeTried = true
		s.decoded(newDocument(string(o.first.data)))
	}
	if s.src == sourceOf("string") && o.size > decodeLimit {
		s.note = beginningOf(o.first.data)
	}
	deleted = v.reopen(o.opened)
	v.arrange()
	if s.filter == nil && s.src == sourceOf(o.kind) && s.pager.needs(0) {
		s.add(0, o.first)
	}
	v.fillWhole()
	return deleted
}

// arrange lays the sheets out for the current size of the pane.
func (v *viewState) arrange() {
	for _, s := range v.sheets {
		s.pager.height = max(v.height-v.headings(s), 1)
		if s.width != v.width {
			s.relayout(v.width)
		}
		s.pager.settle()
		if s.doc != nil {
			s.doc.layout(v.width, s.pager.height)
		}
	}
}

// headings returns the number of lines above the first line of s: the column titles of a table, or a
// blank line above text if the pane is high enough.
func (v *viewState) headings(s *sheet) int {
	switch {
	case s.isTable():
		return 1 + s.chart.lines(v.height)
	case v.height >= 12:
		return 1
	}
	return 0
}

// openElement opens the selected element, or the sheet it leads to. In a decoded value it folds.
func (v *viewState) openElement() {
	s := v.sheet()
	if s != nil && s.inDocument() {
		s.doc.toggle()
		return
	}
	row, body, ok := s.element()
	if !ok {
		return
	}
	var inner *sheet
	if title := elementTitle(s, row); s.src.inner != nil {
		inner = newSheet(title, s.src.inner(row), -1)
	} else {
		inner = newOpened(title, &opened{src: s.src, row: row, body: body, own: s.src == sourceOf(v.Kind)})
	}
	inner.needle = s.needle
	v.sheets = append(v.sheets, inner)
	v.arrange()
	v.fillWhole()
}

// showOther shows the other side of the value, if it has one.
func (v *viewState) showOther() {
	s := v.sheet()
	if s == nil || s.src == nil || s.src.other == nil {
		return
	}
	v.sheets[len(v.sheets)-1] = newSheet(s.title, s.src.other, -1)
	v.arrange()
}

// close closes the opened element and reports whether there was one.
func (v *viewState) close() bool {
	if len(v.sheets) < 2 {
		return false
	}
	v.sheets = v.sheets[:len(v.sheets)-1]
	return true
}

// fillWhole loads the chunks that an in-memory sheet needs.
func (v *viewState) fillWhole() {
	s := v.sheet()
	if s == nil || s.src != nil && s.filter == nil {
		return
	}
	for {
		i, ok := s.pager.missing()
		if !ok {
			return
		}
		if s.filter != nil {
			s.add(i, s.filter.chunk(i))
			continue
		}
		from := i * windowSize
		s.add(i, window([]byte(s.whole[from:min(from+windowSize+overlap, len(s.whole))])))
	}
}

// missing returns the next chunk to fetch and its request.
func (v *viewState) missing() (i int, from chunkRequest, ok bool) {
	s := v.sheet()
	if s == nil || s.src == nil || s.filter != nil || v.phase == stopped || v.gone() || s.inDocument() {
		return 0, chunkRequest{}, false
	}
	i, ok = s.pager.missing()
	if !ok {
		return 0, chunkRequest{}, false
	}
	switch {
	case s.numbered():
		from = s.startRequest()
	case i < len(s.pager.starts):
		from = s.pager.starts[i]
	}
	return i, from, true
}

// undecoded returns the sheet whose value must be fetched whole for decoding, or nil.
func (v *viewState) undecoded() *sheet {
	s := v.sheet()
	if s == nil || s.src == nil || s.src.columns != nil || s.decodeTried || v.phase == stopped || v.gone() || s.size > decodeLimit {
		return nil
	}
	return s
}

func (v *viewState) scrolled(f func(*pager)) {
	v.allowJobs()
	if s := v.sheet(); s != nil {
		s.live = false
		s.foundByte, s.jumping = 0, false
		f(&s.pager)
		v.fillWhole()
	}
}

// Move moves n lines down, or up if n is negative. Lines that are not loaded follow when they load.
func (v *viewState) Move(n int) {
	if s := v.sheet(); s != nil && s.inDocument() {
		s.doc.move(n)
		return
	}
	v.scrolled(func(p *pager) { p.move(n) })
}

// Home moves to the first line.
func (v *viewState) Home() {
	if s := v.sheet(); s != nil && s.inDocument() {
		s.doc.home()
		return
	}
	v.scrolled((*pager).home)
}

// End moves to the last line, and loads it if necessary.
func (v *viewState) End() {
	if s := v.sheet(); s != nil && s.inDocument() {
		s.doc.end()
		return
	}
	v.scrolled(func(p *pager) {
		p.destination, p.pendingMove = lastLine, 0
		p.seekDestination()
	})
}

// pick selects the line at screen row at, and reports whether it was already selected.
func (v *viewState) pick(at int) bool {
	s := v.sheet()
	if s.inDocument() {
		again := s.doc.cursor == s.doc.top+at
		s.doc.move(s.doc.top + at - s.doc.cursor)
		return again
	}
	if !s.isTable() {
		return false
	}
	to, went := s.pager.advance(s.pager.top, at)
	again := to == s.pager.cursor
	if went == at {
		s.pager.cursor = to
	}
	return again && went == at
}
