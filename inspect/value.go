package inspect

import (
	"strings"
)

// sheet is a value, or one element of it, laid out for the screen.
type sheet struct {
	title  string
	src    *source // how it is fetched; nil when whole is all of it
	whole  string  // an element, which is in memory
	size   int64   // elements or bytes
	pager  pager
	hex    bool  // bytes are shown as a hex dump
	chosen bool  // the person chose hex or text
	widths []int // of the columns: the widest cell that was on the screen
	width  int   // for which the chunks are laid out
}

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
	if same && len(old) > 0 {
		s.resume(old[0])
	}
	v.sheets = []*sheet{s}
	v.arrange()
	s.add(0, o.first)
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

// resume goes where old was, if that place can be found again.
func (s *sheet) resume(old *sheet) {
	if s.src != old.src {
		return
	}
	s.hex, s.chosen = old.hex, old.chosen
	if last := s.pager.furthest(); old.pager.cursor.chunk <= last && old.pager.top.chunk <= last {
		s.pager.top, s.pager.cursor = old.pager.top, old.pager.cursor
	}
}

// add takes chunk i in.
func (s *sheet) add(i int, c *chunk) {
	if i == 0 && !s.chosen && len(c.data) > 0 {
		s.hex = !isText(c.data)
	}
	s.layout(i, c)
	s.pager.add(i, c)
}

// arrange lays the sheets out for the pane's present size.
func (v *valuePane) arrange() {
	for _, s := range v.sheets {
		s.pager.height = max(v.height-v.headings(s), 1)
		if s.width != v.width {
			s.relayout(v.width)
		}
		s.pager.settle()
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
	case s.hex:
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

// toggleHex changes between text and hex dump, where there are bytes.
func (v *valuePane) toggleHex() {
	s := v.sheet()
	if s == nil || s.tabular() {
		return
	}
	s.hex, s.chosen = !s.hex, true
	s.relayout(s.width)
	s.pager.settle()
	v.fillWhole()
}

// open shows the selected element by itself.
func (v *valuePane) open() bool {
	s := v.sheet()
	if s == nil || !s.tabular() {
		return false
	}
	c := s.pager.chunks[s.pager.cursor.chunk]
	if c == nil || s.pager.cursor.line >= len(c.rows) {
		return false
	}
	row := c.rows[s.pager.cursor.line]
	body := row[len(row)-1]
	element := &sheet{title: elementTitle(s, row), whole: body, size: int64(len(body))}
	element.pager = newPager(sources["string"].chunks(element.size), false)
	v.sheets = append(v.sheets, element)
	v.arrange()
	v.fillWhole()
	return true
}

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
func (v *valuePane) missing() (i int, fetch [][]byte, ok bool) {
	s := v.sheet()
	if s == nil || s.src == nil || v.halted || v.gone {
		return 0, nil, false
	}
	i, ok = s.pager.missing()
	if !ok {
		return 0, nil, false
	}
	cursor := ""
	if i < len(s.pager.starts) {
		cursor = s.pager.starts[i]
	}
	return i, s.src.fetch(v.key, int64(i), cursor), true
}

func (v *valuePane) scrolled(f func(*pager)) {
	v.halted = false
	if s := v.sheet(); s != nil {
		f(&s.pager)
		v.fillWhole()
	}
}

func (v *valuePane) move(n int) { v.scrolled(func(p *pager) { p.move(n) }) }
func (v *valuePane) home()      { v.scrolled((*pager).home) }
func (v *valuePane) end()       { v.chase(ending) }

func (v *valuePane) chase(c chase) {
	v.scrolled(func(p *pager) {
		p.chase = c
		p.follow()
	})
}
