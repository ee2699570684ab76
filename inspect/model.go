package inspect

import (
	"cmp"
	"sync/atomic"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/lipgloss"

	"github.com/meowdis/meowdis/inspect/change"
	"github.com/meowdis/meowdis/inspect/client"
	"github.com/meowdis/meowdis/inspect/compare"
	"github.com/meowdis/meowdis/inspect/edit"
	"github.com/meowdis/meowdis/inspect/job"
	"github.com/meowdis/meowdis/inspect/keys"
	"github.com/meowdis/meowdis/inspect/overview"
	"github.com/meowdis/meowdis/inspect/recents"
	"github.com/meowdis/meowdis/inspect/screen"
	"github.com/meowdis/meowdis/inspect/server"
	"github.com/meowdis/meowdis/inspect/ui"
	"github.com/meowdis/meowdis/inspect/value"
	"github.com/meowdis/meowdis/keyspace/catalog"
)

// Model is the whole state of the browser for one target. It reads the clock and does I/O only through
// its Options.
type Model struct {
	panes
	quitState

	*ui.PaneContext
	shared
	options   Options
	memory    *recents.Store
	lastVisit visit   // the last visit recorded
	tabs      *Tabs   // the tabs that it belongs to; nil: it is the only one
	hidden    bool    // another tab is on the screen
	initCmd   tea.Cmd // sent at the start; nil: nothing

	sizes     paneSizes
	following bool // check for changes every second
	lastWatch watched
	movedErr  error // why the file has left its path

	pendingKeys []pendingKey // typed before their subject was loaded
}

// panes holds the panes of the screen.
type panes struct {
	keys     keys.Pane
	value    value.Pane
	edit     edit.Pane
	overview overview.Pane
	compare  compare.Pane
	server   server.Pane
}

// quitState tracks the end of the program.
type quitState struct {
	quitting       bool       // the screen is cleared before the program ends
	quitDialog     *ui.Picker // the question whether to quit during a change
	quitAfterWrite bool       // quit when the running change ends
}

// shared holds the state that all Models on one screen share.
type shared struct {
	renderer      *lipgloss.Renderer
	styles        screen.Styles
	bindings      []binding
	terminalInUse *atomic.Bool // another program uses the terminal
	keyboard      *keyboard    // nil if the input is not a terminal
}

// share returns the shared state for the terminal of r.
func share(o Options, r *lipgloss.Renderer) shared {
	r.SetHasDarkBackground(!o.Light)
	theme, bound, err := o.Appearance.read()
	if err != nil { // Run returns this error
		theme, bound, _ = Appearance{}.read()
	}
	return shared{renderer: r, styles: screen.NewStyles(r, theme), bindings: bound, terminalInUse: new(atomic.Bool)}
}

// New returns the browser before its first screen. Its styles fit the terminal of r.
func New(o Options, r *lipgloss.Renderer) *Model { return newModel(o, share(o, r)) }

func newModel(o Options, s shared) *Model {
	if o.Now == nil {
		o.Now = systemClock
	}
	if o.Delimiter == "" {
		o.Delimiter = ":"
	}
	if s.keyboard != nil && o.Editor != nil {
		o.Editor = s.keyboard.wrapEditor(o.Editor)
	}
	m := &Model{
		PaneContext: &ui.PaneContext{
			Jobs: job.Jobs{Now: o.Now(), After: job.Later}, Conn: client.NewConn(o.Client, o.Now), Index: o.Index, Delimiter: o.Delimiter, Clock: o.Now,
			Styles: s.styles, DB: o.DB,
		},
		shared: s, options: o, following: o.Index != nil,
	}
	m.Emit, m.KeyFor = m.route, m.keyFor
	m.Notice = o.ReadOnlyReason
	identity := cmp.Or(o.Identity, o.Target)
	m.value = value.New(m.PaneContext)
	m.value.Decoder = o.Decoder
	maker := &change.Maker{
		Conn: m.Conn, Index: o.Index, Clock: o.Now,
		Journal: change.NewJournal(o.Journal, identity, o.Now), RedoJournal: change.NewRedoJournal(o.Journal, identity, o.Now),
	}
	m.edit = edit.New(m.PaneContext, edit.Settings{
		OpenWriter: o.Unlock, Temporary: o.Temporary, Confirm: o.Confirm, Name: cmp.Or(o.Name, o.Target), Editor: o.Editor, FallbackEditor: o.FallbackEditor, TerminalInUse: m.terminalInUse,
		Exporter: o.Exporter, Explain: o.Explain, ReadOnlyReason: o.ReadOnlyReason, Exec: cmp.Or(o.Exec, "meowdis exec"), Out: o.Out,
	}, maker)
	m.server = server.Pane{PaneContext: m.PaneContext, Listen: o.Listen}
	m.compare = compare.Pane{PaneContext: m.PaneContext, Scratch: o.Scratch, Name: cmp.Or(o.Label, o.Target), History: func() *change.History { return maker.Journal.History(m.edit.Undoable()) }}
	m.memory = recents.New(o.Recents, identity, o.Now)
	if o.Temporary {
		m.memory = recents.New("", identity, o.Now)
	}
	m.keys, m.overview = keys.New(m.PaneContext), overview.Pane{PaneContext: m.PaneContext, Target: o.Target}
	m.keys.SearchValues = value.SearchKeys(m.Conn)
	m.keys.TestValues = func(text string) catalog.ValueTest {
		bytes, number := value.PartTests(text)
		return catalog.ValueTest{Bytes: bytes, Number: number}
	}
	return m
}
