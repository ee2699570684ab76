package inspect

import (
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/meowdis/meowdis/inspect/job"
)

// While a range is being marked, movement keys extend it. Any other key ends the range and then acts on
// the marked rows.

// extendBy returns an action that moves by n rows with shift held.
func extendBy(n func(*Model) int) func(*Model) tea.Cmd {
	return func(m *Model) tea.Cmd { return m.keys.Extend(n(m)) }
}

// span starts or ends a range of rows to mark.
func (m *Model) span() tea.Cmd { return m.keys.Span() }

// do runs an action. An action that does not extend the range ends it first and waits for its rows.
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
