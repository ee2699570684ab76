package keys

import (
	"cmp"
	"context"
	"errors"
	"slices"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/meowdis/meowdis/inspect/job"
)

// span tracks a range of rows being marked, from a row to the cursor. It follows the cursor; its rows
// are marked when it ends.
type span struct {
	from      row
	direction int  // where from is: -1 before the cursor, 1 after it
	shift     bool // it ends when the user moves without shift
}

var errSpanLost = errors.New("the first row of the range no longer exists: nothing was marked")

// Span starts a range to mark at the cursor.
func (l *Pane) Span() tea.Cmd { return l.beginSpan(false) }

func (l *Pane) beginSpan(shift bool) tea.Cmd {
	if r := l.selected(); r != nil && l.span == nil {
		l.span = &span{from: *r, shift: shift}
	}
	return nil
}

// Extend moves by n rows with shift held, which marks the rows on the way.
func (l *Pane) Extend(n int) tea.Cmd {
	l.beginSpan(true)
	l.Move(n)
	return nil
}

// IsSpanning reports whether a range is being marked, and HoldsShift whether shift started it.
func (l *Pane) IsSpanning() bool { return l.span != nil }
func (l *Pane) HoldsShift() bool { return l.span != nil && l.span.shift }

// DropSpan ends a range without marking it.
func (l *Pane) DropSpan() { l.span = nil }

// followSpan records whether the range started above or below the cursor, while that is known.
func (l *Pane) followSpan() {
	if l.span == nil {
		return
	}
	switch i := l.rowIndex(l.span.from.Name, l.span.from.Folder); {
	case i >= 0:
		l.span.direction = cmp.Compare(i, l.cursor)
	case l.atEnd && !l.atHead:
		l.span.direction = -1
	case l.atHead && !l.atEnd:
		l.span.direction = 1
	}
}

// spanRows returns the rows of the window in the range; low is greater than high if the window has no such row.
func (l *Pane) spanRows() (low, high int, whole bool) {
	if l.span == nil {
		return 0, -1, false
	}
	i := l.rowIndex(l.span.from.Name, l.span.from.Folder)
	whole = i >= 0
	if !whole && l.span.direction > 0 {
		i = len(l.rows) - 1
	}
	return max(min(i, l.cursor), 0), max(i, l.cursor), whole
}

// MarkSpan ends the range and marks its rows. An open folder counts as its rows.
func (l *Pane) MarkSpan() tea.Cmd {
	s, goal := l.span, l.selected()
	low, high, whole := l.spanRows()
	if l.span = nil; s == nil || goal == nil {
		return nil
	}
	if whole {
		l.marked.add(markable(l.rows[low:high+1], l.open))
		return nil
	}
	w, was, to := l.walker(), l.marked.clone(), *goal
	return l.Start(job.Marking, func(ctx context.Context) (tea.Msg, error) {
		rows, err := w.between(ctx, s.from, to, s.direction > 0)
		if err == nil {
			was.add(markable(rows, w.open))
		}
		return markedMsg{marks: was}, err
	})
}

// markable returns the rows that a range marks.
func markable(rows []row, open map[string]string) []row {
	return slices.DeleteFunc(slices.Clone(rows), func(r row) bool {
		_, unfolded := open[r.Name]
		return r.gone != 0 || r.Folder && unfolded
	})
}

// between returns the rows from from to to, both included. to is after from, or before it if back is
// set.
func (w *walker) between(ctx context.Context, from, to row, back bool) ([]row, error) {
	rows, at := []row{from}, w.after(from)
	if back {
		at = w.before(from)
	}
	for {
		s, err := w.walk(ctx, at, back, markPageSize)
		if err != nil {
			return nil, err
		}
		if back {
			slices.Reverse(s.rows)
		}
		i := slices.IndexFunc(s.rows, func(r row) bool { return r.Name == to.Name && r.Folder == to.Folder })
		if i >= 0 {
			return append(rows, s.rows[:i+1]...), nil
		}
		rows, at = append(rows, s.rows...), s.next
		switch {
		case s.end:
			return nil, errSpanLost
		case len(rows) > maxMarked:
			return nil, errTooMany
		}
	}
}
