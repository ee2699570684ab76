package value

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/meowdis/meowdis/display"
	"github.com/meowdis/meowdis/inspect/job"
	"github.com/meowdis/meowdis/inspect/room"
	"github.com/meowdis/meowdis/inspect/screen"
	"github.com/meowdis/meowdis/inspect/target"
)

// sieve is the elements of a table that hold a text, or all of them in another order:
// they are read once, a part at a time, and stay in memory as far as there is room.
type sieve struct {
	base    *sheet // the table as it is stored
	needle  string // "" for all elements
	column  int    // that makes the order, from 1; 0: as it is stored
	reverse bool

	rows       []sifted // what is shown
	collected  []sifted // what was found so far
	trail      *trail   // nil when all was read
	next       int      // the next chunk to read
	readCount  int64    // how many elements were read
	sortedLen  int      // how many of coming are in order; of use when it is full
	matchCount int      // how many elements were let through
	bytes      int      // of those in coming
	full       bool     // there was no room for more: those that come last are left out
	halted     bool     // it does not go on by itself
}

// sifted is an element that a sieve let through.
type sifted struct {
	row  record
	body string // as it is shown alone; "" where that is the last cell
	n    int    // its place as it is stored

	number  float64 // the cell that makes the order, if it is one
	numeric bool
}

// limits are how many elements a sieve keeps, and how many bytes of them.
type limits struct{ elements, bytes int }

var maxFiltered = limits{1 << 20, 64 << 20}

// bytes returns how many bytes the element has.
func (e *sifted) bytes() int {
	n := len(e.body)
	for _, cell := range e.row {
		n += len(cell)
	}
	return n
}

// hasElements reports whether there are elements on the screen, and says so where not.
func (v *Room) hasElements() bool {
	if v.sheet() != nil && !v.inTable() {
		v.Notice = "There are no elements here to filter or to sort."
	}
	return v.inTable()
}

// EditSieve asks which elements to show.
func (v *Room) EditSieve() tea.Cmd {
	s := v.sheet()
	if !v.hasElements() {
		return nil
	}
	now := ""
	if s.filter != nil {
		now = s.filter.needle
	}
	v.Dialog = &room.Question{
		Title: "Show only " + s.src.unit[1] + " that hold", Note: `a text, in any case, unless with capitals; "\x00" in quotes; nothing shows all`, Prompt: screen.NewPrompt(now),
		Answer: func(typed string) tea.Cmd {
			v.changeFilter(func(w *sieve) { w.needle = needleOf(typed, asText) })
			return nil
		},
	}
	return nil
}

// PickColumn asks what the elements are sorted by.
func (v *Room) PickColumn() tea.Cmd {
	s := v.sheet()
	if !v.hasElements() {
		return nil
	}
	p := &room.Picker{Title: "Sort " + s.src.unit[1] + " by", Items: []room.Item{{Label: "as stored", Value: "0"}}, Choose: func(value string) tea.Cmd {
		v.changeFilter(func(w *sieve) { w.column, w.reverse = int(target.Atoi(value)), false })
		return nil
	}}
	for i, c := range s.src.columns {
		if c.title == "#" {
			continue
		}
		if s.filter != nil && s.filter.column == i+1 {
			p.At = len(p.Items)
		}
		p.Items = append(p.Items, room.Item{Label: strings.ToLower(c.title), Value: strconv.Itoa(i + 1)})
	}
	v.Dialog = p
	return nil
}

// ReverseElements turns the elements round.
func (v *Room) ReverseElements() tea.Cmd {
	if v.hasElements() {
		v.changeFilter(func(w *sieve) { w.reverse = !w.reverse })
	}
	return nil
}

// changeFilter shows the elements by another sieve, or as they are stored where that lets all
// through in their order.
func (v *Room) changeFilter(change func(*sieve)) {
	s := v.sheet()
	w := sieve{base: s}
	if s.filter != nil {
		w = *s.filter
	}
	was := w
	change(&w)
	top := len(v.sheets) - 1
	v.Cancel(job.Sifting)
	switch {
	case w.needle == "" && w.column == 0 && !w.reverse:
		v.sheets[top] = w.base
	case s.filter != nil && w.needle == was.needle && w.trail == nil && was.rows != nil && !w.full:
		w.sort()
		s.filter = &w
		s.showFiltered(true)
	default:
		w.begin()
		w.rows = nil
		v.sheets[top] = &sheet{title: s.title, src: s.src, form: s.form, decodeTried: true, per: perChunk, needle: cmp.Or(w.needle, w.base.needle), filter: &w, pager: newPager(0, true)}
	}
	v.allowJobs()
	v.arrange()
	v.fillWhole()
}

