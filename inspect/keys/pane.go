package keys

import (
	tea "github.com/charmbracelet/bubbletea"

	"github.com/meowdis/meowdis/inspect/client"
	"github.com/meowdis/meowdis/inspect/job"
	"github.com/meowdis/meowdis/inspect/screen"
	"github.com/meowdis/meowdis/inspect/ui"
	"github.com/meowdis/meowdis/keyspace/catalog"
	"github.com/meowdis/meowdis/keyspace/display"
)

// Pane lists keys on the screen: a window of the rows of a query, the source of the rows, and
// the filter prompt.
type Pane struct {
	*ui.PaneContext
	window
	width         int
	Total         int64      // keys in the database; -1 while unknown
	scan          *scan      // the source of the keys without an index
	sorted        sorting    // the source of the rows if the index lacks their order
	orderOutdated bool       // the data changed since the keys were sorted
	levelSums     *levelSums // the pass that computes folder sizes; nil for none
	pendingRow    row        // the row to select when sorting ends; none without a name
	filterEdit
	MaxScanned   int                                 // the most keys of a scan kept
	pauseID      int                                 // the number of the latest pausedMsg requested
	SearchValues ValueSearcher                       // searches values with commands
	TestValues   func(text string) catalog.ValueTest // returns the test for a text in the values of an index
}

// filterEdit holds the state while the filter is edited.
type filterEdit struct {
	filterPrompt    *screen.Prompt // nil while closed
	rowBeforeEdit   row            // the selected row before
	queryBeforeEdit query          // the query before
}

// DatabaseChosen is the event that the user chose another database.
type DatabaseChosen struct{ Db int }

// pausedMsg arrives after a pause in typing. Only the latest one requested counts.
type pausedMsg int

// listHeadings counts the lines above the keys: filter and column titles.
const listHeadings = 2

// New returns a list that loads nothing until Resize is called.
func New(b *ui.PaneContext) Pane {
	l := Pane{PaneContext: b, Total: -1, MaxScanned: maxScanned}
	l.restart()
	return l
}

// Update handles messages for this pane and ignores messages for other panes.
func (l *Pane) Update(msg tea.Msg) tea.Cmd {
	switch r := msg.(type) {
	case countedMsg:
		l.Total = int64(r)
	case scannedMsg:
		l.onScanned(r)
	case listedMsg:
		l.onListed(r)
	case sortedMsg:
		l.onSorted(r)
	case talliedMsg:
		l.onTallied(r)
	case sizedMsg:
		l.onSized(r)
	case levelSummedMsg:
		l.onLevelSummed(r)
	case describedMsg:
		l.onDescribed(r)
	case client.KeyCounts:
		if p, ok := l.Dialog.(*ui.Picker); ok && p.Purpose == job.CountingDBs {
			p.Items = databaseItems(r)
		}
	case typesMsg:
		l.onTypes(r)
	case indexesMsg:
		l.onIndexes(r)
	case markedMsg:
		l.onMarked(r)
	case pausedMsg:
		l.onPaused(r)
	}
	return nil
}

// restart lists the database from its first key.
func (l *Pane) restart() {
	l.clear()
	match, _ := l.filter.matcher()
	l.scan = nil
	l.closeSort()
	l.chooseSource(l.query, match)
}

func (l *Pane) onPaused(p pausedMsg) {
	if int(p) == l.pauseID && l.filterPrompt != nil {
		l.search(l.typedQuery())
	}
}

// Tick runs once a second. Expired keys are read again, and faded rows disappear.
func (l *Pane) Tick() tea.Cmd {
	rows := l.visible()
	for i := range rows {
		if r := &rows[i]; r.gone == 0 && r.expired(l.Now) {
			r.stale = true
		}
	}
	if l.shown != rowsPrevious && l.dropFaded(l.Now) > 0 {
		return l.Count()
	}
	return nil
}

// RefreshAll reloads everything in the list.
func (l *Pane) RefreshAll() tea.Cmd {
	l.refresh(false)
	l.levelSums = nil
	switch {
	case l.scan != nil:
		l.scan.restart()
	case l.sorted != nil:
		l.sortAgain()
	}
	l.markStale(l.rows)
	return l.Count()
}

// markStale lets the facts of rows be read again.
func (l *Pane) markStale(rows []row) {
	for i := range rows {
		rows[i].stale = true
	}
}

