package inspect

import (
	"slices"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/meowdis/meowdis/catalog"
)

// place is where a binding holds.
type place int

const (
	inKeys place = 1 << iota
	inValue
	everywhere = inKeys | inValue
)

// binding is what some keys do. The footer and the help page are made from the
// table of them.
type binding struct {
	keys   []string // as bubbletea names them
	where  place
	hint   string              // for the footer; none when it stands in the help page only
	says   func(*Model) string // the hint where it depends on what is shown; nil: hint
	help   string
	run    func(*Model) tea.Cmd
	apt    func(*Model) bool // whether the hint is of use now; nil: always
	atOnce bool              // it means the same whatever is still to come: see ahead.go
}

// keySigns is the keys that people know by another name than bubbletea.
var keySigns = map[string]string{
	"up": "↑", "down": "↓", "left": "←", "right": "→", "enter": "⏎", "backspace": "⌫", " ": "space", "delete": "Del",
	"pgup": "PgUp", "pgdown": "PgDn", "home": "Home", "end": "End",
}

// keySign is a key as a person reads it.
func keySign(key string) string {
	if sign, ok := keySigns[key]; ok {
		return sign
	}
	if letter, ok := strings.CutPrefix(key, "ctrl+"); ok {
		return "^" + strings.ToUpper(letter)
	}
	return key
}

// label is the keys as a person reads them, each of them.
func (b binding) label() string {
	signs := make([]string, len(b.keys))
	for i, key := range b.keys {
		signs[i] = keySign(key)
	}
	return strings.Join(signs, " ")
}

// bindings is every key of the browser, in the order of the help page.
func bindings() []binding {
	return slices.Concat(moving(), doing(), choosing(), asking())
}

// moving is the keys that go somewhere.
func moving() []binding {
	return []binding{
		{keys: []string{"up", "k"}, where: everywhere, help: "one line up", run: moves(-1)},
		{keys: []string{"down", "j"}, where: everywhere, help: "one line down", run: moves(1)},
		{keys: []string{"pgup", "ctrl+b", "ctrl+u"}, where: everywhere, help: "one page up", run: (*Model).pageUp},
		{keys: []string{"pgdown", "ctrl+f", "ctrl+d"}, where: everywhere, help: "one page down", run: (*Model).pageDown},
		{keys: []string{"g", "home"}, where: everywhere, help: "to the first", run: (*Model).goHome},
		{keys: []string{"G", "end"}, where: everywhere, help: "to the last", run: (*Model).goEnd},
		{keys: []string{"enter", "right", "l"}, where: inKeys, hint: "open", help: "into the value; a folder opens or closes", run: (*Model).enter},
		{keys: []string{"left", "h"}, where: inKeys, help: "close the folder", run: (*Model).leaveFolder},
		{keys: []string{"esc"}, where: inKeys, hint: "all keys", help: "stop, or all keys again", run: (*Model).stop, apt: (*Model).filtered, atOnce: true},
		{keys: []string{"enter", "right", "l"}, where: inValue, hint: "open", help: "the whole element; fold what is decoded", run: (*Model).enterElement, apt: (*Model).opensMore},
		{keys: []string{"esc", "left", "h", "backspace"}, where: inValue, hint: "back", help: "back to the keys", run: (*Model).back, atOnce: true},
		{keys: []string{"tab"}, where: everywhere, help: "keys or value", run: (*Model).turn},
	}
}

// choosing is the keys that change what is shown.
func choosing() []binding {
	return []binding{
		{keys: []string{"x"}, where: inValue, hint: "form", help: "decoded, text, hex or bits; scores as places", run: (*Model).changeForm, apt: (*Model).inBytes},
		{keys: []string{"z"}, where: inValue, hint: "fold all", help: "fold or unfold all", run: (*Model).foldAll, apt: (*Model).inDocument},
		{keys: []string{"]", "["}, where: inValue, says: otherSide, help: "a stream's entries or groups; a group's pending entries or consumers", run: (*Model).turnValue, apt: (*Model).hasOther},
		{keys: []string{"/"}, where: inValue, hint: "search", help: "search in the value", run: (*Model).editSeek},
		{keys: []string{"n"}, where: inValue, hint: "next", help: "the next one found", run: (*Model).seekNext, apt: (*Model).sought},
		{keys: []string{"N"}, where: inValue, help: "the one before", run: (*Model).seekBack},
		{keys: []string{"/"}, where: inKeys, hint: "filter", help: "filter by name; tab: glob, fuzzy, regex, exact", run: (*Model).editFilter, atOnce: true},
		{keys: []string{"t"}, where: inKeys, hint: "type", help: "filter by type", run: (*Model).pickType, atOnce: true},
		{keys: []string{"T"}, where: inKeys, help: "filter by time to live", run: (*Model).pickLife, atOnce: true},
		{keys: []string{"s"}, where: inKeys, hint: "sort", help: "sort by name, TTL, size, …", run: (*Model).pickOrder, atOnce: true},
		{keys: []string{"S"}, where: inKeys, help: "sort the other way round", run: (*Model).reverse, atOnce: true},
		{keys: []string{"v"}, where: inKeys, hint: "tree", help: "tree or flat list", run: (*Model).changeView, atOnce: true},
		{keys: []string{"o"}, where: inKeys, help: "open a key by its whole name", run: (*Model).openByName, atOnce: true},
		{keys: []string{"d"}, where: inKeys, hint: "database", help: "another database", run: (*Model).pickDatabase, atOnce: true},
	}
}

