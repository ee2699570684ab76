package inspect

import (
	"context"
	"slices"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/meowdis/meowdis/inspect/client"
	"github.com/meowdis/meowdis/inspect/job"
	"github.com/meowdis/meowdis/inspect/recents"
	"github.com/meowdis/meowdis/inspect/screen"
	"github.com/meowdis/meowdis/inspect/ui"
	"github.com/meowdis/meowdis/keyspace/display"
)

// recalledMsg carries the recent keys and bookmarks; bookmarkedMsg carries a key and whether it is now
// bookmarked.
type (
	recalledMsg   recents.Keys
	bookmarkedMsg struct {
		key    string
		marked bool
	}
)

// visit records a key that the user opened.
type visit struct {
	db  int
	key string
}

// remember records an opened key once its value is shown. It ignores errors; listing the recent keys
// reports them.
func (m *Model) remember() tea.Cmd {
	if !m.InValue {
		m.lastVisit = visit{db: -1}
		return nil
	}
	key, ok := m.value.Current()
	at := visit{m.DB, key}
	if !ok || at == m.lastVisit {
		return nil
	}
	if v := m.value.Selection(); !v.Shown || v.Missing || v.Key != key { // not loaded yet, or missing
		return nil
	}
	m.lastVisit = at
	memory := m.memory
	return func() tea.Msg {
		_ = memory.Visit(at.db, at.key)
		return nil
	}
}

// bookmark adds or removes a bookmark of the current key.
func (m *Model) bookmark() tea.Cmd {
	key, ok := m.currentKey()
	if !ok {
		m.Notice = "Select a key to bookmark."
		return nil
	}
	memory, db := m.memory, m.DB
	return m.Start(job.LoadingRecents, func(context.Context) (tea.Msg, error) {
		marked, err := memory.ToggleBookmark(db, key)
		return bookmarkedMsg{key, marked}, err
	})
}

func (m *Model) onBookmarked(b bookmarkedMsg) {
	m.Notice = "Bookmarked " + display.Text(b.key, 40) + ". Press " + m.KeyFor("recall") + " to see all."
	if !b.marked {
		m.Notice = "Removed the bookmark of " + display.Text(b.key, 40) + "."
	}
}

// recall lists the bookmarks and the recent keys.
func (m *Model) recall() tea.Cmd {
	memory := m.memory
	return m.Start(job.LoadingRecents, func(context.Context) (tea.Msg, error) {
		keys, err := memory.Keys()
		return recalledMsg(keys), err
	})
}

// forgetKey removes a key from that list.
const forgetKey = "ctrl+x"

func (m *Model) onRecalled(keys recalledMsg) {
	list := slices.Concat(keys.Bookmarks, keys.Recent)
	if len(list) == 0 {
		m.Notice = "No key was opened or bookmarked yet. Press " + m.KeyFor("bookmark") + " to bookmark one."
		return
	}
	f := &ui.Finder{Title: "Bookmarks (★) and recent keys", ChooseLabel: "open", Hints: [][2]string{{"^X", "forget"}}}
	var shown []recents.Key
	for i, k := range list {
		star := "★ "
		if i >= len(keys.Bookmarks) {
			star = "  "
			if slices.ContainsFunc(keys.Bookmarks, func(b recents.Key) bool { return b.DB == k.DB && string(b.Name) == string(k.Name) }) {
				continue
			}
		}
		note := display.Remaining(max(m.Now-k.At, 0)) + " ago"
		if k.DB != m.DB {
			note = "db " + client.Decimal(int64(k.DB)) + " · " + note
		}
		f.Items = append(f.Items, ui.Item{Label: star + display.Text(string(k.Name), 200), Note: note, Value: client.Decimal(int64(len(shown)))})
		shown = append(shown, k)
	}
	f.Choose = func(value string) tea.Cmd {
		k := shown[client.Atoi(value)]
		return m.goTo(k.DB, string(k.Name))
	}
	f.Keys = map[string]func(ui.Item) tea.Cmd{forgetKey: func(it ui.Item) tea.Cmd {
		k, memory := shown[client.Atoi(it.Value)], m.memory
		f.Remove(it)
		return m.Start(job.LoadingRecents, func(context.Context) (tea.Msg, error) {
			return nil, memory.Forget(k.DB, string(k.Name))
		})
	}}
	f.Search("")
	m.Dialog = f
}

// openByName opens a key by its typed name: the only way if the target refuses SCAN.
func (m *Model) openByName() tea.Cmd {
	m.Dialog = &ui.Question{Title: "Open a key", Note: `the full name; "in quotes" with escapes`, Prompt: screen.NewPrompt(""), Answer: func(name string) tea.Cmd {
		if strings.HasPrefix(name, `"`) {
			if raw, err := screen.Unquote(name); err == nil {
				name = raw
			}
		}
		return m.goTo(m.DB, name)
	}}
	return nil
}

// goTo opens a key of a database and selects it in the list of all keys.
func (m *Model) goTo(db int, key string) tea.Cmd {
	cmds := []tea.Cmd{m.useDatabase(db)}
	m.keys.Reveal(key)
	m.InValue = true
	return tea.Batch(append(cmds, m.value.Open(key))...)
}

// recallBindings returns the bindings for bookmarks and recent keys.
func recallBindings() []binding {
	return []binding{
		{name: "bookmark", keys: []string{"b"}, where: everywhere, help: "toggle bookmark", also: "favourite favorite star pin", run: (*Model).bookmark},
		{name: "recall", keys: []string{"'"}, where: everywhere, help: "bookmarks and recent keys", also: "favourites favorites starred last visited", run: (*Model).recall, immediate: true},
	}
}