// ReloadAfterChange reloads the list after a change by the user, and selects the key reveal unless it is "".
func (l *Pane) ReloadAfterChange(reveal string) tea.Cmd {
	if l.scan != nil && l.needle == "" { // the user restarts a search in values
		l.Cancel(job.Scanning) // its page may be older than the change
		l.scan.restart()
	}
	l.refresh(l.Running(job.Listing))
	l.markPending()
	l.markStale(l.rows)
	if reveal != "" {
		l.reveal(reveal)
	}
	return l.Count()
}

// Follow reacts to a change of the data by another client, or to an expired key.
func (l *Pane) Follow(written bool) tea.Cmd {
	if written {
		l.reload(l.Running(job.Listing))
		l.sortChanged()
	}
	l.recount(l.Now, l.Index != nil) // expired rows fade by themselves
	return l.Count()
}

// ReloadVisible reloads the visible rows.
func (l *Pane) ReloadVisible() tea.Cmd {
	l.markStale(l.visible())
	return l.Count()
}

// Use lists another database.
func (l *Pane) Use() tea.Cmd {
	l.Total, l.find = -1, find{}
	l.restart()
	return l.Count()
}

// Resize sets the size of the list. The height includes the headings.
func (l *Pane) Resize(width, height int) {
	l.width, l.height = width, max(height-listHeadings, 1)
	l.clamp()
}

// Halt keeps the list from restarting a job that failed or was stopped.
func (l *Pane) Halt(p job.Purpose) {
	switch p {
	case job.Listing, job.Sorting, job.Scanning, job.Describing, job.CountingFolder, job.MeasuringFolder:
		l.halted = true
	}
}

// Close stops background work of the list.
func (l *Pane) Close() {
	if l.sorted != nil {
		l.sorted.Close()
	}
}

// Current returns the selected key; ok is false for a folder or no row.
func (l *Pane) Current() (key string, ok bool) {
	r := l.selected()
	if r == nil || r.Folder {
		return "", false
	}
	return r.Name, true
}

// IsOffKey reports whether the selected row is known not to be a key.
func (l *Pane) IsOffKey() bool {
	r := l.selected()
	return (r == nil || r.Folder) && l.shown != rowsPrevious
}

// OnFolder reports whether a folder is selected.
func (l *Pane) OnFolder() bool {
	r := l.selected()
	return r != nil && r.Folder && l.shown != rowsPrevious
}

// TypeOf returns the type of a key in the list, or "" while unknown.
func (l *Pane) TypeOf(key string) (kind string, listed bool) {
	if i := l.rowIndex(key, false); i >= 0 {
		return l.rows[i].Facts.Type, true
	}
	return "", false
}

// Folder returns the selected folder, or the folder of the selected row; "" for none.
func (l *Pane) Folder() string {
	switch r := l.selected(); {
	case r == nil || !l.tree():
		return ""
	case r.Folder:
		return r.Name
	default:
		return r.level
	}
}

// Enter opens or closes the selected folder. It returns false if a key is selected.
func (l *Pane) Enter() bool {
	r := l.selected()
	if r == nil || !r.Folder {
		return false
	}
	l.toggleFolder(*r)
	return true
}

// Click selects the row at line y of the list. opens reports whether the caller should open it: it is a
// folder, or was already selected.
func (l *Pane) Click(x, y int) (hit, opens bool) {
	if y == listHeadings-1 {
		l.clickTitle(x)
		return true, false
	}
	at := l.top + y - listHeadings
	if y < listHeadings || at >= len(l.rows) || at >= l.top+l.height {
		return false, false
	}
	again := at == l.cursor
	l.Move(at - l.cursor)
	r := l.selected()
	return true, again || r != nil && r.Folder
}

// ShowFolder shows the full name of the selected folder, its number of keys and its size.
func (l *Pane) ShowFolder() {
	r := l.selected()
	if r == nil || !r.Folder {
		return
	}
	t := l.tallies[r.Name]
	says := "Not counted yet."
	if t.counted != unknown {
		says = display.Counted(t.keys, "key", "keys")
	}
	l.Dialog = &ui.Page{Title: "Folder", Layout: ui.Wrapped(" "+display.Whole(r.Name), "", " "+says, " "+l.bytesNote(t))}
}

