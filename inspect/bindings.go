package inspect

import (
	"slices"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/meowdis/meowdis/inspect/edit"
	"github.com/meowdis/meowdis/inspect/keys"
	"github.com/meowdis/meowdis/inspect/value"
)

// scope limits a binding to a part of the screen.
type scope int

const (
	inKeys scope = 1 << iota
	inValue
	everywhere = inKeys | inValue
)

// binding maps keys to an action. The footer and the help page are generated from the table of bindings.
type binding struct {
	name      string   // the action's name in the configuration file
	keys      []string // bubbletea's names
	moves     bool     // it only moves the cursor
	where     scope
	hint      string              // for the footer; "" for none
	hintFunc  func(*Model) string // returns the hint if it depends on the screen; nil: hint
	help      string
	also      string // further words that the palette finds it by
	run       func(*Model) tea.Cmd
	nth       func(*Model, int) tea.Cmd // runs the action with the index of the pressed key in keys; nil: run
	hintWhen  func(*Model) bool         // reports whether to show the hint now; nil: always
	immediate bool                      // it never waits for loading rows: see ahead.go
}

// keySigns maps bubbletea's key names to symbols.
var keySigns = map[string]string{
	"up": "↑", "down": "↓", "left": "←", "right": "→", "enter": "⏎", "backspace": "⌫", " ": "space", "delete": "Del",
	"shift+up": "⇧↑", "shift+down": "⇧↓", "pgup": "PgUp", "pgdown": "PgDn", "home": "Home", "end": "End",
}

// keySign returns the displayed form of a key.
func keySign(key string) string {
	if sign, ok := keySigns[key]; ok {
		return sign
	}
	if letter, ok := strings.CutPrefix(key, "ctrl+"); ok {
		return "^" + strings.ToUpper(letter)
	}
	return key
}

// label returns the displayed form of all keys of a binding.
func (b binding) label() string {
	const most = 4
	if n := len(b.keys); n > most {
		return keySign(b.keys[0]) + "…" + keySign(b.keys[n-1])
	}
	signs := make([]string, len(b.keys))
	for i, key := range b.keys {
		signs[i] = keySign(key)
	}
	return strings.Join(signs, " ")
}

// bindings returns all bindings, in the order of the help page.
func bindings() []binding {
	return slices.Concat(moveBindings(), changeBindings(), viewBindings(), tabBindings(), recallBindings(), generalBindings())
}

// onKeys and ofKeys turn a method of the list of keys into an action or a condition.
func onKeys(f func(*keys.Pane) tea.Cmd) func(*Model) tea.Cmd {
	return func(m *Model) tea.Cmd { return f(&m.keys) }
}
func ofKeys(f func(*keys.Pane) bool) func(*Model) bool {
	return func(m *Model) bool { return f(&m.keys) }
}

// onValue and ofValue turn a method of the value pane into an action or a condition.
func onValue(f func(*value.Pane) tea.Cmd) func(*Model) tea.Cmd {
	return func(m *Model) tea.Cmd { return f(&m.value) }
}
func ofValue(f func(*value.Pane) bool) func(*Model) bool {
	return func(m *Model) bool { return f(&m.value) }
}

// onEdit, onSubject and ofEdit turn a method of the edit pane into an action or a condition.
func onEdit(f func(*edit.Pane) tea.Cmd) func(*Model) tea.Cmd {
	return func(m *Model) tea.Cmd { return f(&m.edit) }
}
func ofEdit(f func(*edit.Pane) bool) func(*Model) bool {
	return func(m *Model) bool { return f(&m.edit) }
}
func onSubject(f func(*edit.Pane, edit.Subject) tea.Cmd) func(*Model) tea.Cmd {
	return func(m *Model) tea.Cmd { return f(&m.edit, m.subject()) }
}

