package inspect

import (
	"strings"
)

// sheet is a value, or one element of it, laid out for the screen.
type sheet struct {
	title   string
	src     *source // how it is fetched; nil when whole is all of it
	whole   string  // an element, which is in memory
	size    int64   // elements or bytes
	firsts  *firsts // where the chunks may repeat elements
	pager   pager
	form    shape
	chosen  bool      // the person chose the form
	doc     *document // the value decoded, nil where there is nothing to decode
	tried   bool      // it was tried to decode it
	needle  string    // what was searched last
	seen    int64     // one behind the byte that the search found, until the person moves; 0: none
	seeking bool      // its line is still to be shown
	widths  []int     // of the columns: the widest cell that was on the screen
	width   int       // for which the chunks are laid out
}

// shape is how bytes are shown.
type shape int

const (
	asText shape = iota
	asHex
	asDocument
)

// valuePane is the value that is open, with the element that is looked at on
// top of it.
type valuePane struct {
	key     string // what is shown
	wanted  string // what should be: key, or what is being opened
	any     bool   // there is a wanted one
	loaded  bool   // there is a shown one
	kind    string
	size    int64 // -1 where it cannot be told
	expires int64 // Unix ms; 0 when it does not expire
	gone    bool  // it expired or was deleted while it was shown
	sheets  []*sheet
	halted  bool // a job failed or was cancelled: nothing starts by itself
	width   int
	height  int // lines for the value itself
}

// sheet is the top one, nil when there is nothing to scroll.
func (v *valuePane) sheet() *sheet {
	if len(v.sheets) == 0 {
		return nil
	}
	return v.sheets[len(v.sheets)-1]
}

// opened is a key's facts and the beginning of its value. The kind is "" when
// there is no such key.
type opened struct {
	key     string
	kind    string
	expires int64
	size    int64
	first   *chunk // nil for a type that cannot be shown
	firsts  *firsts
}

// show takes o in. When it is the key that is shown already, the place in it and
// the form stay.
func (v *valuePane) show(o opened) {
	same := v.loaded && v.key == o.key
	if same && o.kind == "" {
		v.gone = true
		return
	}
	old := v.sheets
	*v = valuePane{
		key: o.key, wanted: v.wanted, any: v.any, loaded: true,
		kind: o.kind, size: o.size, expires: o.expires, gone: o.kind == "",
		width: v.width, height: v.height,
	}
	if o.first == nil {
		return
	}
	s := newSheet(whole(o.key), sources[o.kind], o.size)
	s.firsts = o.firsts
	if s.src.atOnce {
		s = newWhole(s.title, string(o.first.data))
	}
	if same && len(old) > 0 {
		s.resume(old[0])
	}
	v.sheets = []*sheet{s}
	if s.src != nil && s.src.columns == nil && int(o.size) <= o.first.size {
		s.tried = true
		s.decoded(newDocument(string(o.first.data)))
	}
	v.arrange()
	if s.src != nil && s.pager.chunks[0] == nil {
		s.add(0, o.first)
	}
	v.fillWhole()
}

// deadline is the time at which a key with pttl left expires, 0 for never.
func deadline(pttl, now int64) int64 {
	if pttl < 0 {
		return 0
	}
	return now + pttl
}

func newSheet(title string, src *source, size int64) *sheet {
	return &sheet{title: title, src: src, size: size, pager: newPager(src.chunks(size), src.columns != nil)}
}

// newWhole is a sheet of bytes that are in memory.
func newWhole(title, body string) *sheet {
	s := &sheet{title: title, whole: body, size: int64(len(body)), tried: true}
	s.pager = newPager(sources["string"].chunks(s.size), false)
	s.decoded(newDocument(body))
	return s
}

// decoded takes the decoded value in, which is what is shown unless the person
// chose otherwise.
func (s *sheet) decoded(d *document) {
	s.doc = d
	if d == nil {
		if s.form == asDocument {
			s.form = asText
		}
		return
	}
	if !s.chosen && d.chain != "" {
		s.form = asDocument
	}
	if s.width > 0 {
		d.layout(s.width, s.pager.height)
	}
}

