package inspect

import (
	"cmp"
	"slices"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/meowdis/meowdis/inspect/ui"
	"github.com/meowdis/meowdis/internal/smallsort"
)

// showPalette opens the palette: a searchable list of all actions.
func (m *Model) showPalette() tea.Cmd { return m.openPalette(nil) }

// openPalette opens the palette above the dialog behind, which may be nil.
func (m *Model) openPalette(behind ui.Dialog) tea.Cmd {
	f := &ui.Finder{Title: "Actions", ChooseLabel: "do it", Parent: behind, Choose: func(name string) tea.Cmd {
		return m.perform(m.action(name))
	}}
	for _, b := range m.paletteOrder() {
		also := append(slices.Clone(b.keys), strings.Fields(b.label())...)
		f.Items = append(f.Items, ui.Item{
			Label: b.help, Note: b.where.note() + b.label(), Value: b.name,
			Also: strings.Join(append(also, b.name, strings.ReplaceAll(b.name, "_", " "), b.also), " "),
		})
	}
	f.Search("")
	m.Dialog = f
	return nil
}

// note returns the palette's note for an action that applies to one pane.
func (p scope) note() string {
	switch p {
	case inKeys:
		return "keys  "
	case inValue:
		return "value  "
	}
	return ""
}

// paletteOrder returns the actions in the order of the palette: actions of the focused pane first,
// movement keys last.
func (m *Model) paletteOrder() []binding {
	moving := len(moveBindings())
	ranks := map[string]int{}
	for i, b := range m.bindings {
		switch {
		case i < moving:
			ranks[b.name] = 3
		case b.where == everywhere:
			ranks[b.name] = 1
		case b.where != m.here():
			ranks[b.name] = 2
		}
	}
	list := slices.DeleteFunc(slices.Clone(m.bindings), func(b binding) bool { return b.name == paletteName })
	smallsort.Sort(list, func(a, b binding) int { return cmp.Compare(ranks[a.name], ranks[b.name]) })
	return list
}

// paletteName names the action that opens the palette.
const paletteName = "palette"

// action returns the binding called name, or nil.
func (m *Model) action(name string) *binding {
	i := slices.IndexFunc(m.bindings, func(b binding) bool { return b.name == name })
	if i < 0 {
		return nil
	}
	return &m.bindings[i]
}

// perform runs an action of the palette. It switches to the pane of the action first, and waits for its
// subject as a key does.
func (m *Model) perform(b *binding) tea.Cmd {
	var cmd tea.Cmd
	switch {
	case b.where&m.here() != 0:
	case m.InValue:
		m.InValue = false
	default:
		if cmd = m.enterValue(); !m.InValue {
			m.Notice = "Select a key first."
			return nil
		}
	}
	if b.immediate {
		return tea.Batch(cmd, m.do(b))
	}
	m.pendingKeys = append(m.pendingKeys, pendingKey{action: b})
	return cmd
}
