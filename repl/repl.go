package repl

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/meowdis/meowdis/commands"
	"github.com/meowdis/meowdis/keyspace"
	"github.com/meowdis/meowdis/resp"
)

// Session does commands.
type Session interface {
	Do(ctx context.Context, args ...[]byte) (resp.Value, error)
	DB() int       // the selected database
	InMulti() bool // commands are being queued
}

// Target is where commands go. What is nil is not offered.
type Target struct {
	Session
	Name string // as the prompt shows it
	// Commands are those that completion, hints and HELP know; nil for ours.
	Commands *commands.Table
	// Strict says that the target has these commands and no others.
	Strict bool
	// Listen sends a command that makes the target send messages, such as
	// SUBSCRIBE, and gives them to each until it fails or ctx ends; nil where
	// there are no such commands.
	Listen func(ctx context.Context, args [][]byte, each func(resp.Value) error) error
	// FirstKeys returns a map of the first keys in order that begin with prefix,
	// and their types; nil where that takes a search of the whole.
	FirstKeys func(ctx context.Context, prefix []byte, limit int) (resp.Value, error)
	// Connections counts how often a connection was made; nil where none can
	// be lost.
	Connections func() int
	// Confirm returns the question that a command raises on a terminal, and
	// what reports whether an answer lets it run; no question for most.
	Confirm func(args [][]byte) (question string, accepts func(answer string) bool)
	// Aborts reports whether EXEC would run nothing, as when a watched key has changed; nil
	// where only the replies so far tell.
	Aborts func(ctx context.Context) (bool, error)
	// PollEvery is how often a command is sent that says BLOCK, where the target does not wait; 0
	// where it does.
	PollEvery time.Duration
	// Bytes finds out the bytes of keys; nil asks MEMORY USAGE.
	Bytes func(ctx context.Context, keys []keyspace.Key) error
	// Explain shows the SQL of a command.
	Explain func(ctx context.Context, out io.Writer, args [][]byte) error
	// Close ends the session; nil when the caller does.
	Close func() error
}

func (t Target) table() *commands.Table { return cmp.Or(t.Commands, commands.Ours) }

// Format appends the reply to args, with the end of its line.
type Format func(out []byte, args [][]byte, v resp.Value) []byte

// Options is what a loop works with. What is nil is not offered.
type Options struct {
	Target Target
	Format Format
	// FormatName is Format's name, one of Formats, which FormatNamed knows.
	FormatName  string
	Formats     []string
	FormatNamed func(name string) (Format, error)
	// Suggest says what was probably meant, after a reply that is an error.
	Suggest func(args [][]byte, v resp.Value)
	// Connect goes to a URL or a file, Use to a profile, one of Profiles.
	Connect  func(ctx context.Context, spec string) (Target, error)
	Use      func(ctx context.Context, profile string) (Target, error)
	Profiles func() []string
	// Page shows a reply that is too long for the screen, and returns false when
	// it is yet to be shown. It is asked only while Paging.
	Page   func(reply []byte) bool
	Paging bool

	In       io.Reader
	Out, Err io.Writer
	// Terminal edits lines on the process's terminal; otherwise lines are
	// read from In, without a prompt.
	Terminal bool
	// Prompts shows the prompt before each line that is not edited: someone types it.
	Prompts       bool
	History       string // file of the lines typed; empty for none
	Editor        string // the command that edits a file, as in $EDITOR
	Colour        bool
	NoHints       bool // what may follow is not shown
	NoSuggestions bool // what the history goes on with is not shown
	Timing        bool // every reply says how long it took
	// Inputrc is an init file of the readline library, whose keys are the editor's, too; empty
	// for none. Getenv is what its conditions ask.
	Inputrc string
	Getenv  func(string) string
	Vi      bool // lines are edited with vi's keys
}

type loop struct {
	*Options
	asker  *asker
	editor *editor // nil without a terminal
	failed bool

	// The session as it was after the last command: while the user types it may
	// be busy with a completion.
	db          int
	multi       bool
	queue       []queued
	willAbort   bool // a command could not be queued: EXEC will run nothing
	connections int  // Connections
}

// queued is a command that waits for EXEC.
type queued [][]byte

// Run reads and runs lines until the end of the input or "quit". failed reports
// whether a line that did not come from a terminal failed.
func Run(ctx context.Context, o Options) (failed bool, err error) {
	l := &loop{Options: &o, asker: &asker{target: o.Target}}
	l.readState()
	defer func() {
		l.asker.setTarget(Target{})
		err = errors.Join(err, l.closeTarget())
	}()
	if !o.Terminal {
		return l.piped(ctx)
	}
	if l.editor, err = newEditor(ctx, &o, l.asker); err != nil {
		return false, err
	}
	defer l.editor.Close()
	return false, l.interactive(ctx)
}

