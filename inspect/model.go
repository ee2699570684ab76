package inspect

import (
	"cmp"
	"context"
	"errors"
	"sync/atomic"
	"time"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/lipgloss"

	"github.com/meowdis/meowdis/catalog"
)

// Model is the whole state of the browser. It reads no clock and does no I/O
// but through its Options.
type Model struct {
	options  Options
	conn     *conn
	after    func(time.Duration, tea.Msg) tea.Cmd
	renderer *lipgloss.Renderer
	styles   styles
	bindings []binding
	greet    tea.Cmd     // what the terminal is asked at the start; nil: nothing
	quitting bool        // the screen is wiped before it goes
	leaving  *picker     // the question before it ends while a change is being made
	goes     bool        // it ends with the change that is being made
	lent     atomic.Bool // another program has the terminal

	width, height int
	now           int64 // Unix ms, as of the last message
	db            int
	total         int64 // keys in the database; -1 while unknown
	keys          keyList
	scan          *scan            // where the keys come from when it is no index
	sorted        *catalog.Sorting // where they come from when the index has not their order
	outdated      bool             // the data has changed since they were sorted
	levelSurvey   *levelSurvey     // the bytes of folders in the making; nil when there are none
	value         valuePane
	stood         row     // the row that the person was at before the filter was edited
	goal          row     // the key to go to when the order is made; none without a name
	inValue       bool    // the value has the focus, not the keys
	filtering     *prompt // the filter under edit, nil when none is
	before        query   // what the list showed before the edit
	overlay       overlay // what stands above all, nil when nothing does
	unlocked      bool    // changes may be made
	writable      bool    // the client writes
	journal       *journal
	steps         []step   // what the journal can undo, the last one last
	making        string   // what the change that is being made is called; "" while none is
	typed         []string // the commands that were typed
	following     bool     // changes are looked for every second
	lastWatch     watched
	moved         error  // why the file is not what is under its name any more
	failure       string // the last error, until the next key press
	notice        string // what just happened, likewise

	ahead    []tea.KeyMsg // typed before what it is about was there
	jobs     [purposes]job
	frame    int // of the spinner
	spinning bool
	rests    int // the latest restedMsg that was asked for
	pauses   int // the latest pausedMsg
}

// New is the browser before its first screen. The styles are made for r's
// terminal.
func New(o Options, r *lipgloss.Renderer) *Model {
	if o.Now == nil {
		o.Now = systemClock
	}
	o.Name = cmp.Or(o.Name, o.Target)
	o.Exec = cmp.Or(o.Exec, "meowdis exec")
	if o.Delimiter == "" {
		o.Delimiter = ":"
	}
	r.SetHasDarkBackground(!o.Light)
	m := &Model{
		options: o, conn: newConn(o.Client, o.Now), after: later, renderer: r, styles: newStyles(r), bindings: bindings(),
		now: o.Now(), db: o.DB, total: -1, following: o.Index != nil,
		journal: &journal{dir: o.Journal, target: cmp.Or(o.Identity, o.Target), now: o.Now},
	}
	m.restart()
	return m
}

// restart shows the database from its first key on.
func (m *Model) restart() {
	m.keys.clear()
	match, _ := m.keys.filter.matcher()
	m.scan = nil
	m.leaveOrder()
	m.plan(m.keys.query, match)
}

// Init starts the clock and looks at the data's version, against which changes
// are noticed. The first keys are asked for when the screen's size is
// known.
func (m *Model) Init() tea.Cmd {
	return tea.Batch(m.greet, m.after(second, tickMsg{}), m.watch(), m.count(), m.lookBack())
}

// tickMsg comes once a second.
type tickMsg struct{}

// restedMsg comes when the person has rested on a key, pausedMsg when there was a
// pause in typing. Only the latest that was asked for counts.
type (
	restedMsg int
	pausedMsg int
)

// Update takes a message in, then starts whatever the new state lacks.
func (m *Model) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	m.now = m.options.Now()
	cmd := m.dispatch(msg)
	return m, tea.Batch(cmd, m.catchUp(), m.fill())
}

func (m *Model) dispatch(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		m.resize(msg.Width, msg.Height)
	case tea.KeyMsg:
		return m.press(msg)
	case tea.MouseMsg:
		return m.mouse(msg)
	case finished:
		return m.finish(msg)
	case tickMsg:
		return m.tick()
	case spinMsg:
		return m.spun()
	case restedMsg:
		return m.rested(msg)
	case pausedMsg:
		m.paused(msg)
	case draft:
		return m.edits(msg)
	case backgroundMsg:
		m.renderer.SetHasDarkBackground(!msg.light)
	}
	return nil
}

