package inspect

import (
	"context"
	"errors"
	"io"
	"os/exec"
	"time"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/lipgloss"
	"github.com/muesli/termenv"

	"github.com/meowdis/meowdis/inspect/edit"
	"github.com/meowdis/meowdis/inspect/server"
	"github.com/meowdis/meowdis/inspect/target"
	"github.com/meowdis/meowdis/inspect/value"
)

// Client runs commands; see target.Client.
type Client = target.Client

// Decoder is a person's own way to show values; see value.Decoder.
type Decoder = value.Decoder

// Confirm is what a person must answer before something is deleted; see edit.Confirm.
type Confirm = edit.Confirm

const (
	ConfirmYes  = edit.ConfirmYes
	ConfirmNone = edit.ConfirmNone
	ConfirmName = edit.ConfirmName
)

// Options is what Run needs to know.
type Options struct {
	Client target.Client
	Index  target.Index // what else is known of the keys; nil: they are found by SCAN
	Target string       // what is shown as the place the keys are in: a path, a URL without its secrets
	DB     int          // the database shown first
	// Moved returns an error when the file is no longer under its name; nil for what is
	// no file.
	Moved     func() error
	Delimiter string // what parts names into folders; ":" when empty
	// Unlock returns a client that writes. Nil leaves the browser read-only for good.
	Unlock func(context.Context) (target.Client, error)
	// Journal is the directory of the undo journal: what changes overwrite is kept
	// there until they are undone. No change is made when it cannot be written.
	Journal string
	// Recall is the directory where it is remembered which keys were opened and
	// bookmarked; "" when that ends with the session.
	Recall string
	// Fleeting tells that the data end with the session, and so does their undo.
	Fleeting bool
	// Identity tells the target from all others, for the session that finds the
	// journal of an earlier one; the target's name when empty.
	Identity string
	// Confirm is what the person must answer before something is deleted, and Name
	// the name that ConfirmName asks for; the target when empty.
	Confirm Confirm
	Name    string
	// Profile is the name of the target, where it has one, and Color its colour in the
	// terminal, from 1; 0 for none.
	Profile string
	Color   int
	// Label is the target in few letters, for its tab.
	Label string
	// Close ends what the target needs, when its tab is closed or the program ends; the
	// journal keeps so many changes for the next session on it. Nil: nothing.
	Close func(kept int) error
	// Open opens another target, said as on the command line, and Places are those to
	// choose from; nil: there is none but this.
	Open   func(ctx context.Context, spec string) (Options, error)
	Places func() []Place
	// Editor is a command that edits the file at path; nil when there is none.
	Editor func(path string) *exec.Cmd
	// StandIn is what Editor runs when the person has named no editor; "" when they have.
	StandIn string
	// Scratch makes an empty data set in memory, in which a key is built anew as it was. Nil:
	// keys are compared with one another only.
	Scratch func(context.Context) (c target.Client, end func() error, err error)
	// Listen carries out a command that listens, on a connection of its own; nil: nothing
	// can be listened to.
	Listen server.Listener
	// Decoder is the person's own decoder for the values of a key, nil for none.
	Decoder func(key string) *Decoder
	// Explain is the SQL that a command is in database db; nil where there is none.
	Explain func(db int, call [][]byte) string
	// Exporter writes keys to files.
	Exporter edit.Exporter
	// Exec begins a shell command that runs a command on the target; "meowdis exec"
	// when empty.
	Exec string

	// Mouse lets the mouse select and scroll; the terminal then marks text only with
	// shift held.
	Mouse bool

	// Look is which keys and colours the person wants.
	Look Look

	// Light tells that the text stands on a light background. With AskBackground the
	// terminal is asked, too, and what it answers counts.
	Light         bool
	AskBackground bool

	Now func() int64 // the clock, in Unix ms; the machine's when nil
	In  io.Reader    // the keyboard; the terminal's when nil
	Out io.Writer    // the screen
}

// framesPerSecond has what a key does drawn within half of the 16 ms that people take for at once.
const framesPerSecond = 120

// Run shows the browser until the person quits (nil), a signal ends it (Signalled),
// ctx ends (its error) or the terminal fails. What is under way is cancelled then; a
// Client that does not heed that within a second may still run a call. What is in first
// about the screen is for all; the targets in more are opened beside it.
func Run(ctx context.Context, first Options, more ...Tab) error {
	if err := first.Look.Check(); err != nil {
		return err
	}
	k := newKeyboard(first.In)
	s := share(first, lipgloss.NewRenderer(first.Out, termenv.WithTTY(true))) // Out is a terminal, whatever CI in the environment says
	s.keyboard = k
	ctx, stop := untilSignalled(ctx, s.lent)
	defer stop()
	tabs := newTabs(ctx, s, first, more)
	defer tabs.close()
	settings := []tea.ProgramOption{tea.WithContext(ctx), tea.WithoutSignalHandler(), tea.WithAltScreen(), tea.WithOutput(first.Out), tea.WithFPS(framesPerSecond)}
	if first.Mouse {
		settings = append(settings, tea.WithMouseCellMotion())
	}
	switch {
	case k != nil:
		settings = append(settings, tea.WithInput(k))
	case first.In != nil:
		settings = append(settings, tea.WithInput(first.In))
	}
	program := tea.NewProgram(tabs, settings...)
	if k != nil && first.AskBackground {
		k.onAnswer = func(light bool) { program.Send(backgroundMsg{light}) }
		tabs.list[0].model.initCmd = askBackground(first.Out)
	}
	_, err := program.Run()
	failed := tabs.end()
	if ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	if failed != nil {
		err = errors.Join(err, failed)
	}
	return err
}

// shutDown ends what a Model does for the screen, and its journal. It returns how many
// changes that keeps for the next session on the same target.
func (m *Model) shutDown() (kept int, err error) {
	m.close()
	return m.edit.EndJournal()
}

// close ends what runs for the screen only.
func (m *Model) close() {
	m.CancelAll()
	m.keys.Close()
	m.server.Close()
}

func systemClock() int64 { return time.Now().UnixMilli() }
