package inspect

import (
	"time"

	tea "github.com/charmbracelet/bubbletea"
)

// quit ends the program. While a change is being made it asks; ^C, when it has asked
// already, stops the change.
func (m *Model) quit() tea.Cmd {
	if !m.changing() || m.leaving != nil && m.overlay == m.leaving {
		return m.end()
	}
	m.leaving = &picker{title: "A change is being made", choose: func(m *Model, choice string) tea.Cmd {
		switch choice {
		case "wait":
			m.goes = true
			m.notice = "Quits when the change is done. Any key stays."
		case "stop":
			return m.end()
		}
		return nil
	}}
	m.leaving.items = []item{
		{label: "wait for it, then quit", value: "wait"},
		{label: "stop it and quit", value: "stop", note: "undo is kept"},
		{label: "go back", value: "stay"},
	}
	m.overlay = m.leaving
	return nil
}

// end ends the program. A screen that is not wiped comes back in tmux when the
// terminal grew meanwhile.
func (m *Model) end() tea.Cmd {
	m.quitting = true
	return tea.Quit
}

// changing reports whether a change, or its undo, is being made.
func (m *Model) changing() bool { return m.running(writing) && m.making != "" }

// leaves takes the end of a change in that the person wanted to wait for, or was asked
// about.
func (m *Model) leaves(failed bool) tea.Cmd {
	if m.leaving != nil && m.overlay == m.leaving {
		m.overlay = nil // there is nothing to be asked any more
	}
	went := m.goes
	m.goes, m.leaving = false, nil
	if went && !failed && m.overlay == nil {
		return m.end()
	}
	return nil
}

// stopTime is how long the end of the program waits for a change that it stops.
const stopTime = 5 * time.Second

// stopChange stops the change that is being made, when the program ends, and takes in
// what of it was done, so that it can be undone.
func (m *Model) stopChange() {
	if !m.running(writing) {
		return
	}
	m.jobs[writing].cancel()
	select {
	case f := <-m.jobs[writing].outcome:
		m.finish(f)
	case <-time.After(stopTime):
	}
}
