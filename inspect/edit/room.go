package edit

import (
	"context"
	"io"
	"os/exec"
	"sync/atomic"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/meowdis/meowdis/inspect/change"
	"github.com/meowdis/meowdis/inspect/job"
	"github.com/meowdis/meowdis/inspect/room"
	"github.com/meowdis/meowdis/inspect/target"
)

// Settings is what the person may do with the target, and how careful to be.
type Settings struct {
	// Writer returns a client that writes; nil leaves the target read-only for good.
	Writer   func(context.Context) (target.Client, error)
	Fleeting bool // the data end with the session, and so does their undo
	Confirm  Confirm
	Name     string                      // what ConfirmName asks for
	Editor   func(path string) *exec.Cmd // edits a file; nil: there is none
	StandIn  string                      // the editor that was found since the person has named none; "" where they have
	Lent     *atomic.Bool                // set while the editor has the terminal
	Exporter Exporter
	Explain  func(db int, call [][]byte) string // the SQL of a command; nil where there is none
	Exec     string                             // begins a shell command that runs a command on the target
	Out      io.Writer                          // the terminal; nil: there is none
	Others   func() []Other                     // the targets that are open beside this one; nil: there is none
}

// Other is a target that is open in another tab.
type Other struct {
	Name string
	Room *Room
	Show func() tea.Cmd // its tab
}

// Room is what changes the data: dialogs that ask, the console, and the changes that
// can be undone.
type Room struct {
	*room.Base
	Settings
	maker        *change.Maker
	access       access
	clientWrites bool             // the client that all jobs use writes
	steps        []change.Step    // what the journal can undo, the last one last
	undone       []change.Step    // what was undone and can be redone, likewise
	targetStep   int              // how many steps there are to be where the person goes to
	stepsDone    int              // how many were undone, or redone, on the way there
	changeTitle  string           // what the change that is being made is called; "" while none is
	history      []string         // the commands that were typed
	drafts       map[string]draft // what editors have, by path
	startDB      int              // the database that a shell command is in unless it says so
}

// access is whether changes may be made.
type access int

const (
	locked access = iota
	unlocked
)

// Subject is what an action is about: what the person looks at.
type Subject struct {
	Key     string // the current one
	HasKey  bool   // there is one
	KeyType string
	Keys    change.Selection // what is marked, or else the current row
	Folder  string           // which the current row is in, or is
	Value   room.Sight
}

// What the room tells: that the data changed by the person's hand, and to which key to
// go then, "" for none; and that what was marked has been taken.
type (
	Changed struct{ Reveal string }
	Taken   struct{}
)

// New is locked, and finds what an earlier session left when LookBack is called.
func New(b *room.Base, s Settings, maker *change.Maker) Room {
	return Room{Base: b, Settings: s, maker: maker, drafts: map[string]draft{}, startDB: b.DB}
}

// Update takes in what a job or the editor brought; it leaves what is of other rooms.
func (r *Room) Update(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case change.Made:
		return r.onMade(msg)
	case change.Doubtful:
		return r.onDoubtful(msg)
	case change.Undone:
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

// IsUnlocked reports whether changes may be made, isLocked whether that can be unlocked.
func (r *Room) IsUnlocked() bool { return r.access == unlocked }
func (r *Room) IsLocked() bool   { return !r.IsUnlocked() && r.Writer != nil }
func (r *Room) CanUndo() bool    { return r.IsUnlocked() && len(r.steps) > 0 }

// CanRedo reports whether there is something to redo.
func (r *Room) CanRedo() bool { return r.IsUnlocked() && len(r.undone) > 0 }

// IsChanging reports whether a change, or its undo, is being made.
func (r *Room) IsChanging() bool { return r.Running(job.Writing) && r.changeTitle != "" }

// Undoable is the changes that can be undone, the last one last.
func (r *Room) Undoable() []change.Step { return r.steps }