// resume goes where old was, if that place can be found again.
func (s *sheet) resume(old *sheet) {
	if s.src != old.src {
		return
	}
	s.form, s.chosen, s.needle = old.form, old.chosen, old.needle
	if s.doc != nil && old.doc != nil {
		s.doc.shut, s.doc.cursor, s.doc.top, s.doc.rows = old.doc.shut, old.doc.cursor, old.doc.top, old.doc.rows
		if len(s.doc.lines) != len(old.doc.lines) {
			s.doc.shut = map[int]bool{}
		}
	}
	if last := s.pager.furthest(); old.pager.cursor.chunk <= last && old.pager.top.chunk <= last {
		s.pager.top, s.pager.cursor = old.pager.top, old.pager.cursor
	}
}

// add takes chunk i in.
func (s *sheet) add(i int, c *chunk) {
	if i == 0 && !s.chosen && s.form != asDocument && len(c.data) > 0 {
		s.form = asText
		if !isText(c.data) {
			s.form = asHex
		}
	}
	s.layout(i, c)
	if s.pager.strays(i, c) {
		s.pager.forget(i)
		s.firsts.forget(i)
	}
	s.pager.add(i, c)
	s.settleSeek(i, c)
}

// arrange lays the sheets out for the pane's present size.
func (v *valuePane) arrange() {
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
func (v *valuePane) headings(s *sheet) int {
	if s.tabular() || v.height >= 12 {
		return 1
	}
	return 0
}

// tabular tells whether s shows elements; else it shows bytes.
func (s *sheet) tabular() bool { return s != nil && s.src != nil && s.src.columns != nil }

// relayout lays the loaded chunks out again, and keeps the byte at the top there.
func (s *sheet) relayout(width int) {
	s.width, s.widths = width, nil
	at := 0
	if c := s.pager.chunks[s.pager.top.chunk]; c != nil && s.pager.top.line < len(c.lines) {
		at = c.lines[s.pager.top.line].start
	}
	for i, c := range s.pager.chunks {
		s.layout(i, c)
	}
	c := s.pager.chunks[s.pager.top.chunk]
	if c == nil || len(c.lines) == 0 {
		return
	}
	line := 0
	for line+1 < len(c.lines) && c.lines[line+1].start <= at {
		line++
	}
	s.pager.top.line = line
	s.pager.cursor = s.pager.top
}

// layout cuts a chunk of bytes into lines.
func (s *sheet) layout(i int, c *chunk) {
	switch {
	case c.rows != nil:
	case s.form == asHex:
		c.lines = hexLines(c.size, hexWidth(s.width))
	default:
		c.lines = textWindow(i, c, s.width)
	}
}

// textWindow cuts a window into lines of text. A letter that spans two windows
// belongs to the first.
func textWindow(i int, c *chunk, width int) []span {
	start, end := 0, c.size
	for i > 0 && start < min(overlap, end) && isContinuation(c.data[start]) {
		start++
	}
	for end < len(c.data) && isContinuation(c.data[end]) {
		end++
	}
	lines := textLines(c.data[start:end], width)
	for j := range lines {
		lines[j].start += start
		lines[j].end += start
	}
	return lines
}

func isContinuation(c byte) bool { return c&0xc0 == 0x80 }

// changeForm goes from the decoded value to text to a hex dump, where there are
// bytes.
func (v *valuePane) changeForm() {
	s := v.sheet()
	if s == nil || s.tabular() {
		return
	}
	next := map[shape]shape{asDocument: asText, asText: asHex, asHex: asDocument}
	if s.form, s.chosen = next[s.form], true; s.form == asDocument && s.doc == nil {
		s.form = asText
	}
	if s.form == asDocument {
		s.doc.layout(s.width, s.pager.height)
		return
	}
	s.relayout(s.width)
	s.pager.settle()
	v.fillWhole()
}

// element is the selected row of a table with its body; ok is false where none is.
func (s *sheet) element() (row record, body string, ok bool) {
	if !s.tabular() {
		return nil, "", false
	}
	c := s.pager.chunks[s.pager.cursor.chunk]
	if c == nil || s.pager.cursor.line >= len(c.rows) {
		return nil, "", false
	}
	return c.rows[s.pager.cursor.line], c.body(s.pager.cursor.line), true
}

// open shows the selected element by itself, or what stands behind it; in a
// decoded value it folds.
func (v *valuePane) open() {
	s := v.sheet()
	if s != nil && s.inDocument() {
		s.doc.toggle()
		return
	}
	row, body, ok := s.element()
	if !ok {
		return
	}
	title := elementTitle(s, row)
	if s.src.inner != nil {
		v.sheets = append(v.sheets, newSheet(title, s.src.inner(row), -1))
	} else {
		v.sheets = append(v.sheets, newWhole(title, body))
	}
	v.arrange()
	v.fillWhole()
}

// turn shows the other side of the value, where there is one.
func (v *valuePane) turn() {
	s := v.sheet()
	if s == nil || s.src == nil || s.src.other == nil {
		return
	}
	v.sheets = []*sheet{newSheet(s.title, s.src.other, -1)}
	v.arrange()
}

// inDocument tells whether the decoded value is shown.
func (s *sheet) inDocument() bool { return s.form == asDocument && s.doc != nil }

// elementTitle names an element by what stands before it in its row.
func elementTitle(s *sheet, row record) string {
	if len(row) == 1 {
		return s.title + " ▸ " + strings.ToLower(s.src.columns[0].title)
	}
	return s.title + " ▸ " + whole(row[0])
}

// close leaves the element that is shown; false when there is none.
func (v *valuePane) close() bool {
	if len(v.sheets) < 2 {
		return false
	}
	v.sheets = v.sheets[:len(v.sheets)-1]
	return true
}

// fillWhole gives an element's sheet the chunks it needs, which are in memory.
func (v *valuePane) fillWhole() {
	s := v.sheet()
	if s == nil || s.src != nil {
		return
	}
	for {
		i, ok := s.pager.missing()
		if !ok {
			return
		}
		from := i * windowSize
		s.add(i, window([]byte(s.whole[from:min(from+windowSize+overlap, len(s.whole))])))
	}
}

// missing is the chunk to fetch next, and how.
func (v *valuePane) missing() (i int, cursor string, ok bool) {
	s := v.sheet()
	if s == nil || s.src == nil || v.halted || v.gone || s.inDocument() {
		return 0, "", false
	}
	i, ok = s.pager.missing()
	if !ok {
		return 0, "", false
	}
	if i < len(s.pager.starts) {
		cursor = s.pager.starts[i]
	}
	return i, cursor, true
}

// undecoded is a sheet whose value is to be fetched as a whole.
func (v *valuePane) undecoded() *sheet {
	s := v.sheet()
	if s == nil || s.src == nil || s.src.columns != nil || s.tried || v.halted || v.gone || s.size > decodeLimit {
		return nil
	}
	return s
}

func (v *valuePane) scrolled(f func(*pager)) {
	v.halted = false
	if s := v.sheet(); s != nil {
		s.seen, s.seeking = 0, false
		f(&s.pager)
		v.fillWhole()
	}
}

func (v *valuePane) move(n int) {
	if s := v.sheet(); s != nil && s.inDocument() {
		s.doc.move(n)
		return
	}
	v.scrolled(func(p *pager) { p.move(n) })
}

func (v *valuePane) home() {
	if s := v.sheet(); s != nil && s.inDocument() {
		s.doc.home()
		return
	}
	v.scrolled((*pager).home)
}

func (v *valuePane) end() {
	if s := v.sheet(); s != nil && s.inDocument() {
		s.doc.end()
		return
	}
	v.scrolled(func(p *pager) {
		p.chase = ending
		p.follow()
	})
}