// doing is the keys that change the data, or take it away.
func doing() []binding {
	return []binding{
		{keys: []string{" "}, where: inKeys, help: "mark a key or a folder", run: (*Model).mark},
		{keys: []string{"e"}, where: everywhere, hint: "edit", help: "edit in place", run: (*Model).edit, apt: (*Model).unlockedValue},
		{keys: []string{"E"}, where: inValue, help: "edit in $EDITOR", run: (*Model).editOutside},
		{keys: []string{"a"}, where: everywhere, hint: "add", help: "add a key, or an element", run: (*Model).add, apt: (*Model).changesHere},
		{keys: []string{"D", "delete"}, where: everywhere, hint: "delete", help: "delete keys, a folder, an element", run: (*Model).remove, apt: (*Model).changesHere},
		{keys: []string{"R"}, where: everywhere, help: "rename the key", run: (*Model).rename},
		{keys: []string{"X"}, where: everywhere, help: "set the time to live", run: (*Model).expire},
		{keys: []string{"P"}, where: everywhere, help: "persist: take the time to live away", run: (*Model).persist},
		{keys: []string{"u"}, where: everywhere, hint: "undo", help: "undo the last change", run: (*Model).undo, apt: (*Model).canUndo},
		{keys: []string{"y"}, where: everywhere, help: "copy key, value or command", run: (*Model).pickCopy},
		{keys: []string{"w"}, where: everywhere, help: "write keys to a file, as a script", run: (*Model).export},
		{keys: []string{":"}, where: everywhere, help: "run a command", run: (*Model).commandLine, atOnce: true},
		{keys: []string{"L"}, where: everywhere, help: "the commands that were sent, and their SQL", run: (*Model).showLog, atOnce: true},
	}
}

func (m *Model) isLocked() bool      { return !m.unlocked && m.options.Unlock != nil }
func (m *Model) unlockedValue() bool { return m.inValue && m.changesHere() }
func (m *Model) canUndo() bool       { return m.unlocked && len(m.steps) > 0 }

// changesHere reports whether what is shown can be changed: the groups of a stream are
// only looked at.
func (m *Model) changesHere() bool {
	s := m.value.sheet()
	return m.unlocked && (!m.inValue || s == nil || s.src == nil || s.src == sourceOf(m.value.kind))
}

// asking is the keys that hold anywhere.
func asking() []binding {
	return []binding{
		{keys: []string{"+"}, where: inKeys, hint: "scan on", help: "scan on after a pause", run: (*Model).keepScanning, apt: (*Model).scanPaused, atOnce: true},
		{keys: []string{"U"}, where: everywhere, hint: "unlock", help: "unlock writing, or lock it", run: (*Model).unlock, apt: (*Model).isLocked, atOnce: true},
		{keys: []string{"i"}, where: everywhere, hint: "info", help: "all about the key: facts, SQL rows", run: (*Model).showInfo},
		{keys: []string{"O"}, where: everywhere, hint: "overview", help: "the data set at a glance", run: (*Model).showOverview, atOnce: true},
		{keys: []string{"f"}, where: everywhere, help: "follow changes, or not", run: (*Model).follow, atOnce: true},
		{keys: []string{"r"}, where: everywhere, hint: "refresh", help: "look again", run: (*Model).refresh, atOnce: true},
		{keys: []string{"?"}, where: everywhere, hint: "help", help: "this page", run: (*Model).showHelp, atOnce: true},
		{keys: []string{"q", "ctrl+c"}, where: everywhere, hint: "quit", help: "quit", run: (*Model).quit, atOnce: true},
		{keys: []string{"ctrl+z"}, where: everywhere, help: "back to the shell; fg comes back", run: (*Model).suspend, atOnce: true},
	}
}

