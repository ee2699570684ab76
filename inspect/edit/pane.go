package edit

import (
	"context"
	"io"
	"os/exec"
	"sync/atomic"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/meowdis/meowdis/inspect/change"
	"github.com/meowdis/meowdis/inspect/job"
	"github.com/meowdis/meowdis/inspect/ui"
	"github.com/meowdis/meowdis/keyspace"
)

// Settings is what changes a target allows and how they are confirmed.
type Settings struct {
	// OpenWriter returns a client that can write; nil if the target is read-only.
	OpenWriter     func(context.Context) (keyspace.Client, error)
	Temporary      bool // the data, and so the undo journal, end with the session
	Confirm        Confirm
	Name           string                      // what ConfirmName asks for
	Editor         func(path string) *exec.Cmd // the command that edits a file; nil without an editor
	FallbackEditor string                      // the editor that was found because the person has set none; "" if they have
	TerminalInUse  *atomic.Bool                // set while the editor has the terminal
	Exporter       Exporter
	Explain        func(db int, call [][]byte) string // returns the SQL of a command; nil without SQL
	Exec           string                             // the start of a shell command that runs a command on the target
	Out            io.Writer                          // the terminal, or nil
	ReadOnlyReason string                             // why nothing can be written; "" for the general reason
	Others         func() []Other                     // returns the targets in other tabs; may be nil
}

// Other is a target in another tab.
type Other struct {
	Name string
	Pane *Pane
	Show func() tea.Cmd // switches to its tab
}

// Pane is the pane that changes data: dialogs, the command line, and the changes that can
// be undone.
type Pane struct {
	*ui.PaneContext
	Settings
	maker        *change.Maker
	access       access
	clientWrites bool             // the client of all jobs can write
	steps        []change.Step    // steps in the undo journal, the latest last
	undone       []change.Step    // steps in the redo journal, the latest last
	targetStep   int              // the number of steps to reach by undo or redo
	stepsDone    int              // the number of steps undone or redone on the way
	changeTitle  string           // title of the running change; "" if none runs
	history      []string         // typed commands
	drafts       map[string]draft // open drafts, by path
	startDB      int              // the database of a shell command without -n
}

// access controls whether changes are allowed.
type access int

const (
	locked access = iota
	unlocked
)

// Quit is the event that the user typed :q, and DatabaseSelected the event that the user typed SELECT.
type (
	Quit             struct{}
	DatabaseSelected struct{ DB int }
)

// Subject holds the selection at the start of an action.
type Subject struct {
	Key     string // the current key
	HasKey  bool   // there is one
	KeyType string
	Keys    change.Selection // the marked keys, or else the current row
	Folder  string           // the folder of the current row, or the row itself
	Value   ui.Selection
}

// Messages of this pane. Changed reports that the data changed; Reveal is the key to select,
// "" for none. Taken reports that the marked keys have been used.
type (
	Changed       struct{ Reveal string }
	SelectionUsed struct{}
)

// New returns a locked pane. AdoptJournal adopts the journal of an earlier session.
func New(b *ui.PaneContext, s Settings, maker *change.Maker) Pane {
	return Pane{PaneContext: b, Settings: s, maker: maker, drafts: map[string]draft{}, startDB: b.DB}
}

// Update handles the results of this pane's jobs and of the editor, and ignores other messages.
func (r *Pane) Update(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case change.Made:
		return r.onMade(msg)
	case change.Unconfirmed:
		return r.onUnconfirmed(msg)
	case change.UndoResult:
		return r.onUndone(msg)
	case draftedMsg:
		return r.openEditor(draft(msg))
	case Edited:
		return r.onEdited(msg)
	case keysFoundMsg:
		return r.confirm(msg.Confirmation)
	case adoptedMsg:
		r.onAdopted(msg)
	case unlockedMsg:
		r.onUnlocked(msg)
	case countedMsg:
		return r.onCounted(msg)
	case namesMsg:
		r.onNames(msg)
	case plannedMsg:
		return r.onPlanned(msg)
	case completedMsg:
		r.onCompleted(msg)
	case replyMsg:
		r.onReply(msg)
	case copiedMsg:
		return r.copyText("the value", msg.text)
	case exportedMsg:
		r.onExported(msg)
	}
	return nil
}

// IsUnlocked reports whether changes are allowed, IsLocked whether they can be unlocked.
func (r *Pane) IsUnlocked() bool { return r.access == unlocked }
func (r *Pane) IsLocked() bool   { return !r.IsUnlocked() && r.OpenWriter != nil }
func (r *Pane) CanUndo() bool    { return r.IsUnlocked() && len(r.steps) > 0 }

// CanRedo reports whether there is a change to redo.
func (r *Pane) CanRedo() bool { return r.IsUnlocked() && len(r.undone) > 0 }

// IsChanging reports whether a change, an undo or a redo is running.
func (r *Pane) IsChanging() bool { return r.Running(job.Writing) && r.changeTitle != "" }

// Undoable returns the changes that can be undone, the latest last.
func (r *Pane) Undoable() []change.Step { return r.steps }