// moveBindings returns the bindings for movement.
func moveBindings() []binding {
	return []binding{
		{name: "up", moves: true, keys: []string{"up", "k"}, where: everywhere, help: "one line up", run: moves(-1)},
		{name: "down", moves: true, keys: []string{"down", "j"}, where: everywhere, help: "one line down", run: moves(1)},
		{name: "page_up", moves: true, keys: []string{"pgup", "ctrl+u", "ctrl+b"}, where: everywhere, help: "one page up", run: (*Model).pageUp},
		{name: "page_down", moves: true, keys: []string{"pgdown", "ctrl+d", "ctrl+f"}, where: everywhere, help: "one page down", run: (*Model).pageDown},
		{name: "first", moves: true, keys: []string{"g", "home"}, where: everywhere, help: "to the first line", also: "top start beginning", run: (*Model).goHome},
		{name: "last", moves: true, keys: []string{"G", "end"}, where: everywhere, help: "to the last line", also: "bottom end", run: (*Model).goEnd},
		{name: "open", keys: []string{"enter", "right", "l"}, where: inKeys, hint: "open", help: "open the value; open or close a folder", also: "show view expand", run: (*Model).enter},
		{name: "close_folder", keys: []string{"left", "h"}, where: inKeys, help: "close the folder", also: "collapse", run: onKeys((*keys.Pane).LeaveFolder)},
		{name: "all_keys", keys: []string{"esc"}, where: inKeys, hintFunc: func(m *Model) string { return m.keys.LeaveHint() }, help: "stop; drop marks, filter, order", also: "cancel clear reset unmark", run: (*Model).stop, immediate: true},
		{name: "open_element", keys: []string{"enter", "right", "l"}, where: inValue, hint: "open", help: "open the element; fold a decoded value", run: onValue((*value.Pane).EnterElement), hintWhen: ofValue((*value.Pane).CanOpenElement)},
		{name: "back", keys: []string{"esc", "left", "h", "backspace"}, where: inValue, hint: "back", help: "back to the keys", run: (*Model).back, immediate: true},
		{name: "other_side", keys: []string{"tab"}, where: everywhere, help: "switch between keys and value", also: "pane focus", run: (*Model).switchPane},
	}
}

// viewBindings returns the bindings that change the view.
func viewBindings() []binding {
	return []binding{
		{name: "form", keys: []string{"f"}, where: inValue, hint: "view as", help: "view as decoded, text, hex or bits; scores as places", also: "format bitmap json hexadecimal binary raw coordinates", run: onValue((*value.Pane).SwitchForm), hintWhen: ofValue((*value.Pane).InBytes)},
		{name: "fold", keys: []string{"z"}, where: inValue, hint: "fold all", help: "fold or unfold all", also: "collapse expand", run: onValue((*value.Pane).FoldAll), hintWhen: ofValue((*value.Pane).InDocument)},
		{name: "turn_over", keys: []string{"]", "["}, where: inValue, hintFunc: func(m *Model) string { return m.value.OtherName() }, help: "entries, groups, pending entries or consumers of a stream", also: "consumer", run: onValue((*value.Pane).ShowOther), hintWhen: ofValue((*value.Pane).HasOther)},
		{name: "tail", keys: []string{"F"}, where: inValue, hint: "live", help: "follow a stream: its last entry, and new entries", also: "tail live latest", run: onValue((*value.Pane).Tail), hintWhen: ofValue((*value.Pane).ShowsEntries)},
		{name: "similar", where: inValue, help: "elements similar to this one (VSIM)", also: "vector nearest neighbours", run: onSubject((*edit.Pane).Similar)},
		{name: "search", keys: []string{"/"}, where: inValue, hint: "search", help: "search in the value", also: "find", run: onValue((*value.Pane).EditSearch)},
		{name: "search_next", keys: []string{"n"}, where: inValue, hint: "next", help: "next match", run: onValue((*value.Pane).SearchNext), hintWhen: ofValue((*value.Pane).HasSearch)},
		{name: "search_back", keys: []string{"N"}, where: inValue, help: "previous match", run: onValue((*value.Pane).SearchPrevious)},
		{name: "filter_elements", keys: []string{"&"}, where: inValue, hint: "filter", help: "show only elements that contain a text", also: "grep find", run: onValue((*value.Pane).EditFilter), hintWhen: ofValue((*value.Pane).InTable)},
		{name: "sort_elements", keys: []string{"s"}, where: inValue, hint: "sort", help: "sort the elements by a column", also: "order", run: onValue((*value.Pane).PickColumn), hintWhen: ofValue((*value.Pane).InTable)},
		{name: "reverse_elements", where: inValue, help: "reverse the order of elements", also: "descending", run: onValue((*value.Pane).ReverseElements)},
		{name: "filter", keys: []string{"/"}, where: inKeys, hint: "filter", help: "filter by name or size (>1MB); tab: glob, fuzzy, regex, exact", also: "find search prefix pattern match lookup", run: onKeys((*keys.Pane).EditFilter), immediate: true},
		{name: "search_values", keys: []string{"&"}, where: inKeys, help: "show only keys whose value contains a text", also: "search find grep content full-text", run: onKeys((*keys.Pane).EditValueSearch), immediate: true},
		{name: "indexes", keys: []string{"I"}, where: inKeys, help: "search indexes: fields, bytes, and keys by a query", also: "ft.search full-text fulltext schema vector query redisearch ft.info", run: onKeys((*keys.Pane).ShowIndexes), immediate: true},
		{name: "filter_type", keys: []string{"t"}, where: inKeys, hint: "type", help: "filter by type", also: "kind strings hashes lists sets streams", run: onKeys((*keys.Pane).PickType), immediate: true},
		{name: "filter_ttl", where: inKeys, help: "filter by TTL", also: "time expiring soon persistent temporary", run: onKeys((*keys.Pane).PickTTL), immediate: true},
		{name: "sort", keys: []string{"s"}, where: inKeys, hint: "sort", help: "sort by name, TTL, count, bytes, …", also: "order biggest largest bytes memory size oldest newest recently changed", run: onKeys((*keys.Pane).PickOrder), immediate: true},
		{name: "sort_back", where: inKeys, help: "reverse the order of keys", also: "descending smallest", run: onKeys((*keys.Pane).ReverseOrder), immediate: true},
		{name: "tree", keys: []string{"`"}, where: inKeys, hint: "tree", help: "tree or flat list", also: "folders namespace hierarchy", run: onKeys((*keys.Pane).ChangeView), immediate: true},
		{name: "open_by_name", keys: []string{"o"}, where: inKeys, help: "open a key by its full name", also: "go goto jump", run: (*Model).openByName, immediate: true},
		{name: "database", keys: []string{"0"}, where: inKeys, hint: "database", help: "switch database", also: "select db", run: onKeys((*keys.Pane).PickDatabase), immediate: true},
	}
}