// PageLines returns the rows to scroll per page: one row less than the screen.
func (l *Pane) PageLines() int { return max(l.height-1, 1) }

// IsWaited reports whether the user waits for rows.
func (l *Pane) IsWaited() bool {
	if l.Conn.Refusals.Has("SCAN") && l.scan != nil {
		return false
	}
	return l.waiting() && (l.shown == rowsPrevious || l.pendingMove != 0 || l.canList(l.jump.load()))
}

// Stop cancels the pending jump.
func (l *Pane) Stop() { l.cancelJump() }

// Leave drops the range, the marks, the filter or the order, whichever of these comes first. The user
// stays at the same key.
func (l *Pane) Leave() {
	q := l.query
	switch {
	case l.span != nil:
		l.DropSpan()
		return
	case l.marked.len() > 0:
		l.Unmark()
		return
	case q.HasFilter():
		q = q.unfiltered()
	default:
		q.order, q.reverse = catalog.ByName, false
	}
	l.searchKeepingCursor(q)
}

// LeaveHint names what Leave drops; "" if there is nothing to drop.
func (l *Pane) LeaveHint() string {
	switch {
	case l.span != nil:
		return "cancel"
	case l.marked.len() > 0:
		return "unmark"
	case l.HasFilter():
		return "all keys"
	case l.order != catalog.ByName || l.reverse:
		return "by name"
	}
	return ""
}

// Reveal lists all keys by name and selects name.
func (l *Pane) Reveal(name string) {
	q := l.query.unfiltered()
	q.order, q.reverse = catalog.ByName, false
	l.search(q)
	l.reveal(name)
	l.keyPressed = true
	if l.scan != nil && l.Conn.Refusals.Has("SCAN") {
		l.scan.done = true // until a refresh, also when the target's rights change
	}
}

// ScanPaused reports whether a scan paused by itself, so KeepScanning can continue it.
func (l *Pane) ScanPaused() bool { return l.scan != nil && l.scan.paused() }

// toggleFolder opens or closes a folder. It cancels a running load, whose rows would be out of date.
func (l *Pane) toggleFolder(r row) {
	l.Cancel(job.Listing)
	l.toggle(r)
}

// LeaveFolder closes the selected folder, or selects the folder of the selected row.
func (l *Pane) LeaveFolder() tea.Cmd {
	r := l.selected()
	if r == nil {
		return nil
	}
	switch head := l.chainHead(r.Name); {
	case l.isOpen(*r) && head != r.Name:
		l.goToFolder(head)
		l.toggleFolder(*l.selected())
	case l.isOpen(*r):
		l.toggleFolder(*r)
	case r.level != "":
		l.goToFolder(r.level)
	}
	return nil
}

// goToFolder selects an open folder.
func (l *Pane) goToFolder(folder string) {
	l.Cancel(job.Listing)
	w := l.walker()
	level := l.open[folder]
	l.seek(w, row{Entry: folderEntry(folder), level: level, depth: w.depth(level)})
}

// NextFilterMode returns the name of the filter mode that tab switches to.
func (l *Pane) NextFilterMode() string { return modeNames[(l.filter.mode+1)%modeCount] }

// Known returns the list's facts about the database.
func (l *Pane) Known() ui.Keyspace {
	k := ui.Keyspace{Total: l.Total, Filtered: l.HasFilter()}
	if l.scan != nil && l.Index == nil {
		names := l.scan.keys.byName()
		k.Names, k.Found, k.Sample = names, int64(names.len()), l.scan.keys.sample
	}
	return k
}

// IsTyping reports whether the filter prompt is open.
func (l *Pane) IsTyping() bool { return l.filterPrompt != nil }

// IsTree reports whether folders are shown.
func (l *Pane) IsTree() bool { return l.tree() }

// SelectedName returns the name of the selected key or folder, or "".
func (l *Pane) SelectedName() string {
	if r := l.selected(); r != nil {
		return r.Name
	}
	return ""
}

// Loaded returns the number of rows in memory.
func (l *Pane) Loaded() int { return len(l.rows) }

// ForgetAhead drops the moves that wait for unloaded rows.
func (l *Pane) ForgetAhead() { l.pendingMove = 0 }

// Touch records that the user pressed a key.
func (l *Pane) Touch() { l.keyPressed = true }
