package inspect

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/x/ansi"

	"github.com/meowdis/meowdis/catalog"
	"github.com/meowdis/meowdis/keytype"
)

// overlay is a box above the screen that takes the key presses.
type overlay interface {
	press(*Model, tea.KeyMsg) tea.Cmd
	view(m *Model, width, height int) []string // its inner lines, at most so many of at most such a width
	footer() [][2]string                       // what its keys do
}

// item is a choice in a picker.
type item struct {
	label string
	note  string // what stands beside it
	value string
}

// picker lets the person choose one of a few items, by moving or by typing.
type picker struct {
	title   string
	purpose purpose // of the job that fills the notes
	items   []item
	at      int
	typed   string
	takes   string // what taking an item does; "take" when empty
	top     int    // the first item on the screen
	choose  func(m *Model, value string) tea.Cmd
}

func (p *picker) press(m *Model, k tea.KeyMsg) tea.Cmd {
	moves := k.String() == "j" || k.String() == "k"
	if k.Type == tea.KeyRunes && !moves && (p.seek(p.typed+string(k.Runes)) || p.seek(string(k.Runes))) {
		return nil
	}
	p.typed = ""
	switch k.String() {
	case "up", "k", "shift+tab":
		p.at = (p.at + len(p.items) - 1) % len(p.items)
	case "down", "j", "tab":
		p.at = (p.at + 1) % len(p.items)
	case "home", "pgup":
		p.at = 0
	case "end", "pgdown":
		p.at = len(p.items) - 1
	case "enter":
		return p.take(m)
	case "esc", "q":
		m.overlay = nil
		m.cancel(p.purpose)
	}
	return nil
}

func (p *picker) take(m *Model) tea.Cmd {
	m.overlay = nil
	return p.choose(m, p.items[p.at].value)
}

func (p *picker) footer() [][2]string {
	return [][2]string{{"↑↓", "choose"}, {"⏎", cmp.Or(p.takes, "take")}, {"esc", "close"}}
}

// seek goes to the first item that begins with typed.
func (p *picker) seek(typed string) bool {
	for i, it := range p.items {
		if strings.HasPrefix(it.label, typed) {
			p.at, p.typed = i, typed
			return true
		}
	}
	return false
}

func (p *picker) view(m *Model, width, height int) []string {
	labels, notes := 0, 0
	for _, it := range p.items {
		labels = max(labels, ansi.StringWidth(it.label))
		notes = max(notes, ansi.StringWidth(it.note))
	}
	inner := min(max(labels+notes+4, ansi.StringWidth(p.title)+2), width)
	lines := []string{m.styles.title.Render(fit(" "+p.title, inner))}
	rows := max(height-1, 1)
	p.top = max(min(p.at-rows/2, len(p.items)-rows), 0)
	for i := p.top; i < min(p.top+rows, len(p.items)); i++ {
		it := p.items[i]
		look := m.styles.row(i == p.at, true)
		mark := look.mark(i == p.at)
		lines = append(lines, mark+look.text.Render(fit(it.label, inner-notes-3))+look.dim.Render(fitRight(it.note, notes)+" "))
	}
	return lines
}

// requery makes a picker whose choice changes the query.
func (m *Model) requery(title string, items []item, at int, change func(*query, int)) tea.Cmd {
	for i := range items {
		items[i].value = strconv.Itoa(i)
	}
	m.overlay = &picker{title: title, items: items, at: max(at, 0), choose: func(m *Model, value string) tea.Cmd {
		q := m.keys.query
		i, _ := strconv.Atoi(value)
		change(&q, i)
		m.inValue = false
		m.search(q)
		return nil
	}}
	return nil
}

func (m *Model) pickType() tea.Cmd {
	items := []item{{label: "all"}}
	all := []string{""}
	for _, t := range keytype.Types {
		items, all = append(items, item{label: t.Said()}), append(all, t.Name)
	}
	return m.requery("Show keys of type", items, slices.Index(all, m.keys.kind), func(q *query, i int) { q.kind = all[i] })
}

var lifeNames = []string{"any", "expiring", "within an hour", "persistent"}

func (m *Model) pickLife() tea.Cmd {
	items := []item{{label: "any"}, {label: "expiring", note: "with a TTL"}, {label: "within an hour"}, {label: "persistent", note: "without a TTL"}}
	return m.requery("Show keys by time to live", items, int(m.keys.life), func(q *query, i int) { q.life = catalog.Life(i) })
}

var orderNames = []string{"name", "TTL", "size", "bytes", "type", "update"}

func (m *Model) pickOrder() tea.Cmd {
	notes := []string{"", "what ends first", "the largest first", "reads all values", "", "the last first"}
	if m.options.Index == nil {
		for _, i := range []int{1, 2, 4} {
			notes[i] = "asks every key"
		}
	}
	var items []item
	var orders []catalog.Order
	for i, name := range orderNames {
		// Without an index a key tells nothing of its bytes and changes.
		if o := catalog.Order(i); m.options.Index != nil || o != catalog.ByBytes && o != catalog.ByUpdated {
			items = append(items, item{label: name, note: notes[i]})
			orders = append(orders, o)
		}
	}
	return m.requery("Sort by", items, slices.Index(orders, m.keys.order), func(q *query, i int) {
		q.order, q.reverse = orders[i], false
	})
}

func (m *Model) reverse() tea.Cmd {
	q := m.keys.query
	q.reverse = !q.reverse
	m.search(q)
	return nil
}

// changeView shows the tree, or the flat list.
func (m *Model) changeView() tea.Cmd {
	q := m.keys.query
	switch {
	case q.chooses():
		m.notice = "What a filter finds is always a flat list. Press esc to see all keys."
		return nil
	case q.order != catalog.ByName || q.reverse:
		q.order, q.reverse, q.flat = catalog.ByName, false, false
	default:
		q.flat = !q.flat
	}
	m.search(q)
	return nil
}

func (m *Model) pickDatabase() tea.Cmd {
	p := &picker{title: "Database", purpose: surveying, at: m.db, choose: func(m *Model, value string) tea.Cmd {
		m.cancel(surveying)
		db, err := strconv.Atoi(value)
		if err != nil {
			return nil
		}
		return m.use(db)
	}}
	p.items = databaseItems(nil)
	p.at = min(m.db, len(p.items)-1)
	m.overlay = p
	return m.survey()
}

// databaseItems is the databases with their numbers of keys; all that there may
// be while none was counted.
func databaseItems(counts surveyed) []item {
	n := databases
	if len(counts) > 0 {
		n = len(counts)
	}
	items := make([]item, n)
	for i := range items {
		name := strconv.Itoa(i)
		items[i] = item{label: name, note: "…", value: name}
		if len(counts) == 0 {
			continue
		}
		switch n := counts[i]; {
		case n > 0:
			items[i].note = counted(n, "key", "keys")
		case n == 0:
			items[i].note = "empty"
		default:
			items[i].note = "? keys"
		}
	}
	return items
}
