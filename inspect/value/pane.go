package value

import (
	"strings"

	"github.com/meowdis/meowdis/display"
	"github.com/meowdis/meowdis/inspect/screen"
	"github.com/meowdis/meowdis/inspect/target"
)

// sheet is a value, or one element of it, laid out for the screen.
type sheet struct {
	title       string
	src         *source      // how it is fetched; nil when whole is all of it
	whole       string       // an element, which is in memory
	opened      *opened      // whose element it is; nil for another sheet
	size        int64        // elements or bytes
	per         int64        // of them a chunk; 0 when chunks form a chain
	sized       bool         // that is as many as fits their size
	firsts      *target.Seen // where the chunks may repeat elements
	pager       pager
	form        shape
	formChosen  bool      // the person chose the form
	doc         *document // the value decoded, nil where there is nothing to decode
	decodeTried bool      // it was tried to decode it
	decoderRan  bool      // it was given to the person's own decoder
	note        string    // why it was not
	needle      string    // what was searched last
	foundByte   int64     // one past the byte that the search found, until the person moves; 0: none
	foundLen    int       // how many bytes it found
	jumping     bool      // its line is still to be shown
	widths      []int     // of the columns: the widest cell that was on the screen
	width       int       // for which the chunks are laid out
	live        bool      // new entries are shown as they come
	filter      *sieve    // which elements are shown, and how; nil: all, as they are stored
}

// phase is how far the pane is with the key that it is to show.
type phase int

const (
	noKey    phase = iota // none is to be shown
	awaiting              // the person waits for the wanted one; what is shown is another, or older
	settled               // nothing is awaited: what there is of the wanted one is shown
	stopped               // a job failed or was cancelled: nothing starts by itself
)

// showing is what the pane shows.
type showing int

const (
	showsNothing  showing = iota
	showsValue            // of key, or that there is no such key
	showsDeleted          // which expired or was deleted while it was shown
	showsTooLarge         // no more than the facts: it is too large to be fetched
)

// viewState is the value that is open, with the element that is looked at on
// top of it.
type viewState struct {
	phase           phase
	showing         showing
	Key             string // what is shown
	wanted          string // what is to be shown
	Kind            string
	size            int64 // -1 where it cannot be told
	expires         int64 // Unix ms; 0 when it does not expire
	sheets          []*sheet
	expiryCheckedAt int64 // when it was last looked which elements have ended
	width           int
	height          int // lines for the value itself
}

// setWanted makes key the one to be shown, and awaited unless it is there.
func (v *viewState) setWanted(key string) {
	still := v.phase == awaiting && v.wanted == key
	v.wanted, v.phase = key, awaiting
	if v.Shows(key) && !still {
		v.phase = settled
	}
}

// Shows reports whether the pane shows key, as it is or was.
func (v *viewState) Shows(key string) bool { return v.showing != showsNothing && v.Key == key }

// gone reports whether the key that is shown is not there any more.
func (v *viewState) gone() bool {
	return v.showing == showsDeleted || v.showing != showsNothing && v.Kind == ""
}

// allowJobs lets jobs for what is shown start again.
func (v *viewState) allowJobs() {
	if v.phase == stopped {
		v.phase = settled
	}
}

// sheet is the top one, nil when there is nothing to scroll.
func (v *viewState) sheet() *sheet {
	if len(v.sheets) == 0 {
		return nil
	}
	return v.sheets[len(v.sheets)-1]
}

// openedMsg is a key's facts and the beginning of its value. The kind is "" when
// there is no such key.
type openedMsg struct {
	key      string
	kind     string
	expires  int64
	size     int64
	first    *chunk       // nil for a type that cannot be shown
	from     chunkRequest // where it begins, and for how many elements it was asked
	tooLarge bool         // and for a value that is not fetched, since it is too large
	firsts   *target.Seen
	opened   *opened // the element that is shown by itself, read again; nil for none
}