// interactive reads from the terminal.
func (l *loop) interactive(ctx context.Context) error {
	begin := ""
	for {
		text, err := l.editor.read(l.prompt(ctx), begin)
		begin = ""
		switch {
		case errors.Is(err, errInterrupted):
			continue
		case errors.Is(err, errEdit):
			if begin, err = l.runEditor(text); err != nil {
				l.printError(err.Error())
				begin = text
			}
			continue
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		}
		l.editor.history.add(text)
		begin, err = l.runText(ctx, text, true)
		if errors.Is(err, errQuit) {
			return nil
		}
	}
}

func (l *loop) piped(ctx context.Context) (failed bool, err error) {
	in := bufio.NewReader(l.In)
	for {
		if l.Prompts {
			io.WriteString(l.Out, l.prompt(ctx))
		}
		line, err := in.ReadString('\n')
		if line == "" && errors.Is(err, io.EOF) {
			if l.Prompts {
				fmt.Fprintln(l.Out)
			}
			return l.failed, nil
		}
		if err != nil && !errors.Is(err, io.EOF) {
			return true, fmt.Errorf("reading commands: %w", err)
		}
		if _, err := l.runText(ctx, line, false); errors.Is(err, errQuit) {
			return l.failed, nil
		}
	}
}

// prompt shows where commands go, and the state of the transaction.
func (l *loop) prompt(ctx context.Context) string {
	p := l.Target.Name
	if l.db != 0 {
		p += "[" + strconv.Itoa(l.db) + "]"
	}
	if l.multi {
		state, style := "TX", "33"
		if n := len(l.queue); n > 0 {
			state = fmt.Sprintf("TX %d", n)
		}
		if l.willAbort || l.aborts(ctx) {
			state, style = state+", will abort", "31"
		}
		p += l.coloured(style, "("+state+")")
	}
	return p + "> "
}

func (l *loop) coloured(style, s string) string {
	if !l.Colour {
		return s
	}
	return sgr(s, style)
}

// errQuit ends the loop.
var errQuit = errors.New("quit")

// runText runs the commands of a text. shell says that | and > are understood.
// The next line begins with next.
func (l *loop) runText(ctx context.Context, text string, shell bool) (next string, err error) {
	commands, _ := scan(text)
	for _, words := range commands {
		c := parseCommand(text, words, shell)
		if shell && !l.askPipe(text, &c) {
			return "", nil
		}
		if wrong := c.check(); wrong != "" {
			l.printError(wrong)
			return "", nil
		}
		next, err = l.runCommand(ctx, c)
		if err != nil {
			return next, err
		}
	}
	return next, nil
}

// runCommand runs one command, with its repetition and its redirection.
func (l *loop) runCommand(ctx context.Context, c command) (next string, err error) {
	switch strings.ToLower(c.words[0].value) {
	case "quit", "exit", ":quit", ":exit", ":q":
		return "", errQuit
	case "clear":
		io.WriteString(l.Out, "\x1b[H\x1b[2J")
		return "", nil
	case ":edit":
		return l.editCommand(c)
	}
	if !c.isColon() && !l.confirmed(c.args()) {
		return "", nil
	}
	out, err := l.output(c)
	if err != nil {
		l.printError(err.Error())
		return "", nil
	}
	for range c.times {
		if !l.runOnce(ctx, c, out) {
			break
		}
	}
	if err := out.Close(); err != nil {
		l.printError(err.Error())
	}
	return "", nil
}

// runOnce runs a command once. It returns false when repeating it makes no sense.
func (l *loop) runOnce(ctx context.Context, c command, out *output) bool {
	if c.isColon() {
		return l.runColon(ctx, c, out)
	}
	if c.asksHelp() {
		return runHelp(ctx, l, c, out) == nil
	}
	args := c.args()
	if l.Target.Listen != nil && opensStream(args) {
		return l.listen(ctx, args, out)
	}
	return l.call(ctx, args, out)
}

func (l *loop) printError(text string) {
	l.failed = true
	fmt.Fprintln(l.Err, l.coloured("31", l.folded(visible(text))))
}

// visible is text that a target may have sent, as a terminal may have it.
func visible(text string) string { return string(resp.AppendVisible(nil, []byte(text))) }

// folded is text as the terminal can show it without tearing words.
func (l *loop) folded(text string) string {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		lines[i] = folded(line, 0, 0, l.columns())
	}
	return strings.Join(lines, "\n")
}

// columns is the width of the terminal, 0 where there is none.
func (l *loop) columns() int {
	if !l.Terminal {
		return 0
	}
	columns, _ := terminalSize()
	return columns
}

// note says something that is no reply.
func (l *loop) note(text string) { fmt.Fprintln(l.Err, l.coloured(dim, l.folded(visible(text)))) }

// closeTarget ends the session of a target that the loop connected to.
func (l *loop) closeTarget() error {
	if l.Target.Close == nil {
		return nil
	}
	return l.Target.Close()
}
