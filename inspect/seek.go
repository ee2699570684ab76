package inspect

import (
	"bytes"
	"context"
	"strings"

	tea "github.com/charmbracelet/bubbletea"
)

// sought is where a search in a value came to.
type sought struct {
	sheet  *sheet
	found  bool
	at     spot     // the row, where there are rows
	offset int64    // the byte, where there are bytes
	i      int      // the chunk that holds it
	chunk  *chunk   // its content
	starts []string // the cursors on the way there
}

// matcherOf tells whether a text holds needle; letters in lower case also stand
// for those in upper case.
func matcherOf(needle string) func(string) bool {
	if needle != strings.ToLower(needle) {
		return func(s string) bool { return strings.Contains(s, needle) }
	}
	return func(s string) bool { return strings.Contains(strings.ToLower(s), needle) }
}

// editSeek asks what to search in the value.
func (m *Model) editSeek() tea.Cmd {
	s := m.value.sheet()
	if s == nil {
		return nil
	}
	m.overlay = &question{title: "Search in the value", prompt: newPrompt(""), answer: func(m *Model, needle string) tea.Cmd {
		if s := m.value.sheet(); s != nil && needle != "" {
			s.needle = needle
			return m.seek(false)
		}
		return nil
	}}
	return nil
}

func (m *Model) seekNext() tea.Cmd { return m.seek(false) }
func (m *Model) seekBack() tea.Cmd { return m.seek(true) }

// seek goes to the next place that holds what was searched last, or the one
// before. What is not in memory is fetched chunk by chunk, and forgotten.
func (m *Model) seek(back bool) tea.Cmd {
	s := m.value.sheet()
	if s == nil || s.needle == "" {
		return nil
	}
	switch {
	case s.inDocument():
		if !s.doc.find(matcherOf(s.needle), back) {
			m.notFound(s)
		}
		return nil
	case s.tabular():
		return m.seekRow(s, back)
	}
	return m.seekByte(s, back)
}

func (m *Model) notFound(s *sheet) { m.notice = "No other " + shown(s.needle, 40) + " from here." }

// seekRow searches the cells of a table.
func (m *Model) seekRow(s *sheet, back bool) tea.Cmd {
	db, key, match := m.db, m.value.key, matcherOf(s.needle)
	at, count, starts := s.pager.cursor, s.pager.count, append([]string(nil), s.pager.starts...)
	chunks := map[int]*chunk{}
	for i, c := range s.pager.chunks {
		chunks[i] = c
	}
	return m.start(searching, func(ctx context.Context) (tea.Msg, error) {
		step := 1
		if back {
			step = -1
		}
		r := sought{sheet: s}
		for i := at.chunk; i >= 0 && (count < 0 && i < len(starts) || i < count); i += step {
			c := chunks[i]
			if c == nil {
				var err error
				cursor := ""
				if i < len(starts) {
					cursor = starts[i]
				}
				if c, err = m.conn.chunk(ctx, db, s, key, i, cursor); err != nil {
					return r, err
				}
			}
			if i+1 == len(starts) && c.next != "" {
				starts = append(starts, c.next)
			}
			if line, ok := c.find(match, at, i, step); ok {
				r.found, r.at, r.i, r.chunk, r.starts = true, spot{i, line}, i, c, starts
				return r, nil
			}
		}
		return r, nil
	})
}

// find is the next row of chunk i that matches, behind from or before it.
func (c *chunk) find(match func(string) bool, from spot, i, step int) (int, bool) {
	line := 0
	if step < 0 {
		line = len(c.rows) - 1
	}
	if i == from.chunk {
		line = from.line + step
	}
	for ; line >= 0 && line < len(c.rows); line += step {
		for _, cell := range c.rows[line] {
			if match(cell) {
				return line, true
			}
		}
	}
	return 0, false
}

// seekWindow is how many bytes of a string are searched at once.
const seekWindow = 1 << 20

// seekByte searches the bytes of a string, or of an element.
func (m *Model) seekByte(s *sheet, back bool) tea.Cmd {
	db, key, needle := m.db, m.value.key, []byte(s.needle)
	fold := bytes.Equal(needle, bytes.ToLower(needle))
	from, size, whole := s.topByte(), s.size, s.whole
	read := func(ctx context.Context, low, high int64) ([]byte, error) {
		if s.src == nil {
			return []byte(whole[low:high]), nil
		}
		v, err := m.conn.one(ctx, db, command("GETRANGE", key, decimal(low), decimal(high-1)))
		return v.Str, err
	}
	return m.start(searching, func(ctx context.Context) (tea.Msg, error) {
		r := sought{sheet: s}
		low := from + 1
		if back {
			low = from - seekWindow
		}
		for low < size && low > -seekWindow {
			high := min(low+seekWindow+int64(len(needle))-1, size)
			if back {
				high = min(low+seekWindow+int64(len(needle))-1, from+int64(len(needle))-1, size)
			}
			data, err := read(ctx, max(low, 0), max(high, 0))
			if err != nil {
				return r, err
			}
			if fold {
				data = bytes.ToLower(data)
			}
			i := bytes.Index(data, needle)
			if back {
				i = bytes.LastIndex(data, needle)
			}
			if i >= 0 {
				r.found, r.offset = true, max(low, 0)+int64(i)
				return r, nil
			}
			if low += seekWindow; back {
				low -= 2 * seekWindow
			}
		}
		return r, nil
	})
}

// topByte is the place of what the search found, or else of the byte before the
// first one on the screen.
func (s *sheet) topByte() int64 {
	at := s.pager.top
	if s.seen > 0 {
		return s.seen - 1
	}
	c := s.pager.chunks[at.chunk]
	if c == nil || at.line >= len(c.lines) {
		return -1
	}
	return int64(at.chunk)*windowSize + int64(c.lines[at.line].start) - 1
}

// seeks goes to what a search found.
func (m *Model) seeks(r sought) {
	s := r.sheet
	if !r.found {
		m.notFound(s)
		return
	}
	if s.tabular() {
		s.pager.chunks[r.i] = r.chunk
		s.pager.jump(r.at, r.starts)
		return
	}
	s.goTo(r.offset)
	m.value.fillWhole()
}

// goTo shows the line with the byte at offset; its window may have to be fetched
// first.
func (s *sheet) goTo(offset int64) {
	i := int(offset / windowSize)
	s.pager.jump(spot{i, 0}, nil)
	s.seen, s.seeking = offset+1, true
	if c := s.pager.chunks[i]; c != nil {
		s.settleSeek(i, c)
	}
}

// settleSeek goes to the line of the byte that a search found, now that its window
// is there.
func (s *sheet) settleSeek(i int, c *chunk) {
	offset := s.seen - 1
	if !s.seeking || int(offset/windowSize) != i {
		return
	}
	line := 0
	for line+1 < len(c.lines) && int64(c.lines[line+1].start) <= offset%windowSize {
		line++
	}
	s.pager.jump(spot{i, line}, nil)
	s.pager.top = spot{i, line}
	s.pager.cursor = s.pager.top
	s.seeking = false
}
