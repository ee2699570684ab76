package inspect

import (
	"context"
	"errors"
	"slices"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/meowdis/meowdis/inspect/edit"
	"github.com/meowdis/meowdis/inspect/job"
)

// Tab is a target that is opened beside the first one.
type Tab struct {
	Label string // the target in few letters
	Open  func(context.Context) (Options, error)
}

// Place is a target that can be opened from inside.
type Place struct {
	Label string
	Note  string
	Spec  string // as on the command line
}

// Tabs is the program: a Model for each target, of which one is on the screen. Keys go to
// that one; what a job or a timer brings goes to the Model whose it is, which keeps
// working unseen. One that is not on the screen does not look for changes by itself.
type Tabs struct {
	shared
	ctx           context.Context
	list          []*tab
	at            int // the one on the screen
	width, height int
	failed        error // of closing
	after         func(time.Duration, tea.Msg) tea.Cmd
}

// tab is one of Tabs: open, being opened, or one that could not be.
type tab struct {
	Tab
	model   *Model // nil while it is not open
	opening context.CancelFunc
	err     error // why it is not open
}

// tabMsg is a message for one Model.
type tabMsg struct {
	model *Model
	msg   tea.Msg
}

// openedMsg is a tab's target, or why it is not open; closedMsg what closing one told.
type (
	openedMsg struct {
		tab     *tab
		options Options
		err     error
	}
	closedMsg struct{ err error }
)

func newTabs(ctx context.Context, s shared, first Options, more []Tab) *Tabs {
	t := &Tabs{shared: s, ctx: ctx, after: job.Later}
	t.list = []*tab{{Tab: Tab{Label: first.Label}}}
	t.createModel(t.list[0], first)
	for _, each := range more {
		t.list = append(t.list, &tab{Tab: each})
	}
	return t
}

// createModel makes the Model of a tab.
func (t *Tabs) createModel(of *tab, o Options) {
	m := newModel(o, t.shared)
	m.tabs = t
	m.edit.Others = func() []edit.Other { return t.otherTabs(m) }
	of.model, of.err, of.Label = m, nil, o.Label
	m.Mark = func(msg tea.Msg) tea.Msg { return tabMsg{m, msg} }
	m.After = func(d time.Duration, msg tea.Msg) tea.Cmd { return t.after(d, tabMsg{m, msg}) }
}

// Init implements tea.Model. The first target is open, the others are opened now.
func (t *Tabs) Init() tea.Cmd {
	cmds := []tea.Cmd{t.list[0].model.Init()}
	for _, each := range t.list[1:] {
		cmds = append(cmds, t.open(each))
	}
	return tea.Batch(cmds...)
}

// open connects to a tab's target, off the screen's loop.
func (t *Tabs) open(of *tab) tea.Cmd {
	ctx, cancel := context.WithCancel(t.ctx)
	of.opening, of.err = cancel, nil
	return func() tea.Msg {
		o, err := of.Open(ctx)
		return openedMsg{of, o, err}
	}
}

// Update implements tea.Model.
func (t *Tabs) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch msg := msg.(type) {
	case tabMsg:
		if t.has(msg.model) {
			_, cmd := msg.model.Update(msg.msg)
			return t, cmd
		}
		return t, nil
	case edit.Edited: // the person may have gone to another tab before the editor came
		for _, m := range t.models() {
			if m.edit.Drafted(msg.Path) {
				_, cmd := m.Update(msg)
				return t, cmd
			}
		}
		return t, nil
	case tea.WindowSizeMsg:
		t.width, t.height = msg.Width, msg.Height
		return t, t.resize()
	case openedMsg:
		return t, t.onOpened(msg)
	case closedMsg:
		t.failed = errors.Join(t.failed, msg.err)
		return t, nil
	case tea.KeyMsg:
		if t.current().model == nil {
			return t, t.pressUnopened(msg)
		}
	case tea.MouseMsg:
		if t.barLines() > 0 && msg.Y == 0 {
			return t, t.clickBar(msg)
		}
		msg.Y -= t.barLines()
		return t, t.pass(msg)
	}
	return t, t.pass(msg)
}

// pass hands a message to the Model on the screen.
func (t *Tabs) pass(msg tea.Msg) tea.Cmd {
	m := t.current().model
	if m == nil {
		return nil
	}
	_, cmd := m.Update(msg)
	return cmd
}

func (t *Tabs) current() *tab { return t.list[t.at] }

func (t *Tabs) has(m *Model) bool {
	return slices.ContainsFunc(t.list, func(each *tab) bool { return each.model == m })
}