// receive takes a job's result in.
func (m *Model) receive(result tea.Msg) tea.Cmd {
	switch r := result.(type) {
	case countMsg:
		m.total = int64(r)
	case fed:
		m.gathers(r)
	case listed:
		m.lists(r)
	case orderedOn:
		m.sortsOn(r)
	case countedFolder:
		m.tallies(r)
	case sized:
		m.sizes(r)
	case surveyedLevel:
		m.surveys(r)
	case watched:
		return m.watched(r)
	case described:
		m.describe(r)
	case opened:
		m.value.show(r)
	case paged:
		m.page(r)
	case decoded:
		r.sheet.decoded(r.doc)
	case informed:
		m.informs(r)
	case written:
		return m.wrote(r)
	case toEdit:
		return m.drafted(draft(r))
	case doubtful:
		return m.doubts(r)
	case lookedUp:
		return m.confirm(r.confirmation)
	case undone:
		return m.undid(r)
	case leftBehind:
		m.finds(r)
	case unlocked:
		m.unlocks(r)
	case weighed:
		return m.weighs(r)
	case answered:
		m.answers(r)
	case copied:
		return m.copyText("the value", r.text)
	case exported:
		m.notice = "Wrote " + counted(int64(r.keys), "key", "keys") + " to " + r.path + "."
	case learnt:
		return m.learns(r)
	case sought:
		m.seeks(r)
	case surveyed:
		if p, ok := m.overlay.(*picker); ok && p.purpose == surveying {
			p.items = databaseItems(r)
		}
	}
	return nil
}

// fill starts the jobs whose results the screen needs and that do not run yet.
func (m *Model) fill() tea.Cmd {
	if m.width == 0 {
		return nil
	}
	var cmds []tea.Cmd
	cmds = append(cmds, m.fillList())
	m.value.age(m.now)
	if i, from, ok := m.value.missing(); ok && !m.running(paging) && !m.running(opening) {
		cmds = append(cmds, m.fetch(m.value.sheet(), i, from))
	}
	if s := m.value.undecoded(); s != nil && !m.running(decoding) && !m.running(opening) {
		cmds = append(cmds, m.decode(s))
	}
	return tea.Batch(append(cmds, m.accompany())...)
}

// accompany opens the selected key beside the list, once the person rests on it.
func (m *Model) accompany() tea.Cmd {
	r := m.keys.selected()
	if (r == nil || r.Folder) && !m.keys.stale && m.value.any && !m.inValue {
		m.leaveValue()
	}
	if !m.wide() || m.inValue || r == nil || r.Folder || m.value.any && m.value.wanted == r.Name {
		return nil
	}
	m.value.wanted, m.value.any = r.Name, true
	m.rests++
	return m.after(settleTime, restedMsg(m.rests))
}

func (m *Model) rested(r restedMsg) tea.Cmd {
	v := &m.value
	if int(r) != m.rests || !v.any || v.loaded && v.key == v.wanted {
		return nil
	}
	return m.open(v.wanted)
}

func (m *Model) paused(p pausedMsg) {
	if int(p) == m.pauses && m.filtering != nil {
		m.search(m.typedQuery())
	}
}

// tick is a second passing: what is over fades, what faded goes.
func (m *Model) tick() tea.Cmd {
	cmds := []tea.Cmd{m.after(second, tickMsg{})}
	rows := m.keys.visible()
	for i := range rows {
		if r := &rows[i]; r.gone == 0 && r.expired(m.now) {
			r.stale = true
		}
	}
	if !m.keys.stale && m.keys.drop(m.now) > 0 {
		cmds = append(cmds, m.count())
	}
	cmds = append(cmds, m.watch())
	v := &m.value
	if v.loaded && !v.gone && v.expires != 0 && v.expires <= m.now && !m.running(opening) && !v.halted {
		cmds = append(cmds, m.open(v.key))
	}
	return tea.Batch(cmds...)
}

// refresh asks for everything on the screen again.
func (m *Model) refresh() tea.Cmd {
	m.cancelAll()
	m.conn.refusals.forgive()
	m.keys.refresh(false)
	m.levelSurvey = nil
	switch {
	case m.scan != nil:
		m.scan.again()
	case m.sorted != nil:
		m.sortAgain()
	}
	for i := range m.keys.rows {
		m.keys.rows[i].stale = true
	}
	cmds := []tea.Cmd{m.count()}
	if m.value.any {
		cmds = append(cmds, m.open(m.value.wanted))
	}
	return tea.Batch(cmds...)
}

// leaveValue shows no value.
func (m *Model) leaveValue() {
	m.cancelValue()
	m.inValue = false
	m.value = valuePane{width: m.value.width, height: m.value.height}
}

// cancelValue ends the jobs of the open value.
func (m *Model) cancelValue() {
	for _, p := range []purpose{opening, paging, decoding, searching} {
		m.cancel(p)
	}
}

// use goes to another database.
func (m *Model) use(db int) tea.Cmd {
	if db == m.db {
		return nil
	}
	m.cancelAll()
	m.db, m.total = db, -1
	m.leaveValue()
	m.restart()
	return m.count()
}

// fail shows err until the next key press.
func (m *Model) fail(err error) {
	switch {
	case errors.Is(err, context.Canceled):
		err = errors.New("stopped")
	case errors.Is(err, context.DeadlineExceeded):
		err = errors.New("the target did not answer in time")
	}
	m.failure = err.Error()
}

func (m *Model) suspend() tea.Cmd { return tea.Suspend }

// wide reports whether keys and value stand side by side.
func (m *Model) wide() bool { return m.width >= 100 }

func (m *Model) resize(width, height int) {
	m.width, m.height = width, height
	m.keys.height = max(m.bodyHeight()-listHeadings, 1)
	m.keys.clamp()
	m.value.width, m.value.height = m.valueWidth(), max(m.bodyHeight()-valueHeadings, 1)
	m.value.arrange()
	m.value.fillWhole()
}
