package value

import (
	"strings"

	"github.com/meowdis/meowdis/inspect/client"
	"github.com/meowdis/meowdis/inspect/screen"
	"github.com/meowdis/meowdis/keyspace/display"
)

// sheet holds a value, or one of its elements, laid out for the screen.
type sheet struct {
	chunking
	decoding
	searchHit
	columnLayout

	title  string
	src    *source        // how it is fetched; nil if whole holds all of it
	whole  string         // an element held in memory
	opened *opened        // the element on this sheet; nil on other sheets
	chart  *chart         // above the elements; nil for none
	filter *elementFilter // which elements are shown, and in what order; nil: all, as stored
}

// chunking controls how a value is fetched in chunks.
type chunking struct {
	size   int64             // elements or bytes
	per    int64             // elements or bytes per chunk; 0 if the chunks form a chain
	sized  bool              // per was chosen to fit the element size
	firsts *client.SeenNames // the elements already shown, if chunks may repeat elements
	pager  pager
	live   bool // new entries appear as they arrive
}

// decoding selects the form of a value on the screen.
type decoding struct {
	form        shape
	formChosen  bool      // the user chose the form
	doc         *document // the decoded value; nil if it does not decode
	decodeTried bool      // decoding was tried
	decoderRan  bool      // the user's decoder ran
	note        string    // why decoding failed
}

// columnLayout holds the widths of the columns.
type columnLayout struct {
	widths []int // the widest cell shown so far, per column
	width  int   // the width that the chunks are laid out for
}

func newSheet(title string, src *source, size int64) *sheet {
	return &sheet{title: title, src: src, chunking: chunking{size: size, per: src.per, pager: newPager(chunksOf(size, src.per), src.columns != nil)}}
}

// newHeld returns a sheet of bytes held in memory, which are not decoded.
func newHeld(title, body string) *sheet {
	s := &sheet{title: title, whole: body, chunking: chunking{size: int64(len(body))}, decoding: decoding{decodeTried: true}}
	s.pager = newPager(chunksOf(s.size, windowSize), false)
	return s
}

// newWhole returns a sheet of a whole value, or of an element, held in memory.
func newWhole(title, body string) *sheet {
	s := newHeld(title, body)
	if s.size > decodeLimit {
		s.note = beginningOf([]byte(body[:windowSize]))
	}
	s.decoded(newDocument(body))
	return s
}

// decoded stores the decoded value, and shows it unless the user chose another form.
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

// restoreSheets returns the sheets of a value that was read again as s, at the user's position.
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
		case inner.src == nil: // reopen replaces it
		case inner.filter != nil:
			inner.filter.base.markStale()
			inner.filter.begin()
		default:
			inner.markStale()
		}
	}
	return append([]*sheet{s}, old[1:]...)
}

// resume takes over the position of old, if it can be found again.
func (s *sheet) resume(old *sheet) {
	if s.src != old.src {
		return
	}
	s.form, s.formChosen, s.needle, s.live = old.form, old.formChosen, old.needle, old.live
	if s.doc != nil {
		s.doc.resume(old.doc)
	} else if !s.decodeTried {
		s.doc = old.doc // until the new value is decoded
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

// add stores chunk i.
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

// isTable reports whether s shows elements; otherwise it shows bytes.
func (s *sheet) isTable() bool { return s != nil && s.src != nil && s.src.columns != nil }

// relayout lays out the loaded chunks again and keeps the same byte at the top.
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

// element returns the selected row of a table and its body; ok is false if no row is selected.
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

// inDocument reports whether the decoded value is shown.
func (s *sheet) inDocument() bool { return s.form == asDocument && s.doc != nil }

// elementTitle returns the title of an element, from the first cell of its row.
func elementTitle(s *sheet, row record) string {
	if len(row) == 1 {
		return s.title + " ▸ " + strings.ToLower(s.src.columns[0].title)
	}
	return s.title + " ▸ " + display.Whole(row[0])
}