// changeBindings returns the bindings that change or copy data.
func changeBindings() []binding {
	return []binding{
		{name: "mark", keys: []string{" "}, where: inKeys, help: "mark a key or a folder", also: "select tag", run: onKeys((*keys.Pane).Mark)},
		{name: "mark_range", keys: []string{"v"}, where: inKeys, help: "mark a range: move, then space", also: "select visual", run: (*Model).span},
		{name: "mark_down", moves: true, keys: []string{"shift+down"}, where: inKeys, help: "mark on the way down", run: extendBy(func(*Model) int { return 1 })},
		{name: "mark_up", moves: true, keys: []string{"shift+up"}, where: inKeys, help: "mark on the way up", run: extendBy(func(*Model) int { return -1 })},
		{name: "mark_all", keys: []string{"*"}, where: inKeys, help: "mark everything in the list", also: "select all", run: onKeys((*keys.Pane).MarkAll)},
		{name: "mark_others", where: inKeys, help: "invert marks", also: "selection others", run: onKeys((*keys.Pane).Invert)},
		{name: "edit", keys: []string{"e"}, where: everywhere, hint: "edit", help: "edit; claim a pending entry", also: "change modify update set", run: (*Model).startEdit, hintWhen: (*Model).editsHere},
		{name: "edit_outside", keys: []string{"E"}, where: inValue, help: "edit in $EDITOR", also: "vim nano external", run: onSubject((*edit.Pane).EditOutside)},
		{name: "add", keys: []string{"a"}, where: everywhere, hint: "add", help: "add a key, or an element", also: "new create insert push", run: onSubject((*edit.Pane).Add), hintWhen: (*Model).addsHere},
		{name: "delete", keys: []string{"d", "delete"}, where: everywhere, hint: "delete", help: "delete keys, a folder, an element", also: "remove erase del unlink drop", run: onSubject((*edit.Pane).Remove), hintWhen: (*Model).changesHere},
		{name: "acknowledge", where: inValue, help: "acknowledge the pending entry of a group", also: "ack xack", run: onSubject((*edit.Pane).Acknowledge)},
		{name: "claim", where: inValue, help: "claim the pending entry for a consumer", also: "xclaim", run: onSubject((*edit.Pane).Claim)},
		{name: "rename", keys: []string{"r"}, where: everywhere, help: "rename the key; of many, by a pattern", also: "move name replace", run: onSubject((*edit.Pane).Rename)},
		{name: "expire", keys: []string{"x"}, where: everywhere, help: "set the TTL", also: "expiry expiration time live", run: onSubject((*edit.Pane).Expire)},
		{name: "persist", where: everywhere, help: "persist: remove the TTL", also: "forever never", run: onSubject((*edit.Pane).Persist)},
		{name: "undo", keys: []string{"u"}, where: everywhere, hint: "undo", help: "undo the last change", also: "revert restore back", run: onEdit((*edit.Pane).Undo), hintWhen: ofEdit((*edit.Pane).CanUndo)},
		{name: "redo", keys: []string{"ctrl+r"}, where: everywhere, hint: "redo", help: "redo", also: "again repeat", run: onEdit((*edit.Pane).Redo), hintWhen: ofEdit((*edit.Pane).CanRedo)},
		{name: "steps", keys: []string{"U"}, where: everywhere, help: "history of changes: return to any state", also: "history undo log timeline", run: onEdit((*edit.Pane).ShowSteps)},
		{name: "discard_history", where: everywhere, help: "discard the history of changes; they can no longer be undone", also: "forget clear", run: onEdit((*edit.Pane).DiscardHistory)},
		{name: "copy", keys: []string{"y"}, where: everywhere, help: "copy key, value or command to the clipboard", also: "yank", run: onSubject((*edit.Pane).PickCopy)},
		{name: "copy_to", keys: []string{"c"}, where: everywhere, help: "copy keys here or to another tab", also: "duplicate clone move transfer", run: onSubject((*edit.Pane).CopyTo)},
		{name: "export", keys: []string{">"}, where: everywhere, help: "export keys to a file: CSV, JSON, commands, RDB, archive", also: "save backup dump download", run: onSubject((*edit.Pane).Export)},
		{name: "command", keys: []string{":"}, where: everywhere, help: "run a command", also: "console prompt cli execute", run: onEdit((*edit.Pane).CommandLine), immediate: true},
		{name: "log", where: everywhere, help: "log of sent commands, with their SQL", also: "trace", run: onEdit((*edit.Pane).ShowLog), immediate: true},
	}
}

