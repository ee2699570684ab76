package keys

import (
	tea "github.com/charmbracelet/bubbletea"

	"github.com/meowdis/meowdis/inspect/screen"
	"github.com/meowdis/meowdis/inspect/ui"
)

// EditFilter opens the filter prompt.
func (l *Pane) EditFilter() tea.Cmd {
	l.InValue = false
	l.queryBeforeEdit, l.rowBeforeEdit = l.query, l.cursorRow()
	l.filterPrompt = screen.NewPrompt(l.filter.text)
	return nil
}

// typedQuery returns the query with the typed filter.
func (l *Pane) typedQuery() query {
	q := l.query
	q.filter.text = l.filterPrompt.String()
	return q
}

// PressFilter handles a key in the filter prompt. The list follows after a pause in typing.
func (l *Pane) PressFilter(k tea.KeyMsg) tea.Cmd {
	switch k.String() {
	case "enter":
		l.search(l.typedQuery())
		l.filterPrompt = nil
	case "tab", "shift+tab":
		q := l.typedQuery()
		step := modeCount - 1
		if k.Type == tea.KeyTab {
			step = 1
		}
		q.filter.mode = (q.filter.mode + step) % modeCount
		l.search(q)
	case "esc":
		l.filterPrompt = nil
		l.searchKeepingCursor(l.queryBeforeEdit)
	case "up":
		l.Move(-1)
	case "down":
		l.Move(1)
	case "pgup":
		l.Move(-l.PageLines())
	case "pgdown":
		l.Move(l.PageLines())
	default:
		if l.filterPrompt.Key(k) {
			l.pauseID++
			return l.After(ui.SettleTime, pausedMsg(l.pauseID))
		}
	}
	return nil
}
