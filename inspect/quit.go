package inspect

import (
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/meowdis/meowdis/inspect/job"
	"github.com/meowdis/meowdis/inspect/ui"
)

// quit ends the program. During a change it asks first; a second ^C stops the change.
func (m *Model) quit() tea.Cmd {
	if m.tabs != nil && !m.edit.IsChanging() {
		if other := m.tabs.modelChanging(); other != nil {
			return tea.Batch(m.tabs.reveal(other), other.quit())
		}
	}
	if !m.edit.IsChanging() || m.quitDialog != nil && m.Dialog == m.quitDialog {
		return m.end()
	}
	m.quitDialog = &ui.Picker{Title: "A change is running", Choose: func(choice string) tea.Cmd {
		switch choice {
		case "wait":
			m.quitAfterWrite = true
			m.Notice = "Quits when the change ends. Press any key to stay."
		case "stop":
			return m.end()
		}
		return nil
	}}
	m.quitDialog.Items = []ui.Item{
		{Label: "wait for it, then quit", Value: "wait"},
		{Label: "stop it and quit", Value: "stop", Note: "undo is kept"},
		{Label: "go back", Value: "stay"},
	}
	m.Dialog = m.quitDialog
	return nil
}

// end ends the program. The screen is cleared because tmux restores an uncleared screen if the terminal
// grew in the meantime.
func (m *Model) end() tea.Cmd {
	m.quitting = true
	return tea.Quit
}

// onChangeEnd is called when a change ends. It quits if the user chose to wait for the change.
func (m *Model) onChangeEnd(failed bool) tea.Cmd {
	if m.quitDialog != nil && m.Dialog == m.quitDialog {
		m.Dialog = nil // the question no longer applies
	}
	went := m.quitAfterWrite
	m.quitAfterWrite, m.quitDialog = false, nil
	if went && !failed && m.Dialog == nil {
		return m.quit()
	}
	return nil
}

// stopTime limits how long quitting waits for a running change to stop.
const stopTime = 5 * time.Second

// stopChange stops a running change when the program ends, and records the finished part so it can be
// undone.
func (m *Model) stopChange() {
	if !m.Running(job.Writing) {
		return
	}
	if f, ended := m.Conclude(job.Writing, stopTime); ended {
		m.finish(f)
	}
}
