package inspect

import (
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/meowdis/meowdis/inspect/job"
)

// The keys that move extend a range of rows that is being marked; any other ends it, and
// then does what it does with what is marked.

// extendBy moves by n rows with shift held.
func extendBy(n func(*Model) int) func(*Model) tea.Cmd {
	return func(m *Model) tea.Cmd { return m.keys.Extend(n(m)) }
}

// span begins a range of rows to mark, or ends it.
func (m *Model) span() tea.Cmd { return m.keys.Span() }

// do does an action. One that does not extend a range of rows ends it first, and waits
// for the rows.
func (m *Model) do(b *binding) tea.Cmd {
	shift := strings.HasPrefix(b.name, "mark_")
	switch {
	case m.InValue || !m.keys.IsSpanning() || b.name == "all_keys":
		return b.run(m)
	case b.moves && (shift || !m.keys.HoldsShift()):
		return b.run(m)
	}
	cmd := m.keys.MarkSpan()
	switch {
	case b.name == "mark" || b.name == "mark_range":
		return cmd
	case m.Running(job.Marking):
		m.pendingKeys = append([]pendingKey{{action: b}}, m.pendingKeys...)
		return cmd
	}
	return tea.Batch(cmd, b.run(m))
}