// press does what keys mean where the person is. Letters that were typed faster
// than they were read come together, and Esc comes as Alt of the letter behind it;
// each is a press of its own. What is pasted is text, never a command.
func (m *Model) press(k tea.KeyMsg) tea.Cmd {
	m.failure, m.notice, m.goes = "", "", false
	if k.Paste && m.filtering == nil && !m.writesText() {
		return nil
	}
	if k.Alt && k.Type == tea.KeyEsc { // two that came at once
		k.Alt = false
		return tea.Batch(m.pressOne(k), m.pressOne(k))
	}
	if k.Paste || k.Type != tea.KeyRunes {
		return m.pressOne(k)
	}
	var cmds []tea.Cmd
	if k.Alt {
		cmds = append(cmds, m.pressOne(tea.KeyMsg{Type: tea.KeyEsc}))
	}
	for _, r := range k.Runes {
		cmds = append(cmds, m.pressOne(tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune{r}}))
	}
	return tea.Batch(cmds...)
}

func (m *Model) pressOne(k tea.KeyMsg) tea.Cmd {
	switch {
	case k.Type == tea.KeyCtrlC:
		return m.quit()
	case k.Type == tea.KeyCtrlZ:
		return m.suspend()
	case m.waits(k):
		return nil
	}
	return m.pressNow(k)
}

func (m *Model) pressNow(k tea.KeyMsg) tea.Cmd {
	m.keys.touched = true
	switch {
	case m.tiny():
		return m.pressTiny(k)
	case m.overlay != nil:
		return m.overlay.press(m, k)
	case m.filtering != nil:
		return m.pressFilter(k)
	}
	return m.bound(k.String())
}

// writesText reports whether what is typed is text.
func (m *Model) writesText() bool {
	switch o := m.overlay.(type) {
	case *question, *form, *console:
		return true
	case *confirmation:
		return o.name != nil
	}
	return false
}

// here is where the person is.
func (m *Model) here() place {
	if m.inValue {
		return inValue
	}
	return inKeys
}

// inTable reports whether elements are shown, inBytes whether bytes are.
func (m *Model) inTable() bool {
	s := m.value.sheet()
	return s != nil && s.tabular()
}

func (m *Model) inDocument() bool { return m.value.sheet() != nil && m.value.sheet().inDocument() }

// opensMore reports whether there is something to open or to fold.
func (m *Model) opensMore() bool { return m.inTable() || m.inDocument() }

func (m *Model) hasOther() bool {
	s := m.value.sheet()
	return s != nil && s.src != nil && s.src.other != nil
}

// otherSide is what the other side of the value shows.
func otherSide(m *Model) string { return m.value.sheet().src.other.unit[1] }

// sought reports whether something was searched.
func (m *Model) sought() bool { return m.value.sheet() != nil && m.value.sheet().needle != "" }

func (m *Model) inBytes() bool { return m.value.sheet() != nil && !m.inTable() }

// filtered reports whether the list leaves keys out.
func (m *Model) filtered() bool { return m.keys.chooses() }

func (m *Model) scanPaused() bool { return m.scan != nil && m.scan.paused() }

// binding is what a key does where the person is; nil for nothing.
func (m *Model) binding(key string) *binding {
	for i, b := range m.bindings {
		if b.where&m.here() != 0 && slices.Contains(b.keys, key) {
			return &m.bindings[i]
		}
	}
	return nil
}

func (m *Model) bound(key string) tea.Cmd {
	if b := m.binding(key); b != nil {
		return b.run(m)
	}
	return nil
}

// scroller is what the movement keys move.
type scroller interface {
	move(n int)
	home()
	end()
}

func (m *Model) scroller() scroller {
	if m.inValue {
		return &m.value
	}
	return &m.keys
}

func moves(n int) func(*Model) tea.Cmd {
	return func(m *Model) tea.Cmd {
		m.scroller().move(n)
		return nil
	}
}

// pageLines is how far a page goes: one line stays in sight.
func (m *Model) pageLines() int {
	lines := m.keys.height
	if s := m.value.sheet(); m.inValue && s != nil {
		lines = s.pager.height
	}
	return max(lines-1, 1)
}

func (m *Model) pageUp() tea.Cmd   { return moves(-m.pageLines())(m) }
func (m *Model) pageDown() tea.Cmd { return moves(m.pageLines())(m) }

func (m *Model) goHome() tea.Cmd {
	m.scroller().home()
	return nil
}

func (m *Model) goEnd() tea.Cmd {
	m.scroller().end()
	return nil
}

// enter opens or closes the selected folder, or shows the selected key.
func (m *Model) enter() tea.Cmd {
	r := m.keys.selected()
	if r != nil && r.Folder {
		m.toggle(*r)
		return nil
	}
	return m.enterValue()
}

