package inspect

import (
	tea "github.com/charmbracelet/bubbletea"
)

// question is an overlay with one line to type.
type question struct {
	title  string
	note   string
	prompt *prompt
	answer func(m *Model, text string) tea.Cmd
}

func (q *question) press(m *Model, k tea.KeyMsg) tea.Cmd {
	switch k.String() {
	case "enter":
		m.overlay = nil
		return q.answer(m, q.prompt.String())
	case "esc":
		m.overlay = nil
	default:
		q.prompt.key(k)
	}
	return nil
}

func (q *question) view(m *Model, width, height int) []string {
	inner := min(width, 60)
	lines := []string{m.styles.title.Render(fit(" "+q.title, inner))}
	if height > 2 && q.note != "" {
		lines = append(lines, m.styles.dim.Render(fit(" "+q.note, inner)))
	}
	return append(lines, fit(" "+m.promptLine(q.prompt, inner-2), inner))
}

func (q *question) footer() [][2]string { return [][2]string{{"⏎", "ok"}, {"esc", "cancel"}} }

// promptLine is a prompt with its cursor.
func (m *Model) promptLine(p *prompt, width int) string {
	before, after := p.window(width - 1)
	return before + m.styles.accent.Render("▏") + after
}

// openByName shows a key that the person names: the only way in where the target
// does not let its keys be scanned.
func (m *Model) openByName() tea.Cmd {
	m.overlay = &question{title: "Open a key", note: "its whole name", prompt: newPrompt(""), answer: func(m *Model, name string) tea.Cmd {
		m.inValue = true
		return m.open(name)
	}}
	return nil
}
