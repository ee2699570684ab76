package inspect

import (
	"context"
	"io"
	"os"
	"os/exec"
	"time"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/lipgloss"

	"github.com/meowdis/meowdis/resp"
)

// Client runs commands. An error reply is a Value; the error means that the
// commands may not have run. One call runs at a time, from any goroutine; each
// call that may meet another database begins with SELECT.
type Client interface {
	Pipeline(ctx context.Context, calls [][][]byte) ([]resp.Value, error)
}

// Options is what Run needs to know.
type Options struct {
	Client    Client
	Index     Index  // what else is known of the keys; nil: they are found by SCAN
	Target    string // what is shown as the place the keys are in: a path, a URL without its secrets
	DB        int    // the database shown first
	Delimiter string // what parts names into folders; ":" when empty
	// Unlock returns a client that writes. Nil leaves the browser read-only for good.
	Unlock func(context.Context) (Client, error)
	// Confirm is what the person must answer before something is deleted, and Name
	// the name that ConfirmName asks for; the target when empty.
	Confirm Confirm
	Name    string
	// Editor is a command that edits the file at path; nil when there is none.
	Editor func(path string) *exec.Cmd
	// Explain is the SQL that a command is in database db; nil where there is none.
	Explain func(db int, call [][]byte) string
	// Exec begins a shell command that runs a command on the target; "meowdis exec"
	// when empty.
	Exec string

	// Mouse lets the mouse select and scroll; the terminal then marks text only with
	// shift held.
	Mouse bool

	// AskBackground has the terminal of In and Out asked for the colour of its
	// background. Nothing waits for the answer.
	AskBackground bool

	Now func() int64 // the clock, in Unix ms; the machine's when nil
	In  io.Reader    // the keyboard; the terminal's when nil
	Out io.Writer    // the screen; standard output when nil
}

// Run shows the browser until the person quits (nil), ctx ends (its error) or
// the terminal fails.
func Run(ctx context.Context, o Options) error {
	var renderer *lipgloss.Renderer
	settings := []tea.ProgramOption{tea.WithContext(ctx), tea.WithAltScreen()}
	if o.Mouse {
		settings = append(settings, tea.WithMouseCellMotion())
	}
	if o.Out != nil {
		settings = append(settings, tea.WithOutput(o.Out))
		renderer = lipgloss.NewRenderer(o.Out)
	} else {
		renderer = lipgloss.DefaultRenderer()
	}
	m := New(o, renderer)
	defer m.close()
	var program *tea.Program
	if file, ok := o.In.(*os.File); ok && o.AskBackground && o.Out != nil {
		renderer.SetHasDarkBackground(true) // until the terminal says otherwise
		m.greet = askBackground(o.Out)
		o.In = &keyboard{File: file, told: func(dark bool) {
			renderer.SetHasDarkBackground(dark)
			go program.Send(backgroundMsg{})
		}}
	}
	if o.In != nil {
		settings = append(settings, tea.WithInput(o.In))
	}
	program = tea.NewProgram(m, settings...)
	_, err := program.Run()
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return err
}

// close ends what runs for the screen only.
func (m *Model) close() {
	m.cancelAll()
	if m.sorted != nil {
		m.sorted.Close()
	}
}

func systemClock() int64 { return time.Now().UnixMilli() }
