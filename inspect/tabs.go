package inspect

import (
	"context"
	"errors"
	"slices"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/meowdis/meowdis/inspect/compare"
	"github.com/meowdis/meowdis/inspect/edit"
	"github.com/meowdis/meowdis/inspect/job"
)

// Tab is a target that opens beside the first one.
type Tab struct {
	Label string // a short name of the target
	Open  func(context.Context) (Options, error)
}

// KnownTarget is a target that the user can open from the browser.
type KnownTarget struct {
	Label string
	Note  string
	Spec  string // as on the command line
}

// Tabs is the program: one Model per target, one of them on the screen. Keys go to the Model on the
// screen. A message from a job or a timer goes to the Model that started it, which keeps working in the
// background. A hidden Model does not check for changes.
type Tabs struct {
	shared
	ctx           context.Context
	list          []*tab
	at            int // the index of the tab on the screen
	width, height int
	failed        error // the errors of closing
	after         func(time.Duration, tea.Msg) tea.Cmd
}

// tab is one of Tabs: open, opening or failed.
type tab struct {
	Tab
	model   *Model // nil until it is open
	opening context.CancelFunc
	err     error // why opening failed
}

// tabMsg carries a message for one Model.
type tabMsg struct {
	model *Model
	msg   tea.Msg
}

// openedMsg carries the opened target of a tab, or the error; closedMsg carries the error of closing one.
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

// createModel creates the Model of a tab.
func (t *Tabs) createModel(of *tab, o Options) {
	m := newModel(o, t.shared)
	m.tabs = t
	m.edit.Others = func() []edit.Other { return t.otherTabs(m) }
	m.compare.Others = func() (list []compare.Other) {
		for _, each := range t.list {
			if each.model != nil && each.model != m {
				list = append(list, compare.Other{Name: each.Label, Conn: each.model.Conn, Index: each.model.Index})
			}
		}
		return list
	}
	of.model, of.err, of.Label = m, nil, o.Label
	m.Mark = func(msg tea.Msg) tea.Msg { return tabMsg{m, msg} }
	m.After = func(d time.Duration, msg tea.Msg) tea.Cmd { return t.after(d, tabMsg{m, msg}) }
}

// Init implements tea.Model. The first target is already open; the other targets start to open.
func (t *Tabs) Init() tea.Cmd {
	cmds := []tea.Cmd{t.list[0].model.Init()}
	for _, each := range t.list[1:] {
		cmds = append(cmds, t.open(each))
	}
	return tea.Batch(cmds...)
}

// open opens a tab's target in a command.
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
	case edit.Edited: // the user may have switched tabs before the editor ended
		for _, m := range t.models() {
			if m.edit.IsDraft(msg.Path) {
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

// pass passes a message to the Model on the screen.
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

// otherTabs returns the open targets in tabs other than m's.
func (t *Tabs) otherTabs(m *Model) (list []edit.Other) {
	for _, each := range t.list {
		if each.model != nil && each.model != m {
			list = append(list, edit.Other{Name: each.Label, Pane: &each.model.edit, Show: func() tea.Cmd { return t.reveal(each.model) }})
		}
	}
	return list
}

// models returns the Models of all open tabs.
func (t *Tabs) models() (list []*Model) {
	for _, each := range t.list {
		if each.model != nil {
			list = append(list, each.model)
		}
	}
	return list
}

// resize sends the screen size to all Models.
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
	if !slices.Contains(t.list, of) { // it was closed while opening
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

// closeTarget returns a command that closes a target.
func closeTarget(o Options, kept int) tea.Cmd {
	return func() tea.Msg {
		if o.Close == nil {
			return nil
		}
		return closedMsg{o.Close(kept)}
	}
}

// show switches to tab i. An i beyond the last tab does nothing.
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

// switchBy switches n tabs forward, or back if n is negative.
func (t *Tabs) switchBy(n int) tea.Cmd { return t.show((t.at + n + len(t.list)) % len(t.list)) }

// add opens another target in a new tab and shows it.
func (t *Tabs) add(label string, open func(context.Context) (Options, error)) tea.Cmd {
	of := &tab{Tab: Tab{label, open}}
	t.list = append(t.list, of)
	return tea.Batch(t.open(of), t.show(len(t.list)-1), t.resize())
}

// closeCurrent closes the tab on the screen. The caller makes sure that another tab exists.
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

// modelChanging returns a Model with a running change, preferably the one on the screen, or nil.
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

// close stops the background work of all Models.
func (t *Tabs) close() {
	for _, m := range t.models() {
		m.close()
	}
}

// end shuts all Models down when the program ends, and returns their errors.
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