// begin reads the elements anew. Those that are shown stay until all were read.
func (w *sieve) begin() {
	of := w.base
	w.trail = &trail{
		src: of.src, per: of.per, step: 1, count: chunksOf(of.size, of.src.per),
		starts: []chunkRequest{of.startRequest()}, before: []int64{0}, loaded: map[int]*chunk{}, batch: 1,
	}
	if of.src.per > 0 {
		w.trail.count = chunksOf(of.size, of.per)
	}
	if of.src.repeats {
		w.trail.firsts = target.NewSeen()
	}
	w.collected, w.next, w.readCount, w.matchCount, w.bytes, w.full, w.halted = nil, 0, 0, 0, 0, false, false
}

// filteredMsg is what some more chunks brought.
type filteredMsg struct {
	filter *sieve
	trail  *trail
	rows   []sifted
	next   int
	read   int64
	done   bool
}

// filterBatchBytes is about how many bytes are read before what was found is shown.
const filterBatchBytes = 1 << 20

// readFiltered reads some more elements.
func (v *Room) readFiltered(w *sieve) tea.Cmd {
	t, conn, needle, next, looked, size := w.trail, v.Conn, w.needle, w.next, w.readCount, w.base.size
	t.key, t.db = v.Key, v.DB
	return v.Start(job.Sifting, func(ctx context.Context) (tea.Msg, error) {
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
			if c = c.filtered(needle); c.len() == 0 {
				continue
			}
			if err := fetchDetails(ctx, conn, t.db, t.src, t.key, c); err != nil {
				return nil, err
			}
			for i, row := range c.rows {
				e := sifted{row: row}
				if c.bodies != nil {
					e.body = c.bodies[i]
				}
				m.rows = append(m.rows, e)
			}
		}
		return m, nil
	})
}

// filtered is the elements of c that hold needle.
func (c *chunk) filtered(needle string) *chunk {
	out := &chunk{}
	for i, row := range c.rows {
		if needle != "" && !slices.ContainsFunc(row, func(cell string) bool { return cellContains(cell, needle) }) {
			continue
		}
		out.rows = append(out.rows, row)
		if c.bodies != nil {
			out.bodies = append(out.bodies, c.bodies[i])
		}
	}
	return out
}

// onFiltered takes in what was found. In the stored order it is shown at once.
func (v *Room) onFiltered(m filteredMsg) {
	w := m.filter
	s := v.sheet()
	if s == nil || s.filter != w || w.trail != m.trail {
		return
	}
	w.collect(m.rows, maxFiltered)
	w.next, w.readCount = m.next, w.readCount+m.read
	first := w.rows == nil
	switch {
	case m.done || w.full && !w.reorders():
		w.rows, w.collected, w.trail = w.collected, nil, nil
		w.sort()
		s.showFiltered(first)
	case !w.reorders() && len(w.rows) <= len(w.collected):
		w.rows = w.collected
		s.showFiltered(first)
	}
	v.fillWhole()
}

// reorders reports whether the elements are shown in another order than the stored one.
func (w *sieve) reorders() bool { return w.column != 0 || w.reverse }

// collect takes elements in. When there is no room for all of them, it keeps those that come first in the
// order: what is shown then is the beginning of the order, whatever was read later.
func (w *sieve) collect(rows []sifted, most limits) {
	for _, e := range rows {
		e.n = w.matchCount
		w.matchCount++
		if w.reorders() {
			w.setSortKey(&e)
			if w.full && w.compare(e, w.collected[w.sortedLen-1]) > 0 {
				continue
			}
		}
		w.collected = append(w.collected, e)
		w.bytes += e.bytes()
		if len(w.collected) >= most.elements || w.bytes >= most.bytes {
			w.full = true
			w.dropLast()
		}
	}
}

// dropLast drops an eighth of the elements, those that come last, so that not every element that follows sorts
// all of them again.
func (w *sieve) dropLast() {
	if !w.reorders() {
		return
	}
	slices.SortFunc(w.collected, w.compare)
	w.sortedLen = max(len(w.collected)*7/8, 1)
	clear(w.collected[w.sortedLen:])
	w.collected, w.bytes = w.collected[:w.sortedLen], 0
	for i := range w.collected {
		w.bytes += w.collected[i].bytes()
	}
}