// otherTabs is the targets that are open in other tabs than that of m.
func (t *Tabs) otherTabs(m *Model) (list []edit.Other) {
	for _, each := range t.list {
		if each.model != nil && each.model != m {
			list = append(list, edit.Other{Name: each.Label, Room: &each.model.edit, Show: func() tea.Cmd { return t.reveal(each.model) }})
		}
	}
	return list
}

// models are the open ones.
func (t *Tabs) models() (list []*Model) {
	for _, each := range t.list {
		if each.model != nil {
			list = append(list, each.model)
		}
	}
	return list
}

// resize tells all Models how much room there is.
func (t *Tabs) resize() tea.Cmd {
	if t.width == 0 {
		return nil
	}
	var cmds []tea.Cmd
	for _, m := range t.models() {
		_, cmd := m.Update(tea.WindowSizeMsg{Width: t.width, Height: t.height - t.barLines()})
		cmds = append(cmds, cmd)
	}
	return tea.Batch(cmds...)
}

func (t *Tabs) onOpened(msg openedMsg) tea.Cmd {
	of := msg.tab
	if !slices.Contains(t.list, of) { // it was closed meanwhile
		if msg.err == nil {
			return closeTarget(msg.options, 0)
		}
		return nil
	}
	if of.opening = nil; msg.err != nil {
		of.err = msg.err
		return nil
	}
	t.createModel(of, msg.options)
	of.model.hidden = of != t.current()
	return tea.Batch(of.model.Init(), t.resize())
}

// closeTarget ends what a target needs, off the screen's loop.
func closeTarget(o Options, kept int) tea.Cmd {
	return func() tea.Msg {
		if o.Close == nil {
			return nil
		}
		return closedMsg{o.Close(kept)}
	}
}

// show goes to tab i; one beyond the last does nothing.
func (t *Tabs) show(i int) tea.Cmd {
	if i >= len(t.list) || i == t.at {
		return nil
	}
	if m := t.current().model; m != nil {
		m.hidden = true
	}
	t.at = i
	if m := t.current().model; m != nil {
		m.hidden = false
		return m.checkChanges()
	}
	return nil
}

// switchBy goes n tabs on.
func (t *Tabs) switchBy(n int) tea.Cmd { return t.show((t.at + n + len(t.list)) % len(t.list)) }

// add opens another target, and shows it.
func (t *Tabs) add(label string, open func(context.Context) (Options, error)) tea.Cmd {
	of := &tab{Tab: Tab{label, open}}
	t.list = append(t.list, of)
	return tea.Batch(t.open(of), t.show(len(t.list)-1), t.resize())
}

// closeCurrent closes the tab on the screen. There is another one.
func (t *Tabs) closeCurrent() tea.Cmd {
	of := t.current()
	t.list = slices.Delete(t.list, t.at, t.at+1)
	t.at = min(t.at, len(t.list)-1)
	cmds := []tea.Cmd{t.resize()}
	if m := t.current().model; m != nil {
		m.hidden = false
		cmds = append(cmds, m.checkChanges())
	}
	switch {
	case of.model != nil:
		kept, err := of.model.shutDown()
		t.failed = errors.Join(t.failed, err)
		cmds = append(cmds, func() tea.Msg {
			of.model.Conn.Drain(time.Second)
			return closeTarget(of.model.options, kept)()
		})
	case of.opening != nil:
		of.opening()
	}
	return tea.Batch(cmds...)
}

// modelChanging is a Model in which a change is being made, the one on the screen before the
// others; nil for none.
func (t *Tabs) modelChanging() *Model {
	if m := t.current().model; m != nil && m.edit.IsChanging() {
		return m
	}
	for _, m := range t.models() {
		if m.edit.IsChanging() {
			return m
		}
	}
	return nil
}

// reveal shows the tab of m.
func (t *Tabs) reveal(m *Model) tea.Cmd {
	return t.show(slices.IndexFunc(t.list, func(each *tab) bool { return each.model == m }))
}

// close ends what runs for the screen only.
func (t *Tabs) close() {
	for _, m := range t.models() {
		m.close()
	}
}

// end ends all Models with the program, and returns what went wrong.
func (t *Tabs) end() error {
	for _, each := range t.list {
		if each.opening != nil {
			each.opening()
		}
		if each.model == nil {
			continue
		}
		m := each.model
		m.CancelAll()
		m.stopChange()
		m.Conn.Drain(time.Second)
		kept, err := m.shutDown()
		if m.options.Close != nil {
			err = errors.Join(err, m.options.Close(kept))
		}
		t.failed = errors.Join(t.failed, err)
	}
	return t.failed
}
