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

	"github.com/meowdis/meowdis/inspect/client"
	"github.com/meowdis/meowdis/inspect/edit"
	"github.com/meowdis/meowdis/inspect/server"
	"github.com/meowdis/meowdis/inspect/value"
	"github.com/meowdis/meowdis/keyspace"
)

// Decoder is a user-defined decoder of values; see value.Decoder.
type Decoder = value.Decoder

// Confirm says how the user confirms a deletion; see edit.Confirm.
type Confirm = edit.Confirm

const (
	ConfirmYes  = edit.ConfirmYes
	ConfirmNone = edit.ConfirmNone
	ConfirmName = edit.ConfirmName
)

// Options configures Run.
type Options struct {
	Client keyspace.Client
	Index  client.Index // answers what commands cannot; nil: keys are found by SCAN
	Target string       // the displayed name of the target: a path, or a URL without its secrets
	DB     int          // the first database shown
	// Moved returns an error if the file has left its path. Nil for targets that are not files.
	Moved     func() error
	Delimiter string // separates folders in names; ":" if empty
	// Unlock returns a client that can write. If nil, the browser stays read-only.
	Unlock func(context.Context) (keyspace.Client, error)
	// ReadOnlyReason says why Unlock is nil and what to do about it. It is shown at the start.
	ReadOnlyReason string
	// Journal is the directory of the undo journal, which stores overwritten data until it is undone.
	// If the journal cannot be written, no change is made.
	Journal string
	// Recents is the directory that stores the recent keys and the bookmarks. If empty, they end with
	// the session.
	Recents string
	// Temporary is set if the data and its undo end with the session.
	Temporary bool
	// Identity identifies the target across sessions, so that a later session finds the journal. It
	// defaults to Target.
	Identity string
	// Confirm says how the user confirms a deletion. Name is the name that ConfirmName asks for; it
	// defaults to Target.
	Confirm Confirm
	Name    string
	// Profile is the profile name of the target, or "". Color is the profile's terminal colour, from 1;
	// 0 for none.
	Profile string
	Color   int
	// Label is a short name of the target for its tab.
	Label string
	// Close releases the target when its tab closes or the program ends. kept is the number of changes
	// that the journal keeps for the next session. It may be nil.
	Close func(kept int) error
	// Open opens another target, given as on the command line. Targets returns the targets to choose
	// from. Both are nil if no other target can be opened.
	Open    func(ctx context.Context, spec string) (Options, error)
	Targets func() []KnownTarget
	// Editor returns the command that edits the file at path. Nil without an editor.
	Editor func(path string) *exec.Cmd
	// FallbackEditor is the fallback editor if the user has not configured one, else "".
	FallbackEditor string
	// Scratch creates an empty in-memory data set, where compare rebuilds an earlier version of a
	// key. If nil, keys can only be compared with each other.
	Scratch func(context.Context) (c keyspace.Client, end func() error, err error)
	// Listen runs a streaming command on its own connection. If nil, no command can stream.
	Listen server.Listener
	// Decoder returns the user's decoder for a key, or nil.
	Decoder func(key string) *Decoder
	// Explain returns the SQL of a command in database db. Nil for targets without SQL.
	Explain func(db int, call [][]byte) string
	// Exporter writes keys to files.
	Exporter edit.Exporter
	// Exec is the prefix of a shell command that runs a command on the target; it defaults to "meowdis
	// exec".
	Exec string

	// Mouse enables mouse selection and scrolling. The terminal then selects text only with shift held.
	Mouse bool

	// Appearance is the user's choice of keys and colours.
	Appearance Appearance

	// Light is set for a light background. If AskBackground is set, the terminal is queried too, and
	// its answer takes precedence.
	Light         bool
	AskBackground bool

	Now func() int64 // returns the time in Unix ms; nil: the system clock
	In  io.Reader    // the keyboard; nil: the terminal
	Out io.Writer    // the screen
}

// The rate of bubbletea's renderer: 120 draws the effect of a key within half of the 16 ms that people
// perceive as instant. With frames, the renderer has nothing to draw.
const (
	framesPerSecond     = 120
	idleFramesPerSecond = 1
)

// Run shows the browser until the user quits (nil), a signal ends it (Signalled), ctx ends (its error)
// or the terminal fails. It then cancels running work; a Client that does not stop within a second may
// still run a call. The screen settings of first apply to all tabs. The targets in more open in further
// tabs.
func Run(ctx context.Context, first Options, more ...Tab) error {
	if err := first.Appearance.Check(); err != nil {
		return err
	}
	k := newKeyboard(first.In)
	s := share(first, lipgloss.NewRenderer(first.Out, termenv.WithTTY(true))) // Out is a terminal, even if the environment says CI
	s.keyboard = k
	ctx, stop := untilSignalled(ctx, s.terminalInUse)
	defer stop()
	tabs := newTabs(ctx, s, first, more)
	defer tabs.close()
	settings := []tea.ProgramOption{tea.WithContext(ctx), tea.WithoutSignalHandler(), tea.WithAltScreen()}
	var root tea.Model = tabs
	if t, ok := first.Out.(terminal); ok {
		f := &frames{terminal: t}
		root = framed{tabs, f}
		settings = append(settings, tea.WithOutput(f), tea.WithFPS(idleFramesPerSecond))
	} else {
		settings = append(settings, tea.WithOutput(first.Out), tea.WithFPS(framesPerSecond))
	}
	if first.Mouse {
		settings = append(settings, tea.WithMouseCellMotion())
	}
	switch {
	case k != nil:
		settings = append(settings, tea.WithInput(k))
	case first.In != nil:
		settings = append(settings, tea.WithInput(first.In))
	}
	program := tea.NewProgram(root, settings...)
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

// shutDown stops the background work of a Model and closes its journal. It returns the number of
// changes kept for the next session on the target.
func (m *Model) shutDown() (kept int, err error) {
	m.close()
	return m.edit.EndJournal()
}

// close stops the background work of the panes.
func (m *Model) close() {
	m.CancelAll()
	m.keys.Close()
	m.server.Close()
}

func systemClock() int64 { return time.Now().UnixMilli() }