// onOpened takes o in. When it is the key that is shown already, the place in it and
// the form stay. It reports whether the element that was shown by itself was deleted.
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
	s.firsts = o.firsts
	s.startFrom(o.from)
	if s.src.fetchedWhole {
		s = newWhole(s.title, string(o.first.data))
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

func newSheet(title string, src *source, size int64) *sheet {
	return &sheet{title: title, src: src, size: size, per: src.per, pager: newPager(chunksOf(size, src.per), src.columns != nil)}
}

// newWhole is a sheet of bytes that are in memory.
func newWhole(title, body string) *sheet {
	s := &sheet{title: title, whole: body, size: int64(len(body)), decodeTried: true}
	if s.size > decodeLimit {
		s.note = beginningOf([]byte(body[:windowSize]))
	}
	s.pager = newPager(chunksOf(s.size, windowSize), false)
	s.decoded(newDocument(body))
	return s
}

// decoded takes the decoded value in, which is what is shown unless the person
// chose otherwise.
func (s *sheet) decoded(d *document) {
	if d != nil && d.lines == nil {
		s.note, d = d.note, nil
	}
	if d != nil {
		d.resume(s.doc)
	}
	s.doc = d
	if d == nil {
		if s.form == asDocument {
			s.form = asText
		}
		return
	}
	if !s.formChosen && d.chain != "" {
		s.form = asDocument
	}
	if s.width > 0 {
		d.layout(s.width, s.pager.height)
	}
}

// restoreSheets is the sheets of a value that was read again as s, with the person
// where they were.
func (s *sheet) restoreSheets(old []*sheet) []*sheet {
	if s.src != nil && s.src.other != nil && s.src.other == old[0].src {
		s = newSheet(s.title, old[0].src, -1)
	}
	if kept := old[0]; kept.filter != nil && kept.src == s.src {
		kept.filter.base = s
		kept.filter.begin()
		return old
	}
	s.resume(old[0])
	if s.src != old[0].src {
		return []*sheet{s}
	}
	for _, inner := range old[1:] {
		switch {
		case inner.src == nil: // see reopen
		case inner.filter != nil:
			inner.filter.base.markStale()
			inner.filter.begin()
		default:
			inner.markStale()
		}
	}
	return append([]*sheet{s}, old[1:]...)
}

// resume goes where old was, if that place can be found again.
func (s *sheet) resume(old *sheet) {
	if s.src != old.src {
		return
	}
	s.form, s.formChosen, s.needle, s.live = old.form, old.formChosen, old.needle, old.live
	if s.doc != nil {
		s.doc.resume(old.doc)
	} else if !s.decodeTried {
		s.doc = old.doc // until it is decoded again
	}
	if s.src != nil {
		s.width, s.widths, s.firsts, s.sized = old.width, old.widths, old.firsts, old.sized
		if s.numbered() && s.per != old.per {
			old.rechunk(s.per)
		}
		s.pager.resume(&old.pager)
	} else if last := s.pager.furthest(); old.pager.cursor.chunk <= last && old.pager.top.chunk <= last {
		s.pager.top, s.pager.cursor = old.pager.top, old.pager.cursor
	}
}

// add takes chunk i in.
func (s *sheet) add(i int, c *chunk) {
	if i == 0 && !s.formChosen && s.form != asDocument && len(c.data) > 0 {
		s.form = asText
		if !screen.IsText(c.data) {
			s.form = asHex
		}
	}
	s.layout(i, c)
	if s.pager.diverges(i, c) {
		s.pager.forgetAfter(i)
		s.firsts.Forget(i)
	}
	s.pager.add(i, c)
	s.settleSeek(i, c)
	if s.numbered() && len(c.rows) > 0 {
		s.adjustChunkSize(c)
	}
}

// arrange lays the sheets out for the pane's present size.
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

// headings is how many lines stand above the first line of s: the titles of a
// table, or some air above text where there is room.
func (v *viewState) headings(s *sheet) int {
	if s.isTable() || v.height >= 12 {
		return 1
	}
	return 0
}

// isTable reports whether s shows elements; else it shows bytes.
func (s *sheet) isTable() bool { return s != nil && s.src != nil && s.src.columns != nil }

// relayout lays the loaded chunks out again, and keeps the byte at the top there.
func (s *sheet) relayout(width int) {
	s.width, s.widths = width, nil
	at := 0
	if c := s.pager.chunks[s.pager.top.chunk]; c != nil && s.pager.top.line < len(c.lines) {
		at = c.lines[s.pager.top.line].Start
	}
	for i, c := range s.pager.chunks {
		s.layout(i, c)
	}
	c := s.pager.chunks[s.pager.top.chunk]
	if c == nil || len(c.lines) == 0 {
		return
	}
	line := 0
	for line+1 < len(c.lines) && c.lines[line+1].Start <= at {
		line++
	}
	s.pager.top.line = line
	s.pager.cursor = s.pager.top
}

// element is the selected row of a table with its body; ok is false where none is.
func (s *sheet) element() (row record, body string, ok bool) {
	if !s.isTable() {
		return nil, "", false
	}
	c := s.pager.chunks[s.pager.cursor.chunk]
	if c == nil || s.pager.cursor.line >= len(c.rows) {
		return nil, "", false
	}
	return c.rows[s.pager.cursor.line], c.body(s.pager.cursor.line), true
}

// openElement shows the selected element by itself, or what it leads to; in a
// decoded value it folds.
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

// showOther shows the other side of the value, where there is one.
func (v *viewState) showOther() {
	s := v.sheet()
	if s == nil || s.src == nil || s.src.other == nil {
		return
	}
	v.sheets[len(v.sheets)-1] = newSheet(s.title, s.src.other, -1)
	v.arrange()
}

// inDocument reports whether the decoded value is shown.
func (s *sheet) inDocument() bool { return s.form == asDocument && s.doc != nil }

// elementTitle names an element by what stands before it in its row.
func elementTitle(s *sheet, row record) string {
	if len(row) == 1 {
		return s.title + " ▸ " + strings.ToLower(s.src.columns[0].title)
	}
	return s.title + " ▸ " + display.Whole(row[0])
}

// close leaves the element that is shown; false when there is none.
func (v *viewState) close() bool {
	if len(v.sheets) < 2 {
		return false
	}
	v.sheets = v.sheets[:len(v.sheets)-1]
	return true
}

// fillWhole gives an element's sheet the chunks it needs, which are in memory.
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

// missing is the chunk to fetch next, and how.
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

// undecoded is a sheet whose value is to be fetched as a whole.
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

// Move goes n lines down, up when n is negative; further ones may have to be loaded.
func (v *viewState) Move(n int) {
	if s := v.sheet(); s != nil && s.inDocument() {
		s.doc.move(n)
		return
	}
	v.scrolled(func(p *pager) { p.move(n) })
}

// Home goes to the first line.
func (v *viewState) Home() {
	if s := v.sheet(); s != nil && s.inDocument() {
		s.doc.home()
		return
	}
	v.scrolled((*pager).home)
}

// End goes to the last line, which may have to be searched for.
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

// pick selects a line of the screen, and reports whether it was selected already.
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
