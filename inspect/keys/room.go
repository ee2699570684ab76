package keys

import (
	tea "github.com/charmbracelet/bubbletea"

	"github.com/meowdis/meowdis/display"
	"github.com/meowdis/meowdis/inspect/job"
	"github.com/meowdis/meowdis/inspect/room"
	"github.com/meowdis/meowdis/inspect/screen"
	"github.com/meowdis/meowdis/inspect/target"
	"github.com/meowdis/meowdis/keyspace/catalog"
)

// Room is the list of keys on the screen: a window on the rows of a query, where they
// come from, and the filter that is typed.
type Room struct {
	*room.Base
	window
	width           int
	Total           int64            // keys in the database; -1 while unknown
	scan            *scan            // where the keys come from when it is no index
	sorted          *catalog.Sorting // where they come from when the index has not their order
	orderOutdated   bool             // the data has changed since they were sorted
	levelSums       *levelSums       // the bytes of folders in the making; nil when there are none
	rowBeforeEdit   row              // the row that the person was at before the filter was edited
	pendingRow      row              // the key to go to when the order is made; none without a name
	filterPrompt    *screen.Prompt   // the filter under edit, nil when none is
	queryBeforeEdit query            // what the list showed before the edit
	MostKept        int              // how many keys of a scan are kept
	pauseID         int              // the latest pausedMsg that was asked for
	Holds           Holding          // searches in values
}

// DatabaseChosen tells that the person wants to see another database.
type DatabaseChosen struct{ Db int }

// pausedMsg comes when there was a pause in typing. Only the latest that was asked for
// counts.
type pausedMsg int

// listHeadings is the lines above the keys: filter, column titles.
const listHeadings = 2

// New lists no keys before it has a size.
func New(b *room.Base) Room {
	l := Room{Base: b, Total: -1, MostKept: maxScanned}
	l.restart()
	return l
}

// Update takes in what a job or a timer brought; it leaves what is of other rooms.
func (l *Room) Update(msg tea.Msg) tea.Cmd {
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
	case target.KeyCounts:
		if p, ok := l.Dialog.(*room.Picker); ok && p.Purpose == job.CountingDBs {
			p.Items = databaseItems(r)
		}
	case markedMsg:
		l.onMarked(r)
	case pausedMsg:
		l.onPaused(r)
	}
	return nil
}

// restart shows the database from its first key on.
func (l *Room) restart() {
	l.clear()
	match, _ := l.filter.matcher()
	l.scan = nil
	l.closeSort()
	l.chooseSource(l.query, match)
}

func (l *Room) onPaused(p pausedMsg) {
	if int(p) == l.pauseID && l.filterPrompt != nil {
		l.search(l.typedQuery())
	}
}

