package keys

import (
	tea "github.com/charmbracelet/bubbletea"

	"github.com/meowdis/meowdis/inspect/room"
	"github.com/meowdis/meowdis/inspect/screen"
)

// EditFilter begins to edit the filter by name.
func (l *Room) EditFilter() tea.Cmd {
	l.InValue = false
	l.before, l.stood = l.query, l.stands()
	l.filtering = screen.NewPrompt(l.filter.text)
	return nil
}

// typedQuery is the query with the filter as it is typed.
func (l *Room) typedQuery() query {
	q := l.query
	q.filter.text = l.filtering.String()
	return q
}

// PressFilter edits the filter; the list follows in a moment.
func (l *Room) PressFilter(k tea.KeyMsg) tea.Cmd {
	switch k.String() {
	case "enter":
		l.search(l.typedQuery())
		l.filtering = nil
	case "tab", "shift+tab":
		q := l.typedQuery()
		step := manners - 1
		if k.Type == tea.KeyTab {
			step = 1
		}
		q.filter.manner = (q.filter.manner + step) % manners
		l.search(q)
	case "esc":
		l.filtering = nil
		l.searchAround(l.before)
	case "up":
		l.Move(-1)
	case "down":
		l.Move(1)
	case "pgup":
		l.Move(-l.PageLines())
	case "pgdown":
		l.Move(l.PageLines())
	default:
		if l.filtering.Key(k) {
			l.pauses++
			return l.After(room.SettleTime, pausedMsg(l.pauses))
		}
	}
	return nil
}