// editsHere reports whether the focused pane shows something to edit, and addsHere whether something
// can be added to it.
func (m *Model) editsHere() bool {
	return m.InValue && m.changesHere() && (m.value.ShowsPending() || !m.value.ShowsDelivered())
}
func (m *Model) addsHere() bool { return m.changesHere() && !(m.InValue && m.value.ShowsPending()) }

// changesHere reports whether the contents of the focused pane can be changed.
func (m *Model) changesHere() bool {
	return m.edit.IsUnlocked() && (!m.InValue || m.value.IsEditable())
}

// generalBindings returns the bindings for information and for the program itself.
func generalBindings() []binding {
	return []binding{
		{name: "scan_on", keys: []string{"+"}, where: inKeys, hint: "scan on", help: "continue a paused scan", also: "more", run: onKeys((*keys.Pane).KeepScanning), hintWhen: ofKeys((*keys.Pane).ScanPaused), immediate: true},
		{name: "unlock", keys: []string{"w"}, where: everywhere, hint: "unlock", help: "unlock or lock writing", also: "write read-only readonly allow changes permission", run: onEdit((*edit.Pane).Unlock), hintWhen: ofEdit((*edit.Pane).IsLocked), immediate: true},
		{name: "info", keys: []string{"i"}, where: everywhere, hint: "info", help: "details of the key: facts, SQL rows, full name", also: "describe encoding properties", run: (*Model).showInfo},
		{name: "compare", keys: []string{"="}, where: everywhere, help: "compare two keys, or a key with its history", also: "diff difference", run: (*Model).compareKeys},
		{name: "compare_tabs", where: everywhere, help: "compare all keys with another tab", also: "diff difference targets databases files", run: func(m *Model) tea.Cmd { return m.compare.CompareAll() }, immediate: true},
		{name: "server", keys: []string{"M"}, where: everywhere, help: "the server: activity, clients, slow log, channels, monitor, memory", also: "pubsub pub/sub subscribe connections slowlog performance", run: (*Model).showServer, immediate: true},
		{name: "overview", keys: []string{"O"}, where: everywhere, hint: "overview", help: "overview of the data set", also: "statistics stats summary dashboard charts usage", run: (*Model).showOverview, immediate: true},
		{name: "follow", where: everywhere, help: "follow changes on or off", also: "watch auto-refresh poll", run: (*Model).toggleFollow, immediate: true},
		{name: "refresh", keys: []string{"R"}, where: everywhere, hint: "refresh", help: "refresh", also: "reload retry update", run: (*Model).refresh, immediate: true},
		{name: "background", where: everywhere, help: "switch between dark and light colours", also: "theme color colors mode", run: (*Model).toggleBackground, immediate: true},
		{name: "help", keys: []string{"?"}, where: everywhere, hint: "help", help: "help", also: "keys shortcuts keyboard bindings manual", run: (*Model).showHelp, immediate: true},
		{name: paletteName, keys: []string{"ctrl+p"}, where: everywhere, help: "find an action", run: (*Model).showPalette, immediate: true},
		{name: "quit", keys: []string{"q", "ctrl+c"}, where: everywhere, hint: "quit", help: "quit", also: "exit close leave", run: (*Model).quit, immediate: true},
		{name: "suspend", keys: []string{"ctrl+z"}, where: everywhere, help: "back to the shell; fg returns", also: "background job", run: (*Model).suspend, immediate: true},
	}
}
