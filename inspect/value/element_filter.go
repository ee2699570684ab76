package value

import (
	"cmp"
	"context"
	"strconv"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/meowdis/meowdis/inspect/client"
	"github.com/meowdis/meowdis/inspect/job"
	"github.com/meowdis/meowdis/inspect/screen"
	"github.com/meowdis/meowdis/inspect/ui"
	"github.com/meowdis/meowdis/keyspace/catalog"
	"github.com/meowdis/meowdis/keyspace/display"
	"github.com/meowdis/meowdis/redis/rdb"
	"github.com/meowdis/meowdis/store/keytype"
)

// elementFilter holds the elements of a table that contain a text, or all of them in another order. The
// elements are read once, in parts, and stay in memory up to a limit.
type elementFilter struct {
	base   *sheet // the table as stored
	needle string // "" for all elements
	elementOrder

	rows       elementList  // the rows on the screen
	collected  elementList  // the matches so far
	trail      *chunkCursor // nil once everything was read
	next       int          // the next chunk to read
	after      int64        // of the hash of a file: the position of the last field that was read
	readCount  int64        // the number of elements read
	sortedLen  int          // how many of collected are sorted; meaningful only if full
	matchCount int          // the number of matches, including dropped ones
	full       bool         // the limit was reached; the last elements in the order are dropped
	halted     bool         // it does not continue by itself
}

// limits bound the elements that a filter keeps: their number and their bytes.
type limits struct{ elements, bytes int }

var maxFiltered = limits{1 << 20, 64 << 20}

// hasElements reports whether the screen shows elements, and shows a notice if it does not.
func (v *Pane) hasElements() bool {
	if v.sheet() != nil && !v.InTable() {
		v.Notice = "There are no elements to filter or sort."
	}
	return v.InTable()
}

// EditFilter asks the user which elements to show.
func (v *Pane) EditFilter() tea.Cmd {
	s := v.sheet()
	if !v.hasElements() {
		return nil
	}
	now := ""
	if s.filter != nil {
		now = s.filter.needle
	}
	v.Dialog = &ui.Question{
		Title: "Show only " + s.src.unit[1] + " that contain", Note: `ignores case unless you type capitals; "\x00" in quotes; empty shows all`, Prompt: screen.NewPrompt(now),
		Answer: func(typed string) tea.Cmd {
			v.changeFilter(func(w *elementFilter) { w.needle = needleOf(typed, asText) })
			return nil
		},
	}
	return nil
}

// PickColumn asks the user which column to sort the elements by.
func (v *Pane) PickColumn() tea.Cmd {
	s := v.sheet()
	if !v.hasElements() {
		return nil
	}
	p := &ui.Picker{Title: "Sort " + s.src.unit[1] + " by", Items: []ui.Item{{Label: "as stored", Value: "0"}}, Choose: func(value string) tea.Cmd {
		v.changeFilter(func(w *elementFilter) { w.column, w.reverse = int(client.Atoi(value)), false })
		return nil
	}}
	for i, c := range s.src.columns {
		if c.title == "#" {
			continue
		}
		if s.filter != nil && s.filter.column == i+1 {
			p.At = len(p.Items)
		}
		p.Items = append(p.Items, ui.Item{Label: strings.ToLower(c.title), Value: strconv.Itoa(i + 1)})
	}
	v.Dialog = p
	return nil
}

// ReverseElements reverses the order of the elements.
func (v *Pane) ReverseElements() tea.Cmd {
	if v.hasElements() {
		v.changeFilter(func(w *elementFilter) { w.reverse = !w.reverse })
	}
	return nil
}

// changeFilter applies change to the filter, and removes the filter if it would show all elements as
// stored.
func (v *Pane) changeFilter(change func(*elementFilter)) {
	s := v.sheet()
	w := elementFilter{base: s}
	if s.filter != nil {
		w = *s.filter
	}
	was := w
	change(&w)
	top := len(v.sheets) - 1
	v.Cancel(job.Filtering)
	switch {
	case w.needle == "" && w.column == 0 && !w.reverse:
		v.sheets[top] = w.base
	case s.filter != nil && w.needle == was.needle && w.trail == nil && was.rows.refs != nil && !w.full:
		w.rows.setKeys(w.elementOrder)
		w.rows.sort(w.elementOrder)
		s.filter = &w
		s.showFiltered(true)
	default:
		w.begin()
		w.rows = elementList{}
		v.sheets[top] = &sheet{title: s.title, src: s.src, decoding: decoding{form: s.form, decodeTried: true}, chunking: chunking{per: perChunk, pager: newPager(0, true)}, searchHit: searchHit{needle: cmp.Or(w.needle, w.base.needle)}, filter: &w}
	}
	v.allowJobs()
	v.arrange()
	v.fillWhole()
}

