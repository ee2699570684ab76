package keys

import (
	"context"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/meowdis/meowdis/inspect/client"
	"github.com/meowdis/meowdis/inspect/job"
	"github.com/meowdis/meowdis/keyspace/catalog"
)

// An order that the index lacks is computed in the background with one pass over all keys. The first
// keys found so far are shown until it ends.

// sorting is such a pass: a catalog.Sorting of a flat list, or a catalog.Tree.
type sorting interface {
	client.Keyspace
	ReadSlice(ctx context.Context) error
	Progress() (keys int64, done bool)
	Len() int64
	Close()
}

// sortedMsg reports that a sort has read some more keys.
type sortedMsg struct{ sorting sorting }

// sortBy starts to sort the keys of q.
func (l *Pane) sortBy(q catalog.Query) {
	l.closeSort()
	if l.drawnCount = 0; l.tree() {
		l.sorted = l.Index.SortTree(q, l.Delimiter)
		return
	}
	l.sorted = l.Index.Sort(q)
}

// closeSort drops the sorted order, if there is one.
func (l *Pane) closeSort() {
	if l.sorted != nil {
		l.Cancel(job.Sorting)
		go l.sorted.Close() // Close waits for a running read
	}
	l.sorted, l.orderOutdated = nil, false
}

// sortAgain sorts the current keys again.
func (l *Pane) sortAgain() {
	l.sortBy(l.walker().query)
	l.showOrder()
}

// showOrder reloads the rows. A cursor on the first key stays on the first.
func (l *Pane) showOrder() {
	l.reload(l.Running(job.Listing))
	switch {
	case l.jump.load() != loadSame:
	case l.cursor > 0 || !l.atHead:
		l.jump = keepRow
	default:
		l.jump = keepFirst
	}
}

// sortMore reads some more keys in a job.
func (l *Pane) sortMore() tea.Cmd {
	s := l.sorted
	return l.Start(job.Sorting, func(ctx context.Context) (tea.Msg, error) { return sortedMsg{s}, s.ReadSlice(ctx) })
}

// isSorting reports whether the sort still has keys to read.
func (l *Pane) isSorting() bool {
	if l.sorted == nil {
		return false
	}
	_, done := l.sorted.Progress()
	return !done
}

// levels returns the tree in an order other than by name, or nil.
func (l *Pane) levels() *catalog.Levels {
	if !l.tree() || l.order == catalog.ByName {
		return nil
	}
	if l.scan != nil {
		return l.scan.keys.currentLevels()
	}
	if tree, ok := l.sorted.(*catalog.Tree); ok {
		return tree.Levels
	}
	return nil
}

// isPartial reports whether the selected row is in a folder that lists only its first keys.
func (l *Pane) isPartial() bool {
	levels, r := l.levels(), l.selected()
	return levels != nil && r != nil && levels.IsPartial(r.level)
}

// canList reports whether the rows can be loaded. During a sort only the first rows can.
func (l *Pane) canList(what load) bool {
	switch {
	case l.scan != nil:
		return l.scan.scanned > 0 || l.scan.rescanned != nil
	case l.isSorting():
		looked, _ := l.sorted.Progress()
		return looked > 0 && (what == loadFirst || what == loadSame && l.atHead)
	}
	return true
}

// onSorted shows the order so far if much of it is new.
func (l *Pane) onSorted(o sortedMsg) {
	if o.sorting != l.sorted {
		return
	}
	looked, done := l.sorted.Progress()
	if levels := l.levels(); done && levels != nil && l.pendingRow.Name != "" {
		var listed bool
		if l.pendingRow.Entry, listed = levels.Find(l.pendingRow.level, l.pendingRow.Name, l.pendingRow.Folder); !listed {
			l.pendingRow = row{}
		}
	}
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

// sortChanged reacts to a change of the data: it sorts again if there are few keys, and otherwise shows
// that the order is out of date.
func (l *Pane) sortChanged() {
	if l.sorted == nil || l.isSorting() {
		return
	}
	if looked, _ := l.sorted.Progress(); looked < bigFolder {
		l.sortAgain()
		return
	}
	l.orderOutdated = true
}
