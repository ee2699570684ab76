package inspect

import (
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/meowdis/meowdis/inspect/job"
	"github.com/meowdis/meowdis/inspect/room"
)

// quit ends the program. While a change is being made it asks; ^C, when it has asked
// already, stops the change.
func (m *Model) quit() tea.Cmd {
	if m.tabs != nil && !m.edit.IsChanging() {
		if other := m.tabs.modelChanging(); other != nil {
			return tea.Batch(m.tabs.reveal(other), other.quit())
		}
	}
	if !m.edit.IsChanging() || m.quitDialog != nil && m.Dialog == m.quitDialog {
		return m.end()
	}
	m.quitDialog = &room.Picker{Title: "A change is being made", Choose: func(choice string) tea.Cmd {
		switch choice {
		case "wait":
			m.quitAfterWrite = true
			m.Notice = "Quits when the change is done. Any key stays."
		case "stop":
			return m.end()
		}
		return nil
	}}
	m.quitDialog.Items = []room.Item{
		{Label: "wait for it, then quit", Value: "wait"},
		{Label: "stop it and quit", Value: "stop", Note: "undo is kept"},
		{Label: "go back", Value: "stay"},
	}
	m.Dialog = m.quitDialog
	return nil
}

// end ends the program. A screen that is not wiped comes back in tmux when the
// terminal grew meanwhile.
func (m *Model) end() tea.Cmd {
	m.quitting = true
	return tea.Quit
}

// onChangeEnd takes the end of a change in that the person wanted to wait for, or was asked
// about.
func (m *Model) onChangeEnd(failed bool) tea.Cmd {
	if m.quitDialog != nil && m.Dialog == m.quitDialog {
		m.Dialog = nil // there is nothing to be asked any more
	}
	went := m.quitAfterWrite
	m.quitAfterWrite, m.quitDialog = false, nil
	if went && !failed && m.Dialog == nil {
		return m.quit()
	}
	return nil
}

// stopTime is how long the end of the program waits for a change that it stops.
const stopTime = 5 * time.Second

// stopChange stops the change that is being made, when the program ends, and takes in
// what of it was done, so that it can be undone.
func (m *Model) stopChange() {
	if !m.Running(job.Writing) {
		return
	}
	if f, ended := m.Conclude(job.Writing, stopTime); ended {
		m.finish(f)
	}
}