// begin starts reading the elements again. The rows on the screen stay until all elements were read.
func (w *elementFilter) begin() {
	of := w.base
	w.trail = &chunkCursor{
		src: of.src, per: of.per, step: 1, count: chunksOf(of.size, of.src.per),
		starts: []chunkRequest{of.startRequest()}, before: []int64{0}, loaded: map[int]*chunk{}, batch: 1,
	}
	if of.src.per > 0 {
		w.trail.count = chunksOf(of.size, of.per)
	}
	if of.src.repeats {
		w.trail.firsts = client.NewSeenNames()
	}
	var room []elementRef // for all elements, so that collect need not move them
	if w.needle == "" {
		room = make([]elementRef, 0, min(max(of.size, 0), int64(maxFiltered.elements)))
	}
	w.after = catalog.BeforeFields
	w.collected, w.next, w.readCount, w.matchCount, w.full, w.halted = elementList{refs: room}, 0, 0, 0, false, false
}

// filteredMsg carries the matches in further chunks.
type filteredMsg struct {
	filter *elementFilter
	trail  *chunkCursor
	found  elementList // with keys for the order
	next   int
	after  int64
	read   int64
	done   bool
}

// add adds all elements of c, after before matches.
func (m *filteredMsg) add(c *chunk, before int) {
	for i, row := range c.rows {
		body := ""
		if c.bodies != nil {
			body = c.bodies[i]
		}
		m.found.add(before+len(m.found.refs), row, body)
	}
}

// finish makes the matches ready for their order.
func (m *filteredMsg) finish(o elementOrder) {
	m.found.flush()
	m.found.setKeys(o)
}

// filterBatchBytes is roughly how many bytes are read before the matches are shown.
const filterBatchBytes = 1 << 20

// readFiltered reads some more elements in a job.
func (v *Pane) readFiltered(w *elementFilter) tea.Cmd {
	t, conn, needle, next, looked, size, before, order := w.trail, v.Conn, w.needle, w.next, w.readCount, w.base.size, w.matchCount, w.elementOrder
	t.key, t.db = v.Key, v.DB
	if v.Index != nil && w.base.src == sourceOf(keytype.Hash) {
		return v.readFilteredFields(w)
	}
	return v.Start(job.Filtering, func(ctx context.Context) (tea.Msg, error) {
		m := filteredMsg{filter: w, trail: t, next: next}
		for bytes := 0; bytes < filterBatchBytes; m.next++ {
			if m.done = !t.hasChunk(m.next); m.done {
				break
			}
			c, err := t.chunk(ctx, conn, m.next)
			if err != nil {
				return nil, err
			}
			delete(t.loaded, m.next)
			bytes += c.bytes() + 1024
			m.read += int64(c.len())
			job.CostOf(ctx).Progress(looked+m.read, size)
			if c = c.filtered(t.src, needle); c.len() == 0 {
				continue
			}
			if err := fetchDetails(ctx, conn, t.db, t.src, t.key, c); err != nil {
				return nil, err
			}
			m.add(c, before)
		}
		m.finish(order)
		return m, nil
	})
}

// fieldsAtOnce sets the number of fields of a file's hash that are read before the matches are shown.
const fieldsAtOnce = 20_000

// readFilteredFields reads some more fields of a hash from the index of a file in a job.
func (v *Pane) readFilteredFields(w *elementFilter) tea.Cmd {
	t, index, needle, looked, size := w.trail, v.Index, w.needle, w.readCount, w.base.size
	after, before, order := w.after, w.matchCount, w.elementOrder
	return v.Start(job.Filtering, func(ctx context.Context) (tea.Msg, error) {
		m := filteredMsg{filter: w, trail: t}
		var err error
		m.after, m.done, err = index.Fields(ctx, t.db, t.key, after, fieldsAtOnce, func() func(rdb.Field) {
			m.read, m.found = 0, elementList{refs: make([]elementRef, 0, fieldsAtOnce)}
			return func(f rdb.Field) {
				m.read++
				var expires []byte
				if f.ExpiresAt != 0 {
					expires = []byte(client.Decimal(f.ExpiresAt))
				}
				if needle != "" && !t.src.rowContains(record{string(f.Name), string(expires), string(f.Value)}, needle) {
					return
				}
				m.found.addCells(before+len(m.found.refs), f.Name, expires, f.Value)
			}
		})
		m.finish(order)
		job.CostOf(ctx).Progress(looked+m.read, size)
		return m, err
	})
}

// filtered returns the elements of c, a chunk of src, that contain needle.
func (c *chunk) filtered(src *source, needle string) *chunk {
	out := &chunk{}
	for i, row := range c.rows {
		if needle != "" && !src.rowContains(row, needle) {
			continue
		}
		out.rows = append(out.rows, row)
		if c.bodies != nil {
			out.bodies = append(out.bodies, c.bodies[i])
		}
	}
	return out
}

// onFiltered stores the matches. In the stored order they are shown at once.
func (v *Pane) onFiltered(m filteredMsg) {
	w := m.filter
	s := v.sheet()
	if s == nil || s.filter != w || w.trail != m.trail {
		return
	}
	w.collect(&m.found, maxFiltered)
	w.next, w.after, w.readCount = m.next, m.after, w.readCount+m.read
	first := w.rows.refs == nil
	switch {
	case m.done || w.full && !w.reorders():
		w.rows, w.collected, w.trail = w.collected, elementList{}, nil
		w.rows.sort(w.elementOrder)
		s.showFiltered(first)
	case !w.reorders() && len(w.rows.refs) <= len(w.collected.refs):
		w.rows = w.collected
		s.showFiltered(first)
	}
	v.fillWhole()
}