// sort brings what was read in order.
func (w *sieve) sort() {
	for i := range w.rows {
		w.setSortKey(&w.rows[i])
	}
	slices.SortFunc(w.rows, w.compare)
}

// setSortKey reads the number that makes the order.
func (w *sieve) setSortKey(e *sifted) {
	if e.numeric = false; w.column > 0 {
		number, err := strconv.ParseFloat(e.row[w.column-1], 64)
		e.number, e.numeric = number, err == nil
	}
}

// compare puts elements in order: numbers before other cells, and equal cells as they are stored.
func (w *sieve) compare(a, b sifted) int {
	c := 0
	switch {
	case w.column == 0:
	case a.numeric != b.numeric:
		if c = 1; a.numeric {
			c = -1
		}
	default:
		if a.numeric {
			c = cmp.Compare(a.number, b.number)
		}
		c = cmp.Or(c, strings.Compare(a.row[w.column-1], b.row[w.column-1]))
	}
	c = cmp.Or(c, a.n-b.n)
	if w.reverse {
		return -c
	}
	return c
}

// stopFilter shows what was read so far.
func (s *sheet) stopFilter() {
	s.filter.halted = true
	if w := s.filter; len(w.collected) > len(w.rows) {
		w.rows = slices.Clone(w.collected)
		w.sort()
		s.showFiltered(true)
	}
}

// showFiltered lays the rows out anew; the person stays where they are, or begins at the
// first.
func (s *sheet) showFiltered(first bool) {
	s.size = int64(len(s.filter.rows))
	p := &s.pager
	p.chunks, p.count = map[int]*chunk{}, chunksOf(s.size, perChunk)
	if last := max(p.count-1, 0); first || p.cursor.chunk > last {
		p.home()
	}
}

// chunk is chunk i of what is shown.
func (w *sieve) chunk(i int) *chunk {
	from := i * perChunk
	c := &chunk{hasDetails: true}
	for _, e := range w.rows[from:min(from+perChunk, len(w.rows))] {
		c.rows = append(c.rows, e.row)
		c.bodies = append(c.bodies, cmp.Or(e.body, e.row[len(e.row)-1]))
	}
	return c
}

// unreadFilter is the sieve that has elements to read; nil when there is none.
func (v *Room) unreadFilter() *sieve {
	s := v.sheet()
	if s == nil || s.filter == nil || s.filter.trail == nil || s.filter.halted || v.gone() {
		return nil
	}
	return s.filter
}

// removeFilter shows the elements as they are stored; false when they are.
func (v *Room) removeFilter() bool {
	s := v.sheet()
	if s == nil || s.filter == nil {
		return false
	}
	v.Cancel(job.Sifting)
	v.sheets[len(v.sheets)-1] = s.filter.base
	v.arrange()
	return true
}

// IsSifted reports whether the elements are shown by a sieve.
func (v *Room) IsSifted() bool { return v.sheet() != nil && v.sheet().filter != nil }

// seek goes to the next row of what is shown that holds text, or the one before.
func (w *sieve) seek(from spot, text string, step int) (at spot, found bool) {
	for i := from.chunk*perChunk + from.line + step; i >= 0 && i < len(w.rows); i += step {
		if slices.ContainsFunc(w.rows[i].row, func(cell string) bool { return cellContains(cell, text) }) {
			return spot{i / perChunk, i % perChunk}, true
		}
	}
	return from, false
}

// summary is what a sieve does, for the line of facts.
func (w *sieve) summary() string {
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

// place says how much was read.
func (w *sieve) place() string {
	all := display.Counted(w.base.size, w.base.src.unit[0], w.base.src.unit[1])
	if w.base.size < 0 {
		all = "all " + w.base.src.unit[1]
	}
	switch {
	case w.full && w.reorders() && w.trail == nil:
		return "the first " + display.Grouped(int64(len(w.rows))) + " of " + display.Counted(int64(w.matchCount), w.base.src.unit[0], w.base.src.unit[1]) + " in this order"
	case w.full && !w.reorders():
		return "the first " + display.Grouped(int64(len(w.rows))) + ", there is no room for more"
	case w.trail != nil:
		return "searched " + display.Grouped(w.readCount) + " of " + all
	}
	return "of " + all
}