// toggle opens a folder, or closes it. Rows that are on their way are of before.
func (m *Model) toggle(r row) {
	m.cancel(listing)
	m.keys.toggle(r)
}

// leaveFolder closes the selected folder, or goes to the one that the selected row
// is in.
func (m *Model) leaveFolder() tea.Cmd {
	r := m.keys.selected()
	if r == nil {
		return nil
	}
	if _, open := m.keys.open[r.Name]; r.Folder && open {
		m.toggle(*r)
		return nil
	}
	if r.level != "" {
		m.cancel(listing)
		w := m.walker()
		level := m.keys.open[r.level]
		m.keys.seek(w, row{Entry: folderEntry(r.level), level: level, depth: w.depth(level)})
	}
	return nil
}

func (m *Model) enterValue() tea.Cmd {
	r := m.keys.selected()
	if r == nil || r.Folder {
		return nil
	}
	m.inValue = true
	// Beside the list the value is there already.
	if m.wide() && m.value.loaded && m.value.key == r.Name && !m.value.halted {
		return nil
	}
	return m.open(r.Name)
}

func (m *Model) enterElement() tea.Cmd {
	m.value.open()
	return nil
}

// back stops what goes through the value, then leaves the element, then the value.
func (m *Model) back() tea.Cmd {
	if m.stopGoing() || m.value.close() {
		return nil
	}
	for _, p := range []purpose{opening, paging} {
		if m.running(p) {
			m.halt(p)
		}
	}
	m.cancelValue()
	m.inValue = false
	return nil
}

// stop ends what runs; when there is nothing, or nothing but what fills in numbers, it
// ends the marks or the filter.
func (m *Model) stop() tea.Cmd {
	chosen := m.filtered() || len(m.keys.marked) > 0
	if _, any := m.busy(); any && m.frame > 0 && !(chosen && m.fillsIn()) {
		for p := range purposes {
			switch {
			case p == writing && m.running(p):
				m.jobs[p].cancel() // it ends soon, and says what it did
			case m.running(p):
				m.cancel(p)
				m.halt(p)
			}
		}
		m.keys.jump = nothingMore
		m.notice = "Stopped. Move on, or press r to look again."
		return nil
	}
	if len(m.keys.marked) > 0 {
		m.keys.marked = map[string]bool{}
		return nil
	}
	q := m.keys.query
	q.filter, q.kind, q.life = filter{manner: q.filter.manner}, "", catalog.AnyLife
	m.searchAround(q)
	return nil
}

// stopGoing ends a search or the way to the end, if one is under way.
func (m *Model) stopGoing() bool {
	s := m.value.sheet()
	switch {
	case m.running(searching):
		m.cancel(searching)
	case s != nil && s.pager.chase != nothing && m.running(paging):
		s.pager.chase = nothing
		m.cancel(paging)
	default:
		return false
	}
	m.notice = "Stopped."
	return true
}

func (m *Model) turn() tea.Cmd {
	if m.inValue {
		m.inValue = false
		return nil
	}
	return m.enterValue()
}

func (m *Model) turnValue() tea.Cmd {
	m.value.turn()
	return nil
}

func (m *Model) foldAll() tea.Cmd {
	if m.inDocument() {
		m.value.sheet().doc.toggleAll()
	}
	return nil
}

func (m *Model) changeForm() tea.Cmd {
	if s := m.value.sheet(); s.tabular() && s.src.scores == 0 {
		return nil
	}
	m.value.changeForm()
	return nil
}

func (m *Model) editFilter() tea.Cmd {
	m.inValue = false
	m.before, m.stood = m.keys.query, m.stands()
	m.filtering = newPrompt(m.keys.filter.text)
	return nil
}

// typedQuery is the query with the filter as it is typed.
func (m *Model) typedQuery() query {
	q := m.keys.query
	q.filter.text = m.filtering.String()
	return q
}

// pressFilter edits the filter; the list follows in a moment.
func (m *Model) pressFilter(k tea.KeyMsg) tea.Cmd {
	switch k.String() {
	case "enter":
		m.search(m.typedQuery())
		m.filtering = nil
	case "tab", "shift+tab":
		q := m.typedQuery()
		step := manners - 1
		if k.Type == tea.KeyTab {
			step = 1
		}
		q.filter.manner = (q.filter.manner + step) % manners
		m.search(q)
	case "esc":
		m.filtering = nil
		m.searchAround(m.before)
	case "up", "down", "pgup", "pgdown":
		return m.bound(k.String())
	default:
		if m.filtering.key(k) {
			m.pauses++
			return m.after(settleTime, pausedMsg(m.pauses))
		}
	}
	return nil
}
