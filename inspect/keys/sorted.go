package keys

import (
	"context"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/meowdis/meowdis/inspect/job"
	"github.com/meowdis/meowdis/keyspace/catalog"
)

// An order that the target's index does not have is made by looking at all keys
// once, in the background: the first ones so far are shown until then.

// sortedMsg is a sorting that has looked at some more keys.
type sortedMsg struct{ sorting *catalog.Sorting }

// sortBy begins to sort the keys of q.
func (l *Room) sortBy(q catalog.Query) {
	l.closeSort()
	l.sorted, l.drawnCount = l.Index.Sort(q), 0
}

// closeSort forgets the order, if there is one.
func (l *Room) closeSort() {
	if l.sorted != nil {
		l.Cancel(job.Sorting)
		go l.sorted.Close() // it waits for what is running
	}
	l.sorted, l.orderOutdated = nil, false
}

// sortAgain makes the order of the list anew, from the keys as they are now.
func (l *Room) sortAgain() {
	l.sortBy(l.walker().query)
	l.showOrder()
}

// showOrder loads the rows anew. Who is at the first key stays at the first.
func (l *Room) showOrder() {
	l.reload(l.Running(job.Listing))
	switch {
	case l.jump.load() != loadSame:
	case l.cursor > 0 || !l.atHead:
		l.jump = keepRow
	default:
		l.jump = keepFirst
	}
}

// sortMore looks at some more keys.
func (l *Room) sortMore() tea.Cmd {
	s := l.sorted
	return l.Start(job.Sorting, func(ctx context.Context) (tea.Msg, error) { return sortedMsg{s}, s.Look(ctx) })
}

// isSorting reports whether not all keys were looked at yet.
func (l *Room) isSorting() bool {
	if l.sorted == nil {
		return false
	}
	_, done := l.sorted.Looked()
	return !done
}

// canList reports whether rows are there to be loaded: of an order in the making the
// first ones.
func (l *Room) canList(what load) bool {
	switch {
	case l.scan != nil:
		return l.scan.scanned > 0 || l.scan.rescanned != nil
	case l.isSorting():
		looked, _ := l.sorted.Looked()
		return looked > 0 && (what == loadFirst || what == loadSame && l.atHead)
	}
	return true
}

// onSorted shows what the order has become, when much of it is new.
func (l *Room) onSorted(o sortedMsg) {
	if o.sorting != l.sorted {
		return
	}
	looked, done := l.sorted.Looked()
	if done && l.pendingRow.Name != "" {
		l.Cancel(job.Listing)
		l.rows = nil
		l.seek(l.walker(), l.pendingRow)
		l.keyPressed, l.pendingRow = true, row{}
		l.rows[0].stale = true
		return
	}
	if drawn := l.drawnCount; done || int(looked) >= drawn+drawn/4 {
		l.drawnCount = int(looked)
		l.showOrder()
	}
}

// sortChanged follows a change of the data: few keys are sorted again at once, of
// many the person is told.
func (l *Room) sortChanged() {
	if l.sorted == nil || l.isSorting() {
		return
	}
	if looked, _ := l.sorted.Looked(); looked < bigFolder {
		l.sortAgain()
		return
	}
	l.orderOutdated = true
}
