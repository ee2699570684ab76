package inspect

import (
	"context"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/meowdis/meowdis/inspect/client"
	"github.com/meowdis/meowdis/inspect/ui"
	"github.com/meowdis/meowdis/keyspace/display"
)

// tabBindings returns the bindings for tabs.
func tabBindings() []binding {
	return []binding{
		{name: "tab_open", keys: []string{"ctrl+t"}, where: everywhere, help: "open another target, in a tab", also: "connect server file new", run: (*Model).openTab, immediate: true},
		{name: "tab_close", keys: []string{"ctrl+w"}, where: everywhere, help: "close the tab", run: (*Model).closeTab, immediate: true},
		{name: "tab_next", keys: []string{"}"}, where: everywhere, help: "next tab", run: switchTab(1), immediate: true},
		{name: "tab_back", keys: []string{"{"}, where: everywhere, help: "previous tab", run: switchTab(-1), immediate: true},
		{name: "tab", keys: strings.Split("123456789", ""), where: everywhere, help: "switch to a tab", run: (*Model).pickTab, nth: (*Model).showTab, immediate: true},
	}
}

// openTab asks the user for another target.
func (m *Model) openTab() tea.Cmd {
	if m.tabs == nil || m.options.Open == nil {
		m.Notice = "No other target can be opened here."
		return nil
	}
	f := &ui.Finder{Title: "Open a profile, or type a FILE, a URL or @NAME", ChooseLabel: "open"}
	open := func(label, spec string) tea.Cmd {
		return m.tabs.add(label, func(ctx context.Context) (Options, error) { return m.options.Open(ctx, spec) })
	}
	labels := map[string]string{}
	for _, p := range m.options.Targets() {
		labels[p.Spec] = p.Label
		f.Items = append(f.Items, ui.Item{Label: display.Text(p.Label, 60), Note: display.Text(p.Note, 60), Value: p.Spec})
	}
	f.Choose = func(spec string) tea.Cmd { return open(labels[spec], spec) }
	f.ChooseText = func(text string) tea.Cmd {
		label := text
		if strings.Contains(text, "://") {
			label = "URL" // it may contain a password
		}
		return open(label, text)
	}
	f.Search("")
	m.Dialog = f
	return nil
}

// switchesTab reports whether a key switches tabs although a dialog is open. The dialog stays open.
func (m *Model) switchesTab(key string) bool {
	if m.tabs == nil || len(m.tabs.list) < 2 || m.Dialog.TakesText() {
		return false
	}
	b := m.binding(key)
	return b != nil && (b.name == "tab_next" || b.name == "tab_back")
}

// closeTab closes this tab. Closing the last one ends the program.
func (m *Model) closeTab() tea.Cmd {
	switch {
	case m.tabs == nil || len(m.tabs.list) < 2:
		return m.quit()
	case m.edit.IsChanging():
		m.Notice = "A change is running: wait for it, or press " + m.KeyFor("all_keys") + " to stop it."
		return nil
	}
	return m.tabs.closeCurrent()
}

func switchTab(n int) func(*Model) tea.Cmd {
	return func(m *Model) tea.Cmd {
		if m.isOnlyTab() {
			return nil
		}
		return m.tabs.switchBy(n)
	}
}

// isOnlyTab reports whether there is only one tab, and shows how to open another.
func (m *Model) isOnlyTab() bool {
	if m.tabs != nil && len(m.tabs.list) > 1 {
		return false
	}
	m.Notice = "There is only one tab. Press " + m.KeyFor("tab_open") + " to open another."
	return true
}

func (m *Model) showTab(n int) tea.Cmd {
	if m.isOnlyTab() {
		return nil
	}
	return m.tabs.show(n)
}

// pickTab lists the tabs.
func (m *Model) pickTab() tea.Cmd {
	if m.isOnlyTab() {
		return nil
	}
	p := &ui.Picker{Title: "Tabs", ChooseLabel: "show", At: m.tabs.at, Choose: func(value string) tea.Cmd {
		return m.tabs.show(int(client.Atoi(value)))
	}}
	for i, each := range m.tabs.list {
		p.Items = append(p.Items, ui.Item{Label: client.Decimal(int64(i+1)) + " " + display.Text(each.Label, 60), Note: strings.TrimSpace(each.statusMark()), Value: client.Decimal(int64(i))})
	}
	m.Dialog = p
	return nil
}