// Tick is a second passing: what is over fades, what faded goes.
func (l *Room) Tick() tea.Cmd {
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

// RefreshAll asks for everything in the list again.
func (l *Room) RefreshAll() tea.Cmd {
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

// markStale lets the facts of rows be asked for again.
func (l *Room) markStale(rows []row) {
	for i := range rows {
		rows[i].stale = true
	}
}

// LookAgain shows what a change by the person left, and goes to a key if reveal is not "".
func (l *Room) LookAgain(reveal string) tea.Cmd {
	if l.scan != nil && l.needle == "" { // values are searched again when the person wants that
		l.Cancel(job.Scanning) // its page may be of before
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

// Follow takes in that the data changed, or that a key has ended.
func (l *Room) Follow(written bool) tea.Cmd {
	if written {
		l.reload(l.Running(job.Listing))
		l.sortChanged()
	}
	l.recount(l.Now, l.Index != nil) // the rows that have ended fade by themselves
	return l.Count()
}

// AskVisible asks for what is on the screen again.
func (l *Room) AskVisible() tea.Cmd {
	l.markStale(l.visible())
	return l.Count()
}

// Use lists another database.
func (l *Room) Use() tea.Cmd {
	l.Total = -1
	l.restart()
	return l.Count()
}

// Resize gives the list a size, of which the headings are no part.
func (l *Room) Resize(width, height int) {
	l.width, l.height = width, max(height-listHeadings, 1)
	l.clamp()
}

// Halt keeps the list from starting again by itself, after a job of it failed or was
// stopped.
func (l *Room) Halt(p job.Purpose) {
	switch p {
	case job.Listing, job.Sorting, job.Scanning, job.Describing, job.Tallying, job.Sizing:
		l.halted = true
	}
}

// Close ends what runs for the list only.
func (l *Room) Close() {
	if l.sorted != nil {
		l.sorted.Close()
	}
}

// Current is the selected key; false for none, and for a folder.
func (l *Room) Current() (key string, ok bool) {
	r := l.selected()
	if r == nil || r.Folder {
		return "", false
	}
	return r.Name, true
}

// StandsOnNoKey reports whether the selected row is known to be no key.
func (l *Room) StandsOnNoKey() bool {
	r := l.selected()
	return (r == nil || r.Folder) && l.shown != rowsPrevious
}

// TypeOf is the type of a key in the list, as far as it is known.
func (l *Room) TypeOf(key string) (kind string, listed bool) {
	if i := l.rowIndex(key, false); i >= 0 {
		return l.rows[i].Facts.Type, true
	}
	return "", false
}

// Folder is the folder that the selected row is, or is in; "" for none.
func (l *Room) Folder() string {
	switch r := l.selected(); {
	case r == nil || !l.tree():
		return ""
	case r.Folder:
		return r.Name
	default:
		return r.level
	}
}

// Enter opens or closes the selected folder; false when that is a key.
func (l *Room) Enter() bool {
	r := l.selected()
	if r == nil || !r.Folder {
		return false
	}
	l.toggleFolder(*r)
	return true
}

// Click selects the line at a height of the list. It reports whether that is to be
// opened: a folder, or what was selected already.
func (l *Room) Click(x, y int) (hit, opens bool) {
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

// ShowFolder shows the whole name of the selected folder, and how much is in it.
func (l *Room) ShowFolder() {
	r := l.selected()
	if r == nil || !r.Folder {
		return
	}
	t := l.tallies[r.Name]
	says := "Its keys are not counted yet."
	if t.counted != unknown {
		says = display.Counted(t.keys, "key", "keys")
	}
	l.Dialog = &room.Page{Title: "Folder", Layout: room.Wrapped(" "+display.Whole(r.Name), "", " "+says, " "+l.bytesNote(t))}
}

// PageLines is how far a page goes: one line stays in sight.
func (l *Room) PageLines() int { return max(l.height-1, 1) }

// IsWaited reports whether the person waits for rows.
func (l *Room) IsWaited() bool {
	if l.Conn.Refusals.Has("SCAN") && l.scan != nil {
		return false
	}
	return l.waiting() && (l.shown == rowsPrevious || l.pendingMove != 0 || l.canList(l.jump.load()))
}

// Stop gives up what is to be loaded.
func (l *Room) Stop() { l.cancelJump() }

// Leave ends the marks, or else the filter, or else the order: the person stays at the
// same key, in the end at its place in the tree.
func (l *Room) Leave() {
	q := l.query
	switch {
	case l.span != nil:
		l.DropSpan()
		return
	case l.marked.len() > 0:
		l.Unmark()
		return
	case q.Chooses():
		q = q.unfiltered()
	default:
		q.order, q.reverse = catalog.ByName, false
	}
	l.searchKeepingCursor(q)
}

// LeaveHint is what Leave ends; "" when there is nothing.
func (l *Room) LeaveHint() string {
	switch {
	case l.span != nil:
		return "cancel"
	case l.marked.len() > 0:
		return "unmark"
	case l.Chooses():
		return "all keys"
	case l.order != catalog.ByName || l.reverse:
		return "by name"
	}
	return ""
}

// Reveal lists all keys by name, with the person at one of them.
func (l *Room) Reveal(name string) {
	q := l.query.unfiltered()
	q.order, q.reverse = catalog.ByName, false
	l.search(q)
	l.reveal(name)
	l.keyPressed = true
}

// ScanPaused reports whether a scan has stopped by itself, so that KeepScanning is of use.
func (l *Room) ScanPaused() bool { return l.scan != nil && l.scan.paused() }

// toggleFolder opens a folder, or closes it. Rows that are on their way are of before.
func (l *Room) toggleFolder(r row) {
	l.Cancel(job.Listing)
	l.toggle(r)
}

// LeaveFolder closes the selected folder, or goes to the one that the selected row
// is in.
func (l *Room) LeaveFolder() tea.Cmd {
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

// goToFolder goes to an open folder.
func (l *Room) goToFolder(folder string) {
	l.Cancel(job.Listing)
	w := l.walker()
	level := l.open[folder]
	l.seek(w, row{Entry: folderEntry(folder), level: level, depth: w.depth(level)})
}

// NextManner is the manner of filtering that tab changes to.
func (l *Room) NextManner() string { return modeNames[(l.filter.mode+1)%modeCount] }

// Known is what the list knows of the database.
func (l *Room) Known() room.Known {
	k := room.Known{Total: l.Total, Chosen: l.Chooses()}
	if l.scan != nil && l.Index == nil {
		names := l.scan.keys.byName()
		k.Names, k.Found, k.Sample = names, int64(names.len()), l.scan.keys.sample
	}
	return k
}

// IsTyping reports whether the filter is under edit.
func (l *Room) IsTyping() bool { return l.filterPrompt != nil }

// IsTree reports whether folders are shown.
func (l *Room) IsTree() bool { return l.tree() }

// SelectedName is the name of the key or folder under the cursor, "" for none.
func (l *Room) SelectedName() string {
	if r := l.selected(); r != nil {
		return r.Name
	}
	return ""
}

// Loaded is how many rows are in memory.
func (l *Room) Loaded() int { return len(l.rows) }

// ForgetAhead takes back how far the person moved ahead of what is there.
func (l *Room) ForgetAhead() { l.pendingMove = 0 }

// Touch lets the list know that the person has pressed a key.
func (l *Room) Touch() { l.keyPressed = true }