// reorders reports whether the elements are shown in another order than stored.
func (w *elementFilter) reorders() bool { return w.column != 0 || w.reverse }

// collect adds elements. Beyond the limits it keeps the elements that come first in the order, so the screen
// shows the beginning of the order, whatever was read later.
func (w *elementFilter) collect(found *elementList, most limits) {
	w.matchCount += len(found.refs)
	l := &w.collected
	l.take(found, func(r elementRef) bool {
		return !w.reorders() || !w.full || l.compare(w.elementOrder, r, l.refs[w.sortedLen-1]) <= 0
	})
	if len(l.refs) < most.elements && l.bytes < most.bytes {
		return
	}
	w.full = true
	if w.reorders() {
		// Dropping many at once avoids a sort for every further element.
		l.sort(w.elementOrder)
		l.keepFirst(limits{most.elements * 7 / 8, most.bytes * 7 / 8})
		w.sortedLen = len(l.refs)
	}
}

// stopFilter stops reading and shows the matches so far.
func (s *sheet) stopFilter() {
	s.filter.halted = true
	if w := s.filter; len(w.collected.refs) > len(w.rows.refs) {
		w.rows = w.collected.clone()
		w.rows.sort(w.elementOrder)
		s.showFiltered(true)
	}
}

// showFiltered lays the rows out again. The cursor keeps its place, or moves to the first row if first
// is set.
func (s *sheet) showFiltered(first bool) {
	s.size = int64(len(s.filter.rows.refs))
	p := &s.pager
	p.chunks, p.count = map[int]*chunk{}, chunksOf(s.size, perChunk)
	if last := max(p.count-1, 0); first || p.cursor.chunk > last {
		p.home()
	}
}

// chunk returns chunk i of the rows on the screen.
func (w *elementFilter) chunk(i int) *chunk {
	from := i * perChunk
	c := &chunk{hasDetails: true}
	for _, r := range w.rows.refs[from:min(from+perChunk, len(w.rows.refs))] {
		row, body := w.rows.element(r, nil)
		c.rows = append(c.rows, row)
		c.bodies = append(c.bodies, cmp.Or(body, row[len(row)-1]))
	}
	return c
}

// unreadFilter returns the filter on the screen if it has elements left to read, else nil.
func (v *Pane) unreadFilter() *elementFilter {
	s := v.sheet()
	if s == nil || s.filter == nil || s.filter.trail == nil || s.filter.halted || v.gone() {
		return nil
	}
	return s.filter
}

// removeFilter shows the elements as stored. It returns false if there was no filter.
func (v *Pane) removeFilter() bool {
	s := v.sheet()
	if s == nil || s.filter == nil {
		return false
	}
	v.Cancel(job.Filtering)
	v.sheets[len(v.sheets)-1] = s.filter.base
	v.arrange()
	return true
}

// IsFiltered reports whether a filter or a sort order applies to the elements.
func (v *Pane) IsFiltered() bool { return v.sheet() != nil && v.sheet().filter != nil }

// seek returns the next matching row, or the previous one if step is -1.
func (w *elementFilter) seek(from position, text string, step int) (at position, found bool) {
	var row record
	for i := from.chunk*perChunk + from.line + step; i >= 0 && i < len(w.rows.refs); i += step {
		if row, _ = w.rows.element(w.rows.refs[i], row[:0]); w.base.src.rowContains(row, text) {
			return position{i / perChunk, i % perChunk}, true
		}
	}
	return from, false
}

// summary describes the filter for the line of facts.
func (w *elementFilter) summary() string {
	var parts []string
	if w.needle != "" {
		parts = append(parts, "only "+display.Text(w.needle, 20))
	}
	arrow := "↑"
	if w.reverse {
		arrow = "↓"
	}
	switch {
	case w.column > 0:
		parts = append(parts, "by "+strings.ToLower(w.base.src.columns[w.column-1].title)+arrow)
	case w.reverse:
		parts = append(parts, "reversed")
	}
	return strings.Join(parts, " · ")
}

// place describes how much was read.
func (w *elementFilter) place() string {
	all := display.Counted(w.base.size, w.base.src.unit[0], w.base.src.unit[1])
	if w.base.size < 0 {
		all = "all " + w.base.src.unit[1]
	}
	switch {
	case w.full && w.reorders() && w.trail == nil:
		return "the first " + display.Grouped(int64(len(w.rows.refs))) + " of " + display.Counted(int64(w.matchCount), w.base.src.unit[0], w.base.src.unit[1]) + " in this order"
	case w.full && !w.reorders():
		return "the first " + display.Grouped(int64(len(w.rows.refs))) + "; more do not fit in memory"
	case w.trail != nil:
		return "searched " + display.Grouped(w.readCount) + " of " + all
	}
	return "of " + all
}
