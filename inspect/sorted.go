package inspect

import (
	"context"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/meowdis/meowdis/catalog"
)

// An order that the target's index does not have is made by looking at all keys
// once, in the background: the first ones so far are shown until then.

// orderedOn is a sorting that has looked at some more keys.
type orderedOn struct{ sorting *catalog.Sorting }

// sortBy begins to sort the keys of q.
func (m *Model) sortBy(q catalog.Query) {
	m.leaveOrder()
	m.sorted, m.keys.drawn = m.options.Index.Sort(q), 0
}

// leaveOrder forgets the order, if there is one.
func (m *Model) leaveOrder() {
	if m.sorted != nil {
		m.cancel(sorting)
		go m.sorted.Close() // it waits for what is running
	}
	m.sorted, m.outdated = nil, false
}

// sortAgain makes the order of the list anew, from the keys as they are now.
func (m *Model) sortAgain() {
	m.sortBy(m.walker().query)
	m.showOrder()
}

// showOrder loads the rows anew. Who is at the first key stays at the first.
func (m *Model) showOrder() {
	l := &m.keys
	if l.reload(m.running(listing)); l.jump == again {
		l.stay = l.cursor > 0 || !l.atHead
	}
}

// sortOn looks at some more keys.
func (m *Model) sortOn() tea.Cmd {
	s := m.sorted
	return m.start(sorting, func(ctx context.Context) (tea.Msg, error) { return orderedOn{s}, s.Look(ctx) })
}

// isSorting reports whether not all keys were looked at yet.
func (m *Model) isSorting() bool {
	if m.sorted == nil {
		return false
	}
	_, done := m.sorted.Looked()
	return !done
}

// canList reports whether rows are there to be loaded: of an order in the making the
// first ones.
func (m *Model) canList(what load) bool {
	switch {
	case m.scan != nil:
		return m.scan.scanned > 0 || m.scan.coming != nil
	case m.isSorting():
		looked, _ := m.sorted.Looked()
		return looked > 0 && (what == fromHead || what == again && m.keys.atHead)
	}
	return true
}

// sortsOn shows what the order has become, when much of it is new.
func (m *Model) sortsOn(o orderedOn) {
	if o.sorting != m.sorted {
		return
	}
	looked, done := m.sorted.Looked()
	if l := &m.keys; done && m.goal.Name != "" {
		m.cancel(listing)
		l.rows = nil
		l.seek(m.walker(), m.goal)
		l.stale, l.touched, m.goal = false, true, row{}
		l.rows[0].stale = true
		return
	}
	if drawn := m.keys.drawn; done || int(looked) >= drawn+drawn/4 {
		m.keys.drawn = int(looked)
		m.showOrder()
	}
}

// sortChanged follows a change of the data: few keys are sorted again at once, of
// many the person is told.
func (m *Model) sortChanged() {
	if m.sorted == nil || m.isSorting() {
		return
	}
	if looked, _ := m.sorted.Looked(); looked < bigFolder {
		m.sortAgain()
		return
	}
	m.outdated = true
}
